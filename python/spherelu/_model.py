# SPDX-License-Identifier: MIT
"""What predicts: a network, or the networks of an ensemble, and what their file says about the data."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from . import _abi
from ._arrays import Array, dense, doubles
from ._errors import ArgumentError
from ._lib import c_text, check, lib, sized
from ._tables import Columns, is_table

if TYPE_CHECKING:
    from ._net import Net

Path = Union[str, "os.PathLike[str]"]

LOSSES = {"regression": "mse", "binary": "bce", "classes": "ce"}


def labels_from(texts: list[str], kind: str | None) -> npt.NDArray[Any]:
    """Class labels of a note, as what they were; kind None, of a table from a file: numbers if they all are."""
    readers: dict[str, Any] = {"int": int, "float": float, "bool": lambda word: word == "True", "str": str}
    for name in [kind] if kind in readers else ["int", "float", "str"]:
        try:
            return np.array([readers[name](word) for word in texts])
        except ValueError:
            pass
    return np.array(texts)


def kind_of_labels(labels: npt.NDArray[Any]) -> str:
    """How labels are written in a note."""
    return {"b": "bool", "i": "int", "u": "int", "f": "float"}.get(labels.dtype.kind, "str")


def note_of(before: str, *, columns: Columns | None, classes: npt.NDArray[Any] | None) -> str:
    """The note of a net that was trained on arrays, with what Python knows of them."""
    note = json.loads(before) if before else {}
    if columns is not None:
        targets = [column for column in note.get("columns", ()) if column.get("role") == "target"]
        note["columns"], note["named"] = [*columns.to_note(), *targets], columns.named
    if classes is not None:
        note["classes"], note["labels"] = [str(label) for label in classes.tolist()], kind_of_labels(classes)
    return json.dumps(note)


def predicted(nets: Sequence[Net], loss: str, rows: Array) -> tuple[Array, Array]:
    """What nets predict of (rows, inputs) numbers: (rows, outputs) each, the mean over them and their standard deviation."""
    from ._net import all_held, number_of

    mean = np.empty((len(rows), nets[0].outputs))
    spread = np.zeros_like(mean)
    if len(rows):
        number = number_of("LOSS", loss)
        with all_held(nets) as handles:
            list_of = (ctypes.c_void_p * len(handles))(*handles)
            check(lib().sph_nets_predict(list_of, len(handles), number, doubles(rows), len(rows), doubles(mean), doubles(spread)))
    return mean, spread


class Predictor:
    """Predictions of a network or an ensemble. `Net` and `Ensemble` have these methods."""

    @property
    def nets(self) -> tuple[Net, ...]:
        """The members of an ensemble, or the one network."""
        raise NotImplementedError

    @property
    def note(self) -> str:
        """A description of the data, a JSON object."""
        raise NotImplementedError

    def _about(self) -> dict[str, Any]:
        try:
            about = json.loads(self.note or "{}")
        except ValueError:
            about = {}
        return about if isinstance(about, dict) else {}

    @property
    def task(self) -> str:
        """ "regression", "binary" or "classes"; "regression" if the file does not contain it."""
        about = self._about()
        found = str(about.get("task") or ("classes" if about.get("images") else "regression"))
        return found if found in LOSSES else "regression"

    @property
    def loss(self) -> str:
        """The loss that decides how predictions follow from the outputs: "poisson" predicts their exponential."""
        return str(self._about().get("loss") or LOSSES[self.task])

    @property
    def classes(self) -> npt.NDArray[Any] | None:
        """The labels of the classes, in the order of `predict_proba`; None for a regression."""
        about = self._about()
        if self.task == "regression":
            return None
        texts = about.get("classes")
        outputs = self.nets[0].outputs
        count = 2 if self.task == "binary" else outputs
        if not isinstance(texts, list) or len(texts) != count:
            return np.arange(count)
        return labels_from([str(word) for word in texts], about.get("labels"))

    @property
    def columns(self) -> Columns | None:
        """The feature columns of the table it was trained on, which `predict` finds by their names; None: not known."""
        about = self._about()
        return Columns.of_note(about) if about.get("columns") else None

    def _rows(self, x: Any) -> Array:
        columns, inputs = self.columns, self.nets[0].inputs
        if columns is not None and columns.width == inputs and (is_table(x) or not columns.plain):
            return columns.encode(x)
        return dense(x, "x", inputs)

    def _predicted(self, x: Any) -> tuple[Array, Array]:
        """(rows, outputs) each: the mean over the members, and their standard deviation."""
        left_out = self._about().get("head_left_out")
        if left_out:
            raise ArgumentError(
                f"task: the ONNX graph ends in {left_out}, which is not part of the network; load it with task='regression', 'binary' or"
                " 'classes', or call net(x) for its scores",
                key="task",
            )
        return predicted(self.nets, self.loss, self._rows(x))

    def predict(self, x: Any, return_std: bool = False) -> Any:
        """Predictions for the rows of x, an array or a table: (rows,) numbers, or (rows, targets) for several targets; for classes
        their labels. An ensemble predicts the mean of its members; return_std: returns the standard deviation among them too.

        >>> import numpy as np, spherelu
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> bool(spherelu.train(x, np.exp(x[:, 0]), hidden=8, epochs=5, loss="poisson").net.predict(x).min() > 0)
        True
        """
        if self.task != "regression":
            if return_std:
                raise ArgumentError("return_std: only for regression; predict_proba has the probabilities of classes", key="return_std")
            z = self.decision_function(x)
            labels = self.classes
            assert labels is not None
            return labels[(z > 0).astype(int) if z.ndim == 1 else z.argmax(axis=1)]
        if return_std and len(self.nets) < 2:
            raise ArgumentError("return_std: one network has no spread; train with ensemble=2 or more", key="return_std")
        mean, spread = self._predicted(x)
        if mean.shape[1] == 1:
            mean, spread = mean[:, 0], spread[:, 0]
        return (mean, spread) if return_std else mean

    def predict_proba(self, x: Any) -> Array:
        """(rows, classes) probabilities, in the order of `classes`; for an ensemble the mean over its members."""
        if self.task == "regression":
            raise ArgumentError("predict_proba: the network was trained for regression and has no classes", key="task")
        mean, _ = self._predicted(x)
        return np.column_stack([1 - mean[:, 0], mean[:, 0]]) if self.task == "binary" else mean

    def decision_function(self, x: Any) -> Array:
        """Logits: (rows,) for two classes, else (rows, classes); for an ensemble those of its mean probabilities."""
        if self.task == "regression":
            raise ArgumentError("decision_function: the network was trained for regression and has no classes", key="task")
        if len(self.nets) == 1:
            z = self.nets[0](self._rows(x))
        else:
            z = np.log(np.maximum(self.predict_proba(x), np.finfo(np.float64).tiny))
            if self.task == "binary":
                return np.asarray(z[:, 1] - z[:, 0])
        return z[:, 0] if z.shape[1] == 1 else z

    def save(self, path: Path) -> None:
        """Writes a safetensors file, which `load`, the tool and C read: of an ensemble all its members."""
        from ._net import all_held

        with all_held(self.nets) as handles:
            list_of = (ctypes.c_void_p * len(handles))(*handles)
            check(lib().sph_nets_save(list_of, len(handles), c_text(path, "path")))

    def export_onnx(self, path: Path, *, opset: int | None = None, scores: bool = False) -> None:
        """Writes an ONNX graph (float32) of the predictions: `variable`, or `label` and `probabilities`. Its input X has the
        numbers that the network takes, text and dates encoded. scores: the outputs of one network as they are."""
        from ._net import all_held, number_of

        plain = scores or not self._about().get("columns")
        if plain and len(self.nets) > 1:
            raise ArgumentError(f"scores: an ensemble of {len(self.nets)} networks has predictions only; export one of `nets`", key="scores")
        opts = sized(_abi.sph_export_opts, opset=0 if opset is None else int(opset), flags=_abi.SPH_EXPORT_RAW if plain else 0)
        with all_held(self.nets) as handles:
            list_of, loss = (ctypes.c_void_p * len(handles))(*handles), number_of("LOSS", self.loss)
            check(lib().sph_nets_export(list_of, len(handles), loss, c_text(path, "path"), ctypes.byref(opts)))
