# SPDX-License-Identifier: MIT
"""Estimators for scikit-learn. Their keywords are the library's own options: the table of `spherelu.options()`."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.utils import check_array, check_consistent_length, check_random_state
    from sklearn.utils.class_weight import compute_class_weight
    from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d
except ImportError as error:
    raise ImportError("spherelu.Regressor and spherelu.Classifier need scikit-learn 1.2 or newer: pip install scikit-learn") from error

import numpy as np
import numpy.typing as npt

from ._arrays import Array, dense, eval_pair, matrix
from ._boundary import Boundary, boundaries
from ._errors import ArgumentError
from ._keywords import Keywords
from ._lib import processors
from ._model import Path, predicted
from ._net import Net, as_one
from ._options import as_text, plain
from ._tables import Column, Columns, is_table, labels_of, plain_table
from ._train import Callback, Run, class_numbers, learning_curve, train_arrays, watched

try:
    from sklearn.utils.validation import validate_data
except ImportError:  # scikit-learn before 1.6

    def validate_data(estimator: Any, X: Any, reset: bool, skip_check_array: bool = False, **about: Any) -> Any:
        if skip_check_array:
            estimator._check_feature_names(X, reset=reset)
            estimator._check_n_features(X, reset=reset)
            return X
        about["force_all_finite"] = about.pop("ensure_all_finite")
        return estimator._validate_data(X=X, reset=reset, **about)


WEIGHTS_ARE_NOT_COPIES = "rows are shuffled into batches and drawn for validation one by one: a row of weight 2 is drawn once, two equal rows twice"

#: The argument of the same name for scikit-learn's `check_estimator`: one property, which scikit-learn checks on dense and sparse data.
EXPECTED_FAILED_CHECKS = {f"check_sample_weight_equivalence_on_{kind}_data": WEIGHTS_ARE_NOT_COPIES for kind in ("dense", "sparse")}


_EXTRA = {"early_stopping", "warm_start", "n_jobs", "random_state"}


def _same_text(value: Any) -> str:
    """An option's value so that equal ones are equal texts: (10,), [10], "10" and 10."""
    return as_text(value).replace(" ", "")


def _threads(n_jobs: Any) -> int:
    """n_jobs as joblib counts it: -1 is all processors, -2 all but one."""
    count = plain(n_jobs)
    if not isinstance(count, int) or isinstance(count, bool) or count == 0:
        raise ArgumentError(f"n_jobs: found {n_jobs!r}, expected a number of threads, -1 for all processors, -2 for all but one", key="n_jobs")
    return count if count > 0 else max(1, processors() + 1 + count)


