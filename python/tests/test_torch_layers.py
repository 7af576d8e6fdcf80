# SPDX-License-Identifier: MIT
"""Layers of spherelu.torch: derivatives of every order, r behind the activation, ties, pickles, devices, exports."""

import copy
import io
import math
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn
from torch.nn import functional as F

import spherelu
import spherelu.torch as st

F64 = dict(dtype=torch.float64)
KINDS = pytest.mark.parametrize("kind", ["gmp", "sphere"])
needs_func = pytest.mark.skipif(not hasattr(torch, "func"), reason="torch.func is of PyTorch 2.0")


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def mlp(*widths, dtype=torch.float64, act=nn.ReLU):
    layers = []
    for n, m in zip(widths, widths[1:]):
        layers += [nn.Linear(n, m, dtype=dtype), act()]
    return nn.Sequential(*layers[:-1])


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = nn.Linear(4, 1, **F64)  # defined first, used last
        self.fc1, self.fc2 = nn.Linear(3, 5, **F64), nn.Linear(5, 4, **F64)

    def forward(self, x):
        return self.last(torch.relu(self.fc2(F.relu(self.fc1(x)))))


def a_layer(kind):
    """A layer at a pole, with a unit of r = 0 and one of negative r, and its parameters as leaves."""
    model = st.parametrize(mlp(4, 5, 2), kind)
    with torch.no_grad():
        if kind == "gmp":
            model[0].theta[0] = 0
        model[0].r[1] = 0
        model[0].r[2] *= -1
        model[0].get_parameter("lambda").normal_()
    return model


# ---------------------------------------------------------------- derivatives


def weight_of(kind):
    """(first, r) to weight, the function, and another way to write it."""
    layer = st.parametrize(nn.Linear(5, 4, **F64), kind)
    first, r = (p.detach().clone() for p in (getattr(layer, layer.first), layer.r))
    if kind == "gmp":
        first[0], first[1, 1] = 0, math.pi
    r[1] = -2.0

    def plain(a, b):
        if kind == "sphere":
            return a / a.norm(dim=1, keepdim=True) * b[:, None]
        columns, before = [], torch.ones_like(a[:, 0])
        for i in range(a.shape[1]):
            columns.append(before * torch.cos(a[:, i]))
            before = before * torch.sin(a[:, i])
        return torch.stack([*columns, before], 1) * b[:, None]

    return layer.rows, plain, first, r


@KINDS
def test_gradcheck_and_gradgradcheck(kind):
    function, _, first, r = weight_of(kind)
    inputs = first.requires_grad_(), r.requires_grad_()
    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, inputs)
    if hasattr(torch, "func"):  # PyTorch 1.13 has not all of it
        assert torch.autograd.gradcheck(function, inputs, check_batched_grad=True)
        assert torch.autograd.gradgradcheck(function, inputs, check_fwd_over_rev=True)


@KINDS
def test_a_gradient_penalty_has_the_gradient_of_differences(kind):
    """The second derivative of a whole model, units of r = 0 and r < 0 included."""
    model, x = a_layer(kind), torch.randn(6, 4, **F64)
    parameters = list(model.parameters())

    def penalty():
        (dx,) = torch.autograd.grad(model(x_).square().sum(), x_, create_graph=True)
        return dx.square().sum()

    x_ = x.clone().requires_grad_()
    got = torch.autograd.grad(penalty(), parameters)
    for p, g in zip(parameters, got):
        if p is model[0].r:  # at r = 0 the two sides are two functions
            continue
        for i in range(0, p.numel(), 3):
            with torch.no_grad():
                p.view(-1)[i] += 1e-6
            up = penalty().item()
            with torch.no_grad():
                p.view(-1)[i] -= 2e-6
            down = penalty().item()
            with torch.no_grad():
                p.view(-1)[i] += 1e-6
            assert abs((up - down) / 2e-6 - g.view(-1)[i].item()) < 1e-5 * max(1, abs(up))


