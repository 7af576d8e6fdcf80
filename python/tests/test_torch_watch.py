# SPDX-License-Identifier: MIT
"""spherelu.watch: the boundaries of any PyTorch model while it trains."""

import copy
import io
import math
import sys
import warnings

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune

import spherelu
import spherelu.torch as st

F64 = dict(dtype=torch.float64)
HOOKS = hasattr(sys.modules["torch.optim.optimizer"], "register_optimizer_step_post_hook")


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="spherelu.watch")
        yield


def train(model, x, y, steps, lr=0.05, after=None, **options):
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=lr, **options)
    for _ in range(steps):
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
        if after:
            after(model)
    return optimizer


def regression(rows=40, inputs=4, **kind):
    kind = kind or F64
    x = torch.randn(rows, inputs, **kind)
    return x, x[:, :1].abs() + torch.randn(rows, 1, **kind)


def hyperplane_by_hand(w, b):
    w = w.detach().double().flatten(1).numpy()
    b = np.zeros(len(w)) if b is None else b.detach().double().numpy()
    norm = np.linalg.norm(w, axis=1)
    return w / norm[:, None], b / norm, -(b / norm**2)[:, None] * w


def same_planes(about, t, w, b, bar=1e-12):
    _, offset, phi = hyperplane_by_hand(w, b)
    assert np.allclose(about.phi[t], phi, atol=bar, rtol=0)
    assert np.allclose(about.offset[t], offset, atol=bar, rtol=0)
    assert np.allclose(about.norm[t], np.linalg.norm(w.detach().double().flatten(1).numpy(), axis=1), atol=bar)


# ---------------------------------------------------------------- beside our own tracker


@pytest.mark.parametrize("kind, norm", [("sp", "none"), ("sp", "bn"), ("wn", "none"), ("gmp", "none"), ("sphere", "none")])
def test_numbers_are_those_of_our_tracker(kind, norm):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 4)), rng.normal(size=(40, 1))
    options = dict(param=kind, norm=norm, hidden=[6, 5], optimizer="sgd", lr=0.02, momentum=0.0, batch="full", dtype="f64", test=0, val=0, patience=0, standardize="off", loss="mse", init="glorot", schedule="none")
    begin = spherelu.train(x, y, epochs=1, **{**options, "lr": 1e-300}).net
    tracker, nets = spherelu.Tracker(), []
    last = spherelu.train(x, y, epochs=12, start=begin, callbacks=[tracker], **options).net
    if kind == "wn":
        v = {n: torch.from_numpy(t) for n, t in begin.tensors.items()}
        model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 1)).double()
        for i, k in enumerate((0, 2, 4)):
            if f"layers.{i}.v" in v:
                nn.utils.weight_norm(model[k])
                model[k].weight_v.data, model[k].weight_g.data = v[f"layers.{i}.v"], v[f"layers.{i}.g"].reshape(-1, 1)
            else:
                model[k].weight.data = v[f"layers.{i}.weight"]
            model[k].bias.data = v[f"layers.{i}.bias"]
    else:
        model = begin.to_torch()
    model.train()
    tx, ty = torch.from_numpy(x), torch.from_numpy(y)
    with spherelu.watch(model, data=tx) as watch:
        train(model, tx, ty, 12, lr=0.02, after=st.renormalize if kind == "sphere" else None)
    followed = [a for a in watch.layers.values() if a.boundary == "hyperplane"]
    assert len(followed) == tracker.move.shape[1] == 2
    for k, about in enumerate(followed):
        assert about.step == list(range(13)) and np.isnan(about.move[0]).all()
        assert np.abs(about.move[1:].max(axis=1) - tracker.move[:, k]).max() < 1e-6
        assert np.abs(about.turn[1:].max(axis=1) - tracker.turn[:, k]).max() < 1e-6
        ours = last.boundaries(x)[k]
        assert np.abs(about.phi[-1] - ours.phi).max() < 1e-6 and np.abs(about.offset[-1] - ours.offset).max() < 1e-6
        assert (about.active_share[-1] == ours.active_share).all()
    assert tracker.turn.max() > 1e-4


