# SPDX-License-Identifier: MIT
"""GmP and sphere inside PyTorch modules."""

import copy
import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn

import spherelu
import spherelu.torch as st
from spherelu.torch import _op

F64 = dict(dtype=torch.float64)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def mlp(*widths, dtype=torch.float64):
    layers = []
    for n, m in zip(widths, widths[1:]):
        layers += [nn.Linear(n, m, dtype=dtype), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def by_autograd(theta):
    """What the papers' code does: a cumulative product, differentiated by the framework."""
    one = theta.new_ones(theta.shape[0], 1)
    return torch.cat([one, torch.cumprod(torch.sin(theta), 1)], 1) * torch.cat([torch.cos(theta), one], 1)


# ---------------------------------------------------------------- u(theta)


@pytest.mark.parametrize("m, n", [(1, 2), (3, 3), (17, 40), (5, 600)])
def test_directions_and_gradients_are_those_of_autograd(m, n):
    theta = (torch.rand(m, n - 1, **F64) * 3 + 0.05).requires_grad_()
    weight = torch.randn(m, n, **F64)
    want = torch.autograd.grad((by_autograd(theta) * weight).sum(), theta)[0]
    u = st.directions(theta)
    got = torch.autograd.grad((u * weight).sum(), theta)[0]
    assert torch.allclose(u, by_autograd(theta), atol=1e-14)
    assert torch.allclose(got, want, atol=1e-11)
    with torch.no_grad():
        assert torch.allclose(st.scan(theta), u, atol=1e-14)
        assert torch.allclose(st.scan_grad(theta, weight), got, atol=1e-11)


def test_gradcheck_at_poles():
    theta = torch.tensor([[0.0, 1.0, 2.0], [math.pi, 0.0, 0.0], [0.5, math.pi, -1.0], [1.0, 2.0, 0.0]], **F64, requires_grad=True)
    assert torch.autograd.gradcheck(st.directions, (theta,), eps=1e-6, atol=1e-8)


def test_f32_is_as_good_as_f32_can_be():
    theta = torch.rand(20, 4607, dtype=torch.float32) * 0.2 + 1.5
    assert torch.allclose(st.directions(theta).double(), st.directions(theta.double()), atol=2e-6)
    half = st.directions(theta[:, :50].bfloat16())
    assert half.dtype == torch.bfloat16


def test_wrong_shapes_are_refused():
    for bad in (torch.zeros(3), torch.zeros(3, 0), torch.zeros(2, 2, 2)):
        with pytest.raises(ValueError):
            st.directions(bad)


# ---------------------------------------------------------------- modules


@pytest.mark.parametrize("kind", ["gmp", "sphere"])
@pytest.mark.parametrize(
    "layer, shape",
    [
        (lambda: nn.Linear(6, 5, **F64), (4, 6)),
        (lambda: nn.Conv1d(3, 4, 3, **F64), (2, 3, 9)),
        (lambda: nn.Conv2d(3, 4, 3, padding=1, bias=False, **F64), (2, 3, 5, 5)),
        (lambda: nn.Conv3d(2, 3, 2, **F64), (1, 2, 4, 4, 4)),
        (lambda: nn.Conv2d(4, 4, 3, groups=2, **F64), (2, 4, 5, 5)),
    ],
)
def test_layers_compute_the_same_before_and_after(kind, layer, shape):
    module, x = layer(), torch.randn(*shape, **F64)
    want, weight = module(x), module.weight.detach().clone()
    st.parametrize(module, kind)
    assert torch.allclose(module(x), want, atol=1e-13)
    st.bake(module)
    assert torch.allclose(module.weight, weight, atol=1e-14) and type(module) is type(layer())
    assert set(module.state_dict()) <= {"weight", "bias"} and isinstance(module.weight, nn.Parameter)


@pytest.mark.parametrize("kind", ["gmp", "sphere"])
def test_state_dicts_have_the_names_of_our_files(kind):
    model = st.parametrize(mlp(3, 4, 5, 1), kind)
    names = list(model.state_dict())
    first = "theta" if kind == "gmp" else "u"
    assert set(names) == {f"{k}.{t}" for k in (0, 2) for t in (first, "lambda", "r")} | {"4.weight", "4.bias"}
    assert model.state_dict()[f"0.{first}"].shape == ((4, 2) if kind == "gmp" else (4, 3))
    conv = st.parametrize(nn.Conv2d(2, 5, 3), kind).state_dict()[first]
    assert conv.shape == ((5, 17) if kind == "gmp" else (5, 2, 3, 3))
    other = st.parametrize(mlp(3, 4, 5, 1), kind)
    x = torch.randn(7, 3, **F64)
    assert not torch.allclose(other(x), model(x))
    other.load_state_dict(model.state_dict())
    assert torch.equal(other(x), model(x))
    twin = copy.deepcopy(model)
    assert torch.equal(twin(x), model(x)) and list(twin.state_dict()) == names
    with torch.no_grad():
        twin[0].r.mul_(2)
    assert not torch.equal(twin(x), model(x)), "a copy has numbers of its own, its offsets included"
    assert torch.allclose(twin[0].bias, 2 * model[0].bias)


def test_the_last_layer_stays_plain_and_names_choose():
    model = st.parametrize(mlp(3, 4, 5, 1))
    assert [name for name, _ in st.parametrized(model)] == ["0", "2"]
    model = st.parametrize(mlp(3, 4, 5, 1), names=["2"])
    assert [name for name, _ in st.parametrized(model)] == ["2"]
    st.parametrize(model)
    assert [name for name, _ in st.parametrized(model)] == ["0", "2"], "what is parametrized already stays"
    with pytest.raises(ValueError):
        st.parametrize(mlp(3, 4, 1), names=["nobody"])
    with pytest.raises(ValueError):
        st.parametrize(mlp(3, 4, 1), kind="nobody")
    one_input = st.parametrize(mlp(1, 4, 1))
    assert not list(st.parametrized(one_input))


def test_zero_rows():
    model = mlp(3, 4, 1)
    with torch.no_grad():
        model[0].weight[1] = 0
        model[0].bias[1] = 0
    x = torch.randn(5, 3, **F64)
    want = model(x)
    for kind in ("gmp", "sphere"):
        turned = st.parametrize(copy.deepcopy(model), kind)
        got = turned(x)
        assert torch.allclose(got, want, atol=1e-14)
        got.sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in turned.parameters())
    with torch.no_grad():
        model[0].bias[1] = 2
    with pytest.raises(ValueError, match="'0': unit 1"):
        st.parametrize(model)
    assert not list(st.parametrized(model))


