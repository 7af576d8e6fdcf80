# SPDX-License-Identifier: MIT
"""One training, of arrays and tables in memory or of a file."""

from __future__ import annotations

import ctypes
import html
import importlib
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from . import _abi
from ._arrays import TASKS, Array, Data, dense, doubles, eval_pair, joined, matrix, row_weights
from ._boundary import Tracker
from ._errors import ArgumentError
from ._lib import Stop, check, in_python, interruptible, lib, processors, sized, text
from ._model import Path, note_of
from ._net import Net, all_held, as_one, load
from ._options import Job
from ._options import options as all_options
from ._tables import Columns, is_table, labels_of

if TYPE_CHECKING:
    from typing import Unpack

    from ._keywords import TrainOptions


@dataclass(frozen=True)
class View:
    """The state of a training after an epoch, for callbacks.

    >>> import numpy as np, spherelu
    >>> x, units = np.random.default_rng(0).normal(size=(60, 2)), []
    >>> def look(view):
    ...     units.append(view.net.boundaries()[0].direction)
    >>> run = spherelu.train(x, x[:, 0], hidden=5, epochs=3, callbacks=[look])
    >>> len(units), units[0].shape
    (3, (5, 2))
    """

    epoch: int
    epochs: int
    step: int
    lr: float
    loss: float
    values: dict[str, float]
    seconds: float
    improved: bool
    _handle: list[Any] = field(default_factory=list, repr=False, compare=False)

    @property
    def net(self) -> Net:
        """A copy of the network as it is now, the first of an ensemble. Available while the callback runs."""
        if not self._handle:
            raise ArgumentError("net: the view belongs to a callback that has returned; copy view.net inside the callback", key="net")
        out = ctypes.c_void_p()
        check(lib().sph_net_copy(ctypes.byref(out), self._handle[0]))
        return Net(out)


Callback = Union[Callable[[View], Any], Tracker]


def _scores(scores: Any) -> dict[str, float]:
    return {text(scores.name[i]): scores.value[i] for i in range(scores.count)} if scores.rows else {}


@dataclass
class Run:
    """The result of a training: the network, its scores, the history of its epochs, and every option with its value.

    `scores` are those of `net`: one network, or an `Ensemble`, whose members are `nets`. `predict(x)` returns its predictions. `notes`
    states how the targets were interpreted, if there was a choice.
    """

    net: Net
    scores: dict[str, dict[str, float]]
    history: dict[str, Array]
    options: dict[str, str]
    epochs: int
    best_epoch: int
    steps: int
    seconds: float
    stopped: bool
    classes: npt.NDArray[Any] | None = None
    folder: str | None = None
    nets: tuple[Net, ...] = ()
    state: bytes | None = None
    notes: tuple[str, ...] = ()

    def predict(self, x: Any, return_std: bool = False) -> Any:
        """Predictions for the rows of x, an array or a table: see `Net.predict`.

        >>> import numpy as np, spherelu
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> run = spherelu.train(x, x[:, 0] > 0, hidden=8, epochs=30)
        >>> run.predict(x[:3]).dtype, run.predict_proba(x[:3]).shape
        (dtype('bool'), (3, 2))
        """
        return self.net.predict(x, return_std)

    def predict_proba(self, x: Any) -> Array:
        """(rows, classes) probabilities: see `Net.predict_proba`."""
        return self.net.predict_proba(x)

    def save(self, path: Path) -> None:
        """Writes the network or the ensemble as a safetensors file, which `load` reads."""
        self.net.save(path)

    def export_onnx(self, path: Path, *, opset: int | None = None, scores: bool = False) -> None:
        """Writes the network or the ensemble as an ONNX graph: see `Net.export_onnx`."""
        self.net.export_onnx(path, opset=opset, scores=scores)

    def __repr__(self) -> str:
        shown = ", ".join(f"{part} {name} {value:.4g}" for part, values in self.scores.items() for name, value in list(values.items())[1:2])
        return f"<Run of {self.epochs} epochs, best {self.best_epoch}{': ' if shown else ''}{shown}>"

    def _repr_html_(self) -> str:
        names = sorted({name for values in self.scores.values() for name in values}, key=lambda n: (n != "loss", n))
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        rows = "".join(
            f"<tr><td>{part}</td>" + "".join(f"<td>{values[name]:.6g}</td>" if name in values else "<td></td>" for name in names) + "</tr>"
            for part, values in self.scores.items()
        )
        return (
            f"<table><caption>{self.epochs} epochs, best {self.best_epoch}, {self.seconds:.2f} s</caption>"
            f"<tr><th></th>{heads}</tr>{rows}</table>"
        )

    def plot(self, names: Sequence[str] | None = None, ax: Any = None) -> Any:
        """Draws the losses, or the named values, of each epoch with matplotlib; the best epoch is marked."""
        return learning_curve(self.history, self.best_epoch, names, ax)


