# SPDX-License-Identifier: MIT
"""GmP and sphere inside PyTorch modules.

    >>> import torch, spherelu.torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    >>> model = spherelu.torch.parametrize(model)  # the function stays what it was
    >>> sorted(model.state_dict())
    ['0.lambda', '0.r', '0.theta', '2.bias', '2.weight']
    >>> model = spherelu.torch.bake(model)         # plain weights again
    >>> sorted(model.state_dict())
    ['0.bias', '0.weight', '2.bias', '2.weight']

A unit's weight is r u(theta), its bias r lambda: r stands before the activation, as a module can have it, and not behind it
as in libspherelu. For r above 0 and relu that is the same function and the same gradient; a unit whose r becomes
negative turns to the other side here, and changes the sign of its output there.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

try:
    import torch
    from torch import Tensor, nn
    from torch.nn.utils import parametrize as _parametrize
except ImportError as error:
    raise ImportError("spherelu.torch needs PyTorch: pip install torch") from error

from . import _abi
from ._lib import check, claim_threads, lib

# ---------------------------------------------------------------- u(theta) and its gradient

_DTYPES = {torch.float32: _abi.SPH_F32, torch.float64: _abi.SPH_F64}
_THREADS_FROM = 1 << 18  # numbers; smaller ones take one thread


def _threads(count: int) -> int:
    threads = torch.get_num_threads() if count >= _THREADS_FROM else 1
    claim_threads(threads)
    return threads


def _address(tensor: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def _ours(tensor: Tensor) -> bool:
    return tensor.device.type == "cpu" and tensor.dtype in _DTYPES


def _forward(theta: Tensor) -> tuple[Tensor, Tensor]:
    """(m, n-1) angles to (m, n) directions, and what the gradient need not compute again."""
    if not _ours(theta):
        return scan(theta), theta.new_empty(0)
    theta = theta.detach().contiguous()
    m, n = theta.shape[0], theta.shape[1] + 1
    u, kept = theta.new_empty(m, n), theta.new_empty(m, lib().sph_directions_kept(n))
    check(lib().sph_directions(_DTYPES[theta.dtype], m, n, _address(theta), _address(u), _address(kept), _threads(m * n)))
    return u, kept


def _backward(theta: Tensor, kept: Tensor, du: Tensor) -> Tensor:
    if not _ours(theta):
        return scan_grad(theta, du)
    theta, du = theta.detach().contiguous(), du.detach().contiguous()
    m, n = du.shape
    dtheta = torch.empty_like(theta)
    addresses = (_address(tensor) for tensor in (theta, kept, du, dtheta))
    check(lib().sph_directions_grad(_DTYPES[theta.dtype], m, n, *addresses, _threads(m * n)))
    return dtheta


def scan(theta: Tensor) -> Tensor:
    """u(theta) by PyTorch alone, on any device: u_i = cos(theta_i) times the sines before it."""
    one = theta.new_ones(theta.shape[0], 1)
    prefix = torch.cat([one, torch.cumprod(torch.sin(theta), dim=1)], dim=1)
    return prefix * torch.cat([torch.cos(theta), one], dim=1)


def scan_grad(theta: Tensor, du: Tensor) -> Tensor:
    """Its gradient without a division: the suffix scan t_i = cos g + sin t_{i+1} by doubling, in log2(n) passes."""
    sine, cosine = torch.sin(theta), torch.cos(theta)
    one = theta.new_ones(theta.shape[0], 1)
    prefix = torch.cat([one, torch.cumprod(sine, dim=1)], dim=1)[:, :-1]
    factor = torch.cat([sine, torch.zeros_like(one)], dim=1)
    sums = torch.cat([cosine * du[:, :-1], du[:, -1:]], dim=1)
    n, step = sums.shape[1], 1
    while step < n:
        later = torch.cat([sums[:, step:], sums.new_zeros(sums.shape[0], step)], dim=1)
        more = torch.cat([factor[:, step:], factor.new_zeros(factor.shape[0], step)], dim=1)
        sums, factor, step = sums + factor * later, factor * more, 2 * step
    return prefix * (cosine * sums[:, 1:] - sine * du[:, :-1])


class _Directions(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, theta: Tensor) -> Tensor:
        u, kept = _forward(theta)
        ctx.save_for_backward(theta, kept)
        return u

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, du: Tensor) -> Tensor:
        theta, kept = ctx.saved_tensors
        return _backward(theta, kept, du)


# What torch.compile cannot look into is an operator to it. Without a compiler the function above is the lighter way: the
# first call of an operator imports all of torch.compile.
_compiles = hasattr(torch.library, "custom_op") and hasattr(torch, "compiler")

if _compiles:

    @torch.library.custom_op("spherelu::directions", mutates_args=())
    def _operator(theta: Tensor) -> tuple[Tensor, Tensor]:
        return _forward(theta)

    @torch.library.custom_op("spherelu::directions_grad", mutates_args=())
    def _operator_grad(theta: Tensor, kept: Tensor, du: Tensor) -> Tensor:
        return _backward(theta, kept, du)

    @_operator.register_fake
    def _(theta: Tensor) -> tuple[Tensor, Tensor]:
        kept = (theta.shape[0], lib().sph_directions_kept(theta.shape[1] + 1)) if _ours(theta) else (0,)
        return theta.new_empty(theta.shape[0], theta.shape[1] + 1), theta.new_empty(kept)

    @_operator_grad.register_fake
    def _(theta: Tensor, kept: Tensor, du: Tensor) -> Tensor:
        return torch.empty_like(theta)

    def _keep(ctx: Any, inputs: Any, output: tuple[Tensor, Tensor]) -> None:
        ctx.save_for_backward(inputs[0], output[1])

    def _pull(ctx: Any, du: Tensor, _dkept: Any) -> Tensor:
        theta, kept = ctx.saved_tensors
        return _operator_grad(theta, kept, du)

    _operator.register_autograd(_pull, setup_context=_keep)


def directions(theta: Tensor) -> Tensor:
    """u(theta): (m, n-1) angles to (m, n) unit vectors, with a gradient that no pole disturbs. f32 and f64 on a CPU run in
    libspherelu's kernels, others in scans of PyTorch; half precision is computed in f32."""
    if theta.ndim != 2 or theta.shape[1] < 1:
        raise ValueError(f"angles of shape {tuple(theta.shape)}, expected (units, inputs - 1)")
    if theta.dtype in (torch.float16, torch.bfloat16):
        return directions(theta.float()).to(theta.dtype)
    if _compiles and torch.compiler.is_compiling():
        return _operator(theta)[0]
    return _Directions.apply(theta)