@pytest.mark.parametrize("init", ["paper", "glorot"])
def test_first_values(init):
    model = st.parametrize(mlp(30, 400, 1), init=init)
    r = model.state_dict()["0.r"]
    assert torch.allclose(r, torch.ones_like(r)) == (init == "paper")
    assert (model.state_dict()["0.lambda"] == 0).all()


def test_group_lr_sorts_parameters():
    model = st.parametrize(mlp(3, 4, 5, 1))
    groups = {g["name"]: g for g in st.group_lr(model, 0.1, theta=0.5, r=2, weight_decay=0.01)}
    assert len(groups["theta"]["params"]) == 2 and groups["theta"]["lr"] == 0.05 and groups["theta"]["weight_decay"] == 0
    assert groups["r"]["lr"] == 0.2 and groups["r"]["weight_decay"] == 0.01 and len(groups["weight"]["params"]) == 1
    assert sum(len(g["params"]) for g in groups.values()) == len(list(model.parameters()))
    torch.optim.Adam(list(groups.values()))


# ---------------------------------------------------------------- beside our own trainer


def pair(kind, epochs, lr, rows=40):
    """A net of ours and a module of the same numbers, the net trained by full-batch sgd for some steps."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(rows, 4)), rng.normal(size=(rows, 1))
    options = dict(param=kind, hidden=[6, 5], optimizer="sgd", lr=lr, momentum=0.0, batch="full", dtype="f64", test=0, val=0, patience=0, standardize="off", loss="mse", init="glorot", schedule="none")
    begin = spherelu.train(x, y, epochs=1, **{**options, "lr": 1e-300}).net
    last = spherelu.train(x, y, epochs=epochs, start=begin, **options)
    model = st.parametrize(mlp(4, 6, 5, 1), kind)
    state = {}
    for name, values in begin.tensors.items():
        _, k, which = name.split(".")
        state[f"{2 * int(k)}.{which}"] = torch.from_numpy(values)
    model.load_state_dict(state)
    return begin, last.net, model, torch.from_numpy(x), torch.from_numpy(y)


@pytest.mark.parametrize("kind", ["gmp", "sphere"])
def test_our_files_and_modules_are_the_same_function(kind):
    begin, _, model, x, _ = pair(kind, 1, 0.01)
    assert np.allclose(model(x).detach().numpy(), begin(x.numpy()), atol=1e-12)


@pytest.mark.parametrize("kind", ["gmp", "sphere"])
@pytest.mark.parametrize("steps, bar", [(1, 1e-9), (20, 1e-6)])
def test_steps_are_those_of_our_trainer(kind, steps, bar):
    begin, last, model, x, y = pair(kind, steps, 0.02)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        st.renormalize(model)
        losses.append(loss.item())
    assert losses[-1] <= losses[0]
    moved = max(np.abs(last.tensors[n] - begin.tensors[n]).max() for n in begin.tensors)
    assert moved > 1e-4
    for name, values in last.tensors.items():
        _, k, which = name.split(".")
        got = model.state_dict()[f"{2 * int(k)}.{which}"].numpy()
        assert np.abs(got - values).max() < bar * 0.02 if steps == 1 else np.abs(got - values).max() < bar, name


def conv_pair(kind, epochs, lr, folder):
    """A vgg6 of ours without normalization and the same module, the net trained by full-batch sgd; the images as the module takes them."""
    rng = np.random.default_rng(1)
    images, labels = rng.integers(0, 256, size=(12, 8, 8), dtype=np.uint8), np.arange(12) % 3
    data = folder / "images"
    data.mkdir()
    for name, values in (("train-images-idx3-ubyte", images), ("train-labels-idx1-ubyte", labels.astype(np.uint8))):
        (data / name).write_bytes(bytes([0, 0, 8, values.ndim]) + np.array(values.shape, dtype=">u4").tobytes() + values.tobytes())
    options = dict(net="vgg6", width=1 / 32, param=kind, norm="none", optimizer="sgd", momentum=0.0, batch="full", dtype="f64", test=0, val=0, patience=0)
    options |= dict(standardize="off", augment="none", schedule="none")
    begin = spherelu.train(data, out=folder / "begin", epochs=1, init="glorot", lr=1e-300, **options).net
    begin.save(folder / "begin.safetensors")
    last = spherelu.train(data, out=folder / "last", epochs=epochs, init=folder / "begin.safetensors", lr=lr, **options).net
    parts, channels = [], 1
    for k, units in enumerate(layer.units for layer in begin.layers[:-1]):
        parts += [nn.Conv2d(channels, units, 3, padding=1, **F64), nn.ReLU(), *([nn.MaxPool2d(2)] if k % 2 else [])]
        channels = units
    model = st.parametrize(nn.Sequential(*parts, nn.Flatten(), nn.Linear(channels, 3, **F64)), kind)
    place = {f"layers.{k}": str(i) for k, i in enumerate(i for i, part in enumerate(model) if isinstance(part, (nn.Conv2d, nn.Linear)))}
    names = {name: f"{place[name.rsplit('.', 1)[0]]}.{name.rsplit('.', 1)[1]}" for name in begin.tensors}
    model.load_state_dict({names[name]: torch.from_numpy(values) for name, values in begin.tensors.items()})
    x = torch.from_numpy(images[:, None] / 255.0)
    return begin, last, model, names, x, torch.from_numpy(labels)


@pytest.mark.parametrize("kind", ["gmp", "sphere"])
@pytest.mark.parametrize("steps, bar", [(1, 1e-9), (20, 1e-6)])
def test_steps_of_a_conv_net_are_those_of_our_trainer(kind, steps, bar, tmp_path):
    lr = 0.05
    begin, last, model, names, x, labels = conv_pair(kind, steps, lr, tmp_path)
    assert len(begin.layers) == 7 and np.allclose(model(x).detach().numpy(), begin(x.numpy().reshape(len(x), -1) * 255), atol=1e-12)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), labels).backward()
        optimizer.step()
        st.renormalize(model)
    for name, values in last.tensors.items():
        assert np.abs(values - begin.tensors[name]).max() > 1e-7, f"{name} has not moved"
        # one step is lr times the gradient
        assert np.abs(model.state_dict()[names[name]].numpy() - values).max() < (bar * lr if steps == 1 else bar), name


def test_watch_measures_moves_and_turns():
    model = mlp(2, 3, 1)
    with spherelu.watch(model, data=torch.zeros(1, 2, **F64), auto=False) as watch, torch.no_grad():
        w = model[0].weight
        w[:] = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], **F64)
        model[0].bias[:] = torch.tensor([1.0, 0.0, 0.0], **F64)
        watch.step()
        w[0] = torch.tensor([0.0, 1.0], **F64)
        scalars = watch.step()
        assert math.isclose(scalars["boundaries/0/turn_max"], math.pi / 2)
        assert math.isclose(scalars["boundaries/0/move_max"], math.sqrt(2))
        assert watch.step()["boundaries/0/turn_max"] == 0 and watch.steps == [0, 1, 2, 3]


# ---------------------------------------------------------------- other people's models, and the process


def resnet18():
    torchvision = pytest.importorskip("torchvision")
    return torchvision.models.resnet18(weights=None)


def test_a_resnet_18_keeps_its_logits():
    model = resnet18().eval()
    for m in model.modules():
        if isinstance(m, nn.BatchNorm2d):  # as after some training
            m.running_mean.normal_(0, 0.1)
            m.running_var.uniform_(0.5, 2)
    x = torch.randn(2, 3, 64, 64)
    with torch.no_grad():
        want = model(x)
        turned = st.parametrize(copy.deepcopy(model))
        assert len(list(st.parametrized(turned))) == 20
        assert (turned(x) - want).abs().max() < 1e-5 * want.abs().max().clamp_min(1)
        baked = st.bake(turned)
        assert (baked(x) - want).abs().max() < 1e-5 * want.abs().max().clamp_min(1)
        assert list(baked.state_dict()) != [] and set(baked.state_dict()) == set(model.state_dict())


def test_a_small_vit_keeps_its_logits():
    models = pytest.importorskip("torchvision").models
    model = models.VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=32, mlp_dim=64, num_classes=10).eval()
    nn.init.normal_(model.heads.head.weight)
    x = torch.randn(3, 3, 32, 32)
    with torch.no_grad():
        want = model(x)
        traced = hasattr(torch, "func")  # torch.fx of PyTorch 1 cannot follow this model
        turned = st.parametrize(model, output=None if traced else "heads.head")
        assert len(list(st.parametrized(turned))) == 7  # the patches, and of each block the attention's output and both of its mlp
        assert (turned(x) - want).abs().max() < 1e-5 * want.abs().max().clamp_min(1)


def test_a_transformer_block_keeps_its_numbers():
    block = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).eval()
    x = torch.randn(2, 5, 16)
    with torch.no_grad():
        want = block(x)
        turned = st.parametrize(block, names=["linear1"])
        turned.train().eval()
        with torch.enable_grad():  # the way that training takes, not the fused one
            assert torch.allclose(turned(x), want, atol=1e-5)


@pytest.mark.skipif(not _op.COMPILES, reason="PyTorch before 2.4")
def test_torch_compile_takes_it_whole():
    model = st.parametrize(mlp(3, 8, 1, dtype=torch.float32))
    x = torch.randn(4, 3)
    compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
    assert torch.allclose(compiled(x), model(x), atol=1e-6)
    compiled(x).sum().backward()
    got = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(x).sum().backward()
    assert all(torch.allclose(a, p.grad, atol=1e-6) for a, p in zip(got, model.parameters()))


@pytest.mark.skipif(not _op.COMPILES, reason="PyTorch before 2.4")
def test_the_operator_is_the_function():
    theta = torch.rand(5, 300, **F64, requires_grad=True)
    weight = torch.randn(5, 301, **F64)
    (a,) = torch.autograd.grad((_op._operator(theta)[0] * weight).sum(), theta)
    (b,) = torch.autograd.grad((st.directions(theta) * weight).sum(), theta)
    assert torch.equal(a, b)
    torch.library.opcheck(_op._operator, (theta.detach().requires_grad_(),))


def test_autocast():
    model = st.parametrize(mlp(8, 8, 1, dtype=torch.float32))
    x = torch.randn(4, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = model(x)
    assert y.dtype == torch.bfloat16 and torch.allclose(y.float(), model(x), atol=0.05)
    y.float().sum().backward()


@pytest.mark.skipif(not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed")
def test_two_processes_of_ddp_take_the_steps_of_one(tmp_path):
    """Each rank has half of the rows; gradients are means over both, so that two steps are those of one process on all rows."""
    code = """
