# SPDX-License-Identifier: MIT
"""GmP and sphere inside PyTorch modules.

    >>> import torch, spherelu.torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    >>> model = spherelu.torch.parametrize(model)  # computes the same function as before
    >>> sorted(model.state_dict())
    ['0.lambda', '0.r', '0.theta', '2.bias', '2.weight']
    >>> model = spherelu.torch.bake(model)         # plain weights again
    >>> sorted(model.state_dict())
    ['0.bias', '0.weight', '2.bias', '2.weight']

A unit computes r act(u(theta) x + lambda), as in libspherelu. The layer's weight is |r| u(theta) and its bias |r| lambda; the
sign of r is applied after the activation, where a homogeneous one follows, and has no effect elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from typing import Any as _Any

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError("spherelu.torch needs PyTorch: pip install torch") from error

from ._layers import GmP, Sphere, bake, group_lr, parametrize, parametrized, renormalize
from ._op import angles, directions, scan, scan_grad
from ._slices import regions
from ._trace import TraceError
from ._watch import Watch, WatchedLayer, to_tensorboard

if TYPE_CHECKING:
    from ._lightning import WatchCallback

__all__ = [
    "GmP",
    "Sphere",
    "TraceError",
    "Watch",
    "WatchCallback",
    "WatchedLayer",
    "angles",
    "bake",
    "directions",
    "group_lr",
    "parametrize",
    "parametrized",
    "regions",
    "renormalize",
    "scan",
    "scan_grad",
    "to_tensorboard",
]


def __getattr__(name: str) -> _Any:
    if name == "WatchCallback":  # imports Lightning, if it is installed
        from ._lightning import WatchCallback

        return WatchCallback
    raise AttributeError(f"module 'spherelu.torch' has no attribute '{name}'")
