# SPDX-License-Identifier: MIT
"""Experiment files: many trainings, one table."""

from __future__ import annotations

import ctypes
import html
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _abi
from ._errors import ArgumentError
from ._lib import Stop, c_text, check, interruptible, lib, sized, text
from ._model import Path
from ._options import plain


@dataclass
class Experiment:
    """A finished experiment: its folder, its tables as the tool prints them, and the contents of results.json."""

    name: str
    folder: str
    text: str
    results: dict[str, Any]
    jobs: int
    diverged: int
    failed: int

    def __repr__(self) -> str:
        return f"<Experiment {self.name}: {self.jobs} jobs, {self.diverged} diverged, {self.failed} failed, in {self.folder}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<p><b>{html.escape(self.name)}</b>, {self.jobs} jobs</p><pre>{html.escape(self.text)}</pre>"


def _json(value: Any) -> Any:
    """A value as json takes it: numbers of NumPy as Python's, whole numbers without a point, sequences as lists."""
    value = plain(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [_json(item) for item in value]
    return value


def run(path: Path, out: Path | None = None, *, resume: bool = False, set: Mapping[str, Any] | None = None) -> Experiment:
    """Runs an experiment file in this process; set: keys to change, as `spherelu run --set KEY=VALUE` does."""
    stop = Stop()
    pieces: list[bytes] = []
    result = _abi.sph_experiment_result()

    def write(_self: Any, data: int, length: int) -> int:
        pieces.append(ctypes.string_at(data, length))
        return 0

    def work() -> tuple[str, str]:
        experiment = ctypes.c_void_p()
        check(lib().sph_experiment_open(ctypes.byref(experiment), c_text(path, "path")))
        try:
            for key, value in (set or {}).items():
                try:
                    written = str(value) if isinstance(value, str) else json.dumps(_json(value))
                except TypeError as error:
                    raise ArgumentError(f"set: {key}: {error}", key=str(key)) from None
                check(lib().sph_experiment_set(experiment, c_text(key, key), c_text(written, key)))
            name = text(lib().sph_experiment_name(experiment))
            folder = os.fspath(out) if out is not None else os.path.join(tempfile.mkdtemp(prefix="spherelu-"), name)
            sink = _abi.sph_sink()
            sink.write = type(sink.write)(write)
            opts = sized(
                _abi.sph_experiment_opts, out=c_text(folder, "out"), resume=int(resume), progress=stop.progress(), table=ctypes.pointer(sink)
            )
            check(lib().sph_experiment_run(experiment, ctypes.byref(opts), ctypes.byref(result)))
            return name, folder
        finally:
            lib().sph_experiment_free(experiment)

    name, folder = interruptible(work, stop)
    with open(os.path.join(folder, "results.json"), encoding="utf-8") as file:
        results = json.load(file)
    return Experiment(name, folder, b"".join(pieces).decode("utf-8", "replace"), results, result.jobs, result.diverged, result.failed)