@needs_func
@KINDS
@pytest.mark.parametrize("way", ["grad", "hessian", "reverse twice", "forward twice", "vmap of hessian", "vmap", "jvp", "per row"])
def test_torch_func(kind, way):
    function, plain, first, r = weight_of(kind)
    probe = torch.randn(4, 5, **F64)
    many = torch.stack([first, first + 1, -first + 0.2])
    func = torch.func
    ways = {
        "grad": lambda f: func.grad(f, (0, 1))(first, r),
        "hessian": lambda f: func.hessian(f, (0, 1))(first, r),
        "reverse twice": lambda f: func.jacrev(func.jacrev(f))(first, r),
        "forward twice": lambda f: func.jacfwd(func.jacfwd(f))(first, r),
        "vmap of hessian": lambda f: func.vmap(func.hessian(f), (0, None))(many, r),
        "vmap": lambda f: func.vmap(func.grad(f), (0, None))(many, r),
        "jvp": lambda f: func.jvp(f, (first, r), (probe[:, : first.shape[1]], r))[1],
        "per row": lambda f: func.vmap(func.jacrev(f, 1), (0, None))(many, r),
    }
    got, want = (ways[way](lambda a, b, g=g: (torch.sin(g(a, b)) * probe).sum()) for g in (function, plain))
    flat = torch.utils._pytree.tree_leaves
    assert flat(want) and all(torch.allclose(a, b, atol=1e-10) for a, b in zip(flat(got), flat(want)))


@needs_func
@KINDS
def test_torch_compile_of_a_model_and_of_transforms(kind):
    model, x = a_layer(kind), torch.randn(3, 4, **F64)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    assert torch.allclose(compiled(x), model(x), atol=1e-12)
    got, want = (torch.autograd.grad(m(x).sum(), list(model.parameters())) for m in (compiled, model))
    assert all(torch.allclose(a, b, atol=1e-12) for a, b in zip(got, want))
    parameters = dict(model.named_parameters())

    def slope(values, x):
        return torch.func.jvp(lambda v: torch.func.functional_call(model, v, (x,)).square().sum(), (values,), (values,))[1]

    assert torch.allclose(torch.compile(slope, backend="eager")(parameters, x), slope(parameters, x))


@KINDS
def test_huge_and_tiny_weights(kind):
    for dtype, size in ((torch.float32, 1e25), (torch.float32, 1e-30), (torch.float64, 1e200), (torch.float64, 1e-200)):
        layer = nn.Linear(6, 4, dtype=dtype)
        with torch.no_grad():
            layer.weight.mul_(size)
        want = layer.weight.detach().clone()
        st.parametrize(layer, kind)
        assert torch.allclose(layer.weight / size, want / size, rtol=1e-5), (dtype, size)
        if kind == "sphere":  # u of any length
            with torch.no_grad():
                layer.u.mul_(size)
            assert torch.allclose(layer.weight / size, want / size, rtol=1e-5), (dtype, size)
            st.renormalize(layer)
            assert torch.allclose(layer.u.norm(dim=1), torch.ones(4, dtype=dtype), rtol=1e-5)
    with torch.no_grad():
        layer = nn.Linear(3, 2)
        layer.weight[1, 0] = math.inf
    with pytest.raises(ValueError, match="unit 1"):
        st.parametrize(layer, kind)


# ---------------------------------------------------------------- r behind the activation


@KINDS
@pytest.mark.parametrize("make", [lambda: mlp(3, 5, 4, 1), lambda: mlp(3, 5, 4, 1, act=nn.LeakyReLU), Functional])
def test_negative_r_changes_the_sign_behind_the_activation(kind, make):
    model = st.parametrize(make(), kind)
    assert [m.signed for _, m in st.parametrized(model)] == [True, True]
    x, layer = torch.randn(9, 3, **F64), dict(st.parametrized(model))["fc1" if isinstance(model, Functional) else "0"]
    act = F.relu if isinstance(model, Functional) else model[1].__class__()
    weight, before = layer.weight.detach().clone(), model(x)
    with torch.no_grad():
        layer.r[::2] *= -1
    assert torch.equal(layer.weight, weight), "the boundary stays"
    s = layer.r.sign()
    inner = act(x @ weight.T + layer.bias) * s
    rest = F.linear(inner, model.fc2.weight, model.fc2.bias) if isinstance(model, Functional) else model[2](inner)
    want = model.last(F.relu(rest)) if isinstance(model, Functional) else model[3:](rest)
    assert torch.allclose(model(x), want, atol=1e-14) and not torch.allclose(model(x), before)