def test_flips_are_those_of_a_recorded_run(tmp_path):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(60, 3))
    np.savetxt(tmp_path / "d.csv", np.column_stack([x, np.abs(x[:, 0])]), delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    options = dict(hidden=[8], optimizer="sgd", lr=0.1, momentum=0.0, batch="full", dtype="f64", test=0, val=0, patience=0, standardize="off", loss="mse", init="glorot", schedule="none", param="sp", seed=3)
    begin = spherelu.train(x, np.abs(x[:, 0]), epochs=1, **{**options, "lr": 1e-300}).net
    begin.save(tmp_path / "begin.safetensors")
    spherelu.train(tmp_path / "d.csv", target="y", out=tmp_path / "run", init=tmp_path / "begin.safetensors", epochs=10, record="patterns:every", **{k: v for k, v in options.items() if k != "init"})
    want = np.load(tmp_path / "run" / "boundaries.npz")["layers.0.flips"]
    model = begin.to_torch().train()
    tx, ty = torch.from_numpy(x), torch.from_numpy(np.abs(x[:, :1]))
    with spherelu.watch(model, data=tx) as watch:
        train(model, tx, ty, 10, lr=0.1)
    got = next(iter(watch.layers.values())).flips
    assert (np.round(got[1:].sum(axis=1) * 60).astype(int) == want[1:]).all() and want.sum() > 0


# ---------------------------------------------------------------- one test for each kind of layer


def test_linear_every_and_moves_of_one_step():
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)).double()
    x, y = regression()
    weights = [copy.deepcopy(model[0])]
    with spherelu.watch(model, every=3) as watch:
        train(model, x, y, 10, after=lambda m: weights.append(copy.deepcopy(m[0])))
    about = watch["0"]
    assert watch.steps == [0, 3, 6, 9] and watch.step_number == 10
    for t, step in enumerate(watch.steps):
        same_planes(about, t, weights[step].weight, weights[step].bias)
        assert np.allclose(about.active_share[t], (weights[step](x) > 0).double().mean(0).numpy())
        if step:
            u, _, phi = hyperplane_by_hand(weights[step].weight, weights[step].bias)
            u0, _, phi0 = hyperplane_by_hand(weights[step - 1].weight, weights[step - 1].bias)
            assert np.allclose(about.move[t], np.linalg.norm(phi - phi0, axis=1), atol=1e-13)
            assert np.allclose(about.turn[t], 2 * np.arctan2(np.linalg.norm(u - u0, axis=1), np.linalg.norm(u + u0, axis=1)), atol=1e-13)
            before, after = weights[watch.steps[t - 1]](x) > 0, weights[step](x) > 0
            assert np.allclose(about.flips[t], (before != after).double().mean(0).numpy())
    assert watch["2"].boundary == "none" and "no activation" in watch["2"].note


@pytest.mark.parametrize("conv, shape", [(nn.Conv1d, (9,)), (nn.Conv2d, (6, 5)), (nn.Conv3d, (4, 3, 5))])
@pytest.mark.parametrize("groups", [1, 2])
def test_conv(conv, shape, groups):
    model = nn.Sequential(conv(4, 6, 3, padding=1, groups=groups), nn.LeakyReLU(), nn.Flatten(), nn.Linear(6 * math.prod(shape), 1)).double()
    x, y = torch.randn(8, 4, *shape, **F64), torch.randn(8, 1, **F64)
    with spherelu.watch(model) as watch:
        train(model, x, y, 2)
    about = watch["0"]
    assert about.activation == "leaky_relu" and about.units == 6 and about.inputs == model[0].weight[0].numel()
    same_planes(about, -1, model[0].weight, model[0].bias)
    z = (model[0](x) > 0).double().transpose(0, 1).flatten(1)
    assert np.allclose(about.active_share[-1], z.mean(1).numpy()) and np.nanmax(about.turn) > 0


@pytest.mark.parametrize("dense", [True, False])
def test_batch_norm_is_folded_with_running_statistics(dense):
    layers = [nn.Linear(4, 6), nn.BatchNorm1d(6)] if dense else [nn.Conv2d(4, 6, 3, bias=False), nn.BatchNorm2d(6)]
    model = nn.Sequential(*layers, nn.ReLU(), nn.Flatten(), nn.LazyLinear(1)).double()
    x, y = torch.randn(16, 4, *([] if dense else [5, 5]), **F64), torch.randn(16, 1, **F64)
    model(x)
    nn.init.normal_(model[1].weight), nn.init.normal_(model[1].bias)
    with spherelu.watch(model) as watch:
        train(model, x, y, 3)
    about, bn = watch["0"], model[1]
    assert about.normalization == type(bn).__name__
    factor = bn.weight / torch.sqrt(bn.running_var + bn.eps)
    w = model[0].weight * factor.reshape(-1, *[1] * (model[0].weight.ndim - 1))
    b = factor * ((0 if model[0].bias is None else model[0].bias) - bn.running_mean) + bn.bias
    same_planes(about, -1, w, b)
    model.eval()
    z = (model[:2](x) > 0).double().transpose(0, 1).flatten(1)
    assert np.allclose(about.active_share[-1], z.mean(1).numpy())
    assert (factor < 0).any()


@pytest.mark.parametrize(
    "layers, shape",
    [
        ([nn.Linear(4, 6), nn.LayerNorm(6)], (4,)),
        ([nn.Linear(4, 6), nn.GroupNorm(2, 6)], (4,)),
        ([nn.Conv2d(4, 6, 3), nn.GroupNorm(3, 6)], (4, 5, 5)),
        ([nn.Linear(4, 6), nn.BatchNorm1d(6, track_running_stats=False)], (4,)),
    ],
)
def test_norms_of_each_sample_leave_active_shares_only(layers, shape):
    model = nn.Sequential(*copy.deepcopy(layers), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1)).double()
    x, y = torch.randn(16, *shape, **F64), torch.randn(16, 1, **F64)
    model(x)
    with spherelu.watch(model) as watch:
        train(model, x, y, 2)
    about = watch["0"]
    assert about.boundary == "per sample" and about.note and np.isnan(about.turn).all() and np.isnan(about.offset).all()
    z = (model[:2](x) > 0).double().transpose(0, 1).flatten(1)
    assert np.allclose(about.active_share[-1], z.mean(1).numpy())


