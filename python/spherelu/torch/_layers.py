# SPDX-License-Identifier: MIT
"""Linear and Conv layers whose learned numbers are the coordinates of GmP or sphere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from ._op import angles, concrete, exporting, gmp, lengths, renormalized, sphere
from ._trace import SUPPORTED, Graph, Place, TraceError

# ---------------------------------------------------------------- layers


def _positive(r: Tensor) -> bool:
    """Whether all are known to be: the usual case, which costs nothing behind the activation."""
    return concrete(r) and r.numel() > 0 and r.detach().min().item() > 0


class Coordinates(nn.Module):
    """A converted layer. Its class is a subclass of this one and of its original class, so it still is a Linear or Conv layer.

    weight and bias are computed from the parameters `first` (theta or u), r and lambda. The length of a unit's weight is
    |r|, so that no change of r turns its boundary. If a homogeneous activation follows (`signed`), the sign of r is
    applied after the activation: the unit is r act(u x + lambda), as in libspherelu.
    """

    kind: str
    first: str
    plain: type[nn.Module]
    shape: tuple[int, ...]
    signed: bool
    r: Tensor

    def _length(self) -> Tensor:
        """(m) lengths of the weights, with the derivative by r. A signed unit of r = 0 has length 1: only so can it learn,
        its output being 0 by the factor behind the activation."""
        r = self.r
        if _positive(r):
            return r
        if self.signed:
            return torch.where(r == 0, torch.ones_like(r), r.abs())
        return torch.where(r < 0, -r, r)  # the slope at 0 is 1, where abs has 0

    def signs(self) -> Tensor | None:
        """(m) factors behind the activation; None: all are 1."""
        r = self.r
        if not self.signed or (concrete(r) and (self.__dict__.pop("_unsigned", False) or _positive(r))):
            return None
        return torch.where(r == 0, r, r.detach().sign())

    @staticmethod
    def rows(first: Tensor, length: Tensor, /) -> Tensor:
        """(m, n) weights of coordinates and lengths."""
        raise NotImplementedError

    @staticmethod
    def of_rows(rows: Tensor, /) -> tuple[Tensor, Tensor]:
        """Coordinates and lengths of plain weights."""
        raise NotImplementedError

    @property
    def weight(self) -> Tensor:
        first: Tensor = getattr(self, self.first)
        return self.rows(first.flatten(1), self._length()).reshape(self.shape)

    @property
    def bias(self) -> Tensor | None:
        offset: Tensor | None = self._parameters["lambda"]
        return None if offset is None else self._length() * offset

    def _both(self) -> tuple[Tensor, Tensor | None]:
        """weight and bias."""
        length, offset = self._length(), self._parameters["lambda"]
        if self.signed and concrete(self.r):
            self.__dict__["_unsigned"] = length is self.r  # for the hook, which is next
        if offset is not None and exporting() and not torch._C._is_tracing():
            raise RuntimeError("torch.export and torch.onnx.export need plain layers: call spherelu.torch.bake(model) first")
        first: Tensor = self._parameters[self.first]  # type: ignore[assignment]
        weight = self.rows(first if first.ndim == 2 else first.flatten(1), length)
        if len(self.shape) > 2:
            weight = weight.reshape(self.shape)
        return weight, None if offset is None else length * offset

    @torch.no_grad()
    def reset_parameters(self) -> None:
        """The start that the plain layer would have, in these coordinates."""
        r = self.r
        if r.is_meta:
            return
        plain: Any = self.plain
        twin = plain.__new__(plain)
        nn.Module.__init__(twin)
        twin.__dict__.update({k: v for k, v in self.__dict__.items() if not k.startswith("_")})
        offset = self._parameters["lambda"]
        twin.register_parameter("weight", nn.Parameter(r.new_empty(self.shape)))
        twin.register_parameter("bias", None if offset is None else nn.Parameter(torch.empty_like(offset)))
        twin.reset_parameters()
        for name, values in self.coordinates(twin.weight, twin.bias).items():
            if values is not None:
                getattr(self, name).copy_(values)

    @classmethod
    def coordinates(cls, weight: Tensor, bias: Tensor | None) -> dict[str, Tensor | None]:
        """The values of the parameters at plain weights."""
        m, n = weight.shape[0], weight[0].numel()
        if weight.is_meta:
            first, r = weight.new_empty((m, n - 1) if cls.first == "theta" else weight.shape), weight.new_empty(m)
            return {cls.first: first, "r": r, "lambda": None if bias is None else torch.empty_like(bias)}
        first, r = cls.of_rows(weight.detach().reshape(m, n))
        if cls.first == "u":
            first = first.reshape(weight.shape)
        offset = None
        if bias is not None:
            safe = torch.where(r > 0, r, torch.ones_like(r))
            offset = torch.where(r > 0, bias.detach() / safe, torch.zeros_like(bias))
        return {cls.first: first, "r": r, "lambda": offset}

    def __reduce_ex__(self, _protocol: Any) -> Any:
        return _again, (self.kind, self.plain), self.__dict__


def _dense(self: Any, x: Tensor) -> Tensor:
    return nn.functional.linear(x, *self._both())


def _conv(self: Any, x: Tensor) -> Tensor:
    out: Tensor = self._conv_forward(x, *self._both())
    return out


# forward of layers that are of PyTorch's own classes: r is looked at once
_FORWARD = {nn.Linear: _dense, nn.Conv1d: _conv, nn.Conv2d: _conv, nn.Conv3d: _conv}


class GmP(Coordinates):
    """weight = |r| u(theta), bias = |r| lambda."""

    kind, first = "gmp", "theta"
    rows = staticmethod(gmp)
    of_rows = staticmethod(angles)


class Sphere(Coordinates):
    """weight = |r| u / |u|, bias = |r| lambda, u of the weight's shape: its gradient is tangent to the sphere. `renormalize`
    brings u back to length 1."""

    kind, first = "sphere", "u"
    rows = staticmethod(sphere)

    @staticmethod
    def of_rows(rows: Tensor, /) -> tuple[Tensor, Tensor]:
        length = lengths(rows)
        pole = torch.zeros_like(rows)
        pole[:, 0] = 1
        empty = (length == 0)[:, None]
        return torch.where(empty, pole, rows / torch.where(empty, torch.ones_like(length)[:, None], length[:, None])), length


KINDS: dict[str, type[Coordinates]] = {"gmp": GmP, "sphere": Sphere}
_made: dict[tuple[str, type], type] = {}


def _class(kind: str, plain: type) -> type:
    """The class of a layer in coordinates. It is called by the module of the plain one, so that torch.fx keeps it whole."""
    key = kind, plain
    if key not in _made:
        name = KINDS[kind].__name__ + plain.__name__
        body = {"plain": plain, "__module__": plain.__module__, "__doc__": KINDS[kind].__doc__}
        _made[key] = type(name, (KINDS[kind], plain), body | ({"forward": _FORWARD[plain]} if plain in _FORWARD else {}))
    return _made[key]


def _again(kind: str, plain: type) -> Any:
    """For pickle and copy.deepcopy."""
    made: Any = _class(kind, plain)
    return made.__new__(made)


class Signs:
    """The hook that multiplies by the sign of a layer's r: behind the activation, or before the module that follows."""

    def __init__(self, layer: Any, before: bool) -> None:
        self.layer, self.before = layer, before
        self.axis = 1 if isinstance(layer, nn.Linear) else layer.weight.ndim - 1  # from the end

    def factors(self, _module: nn.Module) -> Tensor | None:
        signs: Tensor | None = self.layer.signs()
        return signs

    def __call__(self, module: nn.Module, args: tuple[Tensor, ...], output: Tensor | None = None) -> Any:
        signs = self.factors(module)
        if signs is None:
            return None
        shape = (-1,) + (1,) * (self.axis - 1)
        if self.before:
            return (args[0] * signs.reshape(shape), *args[1:])
        return output * signs.reshape(shape)  # type: ignore[operator]


