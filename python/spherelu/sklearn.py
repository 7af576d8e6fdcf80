# SPDX-License-Identifier: MIT
"""Estimators for scikit-learn. Their keywords are the library's own options: the table of `spherelu.options()`."""

from __future__ import annotations

import inspect
from typing import Any

try:

    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_array, check_consistent_length, check_random_state
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("spherelu.Regressor and spherelu.Classifier need scikit-learn 1.6 or newer: pip install scikit-learn") from error

import numpy as np
import numpy.typing as npt

from ._arrays import Array
from ._boundary import Boundary, boundaries
from ._errors import ArgumentError
from ._net import Net
from ._options import options
from ._train import Run, train_arrays

# The caller holds test rows back, and the kind of estimator is the task.
_NOT_KEYWORDS = {"test", "task"}

_EXTRA = {
    "early_stopping": (True, "False: all rows are trained on, to the last epoch; else `val` and `patience` choose the epoch"),
    "warm_start": (False, "True: fit goes on from the net of the fit before"),
    "random_state": (None, "a number or RandomState that the seed is drawn from; None: `seed` itself"),
}


def _defaults() -> dict[str, Any]:
    own = {o.name: o.default for o in options(in_memory=True) if o.name not in _NOT_KEYWORDS}
    return {**own, **{name: default for name, (default, _) in _EXTRA.items()}}


def _parameters_of_docs() -> str:
    lines = []
    for o in options(in_memory=True):
        if o.name not in _NOT_KEYWORDS:
            lines.append(f"{o.name} : {o.argument or 'bool'}, default {o.default!r}\n    {o.help}")
    lines += [f"{name} : default {default!r}\n    {about}" for name, (default, about) in _EXTRA.items()]
    return "\n".join(lines)


def _set_keywords(cls: type) -> type:
    """Gives a class the signature of the table, which is what scikit-learn looks at."""
    defaults = _defaults()

    def __init__(self: Any, **given: Any) -> None:
        unknown = [name for name in given if name not in defaults]
        if unknown:
            raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument '{unknown[0]}'")
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))

    keyword = inspect.Parameter.KEYWORD_ONLY
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(inspect.Parameter(name, keyword, default=default) for name, default in defaults.items()),
        ]
    )
    cls.__init__ = __init__  # type: ignore[misc]
    cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\nParameters\n----------\n{_parameters_of_docs()}\n"
    return cls


# ---------------------------------------------------------------- tables with words in them


def _is_table(x: Any) -> bool:
    return hasattr(x, "columns") and hasattr(x, "iloc")


def _word_columns(x: Any) -> list[int]:
    """Columns of a table that hold no numbers."""
    if not _is_table(x):
        return []
    kinds = [getattr(dtype, "kind", "O") for dtype in x.dtypes]
    return [i for i, kind in enumerate(kinds) if kind not in "biufmM" or str(x.dtypes.iloc[i]) == "category"]


class _Encoder:
    """Columns of words become an indicator for each level that was seen; an unknown or missing one is none of them."""

    def __init__(self, x: Any) -> None:
        self.columns: list[str] = list(map(str, x.columns))
        self.levels: dict[int, list[str]] = {}
        for i in _word_columns(x):
            column = x.iloc[:, i]
            self.levels[i] = sorted({str(value) for value in column[column.notna()]})

    def __call__(self, x: Any) -> Array:
        if list(map(str, x.columns)) != self.columns:
            raise ValueError(f"columns {list(x.columns)}, expected {self.columns}, as in fit")
        parts = []
        for i in range(len(self.columns)):
            column = x.iloc[:, i]
            if i in self.levels:
                words = np.array([str(value) for value in column], dtype=object)
                parts += [(words == level) & column.notna().to_numpy() for level in self.levels[i]]
            else:
                parts.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.ascontiguousarray(np.column_stack(parts), dtype=np.float64)