class Progress:
    """A callback that shows how far a training is: a bar of tqdm if that is installed, otherwise ten lines on stderr."""

    def __init__(self) -> None:
        self.bar: Any = None
        self.last = 0
        try:
            self.make: Any = importlib.import_module("tqdm.auto").tqdm
        except ImportError:
            self.make = None

    def __call__(self, view: View) -> None:
        name = "val_loss" if "val_loss" in view.values else "train_loss"
        shown = f"{name} {view.values.get(name, view.loss):.4g}"
        if self.make is not None:
            if self.bar is None or view.epoch <= self.last:
                self.close()
                self.bar = self.make(total=view.epochs, unit="epoch")
            self.bar.set_postfix_str(shown, refresh=False)
            self.bar.update(view.epoch - self.last)
        elif view.epoch == view.epochs or view.epoch * 10 // view.epochs > self.last * 10 // view.epochs:
            print(f"epoch {view.epoch}/{view.epochs}: {shown}, {view.seconds:.1f} s", file=sys.stderr)
        self.last = view.epoch

    def close(self) -> None:
        """Ends the bar."""
        if self.bar is not None:
            self.bar.close()
        self.bar, self.last = None, 0


@contextmanager
def watched(callbacks: Iterable[Callback], verbose: bool) -> Iterator[list[Callback]]:
    """The callbacks, with one that shows the progress if verbose."""
    if not verbose:
        yield list(callbacks)
        return
    progress = Progress()
    try:
        yield [*callbacks, progress]
    finally:
        progress.close()


