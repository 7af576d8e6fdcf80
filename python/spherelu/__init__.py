# SPDX-License-Identifier: MIT
"""Train ReLU networks whose hidden units are described by a direction, an offset and a scale.

    >>> import numpy as np, spherelu
    >>> x = np.linspace(-3, 3, 200)[:, None]
    >>> run = spherelu.train(x, np.sin(x[:, 0]), hidden=20, epochs=200, test=0)
    >>> run.predict(x).shape
    (200,)

`Regressor` and `Classifier` are estimators for scikit-learn, and `spherelu.torch` has the same coordinates for PyTorch modules. Both
are imported when they are first used, so that neither has to be installed for the rest.
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

if TYPE_CHECKING:
    from ._boundary import Boundary as Boundary
    from ._boundary import Perturbed as Perturbed
    from ._boundary import Regions as Regions
    from ._boundary import Tracker as Tracker
    from ._boundary import boundaries as boundaries
    from ._boundary import perturb as perturb
    from ._boundary import regions as regions
    from ._experiment import Experiment as Experiment
    from ._experiment import run as run
    from ._lib import features as features
    from ._lib import version as version
    from ._net import Ensemble as Ensemble
    from ._net import Layer as Layer
    from ._net import Net as Net
    from ._net import convert as convert
    from ._net import load as load
    from ._net import save as save
    from ._options import Option as Option
    from ._options import options as options
    from ._tables import Column as Column
    from ._tables import Columns as Columns
    from ._train import Run as Run
    from ._train import View as View
    from ._train import train as train
    from ._watch import watch as watch
    from .sklearn import Classifier as Classifier
    from .sklearn import Regressor as Regressor

    __version__: str

__all__ = [
    "ArgumentError",
    "Boundary",
    "Classifier",
    "Column",
    "Columns",
    "DivergedError",
    "Ensemble",
    "Error",
    "Experiment",
    "FileError",
    "FormatError",
    "Layer",
    "MemoryLimitError",
    "Net",
    "Option",
    "Perturbed",
    "Regions",
    "Regressor",
    "Run",
    "Tracker",
    "View",
    "boundaries",
    "convert",
    "features",
    "load",
    "options",
    "perturb",
    "regions",
    "run",
    "save",
    "train",
    "version",
    "watch",
]

# The module of each name that is imported at its first use: importing this package needs neither NumPy nor the library.
_HOMES = {
    "_boundary": ("Boundary", "Perturbed", "Regions", "Tracker", "boundaries", "perturb", "regions"),
    "_experiment": ("Experiment", "run"),
    "_lib": ("features", "version"),
    "_net": ("Ensemble", "Layer", "Net", "convert", "load", "save"),
    "_options": ("Option", "options"),
    "_tables": ("Column", "Columns"),
    "_train": ("Run", "View", "train"),
    "_watch": ("watch",),
    "sklearn": ("Classifier", "Regressor"),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return __getattr__("version")()
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(importlib.import_module("." + home, __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'spherelu' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__doc__", "__version__"]