def angles(w: Tensor) -> tuple[Tensor, Tensor]:
    """theta (m, n-1) and lengths (m) of the rows of w (m, n); a row of zeroes has angles 0."""
    rows = w.detach().to("cpu", torch.float64).contiguous()
    m, n = rows.shape
    theta, length = torch.empty(m, n - 1, dtype=torch.float64), torch.empty(m, dtype=torch.float64)
    check(lib().sph_directions_of(_abi.SPH_F64, m, n, _address(rows), _address(theta), _address(length)))
    return theta.to(w), length.to(w)


def _near_one(rows: Tensor) -> tuple[Tensor, Tensor]:
    """rows (m, n) times a power of two each, such that squares neither overflow nor vanish, and these factors (m, 1)."""
    most = rows.detach().abs().amax(dim=1, keepdim=True)
    wide = most.to(torch.promote_types(most.dtype, torch.float32))
    factor = torch.where(wide > 0, torch.frexp(wide).mantissa / wide, torch.ones_like(wide))
    info = torch.finfo(rows.dtype)
    factor = factor.clamp(2 * info.tiny, 0.5 / info.tiny).to(rows.dtype)
    return rows * factor, factor


# ---------------------------------------------------------------- parametrizations


class GmP(nn.Module):
    """weight = r u(theta)."""

    names = ("theta", "r")

    def __init__(self, shape: torch.Size) -> None:
        super().__init__()
        self.shape = tuple(shape)

    def _column(self, r: Tensor) -> Tensor:
        return r.reshape(-1, *[1] * (len(self.shape) - 1))

    def forward(self, theta: Tensor, r: Tensor) -> Tensor:
        return self._column(r) * directions(theta).reshape(self.shape)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return angles(weight.reshape(weight.shape[0], -1))


class Sphere(GmP):
    """weight = r u / |u|, u of the weight's shape: the gradient of u is what lies in the tangent. `renormalize` brings u back
    to length 1."""

    names = ("u", "r")

    def forward(self, u: Tensor, r: Tensor) -> Tensor:
        rows, _ = _near_one(u.flatten(1))
        length = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        return self._column(r) * (rows / length.clamp_min(torch.finfo(u.dtype).tiny)).reshape(self.shape)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        rows, factor = _near_one(weight.detach().reshape(weight.shape[0], -1))
        length = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
        first = torch.zeros_like(rows)
        first[:, 0] = 1
        u = torch.where(length > 0, rows / length.clamp_min(torch.finfo(rows.dtype).tiny), first)
        return u.reshape(self.shape), (length / factor)[:, 0]


