# SPDX-License-Identifier: MIT
"""The hyperplanes of a layer's units, with the norms behind it folded in, and how far they move."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from ._op import lengths
from ._probe import evaluation

Array = npt.NDArray[np.float64]
_CHUNK = 1 << 16  # numbers


@dataclass
class Planes:
    """u x + offset = 0 for each unit, u = sign rows / length; NaN if a unit has none."""

    rows: Tensor  # (m, n) the weight itself, or a copy
    length: Tensor  # (m) of the rows
    sign: Array  # (m)
    offset: Array  # (m)
    norm: Array  # (m) length of the effective weight

    @property
    def phi(self) -> Array:
        """(m, n) the points of the boundaries that are nearest to 0."""
        unit = _numbers(self.rows) * (self.sign / _numbers(self.length))[:, None]
        out: Array = 0 - self.offset[:, None] * unit
        return out


def weight_of(layer: Any) -> tuple[Tensor, Tensor | None]:
    """The weight and bias that the next forward computes with. Nothing is updated: evaluation stops spectral_norm's iteration."""
    parametrizations = getattr(layer, "parametrizations", None)
    with evaluation(parametrizations) if isinstance(parametrizations, nn.Module) else nullcontext():
        weight, bias = layer.weight, layer.bias
    for hook in layer._forward_pre_hooks.values():  # weight_norm, spectral_norm and pruning of torch.nn.utils
        name = getattr(hook, "name", None) or getattr(hook, "_tensor_name", None)
        value = None
        if type(hook).__name__ == "WeightNorm":
            value = hook.compute_weight(layer)
        elif type(hook).__name__ == "SpectralNorm":
            value = hook.compute_weight(layer, do_power_iteration=False)
        elif hasattr(hook, "apply_mask"):
            value = hook.apply_mask(layer)
        if value is not None and name == "weight":
            weight = value
        elif value is not None and name == "bias":
            bias = value
    return weight, bias


def _numbers(x: Tensor) -> Array:
    """In f64, which not every device has."""
    out: Array = x.detach().cpu().double().numpy()
    return out


def _or(x: Tensor | None, like: int, otherwise: float) -> Array:
    return np.full(like, otherwise) if x is None else _numbers(x)


def _chunks(rows: Tensor) -> list[slice]:
    """Rows that fit a cache together."""
    step = max(1, _CHUNK // max(1, rows.shape[1])) if rows.device.type == "cpu" else len(rows)
    return [slice(begin, begin + step) for begin in range(0, len(rows), step)]


@torch.no_grad()
def planes(layer: nn.Module, norms: tuple[nn.Module, ...], kept: bool, into: Tensor | None = None) -> Planes:
    """norms: batch normalizations behind the layer, folded in with their running statistics. kept: the weight is copied, because it will
    change; into: memory for that."""
    weight, bias = weight_of(layer)
    rows = weight.detach().flatten(1)
    rows = rows.float() if rows.dtype in (torch.float16, torch.bfloat16) else rows
    if kept:
        source = rows
        rows = into if into is not None and into.shape == rows.shape and into.dtype == rows.dtype and into.device == rows.device else torch.empty_like(rows)
        length = rows.new_empty(len(rows))
        for some in _chunks(rows):
            length[some] = torch.linalg.vector_norm(rows[some].copy_(source[some]), dim=1)
    else:
        length = torch.linalg.vector_norm(rows, dim=1)
    norm, offset = _numbers(length), _or(bias, len(rows), 0)
    if len(norm) and not (1e-12 < norm.min() and norm.max() < 1e18):  # squares that overflow or vanish
        exact = lengths(rows.double() if rows.device.type != "mps" else rows)
        norm = _numbers(exact)
        rows = (rows / torch.where(exact > 0, exact, torch.ones_like(exact))[:, None]).to(rows)
        length = torch.linalg.vector_norm(rows, dim=1)
    factor = np.ones(len(rows))
    for bn in norms:
        assert isinstance(bn, _BatchNorm) and bn.running_mean is not None and bn.running_var is not None
        scale = _or(bn.weight, len(rows), 1) / np.sqrt(_numbers(bn.running_var) + bn.eps)
        offset = scale * (offset - _numbers(bn.running_mean)) + _or(bn.bias, len(rows), 0)
        factor = factor * scale
    effective = norm * np.abs(factor)
    with np.errstate(divide="ignore", invalid="ignore"):
        plane = np.where(effective > 0, offset / effective, np.nan)
    return Planes(rows, length, np.where(effective > 0, np.sign(factor), np.nan), plane, effective)


@torch.no_grad()
def motion(before: Planes, after: Planes) -> tuple[Array, Array]:
    """|phi - phi before| and the angle between the normals of each unit, radians; exact for small ones, no phi needed:
    |o'u' - o u|^2 = (o' - o)^2 + o o' |u' - u|^2 = (o' + o)^2 - o o' |u' + u|^2. The memory of before.rows is used."""
    old, length = before.rows.to(after.rows), before.length.to(after.length)
    same = torch.from_numpy(before.sign * after.sign).to(length)
    ratio = (same * length / after.length)[:, None]
    difference = torch.empty_like(length)  # |old| |u' - u|
    for some in _chunks(old):
        difference[some] = torch.linalg.vector_norm(old[some].addcmul_(after.rows[some], ratio[some], value=-1), dim=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = _numbers(difference) / _numbers(length)
    together = np.sqrt(np.maximum(4 - apart * apart, 0))
    far_turned = np.flatnonzero(apart > 1)
    if len(far_turned):
        some = torch.from_numpy(far_turned).to(old.device)
        sums = torch.linalg.vector_norm(old[some] + 2 * ratio[some] * after.rows[some], dim=1)
        together[far_turned] = _numbers(sums) / _numbers(length)[far_turned]
    both, near, far = before.offset * after.offset, after.offset - before.offset, after.offset + before.offset
    squared = np.where(both >= 0, near * near + both * apart * apart, far * far - both * together * together)
    return np.sqrt(squared), 2 * np.arctan2(apart, together)