@pytest.mark.parametrize("new", [False, True])
@pytest.mark.parametrize("dense", [True, False])
def test_weight_norm(new, dense):
    norm = getattr(nn.utils.parametrizations, "weight_norm", None) if new else nn.utils.weight_norm
    if norm is None:
        pytest.skip("this PyTorch has no parametrization weight_norm")
    model = nn.Sequential(norm(nn.Linear(4, 6) if dense else nn.Conv1d(4, 6, 3)), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1)).double()
    x, y = torch.randn(8, 4, *([] if dense else [7]), **F64), torch.randn(8, 1, **F64)
    model(x)
    with spherelu.watch(model) as watch:
        train(model, x, y, 3)
    model(x)  # the old weight_norm computes its weight here
    same_planes(watch["0"], -1, model[0].weight, model[0].bias)


@pytest.mark.parametrize("old", [False, True])
def test_spectral_norm_keeps_its_own_iteration(old):
    torch.manual_seed(0)
    norm = nn.utils.spectral_norm if old else nn.utils.parametrizations.spectral_norm
    model = nn.Sequential(norm(nn.Linear(4, 6)), nn.ReLU(), nn.Linear(6, 1)).double()
    twin = copy.deepcopy(model)
    x, y = regression()
    train(twin, x, y, 4)
    with spherelu.watch(model) as watch:
        train(model, x, y, 4)
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), twin.state_dict().values()))
    assert np.isfinite(watch["0"].offset).all()


def test_pruned_layers_have_the_masked_weight():
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)).double()
    prune.random_unstructured(model[0], "weight", amount=0.3)
    x, y = regression()
    with spherelu.watch(model) as watch:
        train(model, x, y, 2)
    model(x)
    same_planes(watch["0"], -1, model[0].weight, model[0].bias)


@pytest.mark.parametrize("kind", ["gmp", "sphere"])
@pytest.mark.parametrize("dense", [True, False])
def test_layers_in_our_coordinates(kind, dense):
    model = nn.Sequential(nn.Linear(4, 6) if dense else nn.Conv2d(4, 6, 3), nn.ReLU(), nn.Flatten(), nn.LazyLinear(1)).double()
    x, y = torch.randn(8, 4, *([] if dense else [5, 5]), **F64), torch.randn(8, 1, **F64)
    model(x)
    st.parametrize(model, kind)
    with torch.no_grad():
        model[0].r[:3] *= -1
    thetas = [getattr(model[0], model[0].first).detach().clone()]

    def after(m):
        st.renormalize(m)
        thetas.append(getattr(m[0], m[0].first).detach().clone())

    with spherelu.watch(model) as watch:
        train(model, x, y, 3, after=after)
    about = watch["0"]
    same_planes(about, -1, model[0].weight, model[0].bias)
    lam = model[0]._parameters["lambda"].detach().numpy()
    assert np.allclose(about.offset[-1], lam) and (about.turn[1:, :5] > 0).any()
    if kind == "gmp":  # Theorem 3.7
        steps = np.array([torch.linalg.vector_norm((b - a).flatten(1), dim=1).numpy() for a, b in zip(thetas, thetas[1:])])
        assert (about.turn[1:] <= steps + 1e-12).all()


def test_a_zero_weight_has_no_boundary_and_a_turned_one_turns():
    model = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1)).double()
    with torch.no_grad():
        model[0].weight[0] = 0
        model[0].weight[1] *= 1e-200
        model[0].bias[1] = 0
    watch = spherelu.watch(model, data=torch.randn(5, 3, **F64), auto=False)
    with torch.no_grad():
        model[0].weight.neg_()
        model[0].bias.neg_()  # the same hyperplane from the other side
    watch.step()
    about = watch["0"]
    assert np.isnan(about.offset[:, 0]).all() and np.isnan(about.move[1, 0])
    assert np.allclose(about.turn[1, 1:], math.pi) and np.allclose(about.move[1, 1:], 0, atol=1e-15)
    assert watch.scalars()["boundaries/0/turn_max"] == pytest.approx(math.pi)
    watch.close()


# ---------------------------------------------------------------- where activations are


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = (nn.Linear(4, 4) for _ in range(4))
        self.e, self.unused, self.head = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        if x.sum() > 1e9:  # torch.fx cannot follow this
            return x
        x = self.a(x).relu()
        x = F.leaky_relu(self.b(x), 0.1)
        x = self.c(x).clamp(min=0)
        x = torch.relu(x + self.d(x))
        return self.head(torch.sigmoid(self.e(x)))