class _Estimator(BaseEstimator):  # type: ignore[misc]
    net_: Net
    run_: Run

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ---- rows in

    def _rows(self, x: Any, reset: bool) -> Array:
        if reset:
            self._encoder = _Encoder(x) if _word_columns(x) else None
        if self._encoder is not None:
            if not _is_table(x):
                raise ValueError("fit saw a table with columns of words, so a table is expected here too")
            numbers = self._encoder(x)
            validate_data(self, X=x, reset=reset, skip_check_array=True)
            if np.isinf(numbers).any():
                raise ValueError("Input X contains infinity")
            return numbers
        return np.ascontiguousarray(
            validate_data(self, X=x, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1)
        )

    def _options(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in _defaults() if name not in _EXTRA}
        if isinstance(given["class_weight"], dict):
            raise ValueError("class_weight: None or 'balanced', found a dictionary")
        given["test"] = 0
        if not self.early_stopping:
            given["val"] = given["patience"] = 0
        if self.random_state is not None:
            given["seed"] = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return given

    def _train(self, x: Array, y: Array, task: str) -> None:
        given = self._options()
        start = self.net_ if self.warm_start and hasattr(self, "net_") else None
        if given["val"] and round(len(x) * float(given["val"])) < 1 or len(x) < 5:
            given["val"] = 0  # too few rows for a validation part
        run = train_arrays(x, y, task, given, start=start)
        self.net_ = run.net
        self.history_ = run.history
        self.options_ = run.options
        self.scores_ = run.scores
        self.n_iter_ = run.epochs
        self.best_epoch_ = run.best_epoch

    def _scores(self, x: Any) -> Array:
        check_is_fitted(self, "net_")
        return self.net_(self._rows(x, reset=False))

    # ---- what it knows of its boundaries

    @property
    def boundaries_(self) -> list[Boundary]:
        """Where the units switch, in the units of the features; `boundaries(X)` counts rows on each side too."""
        check_is_fitted(self, "net_")
        return boundaries(self.net_)

    def boundaries(self, x: Any) -> list[Boundary]:
        check_is_fitted(self, "net_")
        return boundaries(self.net_, self._rows(x, reset=False))


class Regressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """A network for real targets, one or several.

    >>> import numpy as np, spherelu
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = spherelu.Regressor(hidden=20, epochs=300).fit(x, np.abs(x[:, 0]))
    >>> model.score(x, np.abs(x[:, 0])) > 0.95
    True

    Attributes after `fit`: `net_`, `history_` (name: one value an epoch), `options_` (as they were settled), `scores_`,
    `n_iter_`, `best_epoch_`, `boundaries_`, `n_features_in_`, `feature_names_in_`.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any) -> Regressor:
        if _word_columns(X):
            rows = self._rows(X, reset=True)
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
            check_consistent_length(X, y)
        else:
            X, y = validate_data(
                self,
                X=X,
                y=y,
                dtype=np.float64,
                ensure_all_finite="allow-nan",
                ensure_min_samples=2,
                multi_output=True,
                y_numeric=True,
            )
            self._encoder = None
            rows = np.ascontiguousarray(X)
        targets = np.ascontiguousarray(y, dtype=np.float64)
        self._flat = targets.ndim == 1
        self._train(rows, targets.reshape(len(targets), -1), "regression")
        return self

    def predict(self, X: Any) -> Array:
        y = self._scores(X)
        return y[:, 0] if self._flat else y


class Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """A network for classes, two or more; labels may be words.

    >>> import numpy as np, spherelu
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = spherelu.Classifier(hidden=16, epochs=100).fit(x, np.where(x[:, 0] > 0, "right", "left"))
    >>> model.predict([[2.0, 0.0], [-2.0, 0.0]]).tolist()
    ['right', 'left']

    Attributes after `fit`: `classes_`, and those of `Regressor`.
    """

    classes_: npt.NDArray[Any]

    def fit(self, X: Any, y: Any) -> Classifier:
        if _word_columns(X):
            rows = self._rows(X, reset=True)
            y = np.asarray(y)
            check_consistent_length(X, y)
        else:
            X, y = validate_data(self, X=X, y=y, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2)
            self._encoder = None
            rows = np.ascontiguousarray(X)
        check_classification_targets(y)
        labels = np.asarray(y).ravel()
        self.classes_ = unique_labels(labels)
        if len(self.classes_) < 2:
            raise ArgumentError("y holds one class only, expected two or more classes", key="y")
        numbers = np.searchsorted(self.classes_, labels).astype(np.float64).reshape(-1, 1)
        self._train(rows, np.ascontiguousarray(numbers), "binary" if len(self.classes_) == 2 else "classes")
        return self

    def decision_function(self, X: Any) -> Array:
        """Logits: (rows,) of two classes, else (rows, classes)."""
        z = self._scores(X)
        return z[:, 0] if z.shape[1] == 1 else z

    def predict_proba(self, X: Any) -> Array:
        z = self._scores(X)
        if z.shape[1] == 1:
            one = 1 / (1 + np.exp(-np.clip(z[:, 0], -700, 700)))
            return np.column_stack([1 - one, one])
        e = np.exp(z - z.max(axis=1, keepdims=True))
        return np.asarray(e / e.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        z = self._scores(X)
        numbers = (z[:, 0] > 0).astype(int) if z.shape[1] == 1 else z.argmax(axis=1)
        return np.asarray(self.classes_[numbers])


_set_keywords(Regressor)
_set_keywords(Classifier)

__all__ = ["Classifier", "Regressor"]
