# SPDX-License-Identifier: MIT
"""The options of a training, as the library lists them: nothing of them is written down here."""

from __future__ import annotations

import ctypes
import decimal
import functools
import numbers
import os
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from . import _abi
from ._errors import ArgumentError
from ._lib import c_text, check, claim_threads, forked_from_threads, lib, processors, text


@dataclass(frozen=True)
class Option:
    """One option: `name` as a keyword, `initial` its default as text, `in_memory` whether arrays can be trained with it."""

    name: str
    argument: str
    initial: str
    section: str
    help: str
    in_memory: bool

    @property
    def default(self) -> Any:
        """The library's fixed default as Python would write it, which experiment files take; None: chosen by other options, or by
        the data. `train` and the estimators choose by the data as `spherelu train` does."""
        if self.argument == "" and self.initial in ("true", "false"):
            return self.initial == "true"
        for kind in (int, float):
            try:
                return kind(self.initial)
            except ValueError:
                pass
        return self.initial or None


@functools.cache
def _table() -> tuple[Option, ...]:
    rows: Any = ctypes.POINTER(_abi.sph_option)()
    count = lib().sph_options(ctypes.byref(rows))
    return tuple(
        Option(
            name=text(rows[i].name).replace("-", "_"),
            argument=text(rows[i].argument),
            initial=text(rows[i].initial),
            section=text(rows[i].section),
            help=text(rows[i].help),
            in_memory=bool(lib().sph_option_in_memory(i)),
        )
        for i in range(count)
    )


def options(in_memory: bool = False) -> tuple[Option, ...]:
    """Every option of `train`, or those that arrays can be trained with.

    >>> import spherelu
    >>> {o.name: o.default for o in spherelu.options()}["param"]
    'gmp'
    """
    return tuple(o for o in _table() if o.in_memory or not in_memory)


def plain(value: Any) -> Any:
    """A number of NumPy, or of anything like it, as one of Python's; others as they are."""
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, decimal.Decimal)):
        return value
    return int(value) if isinstance(value, numbers.Integral) else float(value)


def as_text(value: Any) -> str:
    """A value as the library reads it."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, int):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray, Mapping, Set)):
        items = [as_text(item) for item in value]
        return ",".join(items) if items else "none"
    raise TypeError(f"an option is a number, a string, a bool or a list of these, not {type(value).__name__}")


class Job:
    """sph_job: everything that `spherelu train` takes, by name. None is not said: what it would be is chosen as the tool does."""

    threads_said: bool

    def __init__(self, given: Mapping[str, Any], most: int | None = None) -> None:
        """most: processors() of the thread that called, where another one trains: OpenMP's limits are those of a thread."""
        self.handle = ctypes.c_void_p()
        self.most = processors() if most is None else most
        self.threads_said = given.get("threads") is not None
        check(lib().sph_job_new(ctypes.byref(self.handle)))
        try:
            for name, value in given.items():
                if value is not None:
                    check(lib().sph_job_set(self.handle, c_text(name, name), c_text(_as_text(name, value), name)))
            # Nobody asked for threads, which a child of fork may not have; the nets are the same without.
            if not self.threads_said and forked_from_threads():
                check(lib().sph_job_set(self.handle, b"threads", b"1"))
        except BaseException:
            self.close()
            raise

    def settle(self, data: Any) -> None:
        """Chooses by data in memory what was not said. data: a handle."""
        check(lib().sph_job_settle(self.handle, data))
        if not self.threads_said:
            threads = min(int(self.get("threads") or 1), self.most)
            check(lib().sph_job_set(self.handle, b"threads", str(threads).encode()))
        claim_threads(int(self.get("threads") or 1))

    def settle_later(self) -> None:
        """The same where the data are a file, and sph_job_run chooses: there may be threads."""
        if not self.threads_said and self.most == 1:
            self.threads_said = True
            check(lib().sph_job_set(self.handle, b"threads", b"1"))
        claim_threads(int(self.get("threads") or 1) if self.threads_said or forked_from_threads() else 2)

    def get(self, name: str) -> str:
        """An option as text."""
        return text(lib().sph_job_get(self.handle, name.encode()))

    def settled(self) -> dict[str, str]:
        return {o.name: value for o in _table() if (value := self.get(o.name))}

    def close(self) -> None:
        handle, self.handle = self.handle, ctypes.c_void_p()
        lib().sph_job_free(handle)

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _as_text(name: str, value: Any) -> str:
    try:
        return as_text(value)
    except TypeError as error:
        raise ArgumentError(f"{name}: found {value!r}; {error}", key=name) from None