def learning_curve(history: dict[str, Array], best_epoch: int, names: Sequence[str] | None, ax: Any) -> Any:
    """Draws the named values of each epoch, the losses by default, and marks the best epoch."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.figure().add_subplot()
    for name in names or [n for n in history if n.endswith("_loss")]:
        ax.plot(history["epoch"], history[name], label=name)
    if 0 < best_epoch < len(history["epoch"]):
        ax.axvline(best_epoch, color="gray", linewidth=1, linestyle=":", label="best epoch")
    ax.set_xlabel("epoch")
    ax.legend()
    return ax


class Watch:
    """Gathers the history, calls callbacks, and hears when to stop."""

    def __init__(self, callbacks: Iterable[Callback], stop: Stop) -> None:
        both = list(callbacks)
        self.trackers = [c for c in both if isinstance(c, Tracker)]
        self.callbacks, self.stop = [c for c in both if not isinstance(c, Tracker)], stop
        self.rows: list[tuple[float, ...]] = []
        self.names: list[str] = []
        self.failed: BaseException | None = None
        self.own = _abi.sph_observer()
        self.own.epoch = type(self.own.epoch)(self._epoch)
        for callback in self.callbacks:
            if not callable(callback):
                raise TypeError(f"a callback is called with a View after each epoch; {callback!r} cannot be called")

    def _epoch(self, _self: Any, pointer: Any) -> int:
        # Nothing may leave this: ctypes would print it and go on.
        try:
            view = pointer.contents
            names = self.names
            if len(names) != view.values:
                names = [text(view.names[i]) for i in range(view.values)]
                self.names = self.names or names
            values = view.value[: view.values]
            if names is self.names:  # the second training of refit has no validation part, and is no part of the history
                self.rows.append((view.epoch, view.step, view.lr, view.seconds, *values))
            if self.callbacks:
                handle = [view.net]
                seen = View(
                    view.epoch, view.epochs, view.step, view.lr, view.loss, dict(zip(names, values)), view.seconds, bool(view.improved), handle
                )
                try:
                    return int(any([callback(seen) is True for callback in self.callbacks]))
                finally:
                    handle.clear()
        except BaseException as error:
            self.failed = error
            return 1
        return 0

    def check(self) -> None:
        """Raises what a callback raised."""
        for failed in (self.failed, *(tracker.failed for tracker in self.trackers)):
            if failed is not None:
                raise failed

    def observers(self) -> tuple[Any, int]:
        all_of_them = [*(tracker.observer() for tracker in self.trackers), self.stop.observer(), self.own]
        return (_abi.sph_observer * len(all_of_them))(*all_of_them), len(all_of_them)

    def history(self) -> dict[str, Array]:
        heads = ["epoch", "step", "lr", "seconds", *self.names]
        table = np.array(self.rows, dtype=np.float64).reshape(len(self.rows), len(heads) if self.rows else 0)
        return {name: table[:, i] for i, name in enumerate(heads)} if self.rows else {name: np.empty(0) for name in heads}


def _finished(nets: Sequence[Net], result: Any, watch: Watch, options: dict[str, str]) -> Run:
    parts = {part: _scores(getattr(result, part)) for part in ("train", "val", "test")}
    return Run(
        net=as_one(nets),
        nets=tuple(nets),
        scores={part: values for part, values in parts.items() if values},
        history=watch.history(),
        options=options,
        epochs=result.epochs,
        best_epoch=result.best_epoch,
        steps=result.steps,
        seconds=result.seconds,
        stopped=bool(result.stopped),
    )


def train_arrays(
    x: Array,
    y: Array,
    task: str,
    options: dict[str, Any],
    callbacks: Iterable[Callback] = (),
    start: Sequence[Net] = (),
    *,
    weights: Array | None = None,
    classes: int = 0,
    class_weights: Array | None = None,
    columns: Columns | None = None,
    labels: npt.NDArray[Any] | None = None,
    state: bytes | None = None,
    keep_state: bool = False,
    eval_rows: tuple[Array, Array] | None = None,
) -> Run:
    """A training of (rows, features) and (rows, targets), both f64 and C-contiguous, weights (rows) and class_weights
    (classes) likewise. eval_rows: features and targets of the validation part. start: the nets it begins with, state: what their optimizers remember.
    columns, labels: what the nets keep of the table and the classes."""
    stop = Stop()
    watch = Watch(callbacks, stop)
    if options.get("ensemble") is None and start:
        options = {**options, "ensemble": len(start)}
    most, val = processors(), 0
    if eval_rows is not None:
        if options.get("val") is not None:
            raise ArgumentError("val: not used with eval_set, which is the validation part", key="val")
        val = len(eval_rows[0])
        x, y, weights = joined(x, y, weights, eval_rows)

    def work() -> tuple[Run, bool]:
        with Data(x, y, task, weights, classes, class_weights, val) as data:
            given, replaced = _one_net(options, data) if watch.trackers else (options, False)
            return _train_in_memory(given, most, data, watch, start, state, keep_state), replaced

    kept: list[tuple[Run, bool]] = []

    def work_and_keep() -> tuple[Run, bool]:
        kept.append(work())
        return kept[0]

    try:
        run, replaced = interruptible(work_and_keep, stop)
    except KeyboardInterrupt as error:
        if kept and kept[0][0].epochs:
            error.run = _described(kept[0][0], columns, labels)  # type: ignore[attr-defined]
        raise
    if replaced:
        _warn_of_tracker()
    return _described(run, columns, labels)


def _described(run: Run, columns: Columns | None, labels: npt.NDArray[Any] | None) -> Run:
    """The run with what its nets keep of the table and the classes."""
    run.classes = labels
    if columns is not None or labels is not None:
        note = note_of(run.net.note, columns=columns, classes=labels)
        for net in run.nets:
            net.note = note
    return run


def _one_net(options: dict[str, Any], data: Data) -> tuple[dict[str, Any], bool]:
    """The options with one network, because a Tracker follows one, and whether that replaces an ensemble."""
    if options.get("ensemble") is not None:
        return options, False
    with Job(options) as job:
        job.settle(data.handle)
        members = int(job.get("ensemble") or 1)
    return {**options, "ensemble": 1}, members > 1


def _warn_of_tracker() -> None:
    warnings.warn("callbacks: a Tracker follows one network, so one is trained instead of an ensemble; pass ensemble=1 to say so", stacklevel=5)


def _train_in_memory(
    options: dict[str, Any],
    most: int,
    data: Data,
    watch: Watch,
    start: Sequence[Net],
    state: bytes | None,
    keep_state: bool,
) -> Run:
    result, left, size = _abi.sph_result(), ctypes.c_void_p(), ctypes.c_size_t()
    with Job(options, most) as job:
        job.settle(data.handle)
        list_of, count = watch.observers()
        members = int(job.get("ensemble") or 1)
        if start and len(start) != members:
            raise ArgumentError(f"start: {len(start)} nets, expected {members}", key="start")
        out = (ctypes.c_void_p * members)()
        with all_held(start) as handles:
            begin = sized(_abi.sph_start, nets=(ctypes.c_void_p * len(handles))(*handles))
            if state is not None:
                begin.state, begin.state_size = ctypes.cast(ctypes.c_char_p(state), ctypes.c_void_p), len(state)
            given = ctypes.byref(begin) if handles else None
            wanted = (ctypes.byref(left), ctypes.byref(size)) if keep_state else (None, None)
            code = lib().sph_job_train(out, job.handle, data.handle, given, list_of, count, ctypes.byref(result), *wanted)
        nets = [Net(ctypes.c_void_p(handle)) for handle in out if handle]
        kept = ctypes.string_at(left, size.value) if left else None
        lib().sph_bytes_free(left)
        check(code)
        watch.check()
        run = _finished(nets, result, watch, job.settled())
        run.state = kept
        return run


def _train_file(data: str, options: dict[str, Any], callbacks: Iterable[Callback]) -> Run:
    stop = Stop()
    watch = Watch(callbacks, stop)
    result = _abi.sph_result()
    folder = os.fspath(options.get("out") or os.path.join(tempfile.mkdtemp(prefix="spherelu-"), "run"))
    if options.get("ensemble") is None and watch.trackers:
        if not any(options.get(o.name) is not None for o in all_options() if o.section in ("net", "training")):
            _warn_of_tracker()
        options = {**options, "ensemble": 1}
    most = processors()

    def work() -> Run:
        list_of, count = watch.observers()
        with Job({**options, "data": data, "out": folder}, most) as job:
            job.settle_later()
            check(lib().sph_job_run(job.handle, 0, list_of, count, ctypes.byref(result)))
            watch.check()
            model = load(folder)
            run = _finished(model.nets, result, watch, job.settled())
            run.notes = tuple(in_python(line) for line in text(lib().sph_job_notes(job.handle)).splitlines())
        run.folder, run.classes = folder, model.classes
        return run

    return interruptible(work, stop)


WHOLE_MOST = 20  # different whole numbers that may be classes, as in a file


def settle_task(labels: npt.NDArray[Any]) -> tuple[str, str]:
    """The task of targets that nobody said it of, and a note on it where there was a choice: the rule of `spherelu train` for a
    column of a file. Floats are numbers."""
    if labels.ndim > 1 and labels.shape[1] > 1:
        return "regression", ""
    kind = labels.dtype.kind
    found = np.unique(labels) if kind != "O" else np.unique(labels.astype(str))
    count = len(found)
    if kind not in "iuf":
        return "binary" if count <= 2 else "classes", ""
    whole = kind != "f" or bool(np.all(found == np.floor(found)))
    span = f"y: {count} different whole numbers from {found[0]:g} to {found[-1]:g}" if count and whole else ""
    numbered = 3 <= count <= WHOLE_MOST and 2 * count <= len(labels) and found[0] in (0, 1) and found[-1] - found[0] == count - 1
    if kind == "f":
        if whole and (count == 2 or numbered):
            return "regression", f"{span} as floats, taken as regression; pass task='{'binary' if count == 2 else 'classes'}' for classes"
        return "regression", ""
    if count == 2:
        return "binary", ""
    if numbered:
        return "classes", f"{span}, taken as classes; pass task='regression' for a number"
    return "regression", f"{span}, taken as regression; pass task='classes' for classes" if count > 2 else ""


def encode_classes(y: Any) -> tuple[npt.NDArray[Any], Array]:
    """The labels of y in ascending order, and the number of each row's."""
    flat = np.asarray(y).ravel()
    if flat.dtype.kind == "O":
        flat = flat.astype(str)
    classes, numbers = np.unique(flat, return_inverse=True)
    return classes, np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1, 1)