class _Estimator(Keywords, BaseEstimator):  # type: ignore[misc]
    net_: Net
    nets_: tuple[Net, ...]
    n_iter_: int
    best_epoch_: int
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]
    history_: dict[str, Array]
    options_: dict[str, str]
    scores_: dict[str, dict[str, float]]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn before 1.6
        return {"allow_nan": True, "_xfail_checks": {"check_sample_weights_invariance": WEIGHTS_ARE_NOT_COPIES}}

    # ---- rows in

    def _rows(self, x: Any, reset: bool) -> Array:
        if reset:
            self._columns = Columns.of_table(x) if is_table(x) and not plain_table(x) else None
        if self._columns is not None:
            if not is_table(x):
                raise ValueError("X: fit saw a table with columns of text or dates, so a table is expected here too")
            validate_data(self, X=x, reset=reset, skip_check_array=True)
            numbers = self._columns.encode(x)
            if np.isinf(numbers).any():
                raise ValueError("Input X contains infinity")
            return numbers
        return dense(validate_data(self, X=x, reset=reset, **self._about_x(reset)), "X")

    @staticmethod
    def _about_x(reset: bool) -> dict[str, Any]:
        return dict(accept_sparse="csr", dtype=np.float64, ensure_all_finite="allow-nan", ensure_min_samples=2 if reset else 1)

    def _rows_and_targets(self, x: Any, y: Any, reset: bool, **about_y: Any) -> tuple[Array, npt.NDArray[Any]]:
        """about_y: what validate_data is told of the targets."""
        if type(y).__module__.partition(".")[0] == "polars":
            y = labels_of(y)
        if is_table(x) and not plain_table(x) or not reset and self._columns is not None:
            rows = self._rows(x, reset)
            y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y") if about_y else column_or_1d(y, warn=True)
            check_consistent_length(x, y)
            return rows, y
        x, y = validate_data(self, X=x, y=y, reset=reset, **self._about_x(reset), **about_y)
        if reset:
            self._columns = None
        return dense(x, "X"), y

    # ---- training

    def _options(self) -> dict[str, Any]:
        given = {name: value for name, value in self.get_params(deep=False).items() if name not in _EXTRA}
        if isinstance(given["class_weight"], Mapping):
            given["class_weight"] = None  # they go with the data
        given["test"] = 0
        if not self.early_stopping:
            given["val"] = given["patience"] = 0
        if self.random_state is not None:
            given["seed"] = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        if self.n_jobs is not None:
            given["threads"] = _threads(self.n_jobs)
        return given

    def _eval_rows(self, eval_set: Any) -> tuple[Array, Array] | None:
        """Features and targets of eval_set, encoded as the training rows are."""
        if eval_set is None:
            return None
        if not self.early_stopping:
            raise ArgumentError("eval_set: early_stopping=False uses no validation rows", key="eval_set")
        x, y = eval_pair(eval_set)
        if is_table(y) or type(y).__module__.partition(".")[0] == "polars":
            y = labels_of(y)
        classes = getattr(self, "classes_", None)
        targets = matrix(y, "eval_set") if classes is None else class_numbers(np.asarray(y).ravel(), classes)
        return self._rows(x, reset=False), targets

    def _train(
        self,
        x: Array,
        y: Array,
        task: str,
        weights: Any,
        labels: Any = None,
        piece: bool = False,
        callbacks: Iterable[Callback] = (),
        eval_set: Any = None,
    ) -> None:
        """weights: sample_weight as it was given; labels: those of the rows; piece: of partial_fit."""
        given, eval_rows = self._options(), self._eval_rows(eval_set)
        if weights is not None:
            weights = _check_sample_weight(weights, x, dtype=np.float64)
            if (weights < 0).any():
                raise ValueError("Negative values in data passed to `sample_weight`")
        class_weights = None
        if isinstance(self.class_weight, Mapping):
            if labels is None:
                raise ArgumentError("class_weight: the task is regression, which has no classes", key="class_weight")
            class_weights = np.ascontiguousarray(compute_class_weight(dict(self.class_weight), classes=self.classes_, y=labels), dtype=np.float64)
        if weights is not None:
            counts = weights > 0  # rows that count nothing are none
            if not counts.any():
                raise ArgumentError("sample_weight: all rows have weight 0", key="sample_weight")
            x, y, weights = (np.ascontiguousarray(values[counts]) for values in (x, y, weights))
        fitted = hasattr(self, "net_")
        start: Sequence[Net] = self.nets_ if fitted and (piece or self.warm_start) else ()
        if start and not piece:
            self._check_warm(x, given)
        if start:  # as many nets of the same shape; pieces learn as the first one did
            given["ensemble"] = given["ensemble"] or len(start)
            for name in ("param", "hidden", *(("lr", "batch") if piece else ())):
                given[name] = self.options_[name] if given[name] is None else given[name]
        if piece:
            given.update(epochs=1, val=0, patience=0, schedule="none", warmup=None, refit=None, monitor=None)
            given["seed"] = int(given["seed"] or 0) + getattr(self, "_pieces", 0)
        elif eval_rows is None and round(len(x) * (0.2 if given["val"] is None else float(given["val"]))) < 1 or len(x) < 5:
            given["val"] = 0  # too few rows for a validation part
        before = getattr(self, "_pieces", 0) if piece else 0
        try:
            run = train_arrays(
                x,
                y,
                task,
                given,
                callbacks,
                start=start,
                weights=weights,
                classes=len(self.classes_) if task == "classes" else 0,
                class_weights=class_weights,
                state=getattr(self, "_state", None) if piece and start else None,
                keep_state=piece,
                columns=self._columns or self._named_columns(),
                labels=getattr(self, "classes_", None),
                eval_rows=eval_rows,
            )
        except KeyboardInterrupt as error:  # the best network so far is kept
            if hasattr(error, "run") and not piece:
                self._keep(error.run)
            raise
        epochs = run.epochs
        if piece and start:
            epochs += self.n_iter_
            run.history = {name: np.concatenate([self.history_.get(name, []), values]) for name, values in run.history.items()}
        self._keep(run)
        self.n_iter_ = epochs
        self._pieces = before + 1 if piece else 0

    def _keep(self, run: Run) -> None:
        self._pieces = 0
        self._state = run.state
        self.net_, self.nets_ = run.nets[0], run.nets
        self.history_ = run.history
        self.options_ = run.options
        self.scores_ = run.scores
        self.n_iter_ = run.epochs
        self.best_epoch_ = run.best_epoch

    def _named_columns(self) -> Columns | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else Columns([Column(str(name)) for name in names])

    def _check_warm(self, x: Array, given: dict[str, Any]) -> None:
        """Refuses to continue from networks of another shape than the keywords ask for."""
        net = self.nets_[0]
        if x.shape[1] != net.inputs:
            raise ArgumentError(f"X: {x.shape[1]} features, and warm_start=True continues from networks with {net.inputs}", key="warm_start")
        for name in ("hidden", "param", "norm", "activation", "ensemble"):
            value, before = given.get(name), self.options_.get(name, "1" if name == "ensemble" else "")
            if value is not None and _same_text(value) != _same_text(before):
                raise ArgumentError(
                    f"{name}: {value!r}, and warm_start=True continues from networks with {name}={before!r}; set warm_start=False to start anew",
                    key=name,
                )

    def _numbers(self, x: Any) -> Array:
        check_is_fitted(self, "net_")
        return self._rows(x, reset=False)

    # ---- as a model

    def plot(self, names: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Draws the losses, or the named values of `history_`, of each epoch with matplotlib; the best epoch is marked."""
        check_is_fitted(self, "net_")
        return learning_curve(self.history_, self.best_epoch_, names, ax)

    @property
    def model_(self) -> Net:
        """The network, or an `Ensemble` of all `nets_`, as `spherelu.load` returns them."""
        check_is_fitted(self, "net_")
        return as_one(self.nets_)

    def save(self, path: Path) -> None:
        """Writes the fitted networks as a safetensors file, which `spherelu.load` reads."""
        self.model_.save(path)

    def export_onnx(self, path: Path, *, opset: int | None = None) -> None:
        """Writes the predictions as an ONNX graph: see `Net.export_onnx`."""
        check_is_fitted(self, "net_")
        self.model_.export_onnx(path, opset=opset)

    # ---- what it knows of its boundaries

    @property
    def boundaries_(self) -> list[Boundary]:
        """The boundaries of `net_`, in the units of the features; for an ensemble those of its first member. `boundaries(X)`
        counts the rows on each side too."""
        check_is_fitted(self, "net_")
        return boundaries(self.net_)

    def boundaries(self, x: Any) -> list[Boundary]:
        """The boundaries of `net_`, and how many rows of x are on each side."""
        check_is_fitted(self, "net_")
        return boundaries(self.net_, self._rows(x, reset=False))


class Regressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """A network, or an ensemble of networks, for real targets, one or several.

    >>> import numpy as np, spherelu
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> model = spherelu.Regressor(hidden=20, epochs=300).fit(x, np.abs(x[:, 0]))
    >>> model.score(x, np.abs(x[:, 0])) > 0.95
    True

    Attributes after `fit`: `net_` (the first network; `nets_` are all of an ensemble, and `model_` predicts with all), `history_` (name: one
    value an epoch), `options_` (as they were settled), `scores_`, `n_iter_`, `best_epoch_`, `boundaries_`, `n_features_in_`,
    `feature_names_in_`.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "multioutput": True}

    def _fit(self, X: Any, y: Any, sample_weight: Any, reset: bool, piece: bool, callbacks: Iterable[Callback] = (), eval_set: Any = None) -> Regressor:
        rows, y = self._rows_and_targets(X, y, reset, multi_output=True, y_numeric=True)
        targets = np.ascontiguousarray(y, dtype=np.float64)
        if reset:
            self._flat = targets.ndim == 1
        targets = targets.reshape(len(targets), -1)
        if not reset and targets.shape[1] != self.net_.outputs:
            raise ValueError(f"y has {targets.shape[1]} targets, expected {self.net_.outputs}, as before")
        self._train(rows, targets, "regression", sample_weight, piece=piece, callbacks=callbacks, eval_set=eval_set)
        return self

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        callbacks: Iterable[Callback] = (),
        verbose: bool = False,
    ) -> Regressor:
        """sample_weight: (rows,) weight of each row in training; rows of weight 0 are left out. eval_set: a pair
        (X, y) that chooses the epoch, instead of rows drawn from X. callbacks, verbose: as in `train`. After Ctrl-C the
        estimator has the best network so far."""
        with watched(callbacks, verbose) as all_of_them:
            return self._fit(X, y, sample_weight, reset=True, piece=False, callbacks=all_of_them, eval_set=eval_set)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Regressor:
        """One epoch on these rows, with the network and the optimizer of the previous calls. The first rows determine the
        standardization. There is no validation set and no schedule."""
        return self._fit(X, y, sample_weight, reset=not hasattr(self, "net_"), piece=True)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """(rows,) or (rows, targets), in the units of the targets. return_std: and the standard deviation over the members of an
        ensemble."""
        rows = self._numbers(X)
        if return_std and len(self.nets_) < 2:
            raise ValueError("return_std: one network has no spread; fit with ensemble=2 or more")
        y, spread = predicted(self.nets_, self.options_["loss"], rows)
        if self._flat:
            y, spread = y[:, 0], spread[:, 0]
        return (y, spread) if return_std else y


class Classifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """A network, or an ensemble of networks, for two or more classes; labels may be strings.

    >>> import numpy as np, spherelu
    >>> x = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = spherelu.Classifier(hidden=16, epochs=100).fit(x, np.where(x[:, 0] > 0, "right", "left"))
    >>> model.predict([[2.0, 0.0], [-2.0, 0.0]]).tolist()
    ['right', 'left']

    Attributes after `fit`: `classes_`, and those of `Regressor`.
    """

    classes_: npt.NDArray[Any]

    def _fit(
        self,
        X: Any,
        y: Any,
        classes: Any,
        sample_weight: Any,
        reset: bool,
        piece: bool,
        callbacks: Iterable[Callback] = (),
        eval_set: Any = None,
    ) -> Classifier:
        kind = type_of_target(labels_of(y) if is_table(y) else y, input_name="y")
        if kind.startswith(("multilabel", "multiclass-multioutput")):
            raise ValueError(
                f"y: {kind} targets are not supported by Classifier, which predicts one class for each row;"
                " use sklearn.multioutput.MultiOutputClassifier(Classifier())"
            )
        rows, y = self._rows_and_targets(X, y, reset)
        check_classification_targets(y)
        labels = np.asarray(y).ravel()
        if reset:
            self.classes_ = unique_labels(labels if classes is None else classes)
            if len(self.classes_) < 2:
                raise ArgumentError("y holds one class only, expected two or more classes", key="y")
        unknown = np.setdiff1d(labels, self.classes_)
        if len(unknown):
            raise ValueError(f"y holds the class {unknown.tolist()[0]!r}, which is none of {self.classes_.tolist()}")
        numbers = np.searchsorted(self.classes_, labels).astype(np.float64).reshape(-1, 1)
        task = "binary" if len(self.classes_) == 2 else "classes"
        self._train(rows, np.ascontiguousarray(numbers), task, sample_weight, labels, piece, callbacks, eval_set)
        return self

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        callbacks: Iterable[Callback] = (),
        verbose: bool = False,
    ) -> Classifier:
        """sample_weight: (rows,) weight of each row in training, multiplied by `class_weight`; rows of weight 0 are left out. eval_set,
        callbacks, verbose: as in `Regressor`. After Ctrl-C the estimator has the best network so far."""
        with watched(callbacks, verbose) as all_of_them:
            return self._fit(X, y, None, sample_weight, reset=True, piece=False, callbacks=all_of_them, eval_set=eval_set)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Classifier:
        """As in `Regressor`. classes: all classes, for the first call, if its rows do not contain all of them."""
        if self.class_weight == "balanced":
            raise ArgumentError("class_weight: 'balanced' counts all rows, and partial_fit sees some; give a dictionary", key="class_weight")
        reset = not hasattr(self, "net_")
        if not reset and classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
            raise ValueError(f"classes: {list(classes)}, expected {list(self.classes_)}, as in the first call")
        return self._fit(X, y, classes, sample_weight, reset, piece=True)

    def _probabilities(self, rows: Array) -> Array:
        p, _ = predicted(self.nets_, self.options_["loss"], rows)
        return np.column_stack([1 - p[:, 0], p[:, 0]]) if p.shape[1] == 1 else p

    def predict_proba(self, X: Any) -> Array:
        """(rows, classes) probabilities; for an ensemble the mean over its members."""
        return self._probabilities(self._numbers(X))

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def decision_function(self, X: Any) -> Array:
        """Logits: (rows,) for two classes, else (rows, classes); for an ensemble those of its mean probabilities."""
        rows = self._numbers(X)
        if len(self.nets_) == 1:
            z = self.nets_[0](rows)
            broken = ~np.isfinite(z).all(axis=1)
            if broken.any():
                raise ValueError(f"X: the prediction of row {int(broken.argmax())} is not a finite number; is one of its features too large?")
            return z[:, 0] if z.shape[1] == 1 else z
        log = np.log(np.maximum(self._probabilities(rows), np.finfo(np.float64).tiny))
        return log[:, 1] - log[:, 0] if log.shape[1] == 2 else log

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """(rows,) labels."""
        z = self.decision_function(X)
        return np.asarray(self.classes_[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)])


for _estimator in (Regressor, Classifier):
    _about = "Parameters that are None are chosen by the data, as `spherelu train` does; if none of the network or the training is set, five networks are trained."
    _estimator.__doc__ = "\n\n".join(inspect.cleandoc(part or "") for part in (_estimator.__doc__, _about, Keywords.__init__.__doc__))
del _estimator, _about

__all__ = ["EXPECTED_FAILED_CHECKS", "Classifier", "Regressor"]


def __dir__() -> list[str]:
    return __all__


def _tell_skl2onnx() -> None:
    """Registers the converters if skl2onnx is installed, so that `to_onnx` takes the estimators, in pipelines too."""
    if importlib.util.find_spec("skl2onnx") is None:
        return
    try:
        from ._skl2onnx import register
    except ImportError:  # an installation of skl2onnx that does not work is no reason to fail here
        return
    register(Regressor, Classifier)


_tell_skl2onnx()