class Offset(nn.Module):
    """bias = r lambda, r being the weight's."""

    names = ("lambda",)

    def __init__(self, weights: Any) -> None:
        super().__init__()
        self.__dict__["weights"] = weights  # no child: its numbers would have two homes

    def forward(self, offset: Tensor) -> Tensor:
        return self.weights.original1 * offset

    def right_inverse(self, bias: Tensor) -> Tensor:
        r = self.weights.original1.detach()
        return torch.where(r != 0, bias.detach() / torch.where(r != 0, r, torch.ones_like(r)), torch.zeros_like(bias))


KINDS = {"gmp": GmP, "sphere": Sphere}
_SUPPORTED = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


def _kind(module: nn.Module) -> GmP | None:
    """The parametrization of ours that a module has."""
    if _parametrize.is_parametrized(module, "weight"):
        first = module.parametrizations["weight"][0]  # type: ignore[index]
        return first if isinstance(first, GmP) else None
    return None


def _homes(module: nn.Module) -> list[tuple[str, str]]:
    """(name in a state dict, where PyTorch keeps it)."""
    kind = _kind(module)
    if kind is None:
        return []
    out = [(name, f"parametrizations.weight.original{i}") for i, name in enumerate(kind.names)]
    if _parametrize.is_parametrized(module, "bias"):
        out.append(("lambda", "parametrizations.bias.original"))
    return out


def _out(module: nn.Module, state: dict[str, Any], prefix: str, _metadata: Any) -> None:
    for name, home in _homes(module):
        if prefix + home in state:
            state[prefix + name] = state.pop(prefix + home)


