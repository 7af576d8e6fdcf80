# SPDX-License-Identifier: MIT
"""Estimators for scikit-learn. Their keywords are the library's own options: the table of `spherelu.options()`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from typing import Any

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_array, check_consistent_length, check_random_state
    from sklearn.utils.class_weight import compute_sample_weight
    from sklearn.utils.multiclass import check_classification_targets, unique_labels
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
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
    "warm_start": (False, "True: fit goes on from the net of the fit before, and keeps its standardisation"),
    "n_jobs": (None, "members of an `ensemble` that train side by side, else threads of the one net; -1: one for each processor; None: `threads`"),
    "random_state": (None, "a number or RandomState that the seed is drawn from; None: `seed` itself"),
}


def _defaults() -> dict[str, Any]:
    """None is not said: the library tells by that what it is to choose by the data."""
    own = {o.name: None for o in options(in_memory=True) if o.name not in _NOT_KEYWORDS}
    return {**own, **{name: default for name, (default, _) in _EXTRA.items()}}


def _parameters_of_docs() -> str:
    lines = []
    for o in options(in_memory=True):
        if o.name not in _NOT_KEYWORDS:
            lines.append(f"{o.name} : {o.argument or 'bool'}, default None\n    {o.help}")
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
    about = "None is not said: chosen by the data, as `spherelu train` does; where none of net and training is said, five nets are trained."
    cls.__doc__ = f"{inspect.cleandoc(cls.__doc__ or '')}\n\n{about}\n\nParameters\n----------\n{_parameters_of_docs()}\n"
    return cls


# ---------------------------------------------------------------- tables with words in them


def _is_table(x: Any) -> bool:
    return hasattr(x, "columns") and hasattr(x, "iloc")


def _is_number(column: Any) -> bool:
    """Whether a column of a table holds numbers, missing cells or not."""
    kind = getattr(column.dtype, "kind", "O")
    if kind != "O" or str(column.dtype) == "category":
        return kind in "biuf" and str(column.dtype) != "category"
    from pandas.api.types import infer_dtype

    return infer_dtype(column, skipna=True) in ("integer", "floating", "mixed-integer-float", "boolean", "decimal")


def _needs_encoder(x: Any) -> bool:
    return _is_table(x) and not all(_is_number(x.iloc[:, i]) for i in range(x.shape[1]))


def _days(column: Any) -> Array:
    """Since 1970, or of a length of time; NaN: missing. Times with a zone are taken at Greenwich, as in files."""
    plain = column.dt.tz_convert(None) if getattr(column.dt, "tz", None) is not None else column
    ticks = plain.to_numpy(dtype=f"{column.dtype.kind}8[us]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / 86400e6)


def _date_parts(days: Array, first: float, times: bool) -> list[Array]:
    whole = np.floor(days)
    missing = np.isnan(days)
    date = np.where(missing, 0, whole).astype("M8[D]")
    year = date.astype("M8[Y]")
    parts = [
        year.astype(np.int64) + 1970,
        (date.astype("M8[M]") - year.astype("M8[M]")).astype(np.int64) + 1,
        (np.where(missing, 0, whole) + 3) % 7,  # 1970 began on a Thursday
        days - first,
        *([24 * (days - whole)] if times else []),
    ]
    return [np.where(missing, np.nan, part) for part in parts]


class _Encoder:
    """What `spherelu train` makes of such columns. Words become an indicator for each level that was seen; an unknown or missing
    one is none of them. Dates become year, month, day of the week, days since the first one that was seen, and the hour where
    there are times. Lengths of time, which no file has, become days."""

    def __init__(self, x: Any) -> None:
        self.columns: list[str] = list(map(str, x.columns))
        self.levels: dict[int, list[str]] = {}
        self.times: dict[int, str] = {}
        self.dates: dict[int, tuple[float, bool]] = {}  # the first one, in days since 1970, and whether there are times
        for i in range(len(self.columns)):
            column = x.iloc[:, i]
            kind = getattr(column.dtype, "kind", "O")
            if kind in "mM":
                self.times[i] = kind
            if kind == "M":
                days = _days(column)
                seen = days[~np.isnan(days)]
                self.dates[i] = float(seen.min()) if len(seen) else 0.0, bool((seen % 1 != 0).any())
            if kind not in "mM" and not _is_number(column):
                self.levels[i] = sorted({str(value) for value in column[column.notna()]})

    def __call__(self, x: Any) -> Array:
        if list(map(str, x.columns)) != self.columns:
            raise ValueError(f"columns {list(x.columns)}, expected {self.columns}, as in fit")
        parts = []
        for i, name in enumerate(self.columns):
            column = x.iloc[:, i]
            if i in self.levels:
                words = np.array([str(value) for value in column], dtype=object)
                parts += [(words == level) & column.notna().to_numpy() for level in self.levels[i]]
                continue
            kind = getattr(column.dtype, "kind", "O")
            if (kind in "mM") != (i in self.times) or i in self.times and kind != self.times[i]:
                raise ValueError(f"column {name!r} is {column.dtype}, which is not what fit saw")
            if i in self.times:
                days = _days(column)
                parts += _date_parts(days, *self.dates[i]) if i in self.dates else [days]
            else:
                parts.append(column.to_numpy(dtype=np.float64, na_value=np.nan))
        return np.ascontiguousarray(np.column_stack(parts), dtype=np.float64)


class _Estimator(BaseEstimator):  # type: ignore[misc]
    net_: Net
    nets_: tuple[Net, ...]
    n_iter_: int
    history_: dict[str, Array]
    options_: dict[str, str]
    run_: Run

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # ---- rows in

    def _rows(self, x: Any, reset: bool) -> Array:
        if reset:
            self._encoder = _Encoder(x) if _needs_encoder(x) else None
        if self._encoder is not None:
            if not _is_table(x):
                raise ValueError("fit saw a table with columns of words, so a table is expected here too")
            validate_data(self, X=x, reset=reset, skip_check_array=True)
            numbers = self._encoder(x)
            if np.isinf(numbers).any():
                raise ValueError("Input X contains infinity")
            return numbers
        return np.ascontiguousarray(
            validate_data(self, X=x, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1)
        )

    def _rows_and_targets(self, x: Any, y: Any, reset: bool, **about_y: Any) -> tuple[Array, npt.NDArray[Any]]:
        """about_y: what validate_data is told of the targets."""
        if _needs_encoder(x) or not reset and self._encoder is not None:
            rows = self._rows(x, reset)
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y") if about_y else np.asarray(y)
            check_consistent_length(x, y)
            return rows, y
        least = 2 if reset else 1
        x, y = validate_data(self, X=x, y=y, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=least, **about_y)
        if reset:
            self._encoder = None
        return np.ascontiguousarray(x), y

    # ---- training

    def _options(self) -> dict[str, Any]:
        given = {name: getattr(self, name) for name in _defaults() if name not in _EXTRA}
        if isinstance(given["class_weight"], dict):
            given["class_weight"] = None  # they are weights of rows
        given["test"] = 0
        if not self.early_stopping:
            given["val"] = given["patience"] = 0
        if self.random_state is not None:
            given["seed"] = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        if self.n_jobs is not None:
            given["threads"] = (os.cpu_count() or 1) if self.n_jobs == -1 else self.n_jobs
        return given

    def _train(self, x: Array, y: Array, task: str, weights: Any, labels: Any = None, piece: bool = False) -> None:
        """weights: sample_weight as it was given; labels: those of the rows; piece: of partial_fit."""
        given = self._options()
        if weights is not None:
            weights = _check_sample_weight(weights, x, dtype=np.float64, ensure_non_negative=True)
        if isinstance(self.class_weight, dict):
            own = compute_sample_weight(self.class_weight, labels)
            if not (np.isfinite(own).all() and (own >= 0).all()):
                raise ArgumentError(f"class_weight: {self.class_weight}, expected numbers from 0 on", key="class_weight")
            weights = own if weights is None else weights * own
        if weights is not None:
            counts = weights > 0  # rows that count nothing are none
            if not counts.any():
                raise ArgumentError("sample_weight: all rows have weight 0", key="sample_weight")
            x, y, weights = (np.ascontiguousarray(values[counts]) for values in (x, y, weights))
        fitted = hasattr(self, "net_")
        start: Sequence[Net] = self.nets_ if fitted and (piece or self.warm_start) else ()
        if start:  # as many nets of the same shape; pieces learn as the first one did
            given["ensemble"] = given["ensemble"] or len(start)
            for name in ("param", "hidden", *(("lr", "batch") if piece else ())):
                given[name] = self.options_[name] if given[name] is None else given[name]
        if piece:
            before = getattr(self, "_pieces", 0)
            given.update(epochs=1, val=0, patience=0, schedule="none", warmup=None, refit=None, monitor=None)
            given["seed"] = int(given["seed"] or 0) + before
        elif round(len(x) * (0.2 if given["val"] is None else float(given["val"]))) < 1 or len(x) < 5:
            given["val"] = 0  # too few rows for a validation part
        run = train_arrays(
            x,
            y,
            task,
            given,
            start=start,
            weights=weights,
            classes=len(self.classes_) if task == "classes" else 0,
            moments=getattr(self, "_moments", None) if piece and start else None,
            keep_moments=piece,
        )
        epochs = run.epochs
        self._pieces = 0
        if piece:
            self._pieces = before + 1
            if start:
                epochs += self.n_iter_
                run.history = {name: np.concatenate([self.history_.get(name, []), values]) for name, values in run.history.items()}
        self._moments = run.moments
        self.net_, self.nets_ = run.net, run.nets
        self.history_ = run.history
        self.options_ = run.options
        self.scores_ = run.scores
        self.n_iter_ = epochs
        self.best_epoch_ = run.best_epoch

    def _each(self, x: Any) -> list[Array]:
        """What each net computes."""
        check_is_fitted(self, "net_")
        rows = self._rows(x, reset=False)
        each = [net(rows) for net in self.nets_]
        broken = ~np.isfinite(each).all(axis=(0, 2))
        if broken.any():
            raise ValueError(f"X: the prediction of row {int(broken.argmax())} is not a finite number; is a feature of it too large?")
        return each

    # ---- what it knows of its boundaries

    @property
    def boundaries_(self) -> list[Boundary]:
        """Where the units switch, in the units of the features, of an ensemble those of its first member; `boundaries(X)`
        counts rows on each side too."""
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

    Attributes after `fit`: `net_` (and `nets_`, all of an ensemble), `history_` (name: one value an epoch), `options_` (as they were settled), `scores_`,
    `n_iter_`, `best_epoch_`, `boundaries_`, `n_features_in_`, `feature_names_in_`.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any, reset: bool, piece: bool) -> Regressor:
        rows, y = self._rows_and_targets(X, y, reset, multi_output=True, y_numeric=True)
        targets = np.ascontiguousarray(y, dtype=np.float64)
        if reset:
            self._flat = targets.ndim == 1
        targets = targets.reshape(len(targets), -1)
        if not reset and targets.shape[1] != self.net_.outputs:
            raise ValueError(f"y has {targets.shape[1]} targets, expected {self.net_.outputs}, as before")
        self._train(rows, targets, "regression", sample_weight, piece=piece)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """sample_weight: (rows,) what each row counts in training; rows of weight 0 are left out."""
        return self._fit(X, y, sample_weight, reset=True, piece=False)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """One epoch on these rows, going on with the net and the optimizer of the calls before. The first rows settle the
        standardisation; nothing is held back to validate, and no schedule is followed."""
        return self._fit(X, y, sample_weight, reset=not hasattr(self, "net_"), piece=True)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """(rows,) or (rows, targets). return_std: and the standard deviation over the members of an ensemble."""
        each = self._each(X)
        if return_std and len(each) < 2:
            raise ValueError("return_std: one net has no spread; fit with ensemble=2 or more")
        y = np.mean(each, axis=0)
        spread = np.std(each, axis=0, ddof=1) if return_std else y
        if self._flat:
            y, spread = y[:, 0], spread[:, 0]
        return (y, spread) if return_std else y


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

    def _fit(self, X: Any, y: Any, classes: Any, sample_weight: Any, reset: bool, piece: bool) -> Classifier:
        rows, y = self._rows_and_targets(X, y, reset)
        check_classification_targets(y)
        labels = np.asarray(y).ravel()
        if reset:
            self.classes_ = unique_labels(labels if classes is None else classes)
            if len(self.classes_) < 2:
                raise ArgumentError("y holds one class only, expected two or more classes", key="y")
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(f"y holds the class {unknown[0]!r}, which is none of {list(self.classes_)}")
        numbers = np.searchsorted(self.classes_, labels).astype(np.float64).reshape(-1, 1)
        task = "binary" if len(self.classes_) == 2 else "classes"
        self._train(rows, np.ascontiguousarray(numbers), task, sample_weight, labels, piece)
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Classifier:
        """sample_weight: (rows,) what each row counts in training, times `class_weight`; rows of weight 0 are left out."""
        return self._fit(X, y, None, sample_weight, reset=True, piece=False)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Classifier:
        """As that of `Regressor`. classes: all there will be, for the first call, whose rows may not have them all."""
        if self.class_weight == "balanced":
            raise ArgumentError("class_weight: 'balanced' counts all rows, and partial_fit sees some; give a dictionary", key="class_weight")
        reset = not hasattr(self, "net_")
        if not reset and classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
            raise ValueError(f"classes: {list(classes)}, expected {list(self.classes_)}, as in the first call")
        return self._fit(X, y, classes, sample_weight, reset, piece=True)

    def _probabilities(self, each: list[Array]) -> Array:
        mean = np.zeros((len(each[0]), len(self.classes_)))
        for z in each:
            if z.shape[1] == 1:
                one = 1 / (1 + np.exp(-np.clip(z[:, 0], -700, 700)))
                mean += np.column_stack([1 - one, one])
            else:
                e = np.exp(z - z.max(axis=1, keepdims=True))
                mean += e / e.sum(axis=1, keepdims=True)
        return mean / len(each)

    def predict_proba(self, X: Any) -> Array:
        """(rows, classes); of an ensemble the mean over its members."""
        return self._probabilities(self._each(X))

    def predict_log_proba(self, X: Any) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def decision_function(self, X: Any) -> Array:
        """Logits: (rows,) of two classes, else (rows, classes); of an ensemble those that give its mean probabilities."""
        each = self._each(X)
        if len(each) == 1:
            z = each[0]
            return z[:, 0] if z.shape[1] == 1 else z
        log = np.log(np.maximum(self._probabilities(each), np.finfo(np.float64).tiny))
        return log[:, 1] - log[:, 0] if log.shape[1] == 2 else log

    def predict(self, X: Any) -> npt.NDArray[Any]:
        z = self.decision_function(X)
        return np.asarray(self.classes_[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)])


_set_keywords(Regressor)
_set_keywords(Classifier)

__all__ = ["Classifier", "Regressor"]