def test_functional_activations_are_seen_and_others_reported():
    model = Functional()
    watch = spherelu.watch(model, data=torch.randn(7, 4))
    assert {n: a.activation for n, a in watch.layers.items() if a.boundary != "none"} == {"a": "relu", "b": "leaky_relu", "c": "relu"}
    assert "add follows" in watch["d"].note and "sigmoid follows" in watch["e"].note and "not used" in watch["unused"].note
    assert "sigmoid" in watch.describe()
    watch.close()


@pytest.mark.parametrize("act", [nn.ReLU(inplace=True), nn.ReLU6(), nn.PReLU(), nn.ELU(), nn.SELU(), nn.CELU(), nn.RReLU(), nn.GELU(), nn.SiLU(), nn.Mish(), nn.Hardswish(), nn.Threshold(0, 0)])
def test_activations(act):
    model = nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.3), copy.deepcopy(act), nn.Linear(6, 1))
    x = torch.randn(9, 4)
    watch = spherelu.watch(model, data=x)
    assert watch["0"].boundary == "hyperplane", watch.describe()
    assert np.allclose(watch["0"].active_share[0], (model[0](x) > 0).float().mean(0).numpy())
    watch.close()


@pytest.mark.parametrize("act", [nn.Tanh(), nn.Sigmoid(), nn.Threshold(0.5, 0), nn.Hardtanh(), nn.Softmax(1), nn.GLU()])
def test_what_is_no_boundary_is_not_called_one(act):
    model = nn.Sequential(nn.Linear(4, 6), act)
    watch = spherelu.watch(model, data=torch.randn(9, 4))
    assert watch["0"].boundary == "none" and "follows" in watch["0"].note
    watch.close()


class Turned(nn.Module):
    """Units that move to another axis, and tokens."""

    def __init__(self):
        super().__init__()
        self.a, self.bn, self.b, self.head = nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 4), nn.Linear(4, 1)

    def forward(self, x):
        x = F.relu(self.bn(self.a(x).transpose(1, 2))).permute(0, 2, 1)
        return self.head(F.gelu(self.b(x).flatten(0, 1)))


def test_units_keep_their_axis_through_views():
    model, x = Turned(), torch.randn(6, 7, 3)
    watch = spherelu.watch(model, data=x)
    z = model.eval().bn(model.a(x).transpose(1, 2))
    assert watch["a"].normalization == "BatchNorm1d"
    assert np.allclose(watch["a"].active_share[0], (z > 0).float().mean((0, 2)).numpy())
    assert np.allclose(watch["b"].active_share[0], (model.b(F.relu(z).permute(0, 2, 1)) > 0).float().mean((0, 1)).numpy())
    watch.close()


class Standardized(nn.Linear):
    def forward(self, x):
        return F.linear(x, self.weight * 2 - 1, self.bias)


def test_a_layer_that_computes_something_else_is_reported():
    watch = spherelu.watch(nn.Sequential(Standardized(4, 6), nn.ReLU()), data=torch.randn(5, 4))
    assert watch["0"].boundary == "none" and "something else" in watch["0"].note
    watch.close()


def test_a_shared_layer_counts_all_its_calls():
    layer = nn.Linear(4, 4)
    model = nn.Sequential(layer, nn.ReLU(), layer, nn.ReLU(), nn.Linear(4, 1))
    x = torch.randn(9, 4)
    watch = spherelu.watch(model, data=x)
    both = torch.cat([layer(x), layer(F.relu(layer(x)))])
    assert list(watch.layers) == ["0", "4"] and np.allclose(watch["0"].active_share[0], (both > 0).float().mean(0).numpy())
    watch.close()


# ---------------------------------------------------------------- the training is not changed


def resnet(classes=10):
    torchvision = pytest.importorskip("torchvision")
    return torchvision.models.resnet18(num_classes=classes)


class Dropping(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 16), nn.RReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.body(x + 0.1 * torch.randn_like(x))  # random numbers in evaluation too


@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("convert", [None, "gmp", "sphere"])
def test_the_training_has_the_same_bits(every, convert):
    def run(watched):
        torch.manual_seed(1)
        model = Dropping()
        if convert:
            st.parametrize(model, convert, output="body.6")
        x, y = regression(dtype=torch.float32)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        watch = spherelu.watch(model, every) if watched else None
        for step in range(9):
            for part in range(2):  # gradients of two batches
                ((model(x[part::2]) - y[part::2]) ** 2).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
            if step == 4:
                with torch.no_grad():
                    model.eval()(x)
                model.train()
        if watch:
            assert watch.step_number == 8 + HOOKS or watch.close() or watch.step_number == 9
            watch.close()
        modes = [m.training for m in model.modules()]
        return [*model.state_dict().values(), torch.get_rng_state()], modes

    (plain, modes), (seen, modes_seen) = run(False), run(True)
    assert all(torch.equal(a, b) for a, b in zip(plain, seen)) and modes == modes_seen


