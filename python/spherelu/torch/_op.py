# SPDX-License-Identifier: MIT
"""Weights of GmP and sphere as differentiable functions of their coordinates.

Every function acts row by row: (m, n-1) angles or (m, n) vectors, and (m) lengths. The first derivative on a CPU runs in
libspherelu's kernels. Everything else (other devices, second derivatives, forward mode) is built from scans of plain
PyTorch operations, which can be differentiated any number of times and divide nowhere.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch
from torch import Tensor

from .. import _abi
from .._lib import check, claim_threads, lib

_DTYPES = {torch.float32: _abi.SPH_F32, torch.float64: _abi.SPH_F64}
_HALF = (torch.float16, torch.bfloat16)
_THREADS_FROM = 1 << 18  # numbers; smaller weights take one thread

TRANSFORMS = hasattr(torch, "func")  # torch.func and setup_context: PyTorch 2.0
_is_batched: Any = getattr(getattr(torch._C, "_functorch", None), "is_legacy_batchedtensor", lambda _: False)
COMPILES = hasattr(torch.library, "custom_op") and hasattr(torch, "compiler")  # PyTorch 2.4

def tracing() -> bool:
    """Whether operations are recorded, so that numbers may not decide which way a computation takes."""
    return torch._C._is_tracing() or (COMPILES and torch.compiler.is_compiling())


def exporting() -> bool:
    """Whether they are recorded for other programs, which have no operator of ours."""
    if torch._C._is_tracing():
        return bool(torch.onnx.is_in_onnx_export())
    return COMPILES and getattr(torch.compiler, "is_exporting", bool)()


def transformed() -> bool:
    """Whether torch.func is at work."""
    return TRANSFORMS and torch._C._are_functorch_transforms_active()


def _forward_mode() -> bool:
    """Whether torch.func differentiates forward. It can do so more than once, and a function's own rule cannot."""
    stack = torch._C._functorch.get_interpreter_stack() if transformed() else None
    return any(layer.key() == torch._C._functorch.TransformType.Jvp for layer in stack or ())


def concrete(x: Tensor) -> bool:
    """Whether the numbers of x can be looked at, at no cost."""
    if x.device.type != "cpu" or type(x) not in (Tensor, torch.nn.Parameter):
        return False
    return not (tracing() or transformed() or _batched(x))


def _batched(x: Tensor) -> bool:
    """By autograd.grad(..., is_grads_batched=True), which has a vmap of its own."""
    return bool(_is_batched(x))


# ---------------------------------------------------------------- kernels


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
    places = theta.data_ptr(), None, u.data_ptr(), kept.data_ptr()
    check(lib().sph_weights(_DTYPES[theta.dtype], _abi.SPH_PARAM_GMP, m, n, *places, _threads(m * n)))
    return u, kept


def _backward(theta: Tensor, kept: Tensor | None, du: Tensor) -> Tensor:
    if not _ours(theta) or _batched(du):
        return scan_grad(theta, du)
    theta, du = theta.detach().contiguous(), du.detach().contiguous()
    m, n = du.shape
    dtheta = torch.empty_like(theta)
    known = None if kept is None else kept.data_ptr()
    of = _abi.sph_weights_grads(first=theta.data_ptr(), kept=known, dw=du.data_ptr(), dfirst=dtheta.data_ptr())
    check(lib().sph_weights_grad(_DTYPES[theta.dtype], _abi.SPH_PARAM_GMP, m, n, ctypes.byref(of), _threads(m * n)))
    return dtheta


def _weights(param: int, first: Tensor, length: Tensor, kept: Tensor | None) -> Tensor:
    """(m, n) weights of GmP or sphere in one call, and in kept what the gradient need not compute again."""
    first, length = first.contiguous(), length.contiguous()
    m, n = first.shape[0], first.shape[1] + (param == _abi.SPH_PARAM_GMP)
    w = first.new_empty(m, n)
    places = first.data_ptr(), length.data_ptr(), w.data_ptr(), None if kept is None else kept.data_ptr()
    check(lib().sph_weights(_DTYPES[first.dtype], param, m, n, *places, _threads(m * n)))
    return w