import sys, torch, torch.distributed as dist
from torch import nn
import spherelu.torch as st
rank, folder = int(sys.argv[1]), sys.argv[2]
torch.manual_seed(0)
model = st.parametrize(nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, 1)).double())
x, y = torch.randn(8, 3, dtype=torch.float64), torch.randn(8, 1, dtype=torch.float64)
if rank >= 0:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    x, y = x[rank::2], y[rank::2]
    wrapped = nn.parallel.DistributedDataParallel(model)
else:
    wrapped = model
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    ((wrapped(x) - y) ** 2).mean().backward()
    optimizer.step()
torch.save(model.state_dict(), f"{folder}/{rank}.pt")
"""
    import subprocess
    import sys

    started = [subprocess.Popen([sys.executable, "-c", code, str(rank), str(tmp_path)]) for rank in (-1, 0, 1)]
    assert [process.wait(300) for process in started] == [0, 0, 0]
    alone, first, second = (torch.load(tmp_path / f"{rank}.pt") for rank in (-1, 0, 1))
    assert list(alone) == list(first)
    for name, values in alone.items():
        assert torch.equal(first[name], second[name]) and torch.allclose(first[name], values, atol=1e-12), name


def test_two_openmp_runtimes_live_side_by_side():
    """Threads of both, in turn, in one process: neither crashes nor waits for the other."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3000, 8))
    a = torch.randn(400, 400)
    theta = torch.rand(256, 2000, dtype=torch.float32)
    torch.set_num_threads(2)
    for _ in range(3):
        (a @ a).sum().item()
        spherelu.train(x, x[:, 0], epochs=3, threads=2, hidden=[64])
        st.directions(theta)
        (a @ a).sum().item()
