# SPDX-License-Identifier: MIT
"""Net.from_torch and Net.to_torch: the same function, or a refusal."""

import json
import pathlib
import pickle
import re
import struct

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn
from torch.nn import functional as F

import spherelu
import spherelu.torch as st
from spherelu import Net

F64 = dict(dtype=torch.float64)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def chain(*layers, dtype=torch.float64):
    model = nn.Sequential(*layers).to(dtype)
    for m in model.modules():
        if isinstance(m, (nn.BatchNorm1d, nn.BatchNorm2d)):  # as after some training
            nn.init.normal_(m.running_mean)
            nn.init.uniform_(m.running_var, 0.5, 2)
            nn.init.normal_(m.weight)
            nn.init.normal_(m.bias)
    return model.eval()


class Reversed(nn.Module):
    """Its names sort the other way round, and its activation is not ReLU."""

    def __init__(self):
        super().__init__()
        self.z, self.a = nn.Linear(4, 4, **F64), nn.Linear(4, 4, **F64)

    def forward(self, x):
        return self.a(F.elu(self.z(x)))


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.branch = nn.Conv2d(2, 4, 3, padding=1, **F64), nn.Conv2d(4, 4, 3, padding=1, groups=2, **F64)
        self.norm, self.head = nn.GroupNorm(2, 4, **F64), nn.Linear(4, 3, **F64)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = F.relu(x + self.norm(self.branch(x)))
        return self.head(torch.flatten(F.adaptive_avg_pool2d(x, 1), 1))


MODULES = {
    "relu": (lambda: chain(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2)), (4,)),
    "f32, no bias, leaky": (lambda: chain(nn.Linear(4, 6, bias=False), nn.LeakyReLU(), nn.Linear(6, 2), dtype=torch.float32), (4,)),
    "elu, dropout": (lambda: chain(nn.Linear(4, 6), nn.ELU(), nn.Dropout(0.5), nn.Linear(6, 2)), (4,)),
    "names in another order": (Reversed, (4,)),
    "bn with a bias before it": (lambda: chain(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 2)), (4,)),
    "bn of its own epsilon, ln": (lambda: chain(nn.Linear(4, 6, bias=False), nn.BatchNorm1d(6, eps=1e-3), nn.ReLU(), nn.Linear(6, 5), nn.LayerNorm(5), nn.ReLU(), nn.Linear(5, 2)), (4,)),
    "conv, bn, max pool": (lambda: chain(nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 6, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(6, 5)), (2, 8, 8)),
    "residual": (Residual, (2, 6, 6)),
    "one layer": (lambda: nn.Linear(4, 3, **F64), (4,)),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_becomes_a_net_and_a_module_again(name):
    make, shape = MODULES[name]
    module = make().eval()
    x = torch.randn(9, *shape, dtype=next(module.parameters()).dtype)
    net = Net.from_torch(module, x)
    want = module(x).detach().double().numpy()
    assert np.abs(net(x.double().numpy().reshape(9, -1)) - want).max() < (1e-5 if x.dtype == torch.float32 else 1e-12)
    back = net.to_torch()
    assert np.abs(back(x).detach().double().numpy() - want).max() < (1e-5 if x.dtype == torch.float32 else 1e-12)
    again = pickle.loads(pickle.dumps(back))
    assert torch.equal(again(x), back(x))


@pytest.mark.parametrize("kind", ["gmp", "sphere"])
def test_coordinates_and_signs_stay(kind):
    module = st.parametrize(chain(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5), nn.LeakyReLU(), nn.Linear(5, 2)), kind)
    with torch.no_grad():
        module[0].r[::2] *= -1
        module[2].r[1] = 0
    x = torch.randn(7, 4, **F64)
    net = Net.from_torch(module, x)
    assert [layer.param for layer in net.layers] == [kind, kind, "sp"]
    back = net.to_torch()
    assert list(back.state_dict()) == list(module.state_dict())
    for name, values in module.state_dict().items():
        assert torch.allclose(back.state_dict()[name], values, atol=1e-15), name
    assert torch.allclose(back(x), module(x), atol=1e-13)


