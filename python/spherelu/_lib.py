# SPDX-License-Identifier: MIT
"""The shared library: found, loaded once, called with failures as exceptions.

ctypes over libspherelu, not an extension module: one wheel serves every CPython, the structs come from the headers
(`_abi.py`, made at the build and proved there against the compiler), and ctypes gives up the interpreter's lock for
the length of every call.
"""

from __future__ import annotations

import _thread
import atexit
import ctypes
import os
import re
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from . import _abi
from ._errors import KINDS, Error

T = TypeVar("T")


def _places() -> list[Path]:
    home = Path(__file__).parent / "lib"
    given = os.environ.get("SPHERELU_LIBRARY")
    return [Path(given)] if given else [home / "libspherelu.so"]


def _load() -> ctypes.CDLL:
    tried = _places()
    for path in tried:
        if not path.exists():
            continue
        # The wheel's own OpenBLAS: the library asks for it by its name, and finds what is loaded already.
        for blas in path.parent.glob("libopenblas*.so*"):
            ctypes.CDLL(str(blas))
        return ctypes.CDLL(str(path))
    raise ImportError(f"libspherelu is not at {tried[0]}; install the wheel, or name the library in SPHERELU_LIBRARY")


class Library:
    """Functions of the library by their C names, declared as the headers do."""

    def __init__(self) -> None:
        self._dll = _load()
        for name, (result, arguments) in _abi.FUNCTIONS.items():
            function = getattr(self._dll, name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"libspherelu has no {name}")


_lock = threading.Lock()
_library: Library | None = None


def lib() -> Any:
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                _library = Library()
    return _library


def sized(struct: Any, **fields: Any) -> Any:
    """A struct of options, which begins with its size."""
    return struct(size=ctypes.sizeof(struct), **fields)


def c_text(value: Any, key: str) -> bytes:
    """A text or path on its way in. C would read no further than a zero byte, so that one is refused."""
    written = os.fsencode(value)
    if b"\0" in written:
        raise KINDS[-1](f"{key}: {value!r} holds a zero byte", key=key)
    return written


def text(bytes_or_none: bytes | None) -> str:
    return (bytes_or_none or b"").decode("utf-8", "replace")


def in_python(words: str) -> str:
    """A message with options as keywords: lr_theta for --lr-theta."""
    return re.sub(r"(?<![\w-])--([a-z][a-z0-9]*(?:-[a-z0-9]+)*)", lambda found: found[1].replace("-", "_"), words)


def failure() -> Error:
    """This thread's last failure, as an exception."""
    f = lib().sph_failure().contents
    kind, what, path = KINDS.get(f.code, Error), text(f.text), text(f.path)
    # A path may look like an option; what `set` was given is no path.
    place, words = (path, what[len(path) :]) if path and what.startswith(path) and not path.startswith("--set ") else ("", what)
    key = text(f.key)
    words = in_python(words)
    if "-" in key and words.startswith(key + ":"):
        words = key.replace("-", "_") + words[len(key) :]
    return kind(place + words, f.code, key, path, f.line)


def check(code: int) -> int:
    """The code of a call; raises where it is a failure."""
    if code < 0:
        raise failure()
    return code


def version() -> str:
    """The library's version.

    >>> import spherelu
    >>> spherelu.version().count(".")
    2
    """
    return text(lib().sph_version())


def features() -> dict[str, str]:
    """The parts that the library was built with, and those found on this machine."""
    pairs = (line.split(": ", 1) for line in text(lib().sph_features()).splitlines() if ": " in line)
    return {name.strip(): value for name, value in pairs}


# ---------------------------------------------------------------- long calls


class Stop:
    """A number that the library looks at after each step, and stops when it is not 0."""

    def __init__(self) -> None:
        self.flag = ctypes.c_int(0)

    def set(self) -> None:
        self.flag.value = 1

    def observer(self) -> Any:
        out = _abi.sph_observer()
        lib().sph_stop_observer(ctypes.byref(self.flag), ctypes.byref(out))
        return out

    def progress(self) -> Any:
        """The same for calls that report how far they have come."""
        return _abi.sph_progress_call(lambda _self, _progress: self.flag.value)


