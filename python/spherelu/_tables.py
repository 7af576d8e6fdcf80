# SPDX-License-Identifier: MIT
"""Tables on their way in: pandas, polars and Arrow, text, categories and dates as `spherelu train` encodes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ._arrays import Array, matrix
from ._errors import ArgumentError, FormatError

US_PER_DAY = 86400e6


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


def _days(column: Any, name: str, order: str = "ymd") -> Array:
    """Days since 1970, or those of a duration; NaN: missing. Times with a zone are taken at Greenwich, as in files."""
    if kind_of(column) == "text":  # dates as a file has them
        try:
            import pandas as pd

            parsed = pd.to_datetime(pd.Series(_texts(column)), dayfirst=order == "dmy", yearfirst=order == "ymd")
        except (ImportError, ValueError, TypeError):
            raise ArgumentError(f"column '{name}' holds text, expected dates", key=name) from None
        return _days(parsed, name)
    if _is_polars(column):
        counts = column.dt.total_microseconds() if str(column.dtype).startswith("Duration") else column.dt.timestamp("us")
        return np.array([np.nan if value is None else value / US_PER_DAY for value in counts.to_list()], dtype=np.float64)
    if getattr(column.dtype, "kind", "O") not in "mM":  # Python's own dates
        import pandas as pd

        column = pd.to_datetime(column)
    plain = column.dt.tz_convert(None) if getattr(column.dt, "tz", None) is not None else column
    ticks = plain.to_numpy(dtype=f"{plain.dtype.kind}8[us]")
    return np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / US_PER_DAY)


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

    def encode(self, cells: Any) -> list[Array]:
        """The cells of a column as (rows,) arrays."""
        kind = kind_of(cells)
        if self.kind == "text":
            words = np.array(_texts(cells), dtype=object)
            return [(words == level).astype(np.float64) for level in self.levels]
        if self.kind == "number":
            if kind in ("date", "duration"):
                raise ArgumentError(f"column '{self.name}' is {cells.dtype}, expected numbers, as in training", key=self.name)
            return [numbers_in(cells, self.name)]
        if kind != self.kind and not (self.kind == "date" and kind == "text"):
            raise ArgumentError(f"column '{self.name}' is {cells.dtype}, expected a {self.kind}, as in training", key=self.name)
        days = _days(cells, self.name, self.order)
        return _date_parts(days, self.first, self.times) if self.kind == "date" else [days]


def _column_of(name: str, cells: Any) -> Column:
    kind = kind_of(cells)
    if kind == "text":
        return Column(name, kind, levels=tuple(sorted({value for value in _texts(cells) if value is not None})))
    if kind == "date":
        days = _days(cells, name)
        seen = days[~np.isnan(days)]
        return Column(name, kind, first=float(seen.min()) if len(seen) else 0.0, times=bool((seen % 1 != 0).any()))
    return Column(name, kind)


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
        x = _plain(x)
        return cls([_column_of(name, _series(x, i)) for i, name in enumerate(names_of(x))])

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
        parts = [part for c, i in zip(self._columns, places) for part in c.encode(_series(x, i))]
        return np.ascontiguousarray(np.column_stack(parts) if parts else np.empty((len(x), 0)), dtype=np.float64)


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