def _in(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    for name, home in _homes(module):
        if prefix + name in state:
            state[prefix + home] = state.pop(prefix + name)


def _chosen(module: nn.Module, names: Iterable[str] | None) -> list[tuple[str, nn.Module]]:
    found = [(name, m) for name, m in module.named_modules() if isinstance(m, _SUPPORTED)]
    if names is None:
        return found[:-1] if len(found) > 1 else found
    wanted = list(names)
    known = dict(found)
    for name in wanted:
        if name not in known:
            raise ValueError(f"no Linear or Conv is called '{name}'; there are {', '.join(known) or 'none'}")
    return [(name, known[name]) for name in wanted]


@torch.no_grad()
def parametrize(module: nn.Module, kind: str = "gmp", names: Iterable[str] | None = None, init: str = "keep") -> nn.Module:
    """Puts Linear, Conv1d, Conv2d and Conv3d of a module, itself included, into the coordinates of GmP or sphere, in place.

    names: of the modules, as `named_modules` has them; if not given all but the last of them, which is taken to be the
    output layer. Layers of one input stay as they are. init: "keep" converts the weights exactly; "paper" draws
    directions uniformly, r = 1, lambda = 0; "glorot" Glorot-uniform vectors, r their length. In a state dict a layer's
    numbers are called theta (or u), lambda and r, as in libspherelu's files; plain names are not read any more.
    """
    if kind not in KINDS:
        raise ValueError(f"kind: found '{kind}', expected one of {', '.join(KINDS)}")
    if init not in ("keep", "paper", "glorot"):
        raise ValueError(f"init: found '{init}', expected keep, paper or glorot")
    chosen = [(name, m) for name, m in _chosen(module, names) if m.weight[0].numel() > 1 and _kind(m) is None]  # type: ignore[index]
    for name, layer in chosen:
        weight, bias = layer.weight, layer.bias
        empty = weight.flatten(1).abs().amax(1) == 0
        if init == "keep" and bias is not None and bool((empty & (bias != 0)).any()):
            unit = int((empty & (bias != 0)).nonzero()[0])
            raise ValueError(f"{name}: unit {unit} has no weights but a bias, and so no boundary; names= can leave the layer out")
    for _, layer in chosen:
        if init != "keep":
            _draw(layer, init)
        _parametrize.register_parametrization(layer, "weight", KINDS[kind](layer.weight.shape))
        if layer.bias is not None:
            _parametrize.register_parametrization(layer, "bias", Offset(layer.parametrizations["weight"]))  # type: ignore[index]
        layer._register_state_dict_hook(_out)
        layer._register_load_state_dict_pre_hook(_in, with_module=True)
    return module


def _draw(layer: Any, init: str) -> None:
    rows = layer.weight.flatten(1)
    if init == "glorot":
        nn.init.xavier_uniform_(layer.weight)
    else:
        drawn = torch.randn_like(rows)
        layer.weight.copy_((drawn / torch.linalg.vector_norm(drawn, dim=1, keepdim=True)).reshape(layer.weight.shape))
    if layer.bias is not None:
        layer.bias.zero_()


def parametrized(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The layers that are in our coordinates, by name."""
    return ((name, m) for name, m in module.named_modules() if _kind(m) is not None)


def bake(module: nn.Module) -> nn.Module:
    """Plain weights and biases again, in place: the same numbers that the layers computed with."""
    for _, layer in list(parametrized(module)):
        if _parametrize.is_parametrized(layer, "bias"):
            _parametrize.remove_parametrizations(layer, "bias", leave_parametrized=True)
        _parametrize.remove_parametrizations(layer, "weight", leave_parametrized=True)
        for hooks in (layer._state_dict_hooks, layer._load_state_dict_pre_hooks):
            for key, hook in list(hooks.items()):
                if getattr(hook, "hook", hook) in (_out, _in):
                    del hooks[key]  # type: ignore[attr-defined]
    return module


@torch.no_grad()
def renormalize(module: nn.Module) -> None:
    """After an optimizer's step: the u of sphere back to length 1, as libspherelu does."""
    for _, layer in parametrized(module):
        kind = _kind(layer)
        if isinstance(kind, Sphere):
            u = layer.parametrizations["weight"].original0  # type: ignore[index]
            rows, _ = _near_one(u.flatten(1))
            length = torch.linalg.vector_norm(rows, dim=1, keepdim=True)
            u.copy_((rows / length.clamp_min(torch.finfo(u.dtype).tiny)).reshape(u.shape))


def group_lr(module: nn.Module, lr: float, *, theta: float = 1, offset: float = 1, r: float = 1, weight_decay: float = 0) -> list[dict[str, Any]]:
    """Groups for an optimizer: factors on lr for angles (or u), lambda and r. Weight decay touches plain weights and r.

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
    places = {"parametrizations.weight.original0": "theta", "parametrizations.weight.original1": "r", "parametrizations.bias.original": "lambda"}
    ours = {name for name, _ in parametrized(module)}
    for name, parameter in module.named_parameters():
        group = "weight" if parameter.ndim > 1 else "other"
        for place, which in places.items():
            if name.endswith(place) and name[: -len(place)].rstrip(".") in ours:
                group = which
        groups[group]["params"].append(parameter)
    return [{**group, "name": name} for name, group in groups.items() if group["params"]]


# ---------------------------------------------------------------- boundaries on the move


@dataclass(frozen=True)
class Motion:
    """Of one layer in one step: the largest |phi - phi before| and the largest turn of a normal, in radians."""

    move: float
    turn: float


class BoundaryTracker:
    """Follows the boundaries w x + b = 0 of the Linear layers of any model from step to step.

    Call `step()` after each step of the optimizer; `history` has what it returned.

    >>> import torch, spherelu.torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
    >>> tracker = spherelu.torch.BoundaryTracker(model)
    >>> with torch.no_grad():
    ...     _ = model[0].weight.neg_()
    >>> f"{tracker.step()['0'].turn:.4f}"
    '3.1416'
    """

    def __init__(self, module: nn.Module, names: Iterable[str] | None = None) -> None:
        linear = {name: m for name, m in module.named_modules() if isinstance(m, nn.Linear)}
        self.layers = {name: linear[name] for name in (names if names is not None else list(linear)[:-1] or list(linear))}
        self.history: list[dict[str, Motion]] = []
        self._before = self._look()

    @torch.no_grad()
    def _look(self) -> dict[str, tuple[Tensor, Tensor]]:
        out = {}
        for name, layer in self.layers.items():
            w = layer.weight.detach().double()
            b = layer.bias.detach().double() if layer.bias is not None else w.new_zeros(w.shape[0])
            length = torch.linalg.vector_norm(w, dim=1, keepdim=True)
            unit = w / length
            out[name] = unit, -b[:, None] / length * unit
        return out

    @torch.no_grad()
    def step(self) -> dict[str, Motion]:
        now, motion = self._look(), {}
        for name, (unit, phi) in now.items():
            unit0, phi0 = self._before[name]
            turn = 2 * torch.atan2(torch.linalg.vector_norm(unit - unit0, dim=1), torch.linalg.vector_norm(unit + unit0, dim=1))
            move = torch.linalg.vector_norm(phi - phi0, dim=1)
            motion[name] = Motion(_largest(move), _largest(turn))
        self._before = now
        self.history.append(motion)
        return motion


def _largest(values: Tensor) -> float:
    values = values[torch.isfinite(values)]
    return float(values.max()) if values.numel() else math.nan