def test_resnet_18_keeps_its_bits_and_is_followed():
    def run(watched):
        torch.manual_seed(2)
        model = resnet()
        x, y = torch.randn(6, 3, 32, 32), torch.arange(6)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        watch = spherelu.watch(model, every=2) if watched else None
        for _ in range(4):
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
        if watch:
            watch.close()
        return model, watch

    (plain, _), (model, watch) = run(False), run(True)
    assert all(torch.equal(a, b) for a, b in zip(plain.state_dict().values(), model.state_dict().values()))
    followed = {n for n, a in watch.layers.items() if a.boundary == "hyperplane"}
    assert followed == {"conv1", *(f"layer{k}.{j}.conv1" for k in range(1, 5) for j in range(2))}
    assert all("add" in watch[f"layer{k}.1.conv2"].note for k in range(1, 5)) and watch.steps == [0, 2, 4]
    conv, bn, about = model.layer2[1].conv1, model.layer2[1].bn1, watch["layer2.1.conv1"]
    factor = (bn.weight / torch.sqrt(bn.running_var + bn.eps)).detach().double()
    b = (factor * (0 - bn.running_mean.double()) + bn.bias.double()).detach()
    w = conv.weight.detach().double() * factor[:, None, None, None]
    _, offset, _ = hyperplane_by_hand(w, b)
    assert np.allclose(about.offset[-1], offset, rtol=1e-4, atol=1e-6)
    frame = watch.columns("units")
    assert len(frame["step"]) == 3 * sum(watch[n].units for n in followed) and set(frame["state"]) <= {"both", "dead", "always_on"}


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("first", [False, True])
def test_a_small_transformer(activation, first):
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, activation=activation, batch_first=True, norm_first=first)
    model = nn.Sequential(nn.Linear(3, 8), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False) if HOOKS else nn.TransformerEncoder(layer, 2), nn.Linear(8, 1))
    x, y = torch.randn(5, 7, 3), torch.randn(5, 7, 1)
    with spherelu.watch(model) as watch:
        train(model, x, y, 3)
    followed = [n for n, a in watch.layers.items() if a.boundary == "hyperplane"]
    assert followed == ["1.layers.0.linear1", "1.layers.1.linear1"], watch.describe()
    assert all(watch[n].activation == activation and watch[n].normalization == "none" and np.isfinite(watch[n].turn[1:]).all() for n in followed)
    assert "not used" in watch["1.layers.0.self_attn.out_proj"].note


def test_a_timm_model():
    timm = pytest.importorskip("timm")
    model = timm.create_model("vit_tiny_patch16_224", img_size=32, patch_size=8, num_classes=10)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with spherelu.watch(model) as watch:
        for _ in range(2):
            model(torch.randn(4, 3, 32, 32)).square().mean().backward()
            optimizer.step()
    assert [n for n, a in watch.layers.items() if a.boundary == "hyperplane"] == [f"blocks.{k}.mlp.fc1" for k in range(12)]
    conv = timm.create_model("resnet10t", num_classes=10)  # its norms contain their activations
    watch = spherelu.watch(conv, data=torch.randn(2, 3, 64, 64))
    assert "layer1.0.conv1" in [n for n, a in watch.layers.items() if a.boundary == "hyperplane" and a.normalization.startswith("BatchNorm")], watch.describe()
    watch.close()


# ---------------------------------------------------------------- odd models


def test_frozen_layers_do_not_move():
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 1))
    model[0].requires_grad_(False)
    x, y = regression(dtype=torch.float32)
    with spherelu.watch(model) as watch:
        train(model, x, y, 3)
    assert (watch["0"].move[1:] == 0).all() and (watch["0"].turn[1:] == 0).all() and not watch["0"].trainable
    assert (watch["2"].move[1:] > 0).any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(dtype):
    if dtype == torch.float16 and not HOOKS:
        pytest.skip("this PyTorch has no half precision on a CPU")
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)).to(dtype)
    watch = spherelu.watch(model, data=torch.randn(9, 4).to(dtype), auto=False)
    with torch.no_grad():
        model[0].bias += 1
    watch.step()
    same_planes(watch["0"], -1, model[0].weight, model[0].bias, bar=1e-5)
    watch.close()


def test_autocast_and_another_dtype_after_watch():
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
    x, y = regression(dtype=torch.float32)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with spherelu.watch(model) as watch:
        for dtype in (torch.float32, torch.float64):
            model.to(dtype)
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=dtype == torch.float32):
                loss = (model(x.to(dtype)) - y).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
    assert watch.steps == [0, 1, 2] and np.isfinite(watch["0"].turn[1:]).all()
    assert np.allclose(watch["0"].active_share[-1], (model[0](x.double()) > 0).double().mean(0).numpy())


