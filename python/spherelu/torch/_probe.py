# SPDX-License-Identifier: MIT
"""One pass of any model over fixed rows, in evaluation: which activation is behind each layer, and which units are active.

Module hooks do not see functional activations, and torch.fx does not follow every forward. The operations that PyTorch
executes are seen in every model: this pass follows the output of each layer through norms, views and transposes up to the
first other operation. If that is an activation, its input is where the units of the layer switch.
"""

from __future__ import annotations

import random
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils._python_dispatch import TorchDispatchMode

from ._trace import SUPPORTED

NORMS = (_BatchNorm, nn.LayerNorm, nn.GroupNorm)
_NORM_CALLS = ("batch_norm", "layer_norm", "group_norm")
_ACTIVATIONS = {
    "relu": "relu",
    "leaky_relu": "leaky_relu",
    "rrelu_with_noise": "rrelu",
    "prelu": "prelu",
    "_prelu_kernel": "prelu",
    "elu": "elu",
    "celu": "elu",
    "selu": "elu",
    "gelu": "gelu",
    "silu": "silu",
    "mish": "mish",
    "hardswish": "hardswish",
}
# Activations that are max(x, 0) or min(max(x, 0), c) if these arguments are what they are here.
_CLIPS = {"clamp_min": (0,), "clamp": (0,), "hardtanh": (0,), "threshold": (0, 0)}
_VIEWS = ("view", "_unsafe_view", "reshape", "_reshape_alias", "squeeze", "unsqueeze")
_SAME = ("alias", "detach", "clone", "contiguous", "_to_copy", "lift_fresh", "dropout")


@dataclass
class Found:
    """What the pass saw of one layer."""

    calls: int = 0
    units: int = 0
    activation: str = ""
    norms: list[tuple[nn.Module, ...]] = field(default_factory=list)  # for each activation behind it
    active: list[tuple[Tensor, int]] = field(default_factory=list)  # bits and the axis of the units, in the order of calls
    ended: str = ""  # the operation that is behind it instead of an activation
    affine: bool = True  # whether it computes w x + b with its weight and bias


@dataclass(frozen=True)
class _Tag:
    """A tensor that has the outputs of a layer, normalized or not, with units along an axis."""

    layer: str
    axis: int
    norms: tuple[nn.Module, ...] = ()


class _Follow(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Found] = {}
        self.norms: list[nn.Module] = []  # that are being computed, innermost last
        self.depth = 0  # of layers that are being computed
        self.tags: dict[int, tuple[weakref.ref[Tensor], _Tag]] = {}  # an id alone may be that of a later tensor

    def put(self, tensor: Tensor, tag: _Tag | None) -> None:
        if tag is None:
            self.tags.pop(id(tensor), None)
        else:
            self.tags[id(tensor)] = weakref.ref(tensor), tag

    def get(self, tensor: Any) -> _Tag | None:
        known = self.tags.get(id(tensor))
        return known[1] if known is not None and known[0]() is tensor else None

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if self.depth or not self.tags:
            return func(*args, **kwargs)
        name = func._schema.name.partition("::")[2]
        inplace = name.endswith("_") and not name.startswith("__")
        name = name[:-1] if inplace else name
        first = args[0] if args else None
        tag = self.get(first)
        before = tuple(first.shape) if isinstance(first, Tensor) else ()
        others = [t for t in map(self.get, _tensors((args[1:], kwargs))) if t is not None]
        word = _activation(name, args, kwargs) if tag is not None else None
        if tag is not None and word is not None and isinstance(first, Tensor):
            about = self.found[tag.layer]
            about.activation = word
            about.norms.append(tag.norms)
            about.active.append((first > 0, tag.axis))
        out = func(*args, **kwargs)
        result = out[0] if isinstance(out, (tuple, list)) and out else out
        after = None
        if tag is not None and word is None and not others and isinstance(result, Tensor):
            after = self.passed(tag, name, args, before, tuple(result.shape))
        if after is None and word is None:
            for ended in ([tag] if tag is not None else []) + others:
                self.found[ended.layer].ended = self.found[ended.layer].ended or name.lstrip("_")
        if isinstance(result, Tensor):
            self.put(result, after)
        return out

    def passed(self, tag: _Tag, name: str, args: Any, before: tuple[int, ...], after: tuple[int, ...]) -> _Tag | None:
        """The tag of the result of an operation on a tensor with this tag; None: the operation ends it."""
        if name in _SAME:
            return tag
        if name in ("transpose", "permute", "t"):
            dims = list(range(len(before)))
            if name == "permute":
                dims = [d % len(before) for d in args[1]]
            else:
                a, b = ((0, 1) if name == "t" else args[1:3]) if len(before) > 1 else (0, 0)
                dims[a], dims[b] = dims[b], dims[a]
            return _Tag(tag.layer, dims.index(tag.axis), tag.norms)
        if name in _VIEWS:
            units = self.found[tag.layer].units
            if tag.axis == len(before) - 1 and after[-1:] == (units,):
                return _Tag(tag.layer, len(after) - 1, tag.norms)
            return tag if after[: tag.axis + 1] == before[: tag.axis + 1] else None
        if any(call in name for call in _NORM_CALLS) and self.norms:
            norm = self.norms[-1]
            return _Tag(tag.layer, tag.axis, (*tag.norms, norm)) if tag.axis == _axis(norm, len(before)) else None
        return None