def bound(model, optimizer_of, steps, kind):
    """The largest turn over the length of the change of theta (or u), of every unit in every step."""
    x = torch.randn(64, 2, **F64)
    y = (x[:, :1] * x[:, 1:]).sign()
    optimizer, worst, crossed = optimizer_of(model), 0.0, 0
    layers = [m for _, m in st.parametrized(model)]
    for _ in range(steps):
        before = [(getattr(m, m.first).detach().clone(), m.weight.detach().clone(), m.r.detach().clone()) for m in layers]
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        for m, (first, w, r) in zip(layers, before):
            now = m.weight.detach()
            crossed += int(((r > 0) != (m.r > 0)).sum())
            a, b = now / now.norm(dim=1, keepdim=True), w / w.norm(dim=1, keepdim=True)
            turn = 2 * torch.atan2((a - b).norm(dim=1), (a + b).norm(dim=1))
            change = (getattr(m, m.first).detach() - first).norm(dim=1)
            worst = max(worst, float((turn - change).max()))
        st.renormalize(model)
    return worst, crossed


@pytest.mark.parametrize("act", [nn.ReLU, nn.LeakyReLU, nn.Tanh])
@pytest.mark.parametrize("kind, optimizer", [("gmp", "SGD"), ("gmp", "Adam"), ("sphere", "SGD")])
def test_a_step_turns_no_boundary_by_more_than_the_change_of_theta(kind, optimizer, act):
    """Theorem 3.7, at rate 0.1, with r that crosses 0: behind a homogeneous activation, and where none follows."""
    model = st.parametrize(mlp(2, 30, 30, 1, act=act), kind)
    with torch.no_grad():  # small, so that many change their sign
        for _, m in st.parametrized(model):
            m.r.mul_(0.2)
    worst, crossed = bound(model, lambda m: getattr(torch.optim, optimizer)(m.parameters(), lr=0.1), 150, kind)
    assert worst < 1e-9
    assert crossed > 0, "no r has crossed 0: the test shows nothing"