class _Work:
    """A call in a thread of its own. Locks and lists of C only: `Thread.start` and `Event.wait` are Python, and a signal
    handler that raises inside of them leaves them broken."""

    def __init__(self, call: Callable[[], Any], stop: Stop) -> None:
        self.call, self.stop = call, stop
        self.claim, self.bell = _thread.allocate_lock(), _thread.allocate_lock()
        self.bell.acquire()
        self.values: list[Any] = []
        self.failures: list[BaseException] = []
        self.ended: list[bool] = []

    def run(self) -> None:
        if not self.claim.acquire(False):
            return
        _running.add(self)
        try:
            self.values.append(self.call())
        except BaseException as error:
            self.failures.append(error)
        finally:
            self.ended.append(True)
            _running.discard(self)
            self.bell.release()

    def wait(self, again: int = 100) -> None:
        """Until it has ended, whatever is raised meanwhile, which is raised then."""
        raised: BaseException | None = None
        try:
            while not self.ended:
                try:
                    self.bell.acquire(timeout=1.0)
                except BaseException as error:
                    self.stop.set()
                    if error.__context__ is None and raised is not error:
                        error.__context__ = raised
                    raised = error
        finally:
            if not self.ended and again:  # raised in the clause above
                self.wait(again - 1)
        if raised is not None:
            raise raised


_running: set[_Work] = set()


@atexit.register
def _wait_for_all() -> None:
    """The interpreter is not torn down below callbacks of a thread that is still at work."""
    for work in tuple(_running):
        work.stop.set()
        work.wait()


def interruptible(call: Callable[[], T], stop: Stop | None = None) -> T:
    """call() so that signals are handled meanwhile: Ctrl-C, and handlers that raise anything else (a timeout).

    Python runs signal handlers in its main thread only, between two of its instructions, and not while that thread is in C.
    So the call gets a thread, and the main thread waits where it can be woken. Any exception asks the call to stop, waits
    until it has ended, and is raised then. A handler may raise at any instruction, several times, so no `except` here is
    certain to see it: the call has to create and to free everything it hands to C by itself.
    """
    if threading.current_thread() is not threading.main_thread():
        return call()
    work = _Work(call, stop or Stop())
    try:
        _thread.start_new_thread(work.run, ())
        work.wait()
    finally:
        work.stop.set()
        if work.claim.acquire(False):
            work.ended.append(True)  # the exception came before the call began, and now it never will
        work.wait()
    if work.failures:
        raise work.failures[0]
    value: T = work.values[0]
    return value


# ---------------------------------------------------------------- threads


def processors() -> int:
    """Threads that are worth having: the processors that this process may use, and no more than OMP_NUM_THREADS, threadpoolctl
    and, in a worker of joblib, LOKY_MAX_CPU_COUNT allow."""
    count = int(lib().sph_processors())
    given = os.environ.get("LOKY_MAX_CPU_COUNT", "")
    return max(1, min(count, int(given) if given.isdecimal() else count))


# ---------------------------------------------------------------- fork
# OpenMP's threads do not live on in the child of a fork, and a call that wants them would wait for ever.

_threads_used = False
_after_fork = False
lock_owners: weakref.WeakSet[Any] = weakref.WeakSet()  # each has an RLock, `_lock`


def _forked() -> None:
    global _after_fork
    _after_fork = _threads_used
    _running.clear()
    for owner in lock_owners:  # the thread that holds the lock is not in the child, and would never let go
        owner._lock = threading.RLock()


os.register_at_fork(after_in_child=_forked)


def forked_from_threads() -> bool:
    return _after_fork


def claim_threads(count: int) -> None:
    global _threads_used
    if count <= 1:
        return
    if _after_fork:
        raise KINDS[-1](
            f"{count} threads in a process forked from one that used threads already; take threads=1, or start it by spawn",
            key="threads",
        )
    _threads_used = True
