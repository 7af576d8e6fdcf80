# SPDX-License-Identifier: MIT
"""PyTorch modules as networks of libspherelu, and back."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import torch
from torch import Tensor, fx, nn
from torch.nn import functional as F

from .._errors import ArgumentError
from .._net import Net
from ._layers import Coordinates, FixedSigns, _hooks, parametrize, run
from ._trace import SUPPORTED, Graph, TraceError, argument, is_addition

_KEY = "spherelu"  # of the metadata
_LEAKY = 0.01
_NORMS = {"bn": (nn.BatchNorm1d, nn.BatchNorm2d), "ln": (nn.LayerNorm,), "gn": (nn.GroupNorm,)}
_DROPPED = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.Identity)
_DTYPES = {torch.float32: ("f32", "F32", "<f4"), torch.float64: ("f64", "F64", "<f8")}


def _refuse(what: str) -> ArgumentError:
    return ArgumentError(f"module: {what}", key="module")


# ---------------------------------------------------------------- from a module


class _Builder:
    """The description and the tensors of a network, from the graph of a module."""

    def __init__(self, module: nn.Module, example: Tensor) -> None:
        self.graph = Graph(nn.Sequential(module) if isinstance(module, SUPPORTED) else module)
        self.nodes: list[dict[str, Any]] = []
        self.tensors: dict[str, Tensor] = {}
        self.at: dict[fx.Node, int] = {}  # the node of the network whose values a node of the graph has
        self.flat: set[fx.Node] = set()  # images that were flattened
        self.scaling: dict[str, Any] = {}
        shape = example.shape[1:]
        if len(shape) == 1:
            self.add(kind="input", features=shape[0])
        elif len(shape) == 3:
            self.add(kind="image", channels=shape[0], height=shape[1], width=shape[2])
        else:
            raise _refuse(f"an example of shape {tuple(example.shape)}, expected (rows, features) or (rows, channels, height, width)")
        output = None
        for node in self.graph.graph.nodes:
            if node in self.at:
                continue
            if node.op == "placeholder":
                if 0 in self.at.values():
                    raise _refuse("it takes more than one argument")
                self.at[node] = 0
            elif node.op == "output":
                if not isinstance(node.args[0], fx.Node):
                    raise _refuse("it gives more than one tensor")
                output = self.at[node.args[0]]
            else:
                self.take(node)
        self.description = {"dtype": "", "nodes": self.nodes, "output": output}

    def add(self, **node: Any) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def source(self, node: fx.Node, i: int = 0) -> int:
        before = node.args[i] if len(node.args) > i else node.kwargs.get("input")
        if not isinstance(before, fx.Node) or before not in self.at:
            raise self.unknown(node)
        if before in self.flat:
            self.flat.add(node)
        return self.at[before]

    def unknown(self, node: fx.Node) -> ArgumentError:
        what = f"'{node.target}', a {type(self.graph.modules[node.target]).__name__}," if node.op == "call_module" else f"'{getattr(node.target, '__name__', node.target)}'"
        return _refuse(f"{what} is not supported by libspherelu")

    def only_user(self, node: fx.Node) -> fx.Node | None:
        return next(iter(node.users)) if len(node.users) == 1 else None

    def take(self, node: fx.Node) -> None:
        module = self.graph.module(node)
        if isinstance(module, (nn.Linear, nn.Conv2d)):
            self.layer(node, module)
        elif (word := self.activation(node)) is not None:
            self.check_signs(node)
            self.at[node] = self.add(kind="act", **{"from": self.source(node)}, act=word)
        elif isinstance(module, _DROPPED) or node.target in (F.dropout, F.dropout2d):
            self.at[node] = self.source(node)
        elif isinstance(module, nn.Flatten) or node.target in (torch.flatten, "flatten"):
            start, end = (module.start_dim, module.end_dim) if isinstance(module, nn.Flatten) else (argument(node, 1, "start_dim", 0), argument(node, 2, "end_dim", -1))
            if start != 1 or end not in (-1, 3):
                raise _refuse(f"'{node}' flattens dimensions {start} to {end}, expected 1 to -1")
            self.at[node] = self.source(node)
            self.flat.add(node)
        elif isinstance(module, (nn.MaxPool2d, nn.AvgPool2d)):
            self.pool(node, module)
        elif isinstance(module, nn.AdaptiveAvgPool2d) or node.target is F.adaptive_avg_pool2d:
            size = module.output_size if isinstance(module, nn.AdaptiveAvgPool2d) else argument(node, 1, "output_size")
            if size not in (1, (1, 1), [1, 1]):
                raise _refuse(f"'{node}' pools to {size}, expected 1")
            self.at[node] = self.add(kind="global_pool", **{"from": self.source(node)})
        elif is_addition(node) and len(node.all_input_nodes) == 2 and not node.kwargs.get("alpha"):
            self.at[node] = self.add(kind="add", **{"from": [self.source(node), self.source(node, 1)]})
        elif isinstance(module, Standardize) and self.source(node) == 0 and len(self.nodes) == 1:
            self.scaling.update(x_mean=module.mean, x_scale=module.scale, x_fill=module.fill, features=len(module.mean))  # type: ignore[arg-type]
            if module.clip is not None:
                self.scaling["x_clip"] = module.clip
            self.at[node] = 0
        elif isinstance(module, Unstandardize) and (after := self.only_user(node)) is not None and after.op == "output":
            self.scaling.update(y_mean=module.mean, y_scale=module.scale, targets=len(module.mean))  # type: ignore[arg-type]
            self.at[node] = self.source(node)
        else:
            raise self.unknown(node)

    def check_signs(self, node: fx.Node) -> None:
        """Signs that belong to no layer of the network."""
        module = self.graph.module(node)
        if module is not None and next(_hooks(module), None) is not None:
            raise _refuse(f"'{node.target}' has signs of a layer that is not right before it")

    def activation(self, node: fx.Node) -> str | None:
        module = self.graph.module(node)
        if isinstance(module, nn.ReLU) or node.target in (F.relu, torch.relu, torch.relu_, "relu", "relu_"):
            return "relu"
        if isinstance(module, nn.LeakyReLU) or node.target is F.leaky_relu:
            slope = module.negative_slope if isinstance(module, nn.LeakyReLU) else argument(node, 1, "negative_slope", 0.01)
            if slope != _LEAKY:
                raise _refuse(f"'{node.target}' has slope {slope}; libspherelu's leaky_relu has {_LEAKY}")
            return "leaky_relu"
        if isinstance(module, nn.ELU) or node.target is F.elu:
            alpha = module.alpha if isinstance(module, nn.ELU) else argument(node, 1, "alpha", 1.0)
            if alpha != 1:
                raise _refuse(f"'{node.target}' has alpha {alpha}; libspherelu's elu has 1")
            return "elu"
        return None

    def pool(self, node: fx.Node, module: Any) -> None:
        def one(value: Any) -> int:
            values = {value} if isinstance(value, int) else set(value)
            if len(values) != 1:
                raise _refuse(f"'{node.target}' has a window that is not square: {value}")
            return int(values.pop())

        largest = isinstance(module, nn.MaxPool2d)
        plain = not module.ceil_mode and (one(module.dilation) == 1 if largest else not module.padding and not module.divisor_override)
        if not plain:
            raise _refuse(f"'{node.target}' has ceil_mode, dilation, padding of an average, or divisor_override, which libspherelu does not support")
        self.at[node] = self.add(kind="max_pool" if largest else "avg_pool", **{"from": self.source(node)}, kernel=one(module.kernel_size), stride=one(module.stride), pad=one(module.padding))

    def layer(self, node: fx.Node, module: Any) -> None:
        """A layer with the normalization and the activation behind it."""
        path = str(node.target) or "layer"
        source = self.source(node)
        described: dict[str, Any] = {"kind": "dense", "from": source, "path": path, "units": module.weight.shape[0], "signs": False}
        if isinstance(module, nn.Conv2d):
            described["kind"] = "conv"
            sizes = set(module.kernel_size), set(module.stride), set(module.padding) if not isinstance(module.padding, str) else {module.padding}
            if any(len(s) != 1 for s in sizes) or isinstance(module.padding, str) or set(module.dilation) != {1} or (module.padding_mode != "zeros" and set(module.padding) != {0}):
                raise _refuse(f"'{path}' has a window that is not square, dilation, or padding other than a fixed number of zeros, which libspherelu does not support")
            described.update(kernel=sizes[0].pop(), stride=sizes[1].pop(), pad=sizes[2].pop())
            if module.groups > 1:
                described["groups"] = module.groups
        elif self.nodes[source]["kind"] not in ("input", "dense", "global_pool", "act", "add") and node.args[0] not in self.flat:
            raise _refuse(f"'{path}' takes images that were not flattened")
        if len(self.graph.calls[module]) > 1:
            raise _refuse(f"'{path}' is called {len(self.graph.calls[module])} times; libspherelu's layers are not shared")
        last, norm = node, "none"
        after = self.only_user(last)
        follower = self.graph.module(after) if after is not None else None
        for word, classes in _NORMS.items():
            if isinstance(follower, classes) and after is not None:
                last, norm = after, word
                self.norm(path, word, follower, described)
        after = self.only_user(last)
        act = self.activation(after) if after is not None else None
        if act is not None and after is not None:
            last = after
        self.weights(path, module, norm, act or "identity", last, described)
        described.update(norm=norm, act=act or "identity")
        number = self.add(**described)
        at: fx.Node | None = node
        while at is not None:
            self.at[at] = number
            at = None if at is last else self.only_user(at)

    def norm(self, path: str, word: str, norm: Any, described: dict[str, Any]) -> None:
        if word == "bn" and not norm.track_running_stats:
            raise _refuse(f"the batch normalization behind '{path}' has no running statistics")
        if word == "ln" and (described["kind"] != "dense" or len(norm.normalized_shape) != 1):
            raise _refuse(f"the layer normalization behind '{path}' is not over the units of a Linear layer")
        if word == "gn":
            described["norm_groups"] = norm.num_groups
        units = described["units"]
        like = next(iter(norm.parameters()), torch.zeros(()))
        self.tensors[f"{path}.norm.scale"] = torch.ones(units).to(like) if norm.weight is None else norm.weight
        self.tensors[f"{path}.norm.shift"] = torch.zeros(units).to(like) if norm.bias is None else norm.bias
        if word == "bn":
            self.tensors[f"{path}.norm.mean"], self.tensors[f"{path}.norm.var"] = norm.running_mean, norm.running_var
        if norm.eps != 1e-5:
            described["norm_epsilon"] = norm.eps

    def weights(self, path: str, module: Any, norm: str, act: str, last: fx.Node, described: dict[str, Any]) -> None:
        ours = isinstance(module, Coordinates) and norm == "none" and act in ("identity", "relu", "leaky_relu")
        with torch.no_grad():
            weight, bias = module.weight.detach(), module.bias
            bias = weight.new_zeros(len(weight)) if bias is None else bias.detach()
            if ours:
                described["param"] = module.kind
                r = module.r.detach()
                self.tensors[f"{path}.{module.first}"] = getattr(module, module.first)
                self.tensors[f"{path}.r"] = r if module.signed else r.abs()
                self.tensors[f"{path}.lambda"] = torch.zeros_like(r) if module._parameters["lambda"] is None else module._parameters["lambda"]
                if module.kind == "sphere":
                    u = module.u.detach().flatten(1)
                    self.tensors[f"{path}.u"] = (u / torch.linalg.vector_norm(u, dim=1, keepdim=True)).reshape(module.shape)
                return
            described["param"] = "sp"
            self.tensors[f"{path}.weight"] = weight
            if norm == "bn":
                self.tensors[f"{path}.norm.mean"] = self.tensors[f"{path}.norm.mean"] - bias
            else:
                self.tensors[f"{path}.bias"] = bias
        holder = self.graph.module(last)
        fixed = [hook for _, _, hook in _hooks(holder) if isinstance(hook, FixedSigns)] if holder is not None and last.target != path else []
        if fixed:
            described["signs"] = True
            self.tensors[f"{path}.r"] = holder.sign  # type: ignore[union-attr, assignment]

    def bytes(self, dtype: torch.dtype) -> bytes:
        word, name, form = _DTYPES[dtype]
        self.description["dtype"] = word
        about: dict[str, Any] = {"format": 2 if "x_clip" in self.scaling else 1, "architecture": self.description}
        if self.scaling:
            about["standardisation"] = {"features": 0, "targets": 0} | {k: v.double().tolist() if isinstance(v, Tensor) else v for k, v in self.scaling.items()}
        header: dict[str, Any] = {"__metadata__": {_KEY: json.dumps(about)}}
        pieces, place = [], 0
        for key, value in self.tensors.items():
            data = np.ascontiguousarray(value.detach().cpu().numpy().astype(form)).tobytes()
            header[key] = {"dtype": name, "shape": list(value.shape), "data_offsets": [place, place + len(data)]}
            pieces.append(data)
            place += len(data)
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + b"".join(pieces)


def net_of(module: nn.Module, example: Any) -> Net:
    example = torch.as_tensor(example)
    dtypes = {p.dtype for p in module.parameters()}
    if len(dtypes) != 1 or not dtypes <= set(_DTYPES):
        raise _refuse(f"its parameters are {', '.join(sorted(str(d) for d in dtypes)) or 'none'}, expected all f32 or all f64")
    (dtype,) = dtypes
    if example.ndim < 2 or not len(example):
        raise _refuse(f"an example of shape {tuple(example.shape)}, expected a batch of rows")
    device = next(module.parameters()).device
    try:
        net = Net.from_bytes(_Builder(module, example).bytes(dtype))
    except TraceError as error:
        raise _refuse(str(error)) from error
    spread = example.to(torch.float64).std().nan_to_num().clamp_min(1)
    for x in (example.to(device, dtype), (torch.randn(32, *example.shape[1:], generator=torch.Generator().manual_seed(0)) * spread).to(device, dtype)):
        want = run(module, x).detach().cpu().double().numpy().reshape(len(x), -1)
        got = net(x.detach().cpu().double().numpy().reshape(len(x), -1))
        bar = (1e-3 if dtype == torch.float32 else 1e-8) * max(1, np.abs(want).max())
        if got.shape != want.shape or not np.abs(got - want).max() <= bar:
            raise _refuse("the network that was built gives other outputs than the module, so that it is not the same function")
    return net


# ---------------------------------------------------------------- to a module


class Standardize(nn.Module):
    """What a network does to its features: NaN to fill, then z = (x - mean) / scale, and z / sqrt(1 + (z / clip)^2) where clip is not 0."""

    mean: Tensor
    scale: Tensor
    fill: Tensor
    clip: Tensor | None

    def __init__(self, mean: Tensor, scale: Tensor, fill: Tensor, clip: Tensor | None = None) -> None:
        super().__init__()
        for name, value in (("mean", mean), ("scale", scale), ("fill", fill), ("clip", clip)):
            self.register_buffer(name, value)

    def forward(self, x: Tensor) -> Tensor:
        flat = x.flatten(1)
        z = (torch.where(torch.isnan(flat), self.fill, flat) - self.mean) / self.scale
        if self.clip is not None:
            far = torch.where(self.clip > 0, z.clamp(-1e6, 1e6) / self.clip.clamp_min(1e-30), 0.0)
            z = torch.where(self.clip > 0, z.clamp(-1e6, 1e6), z) / torch.sqrt(1 + far * far)
        return z.reshape(x.shape)


class Unstandardize(nn.Module):
    """The network's output in the units of the target: y scale + mean."""

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)

    def forward(self, y: Tensor) -> Tensor:
        return y * self.scale + self.mean  # type: ignore[operator]


