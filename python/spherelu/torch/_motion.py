# SPDX-License-Identifier: MIT
"""How boundaries move while any PyTorch module trains."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ._op import lengths
from ._trace import Graph, TraceError

@dataclass(frozen=True)
class Motion:
    """The motion of one layer in one step: the largest |phi - previous phi| and the largest turn of a normal, in radians."""

    move: float
    turn: float


class BoundaryTracker:
    """Follows the boundaries w x + b = 0 of the Linear layers of any model from step to step.

    names: the layers; by default all but those of the output, found by torch.fx. Call `step()` after each step of the
    optimizer; `history` contains the returned values.

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
        if names is None:
            try:
                last = set() if isinstance(module, nn.Linear) else Graph(module).outputs()
            except TraceError as error:
                raise ValueError(f"{error}: name the layers with names=, out of {', '.join(linear)}") from error
            names = [name for name, m in linear.items() if m not in last] or list(linear)
        self.layers = {name: linear[name] for name in names}
        self.history: list[dict[str, Motion]] = []
        self._before = self._look()

    @torch.no_grad()
    def _look(self) -> dict[str, tuple[Tensor, Tensor]]:
        out = {}
        for name, layer in self.layers.items():
            w = layer.weight.detach().double()
            b = layer.bias.detach().double() if layer.bias is not None else w.new_zeros(w.shape[0])
            length = lengths(w)[:, None]
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
