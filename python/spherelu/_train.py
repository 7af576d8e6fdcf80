# SPDX-License-Identifier: MIT
"""One training, of arrays in memory or of a file."""

from __future__ import annotations

import ctypes
import html
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from ._arrays import Array, Data, doubles, matrix, row_weights
from ._errors import ArgumentError
from ._boundary import Tracker
from ._lib import Stop, c_text, check, interruptible, lib, text
from ._net import Net, all_held
from ._options import Job


@dataclass(frozen=True)
class View:
    """What a callback sees after an epoch."""

    epoch: int
    epochs: int
    step: int
    lr: float
    loss: float
    values: dict[str, float]
    seconds: float
    improved: bool


Callback = Callable[[View], Any] | Tracker


def _scores(scores: Any) -> dict[str, float]:
    return {text(scores.name[i]): scores.value[i] for i in range(scores.count)} if scores.rows else {}


@dataclass
class Run:
    """What a training left: the net, its scores, what each epoch saw, every option as it was settled. Of an ensemble `net` is
    the first member, `nets` are all, and the scores are those of the mean prediction."""

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
    moments: tuple[int, Array] | None = None

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
        """What each epoch saw, by matplotlib: the losses, or the named values."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure().add_subplot()
        for name in names or [n for n in self.history if n.endswith("_loss")]:
            ax.plot(self.history["epoch"], self.history[name], label=name)
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
                seen = View(
                    view.epoch, view.epochs, view.step, view.lr, view.loss, dict(zip(names, values)), view.seconds, bool(view.improved)
                )
                return int(any([callback(seen) is True for callback in self.callbacks]))
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
        net=nets[0],
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
    moments: tuple[int, Array] | None = None,
    keep_moments: bool = False,
) -> Run:
    """A training of (rows, features) and (rows, targets), both f64 and C-contiguous, weights (rows) likewise. start: the nets
    it begins with, moments: what their optimizer remembers, a count of steps and numbers."""
    stop = Stop()
    watch = Watch(callbacks, stop)
    result, left = _abi.sph_result(), _abi.sph_moments()
    if options.get("ensemble") is None and (start or watch.trackers):
        options = {**options, "ensemble": len(start) or 1}  # a tracker looks at one net

    def work() -> Run:
        with Job(options) as job, Data(x, y, task, weights, classes) as data:
            job.settle(data.handle)
            list_of, count = watch.observers()
            members = int(job.get("ensemble") or 1)
            if start and len(start) != members:
                raise ArgumentError(f"start: {len(start)} nets, expected {members}", key="start")
            out = (ctypes.c_void_p * members)()
            with all_held(start) as handles:
                begin = _abi.sph_start((ctypes.c_void_p * len(handles))(*handles))
                if moments is not None:
                    step, values = moments
                    begin.moments = ctypes.pointer(_abi.sph_moments(step, len(values), doubles(values)))
                given = ctypes.byref(begin) if handles else None
                wanted = ctypes.byref(left) if keep_moments else None
                code = lib().sph_job_train(out, wanted, job.handle, data.handle, given, list_of, count, ctypes.byref(result))
            nets = [Net(ctypes.c_void_p(handle)) for handle in out if handle]
            steps = int(left.step)
            kept = np.ctypeslib.as_array(left.value, (left.count,)).copy() if left.count else np.empty(0)
            lib().sph_moments_free(ctypes.byref(left))
            check(code)
            watch.check()
            run = _finished(nets, result, watch, job.settled())
            run.moments = (steps, kept) if keep_moments else None
            return run

    return interruptible(work, stop)


def _members(folder: str, count: int) -> list[Net]:
    """The nets of a run folder."""
    if count == 1:
        return [Net.open(os.path.join(folder, "model.safetensors"))]
    nets = []
    for k in range(count):
        run, net = ctypes.c_void_p(), ctypes.c_void_p()
        check(lib().sph_run_open(ctypes.byref(run), c_text(folder, "out")))
        try:
            check(lib().sph_run_take_member(run, k))
            check(lib().sph_net_copy(ctypes.byref(net), lib().sph_run_net(run)))
            nets.append(Net(net))
        finally:
            lib().sph_run_free(run)
    return nets


def _train_file(data: str, options: dict[str, Any], callbacks: Iterable[Callback]) -> Run:
    stop = Stop()
    watch = Watch(callbacks, stop)
    result = _abi.sph_result()
    folder = os.fspath(options.get("out") or os.path.join(tempfile.mkdtemp(prefix="spherelu-"), "run"))
    if options.get("ensemble") is None and watch.trackers:
        options = {**options, "ensemble": 1}

    def work() -> Run:
        list_of, count = watch.observers()
        with Job({**options, "data": data, "out": folder}) as job:
            job.settle_later()
            check(lib().sph_job_run(job.handle, 0, list_of, count, ctypes.byref(result)))
            watch.check()
            run = _finished(_members(folder, int(job.get("ensemble") or 1)), result, watch, job.settled())
        run.folder = folder
        return run

    return interruptible(work, stop)


def encode_classes(y: Any) -> tuple[npt.NDArray[Any], Array]:
    classes, numbers = np.unique(np.asarray(y).ravel(), return_inverse=True)
    return classes, np.ascontiguousarray(numbers, dtype=np.float64).reshape(-1, 1)


def train(
    x: Any,
    y: Any = None,
    *,
    task: str | None = None,
    sample_weight: Any = None,
    callbacks: Iterable[Callback] = (),
    start: Net | Sequence[Net] | None = None,
    **options: Any,
) -> Run:
    """Trains a network and returns a `Run`.

    x, y: arrays, (rows, features) and (rows,) or (rows, targets); or x alone, the path of a file or the name of a known
    set, as `spherelu train --data` takes it (then `out` names the run folder; one in the temporary directory if not
    given). task: "regression", "binary" or "classes"; if not given, labels that are no floats are classes. callbacks:
    called with a `View` after each epoch; one that returns True stops the training. sample_weight: (rows,) what each row counts
    in training; scores do not heed it. start: a net to begin with, of the same shape, whose standardisation is kept; of an
    ensemble all its nets. All other keywords are the options of `spherelu train` (see `spherelu.options()`), `_` for `-`; what is not
    said, or None, is chosen as `spherelu train` does: with none of net and training, the mean of five nets.

    >>> import numpy as np, spherelu
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(300, 2))
    >>> run = spherelu.train(x, x[:, 0] > x[:, 1], param="sphere", hidden=[16], epochs=50)
    >>> run.scores["test"]["accuracy"] > 0.8
    True
    """
    if isinstance(x, (str, os.PathLike)):
        if y is not None or start is not None or sample_weight is not None:
            raise ArgumentError("y, start and sample_weight go with arrays; a file has columns, and init names a file", key="y")
        return _train_file(os.fspath(x), {**options, **({"task": task} if task else {})}, callbacks)
    if y is None:
        raise ArgumentError("y: nothing given, expected targets", key="y")
    labels = np.asarray(y)
    if task is None:
        task = "regression" if labels.dtype.kind == "f" or labels.ndim > 1 and labels.shape[1] > 1 else "classes"
    classes = None
    if task == "regression":
        if labels.ndim > 2:
            raise ArgumentError(f"y: shape {labels.shape}, expected (rows,) or (rows, targets)", key="y")
        targets = matrix(labels, "y")
    else:
        classes, targets = encode_classes(labels)
        task = "binary" if len(classes) <= 2 else "classes"
    rows = matrix(x, "x")
    begin = [start] if isinstance(start, Net) else list(start or ())
    if not all(isinstance(net, Net) for net in begin):
        raise TypeError(f"start: expected a Net or a list of them, not {start!r}")
    weights = None if sample_weight is None else row_weights(sample_weight, len(rows))
    run = train_arrays(rows, targets, task, options, callbacks, begin, weights=weights)
    run.classes = classes
    return run