class Scale(nn.Module):
    """A factor for each unit, behind an activation."""

    def __init__(self, r: Tensor, learned: bool) -> None:
        super().__init__()
        if learned:
            self.r = nn.Parameter(r)
        else:
            self.register_buffer("r", r)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.r.reshape(-1, *[1] * (x.ndim - 2))


_ACTS = {"relu": nn.ReLU, "leaky_relu": lambda: nn.LeakyReLU(_LEAKY), "elu": nn.ELU}


def module_of(net: Net) -> nn.Module:
    """A Sequential where the network is a chain, else a GraphModule of torch.fx."""
    data = net.to_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    about = json.loads(json.loads(data[8 : 8 + length])["__metadata__"][_KEY])
    nodes, tensors = about["architecture"]["nodes"], net.tensors
    dtype = torch.float32 if net.dtype == np.float32 else torch.float64
    graph, parts = fx.Graph(), {}
    made: list[fx.Node] = []
    shapes: list[tuple[int, ...]] = []
    chain = True

    def tensor(values: Any) -> Tensor:
        return torch.tensor(np.asarray(values), dtype=dtype)

    def part(name: str, module: nn.Module, before: fx.Node) -> fx.Node:
        parts[name] = module
        return graph.call_module(name, (before,))

    signed: list[tuple[str, dict[str, Any]]] = []
    scaling = about.get("standardisation", {})
    layer = 0
    for i, node in enumerate(nodes):
        kind, name = node["kind"], f"node{i}"
        if kind in ("input", "image"):
            at = graph.placeholder("x")
            shape: tuple[int, ...] = (node["features"],) if kind == "input" else (node["channels"], node["height"], node["width"])
            features = int(np.prod(shape))
            if "x_mean" in scaling or "x_scale" in scaling or "x_fill" in scaling:
                mean = scaling.get("x_mean", [0] * features)
                at = part("standardize", Standardize(tensor(mean), tensor(scaling.get("x_scale", [1] * features)), tensor(scaling.get("x_fill", mean)), tensor(scaling["x_clip"]) if "x_clip" in scaling else None), at)
        elif kind == "add":
            a, b = node["from"]
            at, shape, chain = graph.call_function(torch.add, (made[a], made[b])), shapes[a], False
        else:
            before, shape = made[node["from"]], shapes[node["from"]]
            chain = chain and node["from"] == i - 1
            if kind == "act":
                at = part(name, _act(node["act"]), before)
            elif kind in ("max_pool", "avg_pool"):
                pool: Any = nn.MaxPool2d if kind == "max_pool" else nn.AvgPool2d
                at = part(name, pool(node["kernel"], node["stride"], node["pad"]), before)
                shape = (shape[0], *[(side + 2 * node["pad"] - node["kernel"]) // node["stride"] + 1 for side in shape[1:]])
            elif kind == "global_pool":
                at = part(name, nn.AdaptiveAvgPool2d(1), before)
                shape = (shape[0], 1, 1)
            else:
                at, shape = _layer(net, layer, node, before, shape, tensors, tensor, part, signed)
                layer += 1
        made.append(at)
        shapes.append(shape)
    at = made[about["architecture"]["output"]]
    if len(shapes[about["architecture"]["output"]]) == 3:
        at = part("flatten", nn.Flatten(), at)
    if "y_mean" in scaling or "y_scale" in scaling:
        targets = net.outputs
        at = part("unstandardize", Unstandardize(tensor(scaling.get("y_mean", [0] * targets)), tensor(scaling.get("y_scale", [1] * targets))), at)
    graph.output(at)
    names = {name: name for name in parts}
    if chain:
        names = {name: str(i) for i, name in enumerate(parts)}
        module: nn.Module = nn.Sequential(*parts.values())
    else:
        module = fx.GraphModule(parts, graph)
    for kind in ("gmp", "sphere"):
        chosen = [name for name, node in signed if node["param"] == kind]
        if chosen:
            parametrize(module, kind, names=[names[name] for name in chosen])
    for name, node in signed:
        _exact(module.get_submodule(names[name]), node["path"], tensors, tensor)
    module.eval()
    x = np.random.default_rng(0).normal(size=(16, net.inputs))
    scale = np.asarray(scaling.get("x_scale", 1.0))
    x = x * scale + np.asarray(scaling.get("x_mean", 0.0))
    with torch.no_grad():
        got = module(tensor(x).reshape(-1, *shapes[0])).double().numpy().reshape(len(x), -1)
    want = net(x)
    if not np.abs(got - want).max() <= (1e-3 if dtype == torch.float32 else 1e-8) * max(1, np.abs(want).max()):
        raise ArgumentError("net: the module that was built gives other outputs than the network", key="net")
    return module


def _act(word: str) -> nn.Module:
    if word not in _ACTS:
        raise ArgumentError(f"net: PyTorch has no activation like {word}", key="net")
    return _ACTS[word]()  # type: ignore[no-any-return, operator]


def _layer(net: Net, k: int, node: dict[str, Any], before: fx.Node, shape: tuple[int, ...], tensors: Any, tensor: Any, part: Any, signed: Any) -> tuple[fx.Node, tuple[int, ...]]:
    path, norm, act = node["path"], node["norm"], node["act"]
    if norm in ("mbn", "imn"):
        raise ArgumentError(f"net: PyTorch has no normalization like {norm} (layer '{path}')", key="net")
    weight, bias, scale = (tensor(values) for values in net.weight(k))
    conv = node["kind"] == "conv"
    ours = node["param"] in ("gmp", "sphere") and norm == "none" and act in ("relu", "leaky_relu") and weight.shape[1] > 1
    r = tensor(tensors[f"{path}.r"]) if f"{path}.r" in tensors else None
    if conv:
        groups = node.get("groups", 1)
        module: Any = nn.Conv2d(shape[0], node["units"], node["kernel"], node["stride"], node["pad"], groups=groups, bias=norm != "bn", dtype=weight.dtype)
        shape = (node["units"], *[(side + 2 * node["pad"] - node["kernel"]) // node["stride"] + 1 for side in shape[1:]])
    else:
        if len(shape) == 3:
            before = part(f"{path}_flatten", nn.Flatten(), before)
        module = nn.Linear(int(np.prod(shape)), node["units"], bias=norm != "bn", dtype=weight.dtype)
        shape = (node["units"],)
    with torch.no_grad():
        module.weight.copy_(weight.reshape(module.weight.shape))
        if norm != "bn":
            module.bias.copy_(bias)
    at = part(path, module, before)
    if norm != "none":
        at = part(f"{path}_norm", _norm(node, conv, tensors, tensor), at)
    if act != "identity":
        at = part(f"{path}_act", _act(act), at)
    if ours and not node.get("angle_order"):
        signed.append((path, node))
    elif not bool((scale == 1).all()):
        at = part(f"{path}_r", Scale(scale, learned=r is not None and node["param"] in ("gmp", "sphere")), at)
    return at, shape


def _norm(node: dict[str, Any], conv: bool, tensors: Any, tensor: Any) -> nn.Module:
    path, units, eps = node["path"], node["units"], node.get("norm_epsilon", 1e-5)
    module: Any
    if node["norm"] == "bn":
        module = (nn.BatchNorm2d if conv else nn.BatchNorm1d)(units, eps)
        module.running_mean, module.running_var = tensor(tensors[f"{path}.norm.mean"]), tensor(tensors[f"{path}.norm.var"])
    elif node["norm"] == "gn" or conv:
        module = nn.GroupNorm(node.get("norm_groups", 1), units, eps)
    else:
        module = nn.LayerNorm(units, eps)
    module.weight, module.bias = nn.Parameter(tensor(tensors[f"{path}.norm.scale"])), nn.Parameter(tensor(tensors[f"{path}.norm.shift"]))
    return module  # type: ignore[no-any-return]


@torch.no_grad()
def _exact(layer: Any, path: str, tensors: Any, tensor: Any) -> None:
    """The network's own numbers, signs included, in place of those that were made of the weights."""
    for name in (layer.first, "lambda", "r"):
        layer._parameters[name].copy_(tensor(tensors[f"{path}.{name}"]).reshape(layer._parameters[name].shape))