def _tensors(values: Any) -> Iterator[Tensor]:
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from _tensors(value)
    elif isinstance(values, dict):
        yield from _tensors(tuple(values.values()))


def _activation(name: str, args: Any, kwargs: Any) -> str | None:
    if name in _CLIPS:
        given = [*args[1:], *kwargs.values()]
        wanted = _CLIPS[name]
        return "relu" if all(isinstance(g, (int, float)) and g == w for g, w in zip(given, wanted)) and len(given) >= len(wanted) else None
    return _ACTIVATIONS.get(name)


# ---------------------------------------------------------------- a pass that leaves no trace


@contextmanager
def evaluation(module: nn.Module) -> Iterator[None]:
    """Evaluation mode, and back as it was, module by module."""
    were = [(m, m.training) for m in module.modules() if m.training]
    for m, _ in were:
        m.training = False
    try:
        yield
    finally:
        for m, was in were:
            m.training = was


@contextmanager
def random_kept() -> Iterator[None]:
    """The random numbers that a model draws in the pass are drawn again by the training."""
    states: Any = random.getstate(), np.random.get_state(), torch.get_rng_state()
    cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() and torch.cuda.is_initialized() else []
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])
        if cuda:
            torch.cuda.set_rng_state_all(cuda)


@contextmanager
def _no_fused_attention(model: nn.Module) -> Iterator[None]:
    """PyTorch's transformer layers compute everything in one operation in evaluation without gradients."""
    if not any(isinstance(m, (nn.TransformerEncoderLayer, nn.MultiheadAttention)) for m in model.modules()):
        with torch.no_grad():
            yield
        return
    switch = getattr(getattr(torch.backends, "mha", None), "set_fastpath_enabled", None)
    if switch is None:
        with torch.enable_grad():
            yield
        return
    was = torch.backends.mha.get_fastpath_enabled()
    switch(False)
    try:
        with torch.no_grad():
            yield
    finally:
        switch(was)


def _axis(module: Any, ndim: int) -> int:
    """Of the units in the output of a layer or of a norm."""
    if isinstance(module, NORMS):
        return ndim - 1 if isinstance(module, nn.LayerNorm) else 1
    return ndim - 1 if isinstance(module, nn.Linear) else ndim - 1 - len(module.kernel_size)


def places(layers: dict[str, nn.Module], found: dict[str, Found]) -> dict[str, nn.Module] | None:
    """The modules whose outputs are the inputs of the activations, so that later passes need not look at each operation; None
    if there are others."""
    out: dict[str, nn.Module] = {}
    for name, about in found.items():
        if not about.activation:
            continue
        if len(about.active) != about.calls or len({tuple(map(id, norms)) for norms in about.norms}) > 1:
            return None
        out[name] = about.norms[0][-1] if about.norms[0] else layers[name]
    return out if len({id(m) for m in out.values()}) == len(out) else None


