# SPDX-License-Identifier: MIT
"""Train ReLU networks in the coordinates their features live in.

    >>> import numpy as np, spherelu
    >>> x = np.linspace(-3, 3, 200)[:, None]
    >>> run = spherelu.train(x, np.sin(x[:, 0]), hidden=20, epochs=200, test=0)
    >>> run.net(x).shape
    (200, 1)

`Regressor` and `Classifier` are scikit-learn's, `spherelu.torch` puts the same coordinates into PyTorch modules; both are
imported when they are first asked for, so that neither has to be installed for the rest.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ._errors import (
    ArgumentError,
    DivergedError,
    Error,
    FileError,
    FormatError,
    MemoryLimitError,
)

# Where names come from, at first use: importing this package costs no NumPy and loads no library.
_HOMES = {
    "Net": "_net",
    "load": "_net",
    "save": "_net",
    "convert": "_net",
    "train": "_train",
    "Run": "_train",
    "View": "_train",
    "Option": "_options",
    "options": "_options",
    "boundaries": "_boundary",
    "Boundary": "_boundary",
    "Tracker": "_boundary",
    "regions": "_boundary",
    "Regions": "_boundary",
    "perturb": "_boundary",
    "Perturbed": "_boundary",
    "run": "_experiment",
    "Experiment": "_experiment",
    "Regressor": "sklearn",
    "Classifier": "sklearn",
    "version": "_lib",
    "features": "_lib",
}

__all__ = [
    "ArgumentError",
    "DivergedError",
    "Error",
    "FileError",
    "FormatError",
    "MemoryLimitError",
    *_HOMES,
]

if TYPE_CHECKING:
    from ._boundary import Boundary, Perturbed, Regions, Tracker, boundaries, perturb, regions
    from ._experiment import Experiment, run
    from ._lib import features, version
    from ._net import Net, convert, load, save
    from ._options import Option, options
    from ._train import Run, View, train
    from .sklearn import Classifier, Regressor


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return __getattr__("version")()
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'spherelu' has no attribute '{name}'")
    value = getattr(importlib.import_module("." + home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