@pytest.mark.parametrize("inner", [False, True])
def test_data_parallel(inner):
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
    wrapped = nn.DataParallel(model)
    x, y = regression(dtype=torch.float32)
    with spherelu.watch(model if inner else wrapped) as watch:
        train(wrapped, x, y, 2)
    assert watch.steps == [0, 1, 2] and watch["0"].boundary == "hyperplane"


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this PyTorch has no torch.compile")
@pytest.mark.parametrize("given", ["compiled", "data"])
def test_a_compiled_model(given):
    x, y = regression(dtype=torch.float32)

    def run(watched):
        torch.manual_seed(3)
        model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        watch = None
        if watched:
            watch = spherelu.watch(compiled) if given == "compiled" else spherelu.watch(model, data=x)
        train(compiled, x, y, 4)
        if watch:
            watch.close()
        return model, watch

    (plain, _), (model, watch) = run(False), run(True)
    assert watch.steps == [0, 1, 2, 3, 4] and np.isfinite(watch["0"].turn[1:]).all()
    assert all(torch.equal(a, b) for a, b in zip(plain.state_dict().values(), model.state_dict().values()))


@pytest.mark.skipif(not hasattr(torch, "compile"), reason="this PyTorch has no torch.compile")
def test_a_model_that_is_compiled_after_watch_needs_data():
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
    x, y = regression(dtype=torch.float32)
    with pytest.warns(UserWarning, match="pass data="), spherelu.watch(model) as watch:
        train(torch.compile(model, backend="eager"), x, y, 2)
    assert not watch.steps


def test_flips_of_large_layers_are_those_of_the_first_rows(monkeypatch):
    from spherelu.torch import _watch

    monkeypatch.setattr(_watch, "_BITS", 6 * 5)
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)).double()
    x = torch.randn(20, 4, **F64)
    watch = spherelu.watch(model, data=x, auto=False)
    before = model[0](x) > 0
    with torch.no_grad():
        model[0].bias += 0.3
    watch.step()
    after = model[0](x) > 0
    assert np.allclose(watch["0"].flips[1], (before != after)[:5].double().mean(0).numpy())
    assert np.allclose(watch["0"].active_share[1], after.double().mean(0).numpy())
    watch.close()


@pytest.mark.skipif(not HOOKS, reason="this PyTorch does not tell when an optimizer stepped")
def test_steps_of_several_optimizers():
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1)).double()
    other = nn.Linear(2, 2)
    x, y = regression()
    optimizers = [torch.optim.SGD(model[0].parameters(), lr=0.1), torch.optim.Adam(model[2].parameters()), torch.optim.SGD(other.parameters(), lr=0.1)]
    for p in other.parameters():
        p.grad = torch.ones_like(p)
    with spherelu.watch(model) as watch:
        for _ in range(5):
            (model(x) - y).square().mean().backward()
            for optimizer in optimizers:
                optimizer.step()
        assert watch.step_number == 5
        for _ in range(3):  # the first is not used any more
            (model(x) - y).square().mean().backward()
            optimizers[1].step()
        assert watch.step_number == 8
        lbfgs = torch.optim.LBFGS(model.parameters(), max_iter=4)

        def closure():
            lbfgs.zero_grad()
            loss = (model(x) - y).square().mean()
            loss.backward()
            return loss

        lbfgs.step(closure)
        lbfgs.step(closure)
        assert watch.step_number == 9  # from its second step on, it is known that the others have stopped
    assert not [h for h in sys.modules["torch.optim.optimizer"]._global_optimizer_post_hooks.values() if getattr(h, "__self__", None) is watch]


def test_copies_and_files_of_a_watched_model_are_not_watched():
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
    x, y = regression(dtype=torch.float32)
    with spherelu.watch(model) as watch:
        twin = copy.deepcopy(model)
        file = io.BytesIO()
        torch.save(model, file)
        train(twin, x, y, 2)
        assert watch.steps == []
        train(model, x, y, 2)
    assert watch.steps == [0, 1, 2] and not any(m._forward_hooks or m._forward_pre_hooks for m in model.modules())
    train(model, x, y, 2)
    assert watch.steps == [0, 1, 2]


def test_a_model_called_with_keywords_and_a_forward_of_its_own():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 5), nn.Linear(5, 1)

        def forward(self, x, scale=None):
            return self.b(F.relu(self.a(x * scale)))

        def loss(self, batch):
            return self(batch["x"], scale=batch["scale"]).mean()

    model, batch = Two(), {"x": torch.randn(6, 4), "scale": torch.tensor(2.0)}
    watch = spherelu.watch(model, data=batch)
    assert watch["a"].boundary == "hyperplane"
    watch.close()
    watch = spherelu.watch(model, data=(batch,), forward=lambda m, b: m.loss(b))
    assert np.allclose(watch["a"].active_share[0], (model.a(batch["x"] * 2) > 0).float().mean(0).numpy())
    watch.close()


