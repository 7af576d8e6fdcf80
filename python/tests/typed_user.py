# SPDX-License-Identifier: MIT
"""What a user's type checker sees: checked by `mypy --strict` and pyright, never run. Each ignored line is an error that they find."""

from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import spherelu
from spherelu import Classifier, Ensemble, Net, Regressor, Run

x = np.zeros((10, 2))
y = np.zeros(10)

model = Regressor(hidden=16)
assert_type(model.fit(x, y), Regressor)
Regressor(hidden=(16, 8), lr=np.float64(0.1), epochs=np.int64(3), param="gmp", n_jobs=-2, warm_start=True)
Classifier(hidden=[16], class_weight={"a": 1.0}, loss="ce", random_state=0).fit(x, y).predict_proba(x)

run = spherelu.train(x, y, hidden=16, lr=0.1, ensemble=3, out="runs/a")
assert_type(run, Run)
assert_type(run.net, Net)
assert_type(run.nets, tuple[Net, ...])
assert_type(spherelu.load("model.safetensors"), Net)
assert_type(run.net.classes, npt.NDArray[Any] | None)
assert_type(Ensemble(run.nets).predict_proba(x), npt.NDArray[np.float64])
assert_type(spherelu.__version__, str)

Regressor(hiden=16)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
Regressor(lr=object())  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
Regressor(hidden=1.5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
spherelu.train(x, y, hiden=16)  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