@KINDS
def test_r_of_zero_and_of_both_signs_learn_as_in_our_trainer(kind):
    """Twenty full-batch steps beside spherelu.train, from units of positive, negative and zero r."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 4)), rng.normal(size=(40, 1))
    lr = 0.02
    options = dict(param=kind, hidden=[6, 5], optimizer="sgd", lr=lr, momentum=0.0, batch="full", dtype="f64", test=0, val=0, patience=0, standardize="off", loss="mse", init="glorot", schedule="none")
    begin = spherelu.train(x, y, epochs=1, **{**options, "lr": 1e-300}).net
    for k in (0, 1):
        r = begin.tensors[f"layers.{k}.r"]
        r[::2] *= -1
        r[1] = 0
        begin.set(f"layers.{k}.r", r)
        begin.set(f"layers.{k}.lambda", rng.normal(size=r.shape) * 0.3)
    model = st.parametrize(mlp(4, 6, 5, 1), kind)
    model.load_state_dict({f"{2 * int(n.split('.')[1])}.{n.split('.')[2]}": torch.from_numpy(v) for n, v in begin.tensors.items()})
    tx, ty = torch.from_numpy(x), torch.from_numpy(y)
    assert np.abs(model(tx).detach().numpy() - begin(x)).max() < 1e-12
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    net = begin
    for step in range(20):
        optimizer.zero_grad()
        F.mse_loss(model(tx), ty).backward()
        optimizer.step()
        st.renormalize(model)
        net = spherelu.train(x, y, epochs=1, start=net, **options).net
        for name, values in net.tensors.items():
            _, k, which = name.split(".")
            assert np.abs(model.state_dict()[f"{2 * int(k)}.{which}"].numpy() - values).max() < 1e-10, (step, name)
    moved = net.tensors["layers.0.r"][1]
    assert moved != 0, "a unit of r = 0 learns"


def test_where_the_sign_cannot_stand_r_is_a_length():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c, self.d = (nn.Linear(3, 3, **F64) for _ in range(4))
            self.norm, self.relu = nn.LayerNorm(3, **F64), nn.ReLU()

        def forward(self, x):
            x = x + self.a(x)  # no activation
            x = self.relu(self.norm(self.b(x)))  # a normalization between
            return self.d(self.relu(self.c(x)) + x)  # a ReLU that is called twice, and an addition behind it

    model = st.parametrize(Shared())
    assert {name: m.signed for name, m in st.parametrized(model)} == {"a": False, "b": False, "c": False}
    x = torch.randn(5, 3, **F64)
    want = model(x)
    with torch.no_grad():
        for _, m in st.parametrized(model):
            m.r.neg_()
    assert torch.allclose(model(x), want, atol=1e-14)
    with torch.no_grad():
        model.a.r.zero_()
    model(x).sum().backward()
    assert (model.a.r.grad != 0).all(), "a unit of r = 0 learns"


# ---------------------------------------------------------------- parametrize and bake


@KINDS
def test_bake_leaves_parameters(kind):
    x = torch.randn(4, 3, **F64)
    model = mlp(3, 5, 4, 1)
    for p in model[0].parameters():
        p.requires_grad_(False)
    want = model(x)
    with torch.no_grad():
        st.bake(st.parametrize(model, kind))
    names = dict(model.named_parameters())
    assert set(names) == {f"{k}.{w}" for k in (0, 2, 4) for w in ("weight", "bias")} and not list(model.buffers())
    assert [p.requires_grad for p in model.parameters()] == [False, False, True, True, True, True]
    assert torch.allclose(model(x), want, atol=1e-13) and all(type(m) is nn.Linear for m in model[::2])
    st.parametrize(model, kind)
    assert not model[0].r.requires_grad and not model[0].get_parameter("lambda").requires_grad and model[2].r.requires_grad


@KINDS
def test_bake_moves_signs_into_the_next_layer(kind):
    conv = nn.Sequential(nn.Conv2d(2, 4, 3, **F64), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(4, 3, 2, **F64), nn.ReLU(), nn.Flatten(), nn.Dropout(0.5), nn.Linear(12, 2, **F64)).eval()
    for model, x in ((mlp(3, 5, 4, 1), torch.randn(6, 3, **F64)), (Functional(), torch.randn(6, 3, **F64)), (conv, torch.randn(2, 2, 8, 8, **F64))):
        st.parametrize(model, kind)
        with torch.no_grad():
            for _, m in st.parametrized(model):
                m.r[::2] *= -1
                m.r[1] = 0
        want = model(x)
        st.bake(model, strict=True)
        assert torch.allclose(model(x), want, atol=1e-12)
        assert not list(model.buffers()) and {n.split(".")[-1] for n in model.state_dict()} == {"weight", "bias"}


def test_signs_that_cannot_be_moved_stay_behind_the_activation():
    model = nn.Sequential(nn.Conv2d(2, 4, 3, **F64), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 2, **F64))
    x = torch.randn(2, 2, 8, 8, **F64)
    st.parametrize(model)
    assert st.bake(copy.deepcopy(model), strict=True) is not None, "no r is negative"
    with torch.no_grad():
        model[0].r[0] *= -1
    want = model(x)
    with pytest.raises(ValueError, match="'0'"):
        st.bake(copy.deepcopy(model), strict=True)
    st.bake(model)
    assert torch.allclose(model(x), want, atol=1e-13) and model.state_dict()["1.sign"].tolist() == [-1, 1, 1, 1]
    again = pickle.loads(pickle.dumps(model))
    assert torch.equal(again(x), model(x))


def test_the_output_layer_is_the_one_before_the_output():
    model = st.parametrize(Functional())
    assert [name for name, _ in st.parametrized(model)] == ["fc1", "fc2"]

    class Dynamic(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 1)

        def forward(self, x):
            return self.second(self.first(x) if x.sum() > 0 else x)

    with pytest.raises(ValueError, match="output="):
        st.parametrize(Dynamic())
    model = st.parametrize(Dynamic(), output="second")
    assert [name for name, _ in st.parametrized(model)] == ["first"] and not model.first.signed
    for wrong in (dict(output="third"), dict(names=["third"]), dict(names="first", output="second")):
        with pytest.raises(ValueError):
            st.parametrize(Dynamic(), **wrong)
    with pytest.raises(ValueError, match="names="):
        st.parametrize(nn.Sequential(nn.Linear(3, 2)))


def test_a_second_parametrize_is_refused():
    model = st.parametrize(mlp(3, 4, 4, 1), names=["0"])
    st.parametrize(model)  # the rest
    for options in ({}, dict(kind="sphere"), dict(names=["0"]), dict(init="paper")):
        with pytest.raises(ValueError):
            st.parametrize(model, **options)
    st.parametrize(st.bake(model), "sphere")
    assert {m.kind for _, m in st.parametrized(model)} == {"sphere"}


@pytest.mark.parametrize("what", ["weight_norm", "spectral_norm", "parametrization", "pruning"])
def test_a_weight_that_is_computed_is_refused_by_name(what):
    model = mlp(3, 4, 1)
    if what == "pruning":
        from torch.nn.utils import prune

        prune.random_unstructured(model[0], "weight", 0.5)
    elif what == "parametrization":
        torch.nn.utils.parametrize.register_parametrization(model[0], "weight", nn.Identity())
    else:
        getattr(torch.nn.utils, what)(model[0])
    with pytest.raises(ValueError, match="'0'"):
        st.parametrize(model)
    assert not list(st.parametrized(model))


@KINDS
def test_ties_are_kept_or_refused_by_name(kind):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.out = nn.Linear(4, 4, **F64), nn.Linear(4, 4, **F64), nn.Linear(4, 4, **F64)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.out(torch.relu(self.b(torch.relu(self.a(x)))))

    x, model = torch.randn(3, 4, **F64), Tied()
    want = model(x)
    st.parametrize(model, kind)
    assert model.a.r is model.b.r and torch.allclose(model(x), want, atol=1e-13)
    twin = copy.deepcopy(model)
    assert twin.a.r is twin.b.r
    st.bake(model)
    assert model.a.weight is model.b.weight and model.a.bias is not model.b.bias and torch.allclose(model(x), want, atol=1e-13)
    with pytest.raises(ValueError, match="'a'.*'b.weight'"):
        st.parametrize(model, kind, names=["a"])
    model = Tied()
    model.out.weight = model.a.weight
    with pytest.raises(ValueError, match="out.weight"):
        st.parametrize(model, kind)
    assert not list(st.parametrized(model))


# ---------------------------------------------------------------- other tools


@KINDS
@pytest.mark.parametrize("make", [lambda: mlp(3, 5, 4, 1), Functional])
def test_pickles_and_copies(kind, make):
    model, x = st.parametrize(make(), kind), torch.randn(6, 3, **F64)
    with torch.no_grad():
        dict(st.parametrized(model)).popitem()[1].r[0] *= -1
    want = model(x)
    saved = io.BytesIO()
    torch.save(model, saved)
    saved.seek(0)
    loaded = torch.load(saved, **({"weights_only": False} if hasattr(torch, "func") else {}))
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), loaded, copy.deepcopy(pickle.loads(pickle.dumps(model)))):
        assert torch.equal(twin(x), want)
        with torch.no_grad():
            for p in twin.parameters():
                p.neg_()
        assert torch.equal(model(x), want), "a copy has numbers of its own"
        assert not torch.equal(twin(x), want)
        st.bake(twin)


def test_skorch_trains_clones_and_pickles():
    skorch = pytest.importorskip("skorch")
    module = st.parametrize(mlp(3, 5, 1, dtype=torch.float32))
    net = skorch.NeuralNetRegressor(module, max_epochs=2, lr=0.01, verbose=0, train_split=None)
    x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    net.fit(x, x[:, :1])
    again = pickle.loads(pickle.dumps(net))
    assert np.array_equal(again.predict(x), net.predict(x)) and len(list(st.parametrized(again.module_))) == 1


@needs_func
def test_distributed_state_dicts():
    pytest.importorskip("torch.distributed.checkpoint.state_dict")
    from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_optimizer_state_dict, set_model_state_dict

    model, other = st.parametrize(mlp(3, 5, 1)), st.parametrize(mlp(3, 5, 1))
    state = get_model_state_dict(model)
    assert set(state) == set(model.state_dict()) == {name for name, _ in model.named_parameters()} == {"0.theta", "0.lambda", "0.r", "2.weight", "2.bias"}
    set_model_state_dict(other, state)
    x = torch.randn(4, 3, **F64)
    assert torch.equal(other(x), model(x))
    optimizer = torch.optim.Adam(model.parameters())
    model(x).sum().backward()
    optimizer.step()
    assert "0.theta" in get_optimizer_state_dict(model, optimizer)["state"]


@needs_func
@KINDS
def test_the_meta_device(kind):
    with torch.device("meta"):
        model = mlp(3, 5, 1)
    st.parametrize(model, kind, init="paper")
    assert model(torch.empty(2, 3, device="meta", **F64)).shape == (2, 1)
    full = st.parametrize(mlp(3, 5, 1), kind)
    model.to_empty(device="cpu")
    model.load_state_dict(full.state_dict())
    x = torch.randn(4, 3, **F64)
    assert torch.equal(model(x), full(x))
    for m in model.modules():
        if hasattr(m, "reset_parameters"):
            m.reset_parameters()
    assert not torch.allclose(model(x), full(x)) and (model[0].weight.abs() <= 1 / math.sqrt(3) + 1e-9).all()
    baked = st.bake(model)
    assert not baked[0].weight.is_meta


@KINDS
def test_lazy_layers(kind):
    make = lambda: nn.Sequential(nn.LazyLinear(5), nn.ReLU(), nn.BatchNorm1d(5), nn.LazyLinear(1))
    x = torch.randn(6, 3)
    with pytest.raises(ValueError, match="example="):
        st.parametrize(make(), kind)
    model = st.parametrize(make(), kind, example=x)
    assert [name for name, _ in st.parametrized(model)] == ["0"] and model[0].weight.shape == (5, 3)
    assert model.training and model[2].num_batches_tracked == 0, "the example leaves no trace"
    pickle.loads(pickle.dumps(model))(x)


@KINDS
def test_onnx_export_of_a_trace_needs_no_bake(kind, tmp_path):
    onnx = pytest.importorskip("onnx")
    model = st.parametrize(mlp(3, 5, 4, 1, dtype=torch.float32), kind).eval()
    with torch.no_grad():
        model[0].r[0] *= -1
    x = torch.randn(4, 3)
    file = str(tmp_path / "model.onnx")
    torch.onnx.export(model, (x,), file, **({"dynamo": False} if hasattr(torch, "func") else {}))
    assert {node.domain for node in onnx.load(file).graph.node} == {""}, "operators of ONNX alone"
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(file)
    (got,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    assert np.abs(got - model(x).detach().numpy()).max() < 1e-5


@needs_func
@KINDS
def test_torch_export_works_or_says_to_bake(kind, tmp_path):
    """The programs of torch.export are Python source, which has no attribute called lambda."""
    x = torch.randn(3, 4, **F64)
    with pytest.raises(Exception, match="bake"):
        torch.export.export(a_layer(kind), (x,))
    if pytest.importorskip("onnxscript"):
        with pytest.raises(Exception, match="bake"):
            torch.onnx.export(a_layer(kind), (x,), str(tmp_path / "model.onnx"), dynamo=True)
    baked = st.bake(a_layer(kind))
    assert torch.allclose(torch.export.export(baked, (x,)).module()(x), baked(x), atol=1e-12)
    model = st.parametrize(nn.Sequential(nn.Linear(4, 5, bias=False, **F64), nn.ReLU(), nn.Linear(5, 1, **F64)), kind)
    program = torch.export.export(model, (x,))
    assert torch.allclose(program.module()(x), model(x), atol=1e-12)
    assert "spherelu" not in str(program.graph), "an exported program needs no operator of ours"