def quick_probe(model: nn.Module, at: dict[str, nn.Module], run: Callable[[], Any]) -> dict[str, Found]:
    """As `probe`, with the places that it found: only `calls` and `active` are filled in."""
    found: dict[str, Found] = {}

    def hook(name: str, module: nn.Module) -> Callable[..., None]:
        def see(_module: nn.Module, _args: Any, out: Tensor) -> None:
            about = found.setdefault(name, Found())
            about.calls += 1
            about.active.append((out > 0, _axis(module, out.ndim)))

        return see

    hooks = [module.register_forward_hook(hook(name, module)) for name, module in at.items()]
    try:
        with evaluation(model), random_kept(), _no_fused_attention(model), _no_autocast(model):
            run()
    finally:
        for one in hooks:
            one.remove()
    return found


def probe(model: nn.Module, layers: dict[str, nn.Module], run: Callable[[], Any], check: bool = False) -> dict[str, Found]:
    """Runs the model and returns what was seen of each layer that was called. check: the first pass, which also compares
    the outputs of layers with their weights."""
    follow = _Follow()
    hooks: list[Any] = []

    def enter(*_: Any) -> None:
        follow.depth += 1

    def leave(name: str, layer: nn.Module) -> Callable[..., None]:
        def hook(_module: nn.Module, args: tuple[Any, ...], out: Any) -> None:
            about = follow.found.setdefault(name, Found())
            about.calls += 1
            if check and args:
                about.affine = _is_affine(layer, args[0], out)
            follow.depth -= 1
            if not isinstance(out, Tensor):
                return
            about.units = layer.out_features if isinstance(layer, nn.Linear) else layer.out_channels  # type: ignore[attr-defined, assignment]
            follow.put(out, _Tag(name, _axis(layer, out.ndim)))

        return hook

    def enter_norm(module: nn.Module, _args: Any) -> None:
        follow.norms.append(module)

    def leave_norm(*_: Any) -> None:
        follow.norms.pop()

    for name, layer in layers.items():
        hooks += [layer.register_forward_pre_hook(enter), layer.register_forward_hook(leave(name, layer))]
    for m in model.modules():
        if isinstance(m, NORMS):
            hooks += [m.register_forward_pre_hook(enter_norm), m.register_forward_hook(leave_norm)]
    try:
        with evaluation(model), random_kept(), _no_fused_attention(model), _no_autocast(model), follow:
            run()
    finally:
        for hook in hooks:
            hook.remove()
    return follow.found


def _no_autocast(model: nn.Module) -> Any:
    device = next((p.device.type for p in model.parameters()), "cpu")
    try:
        active = torch.is_autocast_enabled(device)
    except TypeError:  # PyTorch 1.13 asks for no device
        active = torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()
    return torch.autocast(device, enabled=False) if active else nullcontext()


@torch.no_grad()
def _is_affine(layer: Any, x: Any, out: Any) -> bool:
    """Whether the layer computes w x + b of its own weight and bias: a class of a user may do anything else."""
    if not isinstance(out, Tensor):
        return False
    if not isinstance(x, Tensor) or not x.numel():
        return True
    dense = isinstance(layer, nn.Linear)
    few, its = (x.reshape(-1, x.shape[-1])[:2], out.reshape(-1, out.shape[-1])[:2]) if dense else (x[:1], out[:1])
    want = nn.functional.linear(few, layer.weight, layer.bias) if dense else layer._conv_forward(few, layer.weight, layer.bias)
    bar = 5e-2 if want.dtype in (torch.float16, torch.bfloat16) else 1e-3
    return want.shape == its.shape and bool(((want - its).abs() <= bar * (1 + want.abs().amax())).all())


def watched(model: nn.Module) -> dict[str, nn.Module]:
    """The Linear and Conv layers of a model; a layer that is in two places has its first name."""
    return {name or "layer": m for name, m in model.named_modules() if isinstance(m, SUPPORTED)}


def buffers_kept(model: nn.Module, run: Callable[[], Any]) -> list[str]:
    """Runs and restores the buffers that this changed; returns their names."""
    kept = {name: (buffer, buffer.detach().clone()) for name, buffer in model.named_buffers()}
    run()
    changed = []
    for name, (buffer, value) in kept.items():
        if not torch.equal(buffer, value) and not bool((buffer != buffer).any()):
            changed.append(name)
            with torch.no_grad():
                buffer.copy_(value)
    return changed


def warn(text: str) -> None:
    warnings.warn(f"spherelu.watch: {text}", stacklevel=3)