@pytest.mark.parametrize("param, norm, act", [("sp", "none", "relu"), ("wn", "none", "leaky_relu"), ("gmp", "none", "relu"), ("sphere", "none", "elu"), ("gmp", "bn", "relu"), ("sp", "ln", "relu"), ("sphere", "gn", "relu")])
def test_a_trained_net_becomes_a_module(param, norm, act, rng):
    x = rng.normal(size=(60, 3)) * [1, 10, 100] + 5
    x[3, 1] = np.nan
    net = spherelu.train(x, x[:, 0] * 7 - 3, hidden=[8, 8], epochs=30, param=param, norm=norm, activation=act, lr=0.1, dtype="f64").net
    module = net.to_torch()
    assert np.abs(module(torch.from_numpy(x)).detach().numpy() - net(x)).max() < 1e-10
    if norm == "none" and act != "elu":
        assert np.abs(Net.from_torch(module, torch.from_numpy(np.nan_to_num(x)))(x) - net(x)).max() < 1e-10
    module.train()(torch.from_numpy(np.nan_to_num(x))).sum().backward()
    assert all(p.grad is not None for p in module.parameters())


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4, **F64), nn.Linear(4, 2, **F64)

    def forward(self, x):
        return self.b(torch.relu(self.a(torch.relu(self.a(x)))))


class Branching(Twice):
    def forward(self, x):
        return self.b(x) if x.sum() > 0 else self.b(self.a(x))


REFUSED = {
    "tanh": (lambda: chain(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 2)), (4,), "Tanh"),
    "slope": (lambda: chain(nn.Linear(4, 6), nn.LeakyReLU(0.2), nn.Linear(6, 2)), (4,), "0.2"),
    "alpha": (lambda: chain(nn.Linear(4, 6), nn.ELU(2.0), nn.Linear(6, 2)), (4,), "alpha"),
    "dilation": (lambda: chain(nn.Conv2d(2, 4, 3, dilation=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)), (2, 8, 8), "dilation"),
    "an oblong window": (lambda: chain(nn.Conv2d(2, 4, (3, 1)), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)), (2, 8, 8), "square"),
    "an embedding": (lambda: chain(nn.Linear(4, 4), nn.Softmax(1), nn.Linear(4, 2)), (4,), "Softmax"),
    "a layer called twice": (Twice, (4,), "2 times"),
    "control flow": (Branching, (4,), "torch.fx"),
    "half precision": (lambda: chain(nn.Linear(4, 2), dtype=torch.float16), (4,), "f32"),
    "a sequence": (lambda: chain(nn.Linear(4, 2)), (5, 4), "example"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_represented_is_refused(name):
    make, shape, match = REFUSED[name]
    with pytest.raises(spherelu.ArgumentError, match=match):
        Net.from_torch(make(), torch.randn(3, *shape, **F64))


def test_a_net_that_is_another_function_is_not_given(monkeypatch):
    """The comparison of outputs is the last word: here a hook does what no graph shows."""
    module = chain(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    module[1].register_forward_hook(lambda m, args, out: out + 1)
    with pytest.raises(spherelu.ArgumentError, match="outputs"):
        Net.from_torch(module, torch.randn(3, 4, **F64))


def test_nets_that_pytorch_has_not_are_refused(table):
    for options in (dict(norm="mbn"), dict(activation="srelu")):
        net = spherelu.train(*table, hidden=4, epochs=1, **options).net
        with pytest.raises(spherelu.ArgumentError):
            net.to_torch()


def test_a_state_dict_is_no_net():
    """It says neither which activation is where nor in which order layers come."""
    tensors = {"z.weight": np.ones((4, 4), "<f4"), "z.bias": np.ones(4, "<f4"), "a.weight": np.ones((4, 4), "<f4"), "a.bias": np.ones(4, "<f4")}
    header, place = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [place, place + values.nbytes]}
        place += values.nbytes
    text = json.dumps(header).encode()
    data = struct.pack("<Q", len(text)) + text + b"".join(v.tobytes() for v in tensors.values())
    with pytest.raises(spherelu.FormatError, match="from_torch"):
        Net.from_bytes(data)


def test_the_examples_of_the_readme_run():
    readme = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    section = readme.split("## PyTorch\n")[1].split("\n## ")[0]
    examples = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names = {}
    for example in examples:
        exec(example, names)
    assert len(examples) == 2 and 0 < names["watch"].scalars()["boundaries/0/turn_max"] < np.pi
    assert torch.allclose(names["again"](names["x"]), names["model"](names["x"]), atol=1e-5)