def test_a_model_that_cannot_be_probed_warns_and_trains():
    class Training(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(4, 1)

        def forward(self, x):
            if not self.training:
                raise RuntimeError("only for training")
            return F.relu(self.a(x))

    model, (x, y) = Training(), regression(dtype=torch.float32)
    with pytest.warns(UserWarning, match="only for training"), spherelu.watch(model) as watch:
        train(model, x, y, 2)
    assert watch["a"].boundary == "none"
    with pytest.raises(RuntimeError, match="only for training"):
        spherelu.watch(model, data=x)


def test_a_buffer_that_evaluation_changes_is_restored():
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(4, 1)
            self.register_buffer("calls", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            return F.relu(self.a(x))

    model, (x, y) = Counting(), regression(dtype=torch.float32)
    with pytest.warns(UserWarning, match="calls"), spherelu.watch(model) as watch:
        train(model, x, y, 3)
    assert model.calls == 3 and watch["a"].boundary == "hyperplane" and np.isfinite(watch["a"].turn[1:]).all()


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda m: spherelu.watch(3), TypeError, "expected a torch.nn.Module"),
        (lambda m: spherelu.watch(m, every=0), ValueError, "every"),
        (lambda m: spherelu.watch(m, layers=["x"]), ValueError, "no Linear or Conv is called 'x'"),
        (lambda m: spherelu.watch(nn.ReLU()), ValueError, "no Linear or Conv"),
        (lambda m: spherelu.watch(m, data=torch.randn(2, 4)).step(), RuntimeError, "auto=False"),
        (lambda m: spherelu.watch(m, data=torch.randn(2, 4)).columns("x"), ValueError, "level"),
        (lambda m: spherelu.watch(m, data=torch.randn(2, 4))["9"], KeyError, "no layer is called"),
        (lambda m: spherelu.watch(m, data=torch.randn(2, 4), locations=False)["0"].phi, AttributeError, "locations"),
    ],
)
def test_errors_name_the_problem(call, error, words):
    with pytest.raises(error, match=words):
        call(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 1)))


# ---------------------------------------------------------------- what comes out


def test_tables_callbacks_and_tensorboard(tmp_path):
    model = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))
    x, y = regression(dtype=torch.float32)
    seen, written = [], []

    class Writer:
        def add_scalar(self, *args):
            written.append(args)

    with spherelu.watch(model, every=2, callbacks=[seen.append], tensorboard=Writer()) as watch:
        train(model, x, y, 4)
    assert [s["step"] for s in seen] == [0, 2, 4]
    about = watch["0"]
    assert seen[-1]["boundaries/0/turn_max"] == about.turn[-1].max() and seen[-1]["boundaries/0/dead"] == (about.active_share[-1] == 0).sum()
    assert ("boundaries/0/move_max", seen[-1]["boundaries/0/move_max"], 4) in written and all(isinstance(v, float) for s in seen for v in s.values())
    layers, units = watch.columns(), watch.columns("units")
    assert list(layers["step"]) == [0, 2, 4] and set(layers["layer"]) == {"0"} and np.isnan(layers["turn_max"][0])
    assert layers["turn_p90"][-1] == pytest.approx(np.quantile(about.turn[-1], 0.9))
    assert (units["turn"][-6:] == about.turn[-1]).all() and len(units["unit"]) == 18
    try:
        import pandas  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="pip install pandas"):
            watch.to_pandas()
    else:
        frame = watch.to_pandas("units")
        assert frame.groupby("step").turn.max()[4] == about.turn[-1].max()
    pytest.importorskip("tensorboard")
    with spherelu.watch(model, data=x, tensorboard=str(tmp_path)) as watch:
        train(model, x, y, 2)
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(tmp_path))
    events.Reload()
    assert [e.step for e in events.Scalars("boundaries/0/turn_max")] == [1, 2]


def test_the_table_in_a_notebook_is_escaped():
    model = nn.Sequential()
    model.add_module("<b>", nn.Linear(2, 3))
    model.add_module("act", nn.ReLU())
    with spherelu.watch(model, data=torch.randn(4, 2)) as watch:
        shown = watch._repr_html_()
    assert "<td>&lt;b&gt;</td><td>Linear</td><td>3</td>" in shown and "<b>" not in shown


