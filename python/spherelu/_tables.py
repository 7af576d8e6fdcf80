# SPDX-License-Identifier: MIT
"""Tables on their way in: pandas, polars and Arrow, text, categories and dates as `spherelu train` encodes them."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from ._arrays import Array, doubles, matrix
from ._errors import ArgumentError, FormatError
from ._lib import c_text, check, lib

US_PER_DAY = 86400e6
_KINDS = {"number": 0, "duration": 0, "text": 1, "date": 2}  # sph_cells


def is_table(x: Any) -> bool:
    """Whether x has named columns: a table of pandas, polars or Arrow."""
    # Of the class: asking a lazy polars table itself for its columns would work them out.
    return hasattr(type(x), "columns") and any(hasattr(type(x), name) for name in ("iloc", "get_column", "collect", "column_names"))


def _plain(x: Any) -> Any:
    """Arrow tables and lazy polars tables become tables that columns can be taken from."""
    if hasattr(x, "collect") and not hasattr(x, "get_column"):
        return x.collect()
    return x.to_pandas() if hasattr(x, "column_names") and not hasattr(x, "iloc") else x


def names_of(x: Any) -> list[str]:
    """The names of the columns of a table."""
    return list(map(str, _plain(x).columns))


def _series(x: Any, i: int) -> Any:
    return x.iloc[:, i] if hasattr(x, "iloc") else x[:, i]


# ---------------------------------------------------------------- one column of any library


def _is_polars(column: Any) -> bool:
    return type(column).__module__.partition(".")[0] == "polars"


def _kind_of_values(values: Sequence[Any]) -> str:
    """Of Python objects, missing ones left out."""
    import datetime
    import decimal

    numbers = (bool, int, float, np.integer, np.floating, np.bool_, decimal.Decimal)
    if values and all(isinstance(value, numbers) for value in values):
        return "number"
    if values and all(isinstance(value, (datetime.date, np.datetime64)) for value in values):
        return "date"
    return "text"


def kind_of(column: Any) -> str:
    """ "number", "text", "date" or "duration"."""
    if _is_polars(column):
        dtype = str(column.dtype).partition("(")[0]
        if dtype in ("Date", "Datetime"):
            return "date"
        if dtype == "Duration":
            return "duration"
        if dtype in ("Boolean", "Decimal") or dtype.startswith(("Int", "UInt", "Float")):
            return "number"
        if dtype in ("String", "Utf8", "Categorical", "Enum", "Null"):
            return "text"
        if dtype == "Object":
            return _kind_of_values([value for value in column.to_list() if value is not None])
        raise ArgumentError(f"column '{column.name}' has the type {column.dtype}, expected numbers, text, categories or dates", key=str(column.name))
    if str(column.dtype) == "category":
        return "text"
    kind = getattr(column.dtype, "kind", "O")
    if kind in "mM":
        return "date" if kind == "M" else "duration"
    if kind in "biuf":
        return "number"
    return _kind_of_values([value for value in column[column.notna()]])


def numbers_in(column: Any, name: str) -> Array:
    """A column as f64; missing cells are NaN."""
    try:
        if _is_polars(column) and str(column.dtype) not in ("Object", "String", "Utf8"):
            import polars as pl

            return np.asarray(column.cast(pl.Float64).to_numpy(), dtype=np.float64)
        if _is_polars(column):
            return np.array([np.nan if value is None else float(value) for value in column.to_list()], dtype=np.float64)
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError):
        raise ArgumentError(f"column '{name}' holds {column.dtype}, expected numbers", key=name) from None


def _texts(column: Any) -> list[str | None]:
    if _is_polars(column):
        return [None if value is None else str(value) for value in column.to_list()]
    return [str(value) if there else None for value, there in zip(column, column.notna())]


def _days(column: Any) -> Array:
    """Days since 1970, or those of a duration; NaN: missing. Times with a zone are taken at Greenwich, as in files."""
    if _is_polars(column):
        counts = column.dt.total_microseconds() if str(column.dtype).startswith("Duration") else column.dt.timestamp("us")
        return np.array([np.nan if value is None else value / US_PER_DAY for value in counts.to_list()], dtype=np.float64)
    if getattr(column.dtype, "kind", "O") not in "mM":  # Python's own dates
        import pandas as pd

        column = pd.to_datetime(column)
    plain = column.dt.tz_convert(None) if getattr(column.dt, "tz", None) is not None else column
    ticks = plain.to_numpy(dtype=f"{plain.dtype.kind}8[us]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / US_PER_DAY)


# ---------------------------------------------------------------- encoding, by the library


def _cells(name: str, kind: str, cells: Any, keep: list[Any]) -> Any:
    """A column on its way in as one of this kind; keep: holds the memory that it points to."""
    found = kind_of(cells)
    out = _abi.sph_cells(name=c_text(name, "columns"), kind=_KINDS[kind])
    if kind == "text" or kind == "date" and found == "text":
        words = [None if word is None else c_text(word.encode(errors="backslashreplace"), name) for word in _texts(cells)]
        array: Any = (ctypes.c_char_p * len(words))(*words)
        out.texts = ctypes.cast(array, type(out.texts))
    elif kind == "number" and found in ("date", "duration") or kind in ("date", "duration") and found != kind:
        expected = "numbers" if kind == "number" else f"a {kind}"
        raise ArgumentError(f"column '{name}' is {cells.dtype}, expected {expected}, as in training", key=name)
    else:
        array = np.ascontiguousarray(numbers_in(cells, name) if kind == "number" else _days(cells), dtype=np.float64)
        out.numbers = doubles(array)
    keep.append(array)
    return out


def _encode(columns: str | None, names: Sequence[str], kinds: Sequence[str], series: Sequence[Any], rows: int) -> tuple[Array, Any]:
    """(rows, width) numbers, and the columns as a note has them: those given, or those learned from the cells."""
    keep: list[Any] = []
    pieces: list[bytes] = []

    def write(_self: Any, data: int, length: int) -> int:
        pieces.append(ctypes.string_at(data, length))
        return 0

    data, sink = ctypes.c_void_p(), _abi.sph_sink()
    sink.write = type(sink.write)(write)
    cells = (_abi.sph_cells * max(1, len(names)))(*(_cells(*column, keep) for column in zip(names, kinds, series)))
    note = None if columns is None else columns.encode()
    check(lib().sph_data_from_columns(ctypes.byref(data), note, cells, len(names), rows, ctypes.byref(sink)))
    try:
        shape = rows, int(lib().sph_data_features(data))
        numbers = lib().sph_data_x(data)
        return (np.ctypeslib.as_array(numbers, shape).copy() if rows * shape[1] else np.empty(shape)), json.loads(b"".join(pieces))
    finally:
        lib().sph_data_free(data)


# ---------------------------------------------------------------- all of them


@dataclass(frozen=True)
class Column:
    """One feature column: `kind` is "number", "text" (an indicator for each of `levels`), "date" (year, month, day of the week,
    days since `first`, and the hour if it has `times`) or "duration" (days)."""

    name: str
    kind: str = "number"
    levels: tuple[str, ...] = ()
    first: float = 0.0
    times: bool = False
    order: str = "ymd"

    @property
    def width(self) -> int:
        """Numbers that the network gets for a cell."""
        return {"text": len(self.levels), "date": 4 + self.times}.get(self.kind, 1)


class Columns(Sequence[Column]):
    """The feature columns of a model, and how a table becomes the numbers that its network takes.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"]})
    >>> columns = Columns.of_table(table)
    >>> columns.encode(table[["colour", "size"]]).tolist()
    [[1.0, 0.0, 1.0], [2.0, 1.0, 0.0]]
    """

    def __init__(self, columns: Sequence[Column], *, named: bool = True) -> None:
        self._columns, self.named = tuple(columns), named

    @classmethod
    def of_table(cls, x: Any) -> Columns:
        """Those of a table, with the levels and first dates that it holds."""
        x, names = _plain(x), names_of(x)
        series = [_series(x, i) for i in range(len(names))]
        kinds = [kind_of(cells) for cells in series]
        _, columns = _encode(None, names, kinds, series, len(x))
        return cls.of_note({"named": True, "columns": [dict(c, duration=kind == "duration") for c, kind in zip(columns, kinds)]})

    @classmethod
    def of_note(cls, note: Mapping[str, Any]) -> Columns:
        """Those that a model file describes."""
        found = []
        try:
            for column in note.get("columns", ()):
                if column.get("role") != "feature":
                    continue
                kind = "duration" if column.get("duration") else str(column["kind"])
                if kind not in ("number", "text", "date", "duration"):
                    raise ValueError(f"kind '{kind}'")
                found.append(
                    Column(
                        str(column["name"]),
                        kind,
                        tuple(str(level) for level in column.get("levels", ())),
                        float(column.get("first", 0.0)),
                        bool(column.get("times")),
                        str(column.get("order", "ymd")),
                    )
                )
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise FormatError(f"columns: the description of the columns is damaged: {error}", code=-3, key="columns") from None
        return cls(found[::-1] if note.get("reversed") else found, named=bool(note.get("named")))

    def to_note(self) -> list[dict[str, Any]]:
        """As a model file describes them."""
        out: list[dict[str, Any]] = []
        for c in self._columns:
            row: dict[str, Any] = {"name": c.name, "role": "feature", "kind": "number" if c.kind == "duration" else c.kind}
            if c.kind == "text":
                row["levels"] = list(c.levels)
            if c.kind == "duration":
                row["duration"] = True
            if c.kind == "date":
                row.update(order=c.order, first=c.first, **({"times": True} if c.times else {}))
            out.append(row)
        return out

    def __len__(self) -> int:
        return len(self._columns)

    def __getitem__(self, i: Any) -> Any:
        return self._columns[i]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Columns) and (self._columns, self.named) == (other._columns, other.named)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Columns {', '.join(f'{c.name} ({c.kind})' for c in self._columns)}>"

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [c.name for c in self._columns]

    @property
    def plain(self) -> bool:
        """Whether all columns hold numbers, so that an array will do."""
        return all(c.kind == "number" for c in self._columns)

    @property
    def width(self) -> int:
        """Numbers that the network gets for a row."""
        return sum(c.width for c in self._columns)

    def encode(self, x: Any) -> Array:
        """A table as (rows, width) numbers: columns are found by their names, and others are left out."""
        if not is_table(x):
            if not self.plain:
                raise ArgumentError(f"x: expected a table with the columns {', '.join(self.names)}: some hold text or dates", key="x")
            return matrix(x, "x", len(self))
        x = _plain(x)
        there = names_of(x)
        if self.named:
            for name in self.names:
                if there.count(name) != 1:
                    found = "no" if name not in there else "more than one"
                    raise ArgumentError(f"x: {found} column '{name}'; the columns are {', '.join(there)}", key=name)
            places = [there.index(name) for name in self.names]
        elif len(there) == len(self):
            places = list(range(len(self)))
        else:
            raise ArgumentError(f"x: {len(there)} columns, expected {len(self)}", key="x")
        series = [_series(x, i) for i in places]
        return _encode(json.dumps(self.to_note()), self.names, [c.kind for c in self._columns], series, len(x))[0]


def plain_table(x: Any) -> bool:
    """Whether a table holds numbers alone."""
    x = _plain(x)
    return all(kind_of(_series(x, i)) == "number" for i in range(len(x.columns)))


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def labels_of(y: Any, key: str = "y") -> npt.NDArray[Any]:
    """Targets as an array: numbers where all are numbers, whatever holds them."""
    if is_table(y):
        y = _plain(y)
        if len(y.columns) == 1:
            y = _series(y, 0)
        else:
            return Columns([replace(c, kind="number") for c in Columns.of_table(y)]).encode(y)
    if _is_polars(y):
        y = y.to_list()
    array = np.asarray(y)
    if array.dtype.kind == "O" and array.ndim <= 2:
        values = list(array.ravel())
        missing = next((i for i, value in enumerate(values) if _is_missing(value)), None)
        if missing is not None:
            raise ArgumentError(f"{key}: row {missing} is missing", key=key)
        if _kind_of_values(values) == "number":
            array = np.array(values).reshape(array.shape)
            if array.dtype.kind == "O":
                array = array.astype(np.float64)
    return array