def _weights_grad(param: int, first: Tensor, length: Tensor, kept: Tensor | None, dw: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of first and length."""
    first, length, dw = first.contiguous(), length.contiguous(), dw.contiguous()
    dfirst, dlength = torch.empty_like(first), torch.empty_like(length)
    of = _abi.sph_weights_grads(
        first.data_ptr(), length.data_ptr(), None if kept is None else kept.data_ptr(), dw.data_ptr(), dfirst.data_ptr(), dlength.data_ptr()
    )
    check(lib().sph_weights_grad(_DTYPES[first.dtype], param, *dw.shape, ctypes.byref(of), _threads(dw.numel())))
    return dfirst, dlength


def angles(w: Tensor) -> tuple[Tensor, Tensor]:
    """theta (m, n-1) and lengths (m) of the rows of w (m, n); a row of zeroes has angles 0."""
    rows = w.detach().to("cpu", torch.float64).contiguous()
    m, n = rows.shape
    theta, length = torch.empty(m, n - 1, dtype=torch.float64), torch.empty(m, dtype=torch.float64)
    check(lib().sph_directions_of(_abi.SPH_F64, m, n, _address(rows), _address(theta), _address(length)))
    return theta.to(w), length.to(w)


# ---------------------------------------------------------------- scans of PyTorch alone


def _shifted(x: Tensor, step: int, fill: float) -> Tensor:
    """x moved by step columns, to the right where step is above 0; what is freed holds fill."""
    gap = x.new_full((x.shape[0], min(abs(step), x.shape[1])), fill)
    return torch.cat([gap, x[:, :-step]] if step > 0 else [x[:, -step:], gap], 1)


def _products(x: Tensor) -> Tensor:
    """Inclusive products along rows. By doubling where they may be differentiated: the derivatives of cumprod branch at 0."""
    if not torch.is_grad_enabled() and not tracing():
        return torch.cumprod(x, 1)
    step = 1
    while step < x.shape[1]:
        x, step = x * _shifted(x, step, 1), 2 * step
    return x


def _recurrence(factor: Tensor, term: Tensor, reverse: bool = False) -> Tensor:
    """y_i = factor_i y_{i-1} + term_i, or y_{i+1} in place of y_{i-1}, in log2(n) passes."""
    step, way = 1, -1 if reverse else 1
    while step < term.shape[1]:
        term = term + factor * _shifted(term, way * step, 0)
        factor, step = factor * _shifted(factor, way * step, 0), 2 * step
    return term


def scan(theta: Tensor) -> Tensor:
    """u(theta): u_i = cos(theta_i) times the sines before it; the last one has no cosine."""
    one = theta.new_ones(theta.shape[0], 1)
    return torch.cat([one, _products(torch.sin(theta))], 1) * torch.cat([torch.cos(theta), one], 1)


def scan_grad(theta: Tensor, du: Tensor) -> Tensor:
    """dtheta from du without a division, by the suffix scan t_i = cos g + sin t_{i+1}."""
    sine, cosine = torch.sin(theta), torch.cos(theta)
    before = _shifted(_products(sine), 1, 1)
    factor = torch.cat([sine, sine.new_zeros(sine.shape[0], 1)], 1)
    behind = _recurrence(factor, torch.cat([cosine * du[:, :-1], du[:, -1:]], 1), reverse=True)[:, 1:]
    return before * (cosine * behind - sine * du[:, :-1])


def scan_tangent(theta: Tensor, c: Tensor) -> Tensor:
    """The derivative of u along c (m, n-1)."""
    sine, cosine = torch.sin(theta), torch.cos(theta)
    before = _shifted(_products(sine), 1, 1)
    dbefore = _recurrence(sine, before * cosine * c)  # of the products up to and with each angle
    return torch.cat([cosine * _shifted(dbefore, 1, 0) - sine * before * c, dbefore[:, -1:]], 1)


def scan_second(theta: Tensor, du: Tensor, c: Tensor) -> Tensor:
    """The derivative of scan_grad(theta, du) along c in theta: du times the second derivatives of u, times c. Symmetric, so
    that it is also the gradient of <c, scan_grad(theta, du)> in theta: the adjoint of scan_tangent."""
    sine, cosine = torch.sin(theta), torch.cos(theta)
    before = _shifted(_products(sine), 1, 1)
    dbefore = _shifted(_recurrence(sine, before * cosine * c), 1, 0)
    g = du[:, :-1]
    factor = torch.cat([sine, sine.new_zeros(sine.shape[0], 1)], 1)
    behind = _recurrence(factor, torch.cat([cosine * g, du[:, -1:]], 1), reverse=True)[:, 1:]
    dbehind = _shifted(_recurrence(sine, c * (cosine * behind - sine * g), reverse=True), -1, 0)
    return g * (-sine * dbefore - cosine * c * before) + behind * (cosine * dbefore - sine * c * before) + dbehind * cosine * before


# ---------------------------------------------------------------- autograd


def _function(name: str, forward: Any, setup: Any, backward: Any, jvp: Any, unshared: tuple[int, ...] = ()) -> Any:
    """An autograd.Function that acts row by row, as a callable. Where forward gives several tensors, the first is the result
    and the others are for backward. torch.func wants forward and setup_context apart, which costs more than the kernels
    of a small layer: there are two functions. Under vmap the batch becomes more rows; unshared: arguments that fit the
    rows of one call only and are None then."""

    def whole(ctx: Any, *inputs: Any) -> Any:
        out = forward(*inputs)
        setup(ctx, inputs, out)
        return out[0] if isinstance(out, tuple) else out

    def first(*inputs: Any) -> Any:
        out = apart.apply(*inputs)
        return out[0] if isinstance(out, tuple) else out

    def parted(ctx: Any, inputs: Any, output: Any) -> None:
        setup(ctx, inputs, output)
        if isinstance(output, tuple):
            ctx.mark_non_differentiable(*output[1:])

    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        rows: list[Any] = []
        for i, (dim, arg) in enumerate(zip(in_dims, args)):
            if arg is None or i in unshared:
                rows.append(None)
            else:
                arg = arg.expand(info.batch_size, *arg.shape) if dim is None else arg.movedim(dim, 0)
                rows.append(arg.reshape(-1, *arg.shape[2:]))
        out = apart.apply(*rows)
        shaped = tuple(v.unflatten(0, (info.batch_size, -1)) if v.ndim > 1 else v for v in (out if isinstance(out, tuple) else (out,)))
        dims = tuple(0 if v.ndim > 1 else None for v in shaped)
        return (shaped, dims) if isinstance(out, tuple) else (shaped[0], dims[0])

    function: Any = torch.autograd.Function
    quick: Any = type(name, (function,), {"forward": staticmethod(whole), "backward": staticmethod(backward), "jvp": staticmethod(jvp)})
    rules = {"forward": forward, "setup_context": parted, "backward": backward, "vmap": vmap}
    apart: Any = type(name, (function,), {key: staticmethod(rule) for key, rule in rules.items()}) if TRANSFORMS else quick
    return lambda *inputs: first(*inputs) if transformed() else quick.apply(*inputs)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """Of each row."""
    return (a * b).sum(1)


# dtheta from du: linear in du, so that forward mode and the second backward need scan_second and scan_tangent only.


def _grad_setup(ctx: Any, inputs: Any, _output: Any) -> None:
    theta, _, du = inputs
    ctx.save_for_backward(theta, du)
    ctx.save_for_forward(theta, du)


def _grad_backward(ctx: Any, c: Tensor) -> tuple[Tensor, None, Tensor]:
    theta, du = ctx.saved_tensors
    return scan_second(theta, du, c), None, scan_tangent(theta, c)


def _grad_jvp(ctx: Any, theta_t: Tensor | None, _kept_t: Any, du_t: Tensor | None) -> Tensor:
    theta, du = ctx.saved_tensors
    out = torch.zeros_like(theta)
    if theta_t is not None:
        out = out + scan_second(theta, du, theta_t)
    return out if du_t is None else out + scan_grad(theta, du_t)


_gradient = _function("DirectionsGradient", _backward, _grad_setup, _grad_backward, _grad_jvp, unshared=(1,))


# (theta, length) to length u(theta); length may be None for 1. The second output is what the gradient need not compute again.


def _gmp_forward(theta: Tensor, length: Tensor | None) -> tuple[Tensor, Tensor]:
    if length is None or not _ours(theta):
        u, kept = _forward(theta)
        return (u if length is None else u.mul_(length.detach()[:, None])), kept
    kept = theta.new_empty(theta.shape[0], lib().sph_directions_kept(theta.shape[1] + 1))
    return _weights(_abi.SPH_PARAM_GMP, theta, length, kept), kept


def _gmp_setup(ctx: Any, inputs: Any, output: Any) -> None:
    theta, length = inputs
    ctx.save_for_backward(theta, length, output[1])
    ctx.save_for_forward(theta, length)


def _gmp_backward(ctx: Any, dw: Tensor, *_: Any) -> tuple[Tensor | None, Tensor | None]:
    theta, length, kept = ctx.saved_tensors
    if torch.is_grad_enabled() or not _ours(theta) or _batched(dw):  # a second derivative may be asked for
        # what was kept counts for one call, and holds the lengths where there are any
        dtheta = _gradient(theta, kept if length is None else None, dw if length is None else dw * length[:, None])
        return dtheta, None if length is None else (directions(theta) * dw).sum(1)
    if length is None:
        return _backward(theta, kept, dw), None
    return _weights_grad(_abi.SPH_PARAM_GMP, theta, length, kept, dw)


def _gmp_jvp(ctx: Any, theta_t: Tensor | None, length_t: Tensor | None) -> Tensor:
    theta, length = ctx.saved_tensors
    out: Tensor = theta.new_zeros(theta.shape[0], theta.shape[1] + 1)
    if theta_t is not None:
        out = scan_tangent(theta, theta_t)
        out = out if length is None else out * length[:, None]
    return out if length_t is None else out + scan(theta) * length_t[:, None]


_gmp = _function("GmpWeight", _gmp_forward, _gmp_setup, _gmp_backward, _gmp_jvp)


# (u, length) to length u / |u|


def lengths(rows: Tensor) -> Tensor:
    """Of each row; no square overflows or vanishes."""
    most = rows.detach().abs().amax(1, keepdim=True).clamp_min(torch.finfo(rows.dtype).tiny)
    length: Tensor = torch.linalg.vector_norm(rows / most, dim=1)
    return length * most[:, 0]


def _lengths(rows: Tensor) -> Tensor:
    """The same, above 0, and quick where the squares are of a usual size."""
    if concrete(rows) and len(rows):
        length: Tensor = torch.linalg.vector_norm(rows, dim=1)
        low, high = torch.aminmax(length.detach())
        if 1e-12 < low.item() and high.item() < 1e18:
            return length
    return lengths(rows).clamp_min(torch.finfo(rows.dtype).tiny)


# PyTorch's kernels of weight normalization compute the same function. Their own derivative is wrong in the second order, and
# the squares of their rows may overflow or vanish.
_by_norms: Any = getattr(torch, "_weight_norm_interface", None)
_by_norms_grad: Any = getattr(torch.ops.aten, "_weight_norm_interface_backward", None)


def _sphere_forward(u: Tensor, length: Tensor) -> tuple[Tensor, Tensor]:
    """The second output: lengths (m, 1) for backward, or nothing."""
    if not _ours(u):
        u, length = u.detach(), length.detach()
        return u * (length / _lengths(u))[:, None], u.new_empty(0)
    if _by_norms is not None and _by_norms_grad is not None and len(u):
        w, norms = _by_norms(u.contiguous(), length.unsqueeze(1), 0)
        low, high = torch.aminmax(norms)
        if 1e-12 < low.item() and high.item() < 1e12:
            return w, norms
    return _weights(_abi.SPH_PARAM_SPHERE, u, length, None), u.new_empty(0)


def _sphere_setup(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs, output[1])
    ctx.save_for_forward(*inputs)


def _sphere_backward(ctx: Any, dw: Tensor, *_: Any) -> tuple[Tensor, Tensor]:
    u, length, norms = ctx.saved_tensors
    if _ours(u) and not torch.is_grad_enabled() and not _batched(dw):
        if not len(norms):
            return _weights_grad(_abi.SPH_PARAM_SPHERE, u, length, None, dw)
        du, dlength = _by_norms_grad(dw.contiguous(), u.contiguous(), length.unsqueeze(1), norms, 0)
        return du, dlength.squeeze(1)
    inverse = 1 / _lengths(u)
    radial = _dot(u, dw) * inverse
    factor = length * inverse
    return torch.addcmul(dw * factor[:, None], u, (factor * inverse * radial)[:, None], value=-1), radial


def _sphere_jvp(ctx: Any, u_t: Tensor | None, length_t: Tensor | None) -> Tensor:
    u, length = ctx.saved_tensors
    inverse = 1 / _lengths(u)
    unit = u * inverse[:, None]
    out = torch.zeros_like(u) if length_t is None else unit * length_t[:, None]
    if u_t is not None:
        out = out + (length * inverse)[:, None] * (u_t - unit * (unit * u_t).sum(1, keepdim=True))
    return out


_sphere = _function("SphereWeight", _sphere_forward, _sphere_setup, _sphere_backward, _sphere_jvp)


# ---------------------------------------------------------------- torch.compile

# torch.compile cannot look into the kernels: they are an operator to it. Without a compiler the functions above are the
# lighter way: the first call of an operator imports all of torch.compile.
if COMPILES:

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

    def _pull(ctx: Any, du: Tensor, _dkept: Any) -> Any:
        theta, kept = ctx.saved_tensors
        return _operator_grad(theta, kept, du)

    _operator.register_autograd(_pull, setup_context=_keep)


# ---------------------------------------------------------------- weights


def gmp(theta: Tensor, length: Tensor | None) -> Tensor:
    """length u(theta): (m, n-1) angles and (m) lengths, None for 1, to (m, n). Half precision is computed in f32."""
    if theta.dtype in _HALF:
        return gmp(theta.float(), None if length is None else length.float()).to(theta.dtype)
    compiling = COMPILES and torch.compiler.is_compiling()
    if exporting() or (transformed() if compiling else _forward_mode()):
        u = scan(theta)
    elif compiling:
        u = _operator(theta)[0]
    else:
        result: Tensor = _gmp(theta, length)
        return result
    return u if length is None else u * length[:, None]


def renormalized(u: Tensor) -> None:
    """Each row to length 1, in place."""
    u.div_(_lengths(u)[:, None])


def sphere(u: Tensor, length: Tensor) -> Tensor:
    """length u / |u| of the rows of u (m, n)."""
    if tracing() or _forward_mode():
        return u * (length / _lengths(u))[:, None]
    result: Tensor = _sphere(u, length)
    return result


def directions(theta: Tensor) -> Tensor:
    """u(theta): (m, n-1) angles to (m, n) unit vectors.

    The gradient is exact at the poles, and can be differentiated again. f32 and f64 on a CPU run in libspherelu's kernels,
    other tensors in scans of PyTorch operations; half precision is computed in f32.
    """
    if theta.ndim != 2 or theta.shape[1] < 1:
        raise ValueError(f"angles of shape {tuple(theta.shape)}, expected (units, inputs - 1)")
    return gmp(theta, None)
