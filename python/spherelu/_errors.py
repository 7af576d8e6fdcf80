# SPDX-License-Identifier: MIT
"""Failures of the library as exceptions: what `sph_failure()` says, as attributes."""

from __future__ import annotations


class Error(Exception):
    """The base class of all errors. `code` is SPH_E..., `key` is the option, tensor or column, `path` and `line` are the position in a file."""

    def __init__(self, text: str, code: int = -1, key: str = "", path: str = "", line: int = 0) -> None:
        super().__init__(text)
        self.code, self.key, self.path, self.line = code, key, path, line

    def __reduce__(self) -> tuple[type, tuple[str, int, str, str, int]]:
        return type(self), (str(self), self.code, self.key, self.path, self.line)


class ArgumentError(Error, ValueError):
    """The call or an option is wrong."""


class FileError(Error, OSError):
    """A file cannot be read or written."""

    def __str__(self) -> str:
        return str(self.args[0])


class FormatError(Error, ValueError):
    """A file is malformed."""


class MemoryLimitError(Error, MemoryError):
    """Out of memory."""


class DivergedError(Error, ArithmeticError):
    """The loss is not a finite number."""


KINDS: dict[int, type[Error]] = {
    -1: ArgumentError,
    -2: FileError,
    -3: FormatError,
    -4: MemoryLimitError,
    -5: DivergedError,
}