def test_later_passes_see_the_units_that_the_first_one_saw():
    """Hooks at modules find what the operations of PyTorch tell, and are not used where they cannot."""
    from spherelu.torch._probe import places, probe

    model = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Unflatten(1, (2, 3)), nn.Conv1d(2, 4, 2), nn.ReLU(inplace=True))
    x = torch.randn(8, 3)
    watch = spherelu.watch(model, data=x)
    assert watch._places == {"0": model[1], "4": model[4]}
    found, again = probe(model, watch._modules, lambda: model(x)), watch._pass()
    for name in ("0", "4"):
        assert all(torch.equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(found[name].active, again[name].active, strict=True))
    watch.close()

    class Sometimes(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(3, 3)

        def forward(self, x):
            return self.fc(torch.relu(self.fc(x)))  # its second call has no activation

    model = Sometimes()
    watch = spherelu.watch(model, data=x)
    assert places(watch._modules, probe(model, watch._modules, lambda: model(x))) is None and watch._places is None
    watch.close()


def test_pictures():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    model = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 1))
    x, y = regression(inputs=2, dtype=torch.float32)
    with spherelu.watch(model) as watch:
        with pytest.raises(ValueError, match="nothing was recorded"):
            watch.plot()
        train(model, x, y, 5)
    axes = watch.plot()
    assert [len(a.lines) for a in axes.flat] == [4, 4, 12, 0] and axes.flat[3].collections
    assert (axes.flat[1].lines[0].get_ydata() == np.degrees(watch["0"].turn[1:].max(axis=1))).all()
    assert (axes.flat[2].lines[0].get_xydata() == watch["0"].phi[:, 0]).all()
    watch.plot("trajectories", "2", units=[1, 3])  # five inputs: principal directions
    watch.plot("units", "2")
    with pytest.raises(ValueError, match="kind"):
        watch.plot("x")
    with pytest.raises(ValueError, match="no activation"):
        watch.plot("units", "4")


def test_lightning(tmp_path):
    lightning = pytest.importorskip("lightning")

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 1))

        def training_step(self, batch, _):
            x, y = batch
            return F.mse_loss(self.net(x), y)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters())

    x, y = regression(dtype=torch.float32)
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=10)
    seen = []
    callback = st.WatchCallback(every=2, callbacks=[seen.append])
    trainer = lightning.Trainer(max_epochs=2, callbacks=[callback], logger=False, enable_checkpointing=False, enable_progress_bar=False, default_root_dir=tmp_path, accelerator="cpu")
    trainer.fit(Module(), loader)
    assert callback.watch.steps == [0, 2, 4, 6, 8] and len(seen) == 5 and callback.watch["0"].boundary == "hyperplane"


# ---------------------------------------------------------------- regions


def test_regions_are_those_of_the_network():
    model = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 6), nn.LeakyReLU(), nn.Linear(6, 3)).double()
    model(torch.randn(30, 2, **F64))
    st.parametrize(model, "gmp", names=["3"])
    found = st.regions(model, (-2, 2, -1, 1), task="classes")
    ours = spherelu.Net.from_torch(model, torch.randn(4, 2, **F64)).regions((-2, 2, -1, 1), task="classes")
    assert len(found) == len(ours) and found.area.sum() == pytest.approx(8) and len(found.segments) == len(ours.segments)
    assert model.training


class Small(nn.Module):
    """A residual convolutional network."""

    def __init__(self):
        super().__init__()
        self.stem, self.bn = nn.Conv2d(1, 3, 3, padding=1), nn.BatchNorm2d(3)
        self.branch, self.head = nn.Conv2d(3, 3, 3, padding=1), nn.Linear(3 * 4, 4)

    def forward(self, x):
        x = F.relu(self.bn(self.stem(x)))
        x = F.relu(x + self.branch(x))
        return self.head(F.avg_pool2d(x, 3).flatten(1))


def test_regions_of_a_small_cnn_are_where_its_output_is_affine():
    model = Small()
    model(torch.randn(8, 1, 6, 6))
    plane = torch.randn(3, 1, 6, 6)
    found = st.regions(model, (0, 1.5, 0, 1), plane=plane)
    assert len(found) > 20 and found.area.sum() == pytest.approx(1.5)
    p = plane.double().flatten(1)
    first = p[1] - p[0]
    first = first / first.norm()
    second = p[2] - p[0]
    second = second - (second @ first) * first
    second = second / second.norm()
    twin = copy.deepcopy(model).double().eval()
    for polygon, maps in list(zip(found.vertices, found.maps))[:: len(found) // 10]:
        s, t = polygon.mean(axis=0)
        image = (p[0] + s * first + t * second).reshape(1, 1, 6, 6)
        assert np.allclose(maps @ [s, t, 1], twin(image).detach().numpy()[0], atol=1e-8)


@pytest.mark.parametrize(
    "model, words",
    [
        (nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(8, 1)), "max pool"),
        (nn.Sequential(nn.Flatten(), nn.Linear(36, 4), nn.GELU(), nn.Linear(4, 1)), "affine"),
        (nn.Sequential(nn.Flatten(), nn.Linear(36, 4), nn.LayerNorm(4), nn.ReLU(), nn.Linear(4, 1)), "affine"),
        (nn.Sequential(nn.Flatten(), nn.Linear(30, 4), nn.ReLU()), "does not take"),
        (nn.Sequential(nn.Flatten(), nn.Linear(36, 4), nn.PReLU()), "PReLU"),
    ],
)
def test_regions_refuse_what_is_not_piecewise_linear(model, words):
    with pytest.raises(spherelu.ArgumentError, match=words):
        st.regions(model, plane=torch.randn(3, 1, 6, 6))
