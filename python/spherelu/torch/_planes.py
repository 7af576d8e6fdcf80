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


@dataclass
class Planes:
    """u x + offset = 0 for each unit, u of length 1; NaN if a unit has none."""

    unit: Tensor  # (m, n) in the type of the weight, or f32 if that is shorter
    offset: Array  # (m)
    norm: Array  # (m) length of the effective weight

    @property
    def phi(self) -> Array:
        """(m, n) the points of the boundaries that are nearest to 0."""
        out: Array = 0 - self.offset[:, None] * self.unit.detach().cpu().double().numpy()
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


def _numbers(x: Tensor | None, like: int, otherwise: float) -> Array:
    return np.full(like, otherwise) if x is None else x.detach().double().cpu().numpy() if x.device.type != "mps" else x.detach().cpu().double().numpy()


@torch.no_grad()
def planes(layer: nn.Module, norms: tuple[nn.Module, ...]) -> Planes:
    """norms: batch normalizations behind the layer, folded in with their running statistics."""
    weight, bias = weight_of(layer)
    rows = weight.detach().flatten(1)
    rows = rows.float() if rows.dtype in (torch.float16, torch.bfloat16) else rows
    length = torch.linalg.vector_norm(rows, dim=1)
    low, high = (float(v) for v in torch.aminmax(length))
    if not (1e-12 < low and high < 1e18):  # squares that overflow or vanish
        length = lengths(rows)
    norm, offset = _numbers(length, 0, 0), _numbers(bias, len(rows), 0)
    factor = np.ones(len(rows))
    for bn in norms:
        assert isinstance(bn, _BatchNorm) and bn.running_var is not None
        scale = _numbers(bn.weight, len(rows), 1) / np.sqrt(_numbers(bn.running_var, 0, 0) + bn.eps)
        offset = scale * (offset - _numbers(bn.running_mean, 0, 0)) + _numbers(bn.bias, len(rows), 0)
        factor = factor * scale
    effective = norm * np.abs(factor)
    with np.errstate(divide="ignore", invalid="ignore"):
        plane = np.where(effective > 0, offset / effective, np.nan)
    signs = np.where(effective > 0, np.sign(factor), np.nan)
    if (signs == 1).all():
        return Planes(rows / length[:, None], plane, effective)
    by = torch.from_numpy(signs).to(length.dtype).to(length.device) / length
    return Planes(rows * by[:, None], plane, effective)


@torch.no_grad()
def motion(before: Planes, after: Planes) -> tuple[Array, Array]:
    """|phi - phi before| and the angle between the normals of each unit, radians; exact for small ones, no phi needed:
    |o'u' - o u|^2 = (o' - o)^2 + o o' |u' - u|^2 = (o' + o)^2 - o o' |u' + u|^2."""
    old = before.unit.to(after.unit)
    apart = _numbers(torch.linalg.vector_norm(after.unit - old, dim=1), 0, 0)
    together = np.sqrt(np.maximum(4 - apart * apart, 0))
    if (apart > 1).any():
        together = _numbers(torch.linalg.vector_norm(after.unit + old, dim=1), 0, 0)
    both, near, far = before.offset * after.offset, after.offset - before.offset, after.offset + before.offset
    squared = np.where(both >= 0, near * near + both * apart * apart, far * far - both * together * together)
    return np.sqrt(squared), 2 * np.arctan2(apart, together)