class FixedSigns(Signs):
    """What bake leaves of it where signs cannot be moved into the next layer: the buffer `sign` of the module."""

    def factors(self, module: nn.Module) -> Tensor | None:
        return module.sign  # type: ignore[return-value]


def _hooks(module: nn.Module) -> Iterator[tuple[Any, int, Signs]]:
    for table in (module._forward_hooks, module._forward_pre_hooks):
        for key, hook in list(table.items()):
            if isinstance(hook, Signs):
                yield table, key, hook


def parametrized(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The layers that are in our coordinates, by name."""
    return ((name, m) for name, m in module.named_modules() if isinstance(m, Coordinates))


# ---------------------------------------------------------------- parametrize


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


def _named(module: nn.Module, names: str | Iterable[str], argument: str) -> dict[str, nn.Module]:
    known = {name: m for name, m in module.named_modules(remove_duplicate=False) if isinstance(m, SUPPORTED)}
    wanted = [names] if isinstance(names, str) else list(names)
    for name in wanted:
        if name not in known:
            raise ValueError(f"{argument}: no Linear or Conv is called '{name}'; there are {_listed(known)}")
    return {name: known[name] for name in wanted}


def _choose(module: nn.Module, graph: Graph | TraceError, names: Any, output: Any) -> dict[str, nn.Module]:
    if names is not None and output is not None:
        raise ValueError("names and output: pass one of them; names chooses layers, output is what stays plain")
    if names is not None:
        return _named(module, names, "names")
    found: dict[str, nn.Module] = {name: m for name, m in module.named_modules() if isinstance(m, SUPPORTED)}
    if isinstance(module, SUPPORTED):
        return found
    if output is not None:
        last = set(_named(module, output, "output").values())
    else:
        try:
            if isinstance(graph, TraceError):
                raise graph
            last = graph.outputs()
        except TraceError as error:
            raise ValueError(f"{error}: name the output layer with output=, one of {_listed(found)}, or the layers with names=") from error
    return {name: m for name, m in found.items() if m not in last}


def _check_plain(name: str, layer: nn.Module) -> None:
    """Whether weight and bias are the layer's own parameters."""
    for which in ("weight", "bias"):
        parameter = layer._parameters.get(which, layer)
        if parameter is layer:
            raise ValueError(f"'{name}': its {which} is computed (weight_norm, spectral_norm, pruning) and not a parameter; remove that first, or leave the layer out with names=")
        if isinstance(parameter, nn.parameter.UninitializedParameter):
            raise ValueError(f"'{name}' is lazy and has no weights yet: pass a batch as example=")


def _check_values(name: str, layer: Any) -> None:
    weight, bias = layer.weight, layer.bias
    if weight.is_meta:
        return
    length = lengths(weight.detach().flatten(1))
    if not bool(torch.isfinite(length).all()):
        raise ValueError(f"'{name}': unit {int((~torch.isfinite(length)).nonzero()[0])} has weights that are not finite")
    if bias is not None and bool(((length == 0) & (bias != 0)).any()):
        unit = int(((length == 0) & (bias != 0)).nonzero()[0])
        raise ValueError(f"'{name}': unit {unit} has no weights but a bias, and so no boundary; leave the layer out with names=")


def _holders(module: nn.Module) -> dict[int, list[tuple[nn.Module, str, str]]]:
    """Who holds a parameter: (module, which, its name)."""
    out: dict[int, list[tuple[nn.Module, str, str]]] = {}
    for name, m in module.named_modules():
        for which, parameter in m._parameters.items():
            if parameter is not None:
                out.setdefault(id(parameter), []).append((m, which, f"{name}.{which}".lstrip(".")))
    return out


def _check_ties(name: str, layer: Any, chosen: set[nn.Module], holders: dict[int, list[tuple[nn.Module, str, str]]]) -> None:
    """A weight that layers share stays shared where all of them are chosen; anything else is refused."""
    weight_sharers = {m for m, _, _ in holders[id(layer.weight)]}
    for which in ("weight", "bias"):
        parameter = getattr(layer, which)
        if parameter is None:
            continue
        others = [h for h in holders[id(parameter)] if h[0] is not layer]
        for other, its, full in others:
            if other not in chosen or its != which or (which == "bias" and other not in weight_sharers):
                raise ValueError(f"'{name}': its {which} is also '{full}', which cannot be put into the same coordinates; leave '{name}' out with names=, or untie them")


@torch.no_grad()
def parametrize(
    module: nn.Module,
    kind: str = "gmp",
    names: str | Iterable[str] | None = None,
    init: str = "keep",
    *,
    output: str | Iterable[str] | None = None,
    example: Any = None,
) -> nn.Module:
    """Puts the Linear, Conv1d, Conv2d and Conv3d layers of a module, or the module itself, into the coordinates of GmP or
    sphere, in place. The module computes the same function as before.

    names: the layers, named as in `named_modules`. By default these are all but the output layers, which are found by
    torch.fx; if it cannot trace the module, name them with output=. Layers with one input stay plain.
    init: "keep" converts the weights exactly; "paper" draws directions uniformly, r = 1, lambda = 0; "glorot" draws
    Glorot-uniform vectors, r their length, lambda = 0.
    example: a batch, or a tuple of arguments, which is run through a module with lazy layers first.

    If a ReLU, LeakyReLU or PReLU follows a layer, the sign of r is applied after it, and r may become negative, as in
    libspherelu. Elsewhere the length of the weight is |r|. In both cases a step turns a unit's boundary by no more than
    the length of its change in theta. In a state dict the parameters are called theta (or u), lambda and r.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: found '{kind}', expected one of {', '.join(KINDS)}")
    if init not in ("keep", "paper", "glorot"):
        raise ValueError(f"init: found '{init}', expected keep, paper or glorot")
    if example is not None:
        run(module, example)
    graph: Graph | TraceError
    try:
        graph = Graph(module)
    except TraceError as error:
        graph = error
    chosen = _choose(module, graph, names, output)
    todo = {}
    for name, layer in chosen.items():
        if isinstance(layer, Coordinates):
            if names is not None or layer.kind != kind or init != "keep":
                raise ValueError(f"'{name}' already has the coordinates of {layer.kind}: call bake(module) first")
            continue
        _check_plain(name, layer)
        if layer.weight[0].numel() > 1:  # type: ignore[index, operator]
            todo[name] = layer
    if not todo and (not chosen or any(isinstance(m, Coordinates) for m in chosen.values())):
        why = "all of its layers already have them" if chosen else "its only Linear or Conv layers are those of the output; choose these with names="
        raise ValueError(f"nothing to put into the coordinates of {kind}: {why}")
    holders = _holders(module)
    for name, layer in todo.items():
        _check_ties(name, layer, set(todo.values()), holders)
        if init == "keep":
            _check_values(name, layer)
    places = {layer: graph.place(layer) if isinstance(graph, Graph) else None for layer in todo.values()}
    for layer in todo.values():  # layers that share r share what its sign means
        if any(places[m] is None for m, _, _ in holders[id(layer.weight)]):
            places[layer] = None
    shared: dict[int, nn.Parameter] = {}
    for layer in todo.values():
        _convert(layer, kind, init, places[layer], shared)
        place = places[layer]
        if place:
            at = module.get_submodule(place.name)
            (at.register_forward_pre_hook if place.before else at.register_forward_hook)(Signs(layer, place.before))  # type: ignore[operator]
    return module


@torch.no_grad()
def run(module: nn.Module, example: Any) -> Any:
    """What the module gives for an example, in evaluation mode."""
    training = {m: m.training for m in module.modules()}
    module.eval()
    try:
        return module(*example) if isinstance(example, tuple) else module(example)
    finally:
        for m, was in training.items():
            m.training = was


def _convert(layer: Any, kind: str, init: str, place: Place | None, shared: dict[int, nn.Parameter]) -> None:
    """shared: parameters by the plain ones they were made of, so that layers that share a weight go on sharing."""
    weight, bias = layer.weight, layer.bias
    if init != "keep" and not weight.is_meta and id(weight) not in shared:
        _draw(layer, init)
    values = KINDS[kind].coordinates(weight, bias)
    del layer._parameters["weight"], layer._parameters["bias"]
    layer.__class__ = _class(kind, type(layer))
    layer.shape, layer.signed = tuple(weight.shape), place is not None
    for name, value in values.items():
        source = bias if name == "lambda" else weight
        if value is None:
            layer._parameters[name] = None
            continue
        key = hash((id(source), name))
        if key not in shared:
            shared[key] = nn.Parameter(value, requires_grad=source.requires_grad)
            shared[id(source)] = source  # it lives on, so that its id stays its own
        layer._parameters[name] = shared[key]


def _draw(layer: Any, init: str) -> None:
    rows = layer.weight.flatten(1)
    if init == "glorot":
        nn.init.xavier_uniform_(layer.weight)
    else:
        drawn = torch.randn_like(rows)
        layer.weight.copy_((drawn / torch.linalg.vector_norm(drawn, dim=1, keepdim=True)).reshape(layer.weight.shape))
    if layer.bias is not None:
        layer.bias.zero_()


# ---------------------------------------------------------------- and back


@torch.no_grad()
def bake(module: nn.Module, *, strict: bool = False) -> nn.Module:
    """Plain weights and biases again, in place: the same function.

    The sign of a negative r is applied after the activation. It is moved into the weights of the next Linear or Conv where only
    dropout, flattening and average pools are between; elsewhere the activation keeps it as a buffer `sign` of +-1, or,
    with strict, the call is refused.
    """
    layers = dict(parametrized(module))
    if not layers:
        return module
    hooks = [(m, *found) for m in module.modules() for found in _hooks(m) if not isinstance(found[2], FixedSigns)]
    turned: dict[nn.Module, Tensor] = {hook.layer: hook.layer.r < 0 for _, _, _, hook in hooks}
    moves = _moves(module, [hook.layer for _, _, _, hook in hooks if bool(turned[hook.layer].any())])
    stuck = [name for name, m in layers.items() if m in moves and moves[m] is None]
    if strict and stuck:
        raise ValueError(f"'{stuck[0]}' has units of negative r, whose sign cannot be moved into the next layer; without strict, the activation keeps it")
    shared: dict[tuple[int, ...], nn.Parameter] = {}
    for layer in layers.values():
        _plain(layer, shared)
    for at, table, key, hook in hooks:
        del table[key]
        layer = hook.layer
        if layer not in moves:
            continue
        signs = torch.where(turned[layer], -1.0, 1.0).to(layer.weight)  # type: ignore[arg-type]
        if moves[layer] is None:
            at.register_buffer("sign", signs)
            hook = FixedSigns(layer, hook.before)
            (at.register_forward_pre_hook if hook.before else at.register_forward_hook)(hook)  # type: ignore[operator]
        for consumer in moves[layer] or []:
            weight: Any = consumer.weight
            columns = signs.repeat_interleave(weight.shape[1] // len(signs))
            weight.mul_(columns.reshape(1, -1, *[1] * (weight.ndim - 2)))
    return module


def _moves(module: nn.Module, turned: list[nn.Module]) -> dict[nn.Module, list[nn.Module] | None]:
    """The layers that the signs of each layer with negative r are moved into, or None."""
    if not turned:
        return {}
    try:
        graph = Graph(module)
    except TraceError:
        return {layer: None for layer in turned}
    holders = _holders(module)
    out: dict[nn.Module, list[nn.Module] | None] = {}
    for layer in turned:
        place = graph.place(layer)
        into = graph.consumers(place, layer) if place else None
        tied = any(len(holders[id(p)]) > 1 for m in into or [] for p in [m._parameters.get("weight", m._parameters.get("r"))] if p is not None)
        out[layer] = None if tied else into
    return out


def _plain(layer: Any, shared: dict[tuple[int, ...], nn.Parameter]) -> None:
    first, r, offset = (layer._parameters[name] for name in (layer.first, "r", "lambda"))
    length = r.abs()
    values = layer.rows(first.flatten(1), length).reshape(layer.shape), None if offset is None else length * offset
    sources = (first, r), (offset, r)
    for name in (layer.first, "r", "lambda"):
        del layer._parameters[name]
    layer.__class__ = layer.plain
    for name in ("shape", "signed"):
        del layer.__dict__[name]
    for which, value, source in zip(("weight", "bias"), values, sources):
        if value is None:
            layer._parameters[which] = None
            continue
        key = tuple(id(p) for p in source)
        if key not in shared:
            needs = any(p.requires_grad for p in source) if which == "weight" else source[0].requires_grad
            shared[key] = nn.Parameter(value.detach(), requires_grad=needs)
        layer._parameters[which] = shared[key]


# ---------------------------------------------------------------- beside an optimizer


@torch.no_grad()
def renormalize(module: nn.Module) -> None:
    """After an optimizer's step: the u of sphere back to length 1, as libspherelu does."""
    for _, layer in parametrized(module):
        if isinstance(layer, Sphere):
            u: Tensor = layer.u  # type: ignore[assignment]
            renormalized(u.view(u.shape[0], -1))


def group_lr(module: nn.Module, lr: float, *, theta: float = 1, offset: float = 1, r: float = 1, weight_decay: float = 0) -> list[dict[str, Any]]:
    """Groups for an optimizer: factors on lr for angles (or u), lambda and r. Weight decay applies to plain weights and r.

    >>> import torch, spherelu.torch
    >>> model = spherelu.torch.parametrize(torch.nn.Linear(4, 8))
    >>> [(group["name"], group["lr"]) for group in spherelu.torch.group_lr(model, 0.5, theta=0.5)]
    [('theta', 0.25), ('lambda', 0.5), ('r', 0.5)]
    """
    groups: dict[str, dict[str, Any]] = {
        "theta": {"params": [], "lr": lr * theta, "weight_decay": 0.0},
        "lambda": {"params": [], "lr": lr * offset, "weight_decay": 0.0},
        "r": {"params": [], "lr": lr * r, "weight_decay": weight_decay},
        "weight": {"params": [], "lr": lr, "weight_decay": weight_decay},
        "other": {"params": [], "lr": lr, "weight_decay": 0.0},
    }
    ours = {id(p): "theta" if name == m.first else name for _, m in parametrized(module) for name, p in m._parameters.items() if p is not None}  # type: ignore[union-attr]
    for parameter in module.parameters():
        group = ours.get(id(parameter), "weight" if parameter.ndim > 1 else "other")
        groups[group]["params"].append(parameter)
    return [{**group, "name": name} for name, group in groups.items() if group["params"]]