def _eval_rows(eval_set: Any, task: str, classes: npt.NDArray[Any] | None, columns: Columns | None) -> tuple[Array, Array]:
    """Features and targets of eval_set, as those of the training rows were encoded."""
    x, y = eval_pair(eval_set)
    labels = labels_of(y)
    if classes is None:
        targets = matrix(labels, "eval_set")
    else:
        flat = np.asarray(labels).ravel()
        targets = class_numbers(flat.astype(str) if flat.dtype.kind == "O" else flat, classes)
    return (dense(x, "eval_set") if columns is None else columns.encode(x)), targets


def class_numbers(labels: npt.NDArray[Any], classes: npt.NDArray[Any]) -> Array:
    """(rows, 1) numbers of the labels of eval_set."""
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ArgumentError(f"eval_set: the class {unknown.tolist()[0]!r} is not among the training rows", key="eval_set")
    return np.searchsorted(classes, labels).astype(np.float64).reshape(-1, 1)


def train(
    x: Any,
    y: Any = None,
    *,
    task: str | None = None,
    sample_weight: Any = None,
    eval_set: Any = None,
    callbacks: Iterable[Callback] = (),
    start: Net | Sequence[Net] | None = None,
    verbose: bool = False,
    **options: Unpack[TrainOptions],
) -> Run:
    """Trains a network, or an ensemble of networks, and returns a `Run`.

    x, y: arrays or tables, (rows, features) and (rows,) or (rows, targets); or x alone, the path of a file or the name of a known
    set, as `spherelu train --data` takes it (then `out` names the run folder; one in the temporary directory if not
    given).

    task: "regression", "binary" or "classes". If not given, it is chosen as `spherelu train` does for a file: strings, categories
    and bools are classes, two different integers are two classes, integers 0, 1, ... or 1, 2, ... without a gap (20 at most,
    and half as many as rows) are classes, other integers are numbers, with a warning. Floats are numbers.

    callbacks: called with a `View` after each epoch; one that returns True stops the training. A `Tracker` follows a single
    network. verbose: shows the progress, by tqdm if it is installed. After Ctrl-C the KeyboardInterrupt has the best network so far
    in its attribute `run`. eval_set: a pair (x, y) that is the validation part, which chooses the epoch; by default rows are drawn
    (option `val`). sample_weight: (rows,) weight of each row in training; scores ignore it. start: a network to start from, of the
    same shape, whose standardisation is kept; an `Ensemble`, or all its nets.

    All other keywords are the options of `spherelu train` (see `spherelu.options()`), `_` for `-`. Options that are not given, or
    None, are chosen as `spherelu train` does: if you set no option of the network or the training, an ensemble of five
    networks is trained.

    >>> import numpy as np, spherelu
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> run = spherelu.train(x, x[:, 0] > x[:, 1], param="sphere", hidden=[16], epochs=50)
    >>> run.scores["test"]["accuracy"] > 0.8
    True
    """
    if verbose:
        with watched(callbacks, verbose) as all_of_them:
            return train(
                x, y, task=task, sample_weight=sample_weight, eval_set=eval_set, callbacks=all_of_them, start=start, **options
            )
    if isinstance(x, (str, os.PathLike)):
        if any(given is not None for given in (y, start, sample_weight, eval_set)):
            raise ArgumentError("y, start, sample_weight and eval_set go with arrays; a file has columns, and init names a file", key="y")
        return _train_file(os.fspath(x), {**options, **({"task": task} if task else {})}, callbacks)
    if y is None:
        raise ArgumentError("y: nothing given, expected targets", key="y")
    labels, note = labels_of(y), ""
    if task is None:
        task, note = settle_task(labels)
        if note and task == "regression":
            warnings.warn(note, stacklevel=2)
    elif task not in TASKS:
        raise ArgumentError(f"task: found '{task}', expected one of {', '.join(TASKS)}", key="task")
    classes = None
    if task == "regression":
        if labels.ndim > 2:
            raise ArgumentError(f"y: shape {labels.shape}, expected (rows,) or (rows, targets)", key="y")
        targets = matrix(labels, "y")
    else:
        if labels.ndim > 1 and labels.shape[1:] != (1,):
            raise ArgumentError(f"y: shape {labels.shape}, expected (rows,) for classes", key="y")
        classes, targets = encode_classes(labels)
        if len(classes) < 2:
            raise ArgumentError("y: one class only, expected two or more classes", key="y")
        if task == "binary" and len(classes) > 2:
            raise ArgumentError(f"task: 'binary' has two classes, and y has {len(classes)}", key="task")
    columns = Columns.of_table(x) if is_table(x) else None
    rows = dense(x, "x") if columns is None else columns.encode(x)
    begin = list(start.nets) if isinstance(start, Net) else list(start or ())
    if not all(isinstance(net, Net) for net in begin):
        raise TypeError(f"start: expected a Net or a list of them, not {start!r}")
    begin = [member for net in begin for member in net.nets]
    weights = None if sample_weight is None else row_weights(sample_weight, len(rows))
    more = None if eval_set is None else _eval_rows(eval_set, task, classes, columns)
    run = train_arrays(
        rows, targets, task, dict(options), callbacks, begin, weights=weights, columns=columns, labels=classes, eval_rows=more
    )
    run.notes = (note,) if note else ()
    return run
