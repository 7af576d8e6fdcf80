# SPDX-License-Identifier: MIT
"""Arrays on their way in: f64, row by row, without a copy where they are that already."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from ._errors import ArgumentError
from ._lib import check, lib, sized

Array = npt.NDArray[np.float64]
DOUBLES = ctypes.POINTER(ctypes.c_double)


def doubles(array: Array) -> Any:
    """Its numbers, for C. The array has to be kept while they are used."""
    return ctypes.cast(array.ctypes.data, DOUBLES)


def matrix(values: Any, key: str, columns: int | None = None) -> Array:
    """values as (rows, columns)."""
    try:
        raw = np.asarray(values)
        if raw.dtype.kind == "c":
            raise ValueError("complex numbers")
        array = np.ascontiguousarray(raw, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise ArgumentError(f"{key}: not an array of numbers: {error}", key=key) from None
    if array.ndim == 1:
        array = array.reshape(-1, 1) if columns in (None, 1) else array.reshape(1, -1)
    if array.ndim != 2:
        array = array.reshape(array.shape[0], -1) if array.ndim > 2 else array.reshape(1, 1)
    if columns is not None and array.shape[1] != columns:
        raise ArgumentError(f"{key}: {array.shape[1]} columns, expected {columns}", key=key)
    return array


def dense(values: Any, key: str, columns: int | None = None) -> Array:
    """values as (rows, columns); a sparse matrix becomes dense if it is not too large for that."""
    if hasattr(values, "toarray") and hasattr(values, "nnz"):
        size, most = values.shape[0] * values.shape[1] * 8, int(lib().sph_max_memory()) // 2
        if size > most:
            raise ArgumentError(
                f"{key}: sparse, and a dense copy of shape {values.shape} takes {size / 1e9:.1f} GB, more than {most / 1e9:.1f} GB;"
                " reduce the columns first (TruncatedSVD, SelectKBest)",
                key=key,
            )
        values = values.toarray()
    return matrix(values, key, columns)


def row_weights(values: Any, rows: int) -> Array:
    """values as (rows,)."""
    array = matrix(values, "sample_weight")
    if array.shape != (rows, 1):
        raise ArgumentError(f"sample_weight: shape {np.shape(values)}, expected ({rows},)", key="sample_weight")
    return array[:, 0]


def eval_pair(eval_set: Any) -> tuple[Any, Any]:
    """x and y of eval_set: a pair, or a list of one pair, as gradient boosting libraries take it."""
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if not isinstance(eval_set, (tuple, list)) or len(eval_set) != 2:
        raise ArgumentError("eval_set: expected a pair (X, y) of validation rows and their targets", key="eval_set")
    return eval_set[0], eval_set[1]


def joined(x: Array, y: Array, weights: Array | None, eval_rows: tuple[Array, Array]) -> tuple[Array, Array, Array | None]:
    """Training rows, and behind them the rows for validation, which have weight 1."""
    for name, own, its in (("features", x, eval_rows[0]), ("targets", y, eval_rows[1])):
        if its.shape[1] != own.shape[1]:
            raise ArgumentError(f"eval_set: {its.shape[1]} {name}, expected {own.shape[1]}", key="eval_set")
    if len(eval_rows[0]) != len(eval_rows[1]) or not len(eval_rows[0]):
        raise ArgumentError(f"eval_set: {len(eval_rows[0])} rows and {len(eval_rows[1])} targets", key="eval_set")
    if weights is not None:
        weights = np.concatenate([weights, np.ones(len(eval_rows[0]))])
    return np.concatenate([x, eval_rows[0]]), np.concatenate([y, eval_rows[1]]), weights


TASKS = {"regression": "SPH_TASK_REGRESSION", "binary": "SPH_TASK_BINARY", "classes": "SPH_TASK_CLASSES"}


class Data:
    """sph_data of arrays: y holds numbers, or class numbers from 0; weights what each row counts in training; classes how many
    there are, if that is more than y tells; class_weights what the rows of each count in the loss; val: the last rows are the
    validation part."""

    def __init__(
        self,
        x: Array,
        y: Array,
        task: str,
        weights: Array | None = None,
        classes: int = 0,
        class_weights: Array | None = None,
        val: int = 0,
    ) -> None:
        self.handle = ctypes.c_void_p()
        if task not in TASKS:
            raise ArgumentError(f"task: found '{task}', expected one of {', '.join(TASKS)}", key="task")
        if len(x) != len(y):
            raise ArgumentError(f"y: {len(y)} rows, and x has {len(x)}", key="y")
        opts = sized(_abi.sph_array_opts, classes=classes, val=val)
        if weights is not None:
            opts.weights = doubles(weights)
        if class_weights is not None:
            opts.class_weights = doubles(class_weights)
        sizes = len(x), x.shape[1], y.shape[1]
        check(
            lib().sph_data_from_arrays(
                ctypes.byref(self.handle), doubles(x), doubles(y), *sizes, getattr(_abi, TASKS[task]), ctypes.byref(opts)
            )
        )

    def close(self) -> None:
        handle, self.handle = self.handle, ctypes.c_void_p()
        lib().sph_data_free(handle)

    def __enter__(self) -> Data:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
