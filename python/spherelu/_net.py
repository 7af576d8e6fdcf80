# SPDX-License-Identifier: MIT
"""Networks as handles: open, compute, look inside, convert, save."""

from __future__ import annotations

import ctypes
import html
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _abi
from ._arrays import Array, doubles, matrix
from ._errors import ArgumentError, FormatError
from ._lib import c_text, check, lib, text

if TYPE_CHECKING:
    from ._boundary import Boundary, Regions

Path = str | os.PathLike[str]


def word(kind: str, number: int) -> str:
    """The word of a list of words: word("PARAM", 2) is "gmp"."""
    row = lib().sph_word(getattr(_abi, "SPH_WORDS_" + kind), number)
    return text(row.contents.word) if row else str(number)


def number_of(kind: str, name: str) -> int:
    found = lib().sph_word_find(getattr(_abi, "SPH_WORDS_" + kind), c_text(name, kind.lower()))
    if found < 0:
        words: list[str] = []
        while lib().sph_word(getattr(_abi, "SPH_WORDS_" + kind), len(words)):
            words.append(word(kind, len(words)))
        key = kind.lower()
        raise ArgumentError(f"{key}: found '{name}', expected one of {', '.join(words)}", key=key)
    return int(found)


@dataclass(frozen=True)
class Layer:
    """One weight layer: s * act(norm(W x + b))."""

    path: str
    units: int
    inputs: int
    param: str
    norm: str
    activation: str


class Net:
    """A network. Made by `train`, `load` or an estimator; calls on it from several threads take turns.

    >>> import numpy as np, spherelu
    >>> net = spherelu.train(np.eye(8), np.arange(8.0), param="gmp", hidden=4, epochs=3, test=0, val=0).net
    >>> net.layers[0].param, net.inputs, net.outputs
    ('gmp', 8, 1)
    >>> spherelu.Net.from_bytes(net.to_bytes())(np.eye(8)).tolist() == net(np.eye(8)).tolist()
    True
    """

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle
        self._lock = threading.RLock()

    # ---- life

    @classmethod
    def open(cls, path: Path) -> Net:
        handle = ctypes.c_void_p()
        check(lib().sph_net_open(ctypes.byref(handle), c_text(path, "path")))
        return cls(handle)

    @classmethod
    def from_bytes(cls, data: bytes) -> Net:
        """From what a safetensors file holds that describes its network, as `to_bytes` gives it."""
        _check_described(data)
        handle = ctypes.c_void_p()
        check(lib().sph_net_read(ctypes.byref(handle), ctypes.c_char_p(data), len(data)))
        return cls(handle)

    def to_bytes(self) -> bytes:
        pieces: list[bytes] = []

        def write(_self: Any, data: int, length: int) -> int:
            pieces.append(ctypes.string_at(data, length))
            return 0

        sink = _abi.sph_sink()
        sink.write = type(sink.write)(write)
        with self._held() as handle:
            check(lib().sph_net_write(handle, ctypes.byref(sink)))
        return b"".join(pieces)

    @classmethod
    def from_torch(cls, module: Any, example: Any) -> Net:
        """The network that a PyTorch module is, in evaluation mode: same function, f32 or f64 as its parameters.

        module: Linear and Conv2d layers, batch, layer and group normalization behind them, relu, leaky_relu(0.01) and
        elu, 2-d pools, flattening, dropout, additions; layers of `spherelu.torch` keep their coordinates. torch.fx follows
        it. example: a batch, which gives the shape of the input. The outputs of both are compared on the example and on
        random rows; what cannot be represented is refused.
        """
        from .torch._exchange import net_of

        return net_of(module, example)

    def to_torch(self) -> Any:
        """A PyTorch module of the same function, standardisation included: a Sequential where the network is a chain, else a
        GraphModule of torch.fx. Layers of gmp and sphere without a normalization are those of `spherelu.torch`, others plain.
        It takes (rows, features) or (rows, channels, height, width). Its outputs are compared with the network's."""
        from .torch._exchange import module_of

        return module_of(self)

    def save(self, path: Path) -> None:
        with self._held() as handle:
            check(lib().sph_net_save(handle, c_text(path, "path")))

    def copy(self) -> Net:
        out = ctypes.c_void_p()
        with self._held() as handle:
            check(lib().sph_net_copy(ctypes.byref(out), handle))
        return Net(out)

    def close(self) -> None:
        """Gives its memory back; it cannot be used afterwards."""
        with self._lock:
            handle, self._handle = self._handle, ctypes.c_void_p()
            lib().sph_net_free(handle)

    def __del__(self) -> None:
        try:
            self.close()
        except Exception:  # the interpreter is on its way out
            pass

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return Net.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Net:
        return self.copy()

    def __deepcopy__(self, _memo: Any) -> Net:
        return self.copy()

    @contextmanager
    def _held(self) -> Iterator[ctypes.c_void_p]:
        with self._lock:
            if not self._handle:
                raise ArgumentError("this net was closed", key="net")
            yield self._handle

    # ---- what it is

    @property
    def inputs(self) -> int:
        with self._held() as handle:
            return int(lib().sph_net_inputs(handle))

    @property
    def outputs(self) -> int:
        with self._held() as handle:
            return int(lib().sph_net_outputs(handle))

    @property
    def dtype(self) -> np.dtype[Any]:
        with self._held() as handle:
            return np.dtype(np.float64 if lib().sph_net_dtype(handle) == _abi.SPH_F64 else np.float32)

    @property
    def learned(self) -> int:
        """Learned numbers in all."""
        with self._held() as handle:
            return int(lib().sph_net_learned(handle))

    @property
    def note(self) -> str:
        """A JSON object that goes where the net goes; "": none."""
        with self._held() as handle:
            return text(lib().sph_net_note(handle))

    @note.setter
    def note(self, value: str) -> None:
        with self._held() as handle:
            check(lib().sph_net_set_note(handle, c_text(value, "note")))

    @property
    def layers(self) -> list[Layer]:
        out = []
        with self._held() as handle:
            for k in range(lib().sph_net_layers(handle)):
                inputs = ctypes.c_size_t()
                layer = lib().sph_net_layer(handle, k, ctypes.byref(inputs)).contents
                out.append(
                    Layer(
                        text(layer.path) or f"layers.{k}",
                        layer.units,
                        inputs.value,
                        word("PARAM", layer.param),
                        word("NORM", layer.norm),
                        word("ACT", layer.act),
                    )
                )
        return out

    # ---- what it computes

    def __call__(self, x: Any) -> Array:
        """(rows, outputs): real targets in their own units, classes as logits. NaN features take their training mean."""
        x = matrix(x, "x", self.inputs)
        y = np.empty((len(x), self.outputs))
        if len(x):
            with self._held() as handle:
                check(lib().sph_net_forward(handle, doubles(x), len(x), doubles(y)))
        return y

    def weight(self, k: int) -> tuple[Array, Array, Array]:
        """W (m, n), b (m), s (m) of weight layer k, as it computes s * act(norm(W x + b))."""
        layer = self.layers[k]
        w, b, s = np.empty((layer.units, layer.inputs)), np.zeros(layer.units), np.ones(layer.units)
        with self._held() as handle:
            check(lib().sph_net_weight(handle, k % len(self.layers), doubles(w), doubles(b), doubles(s)))
        return w, b, s

    @property
    def tensors(self) -> dict[str, Array]:
        """Copies of all named tensors: layers.0.theta, layers.0.lambda, ...; learned ones first."""
        out: dict[str, Array] = {}
        with self._held() as handle:
            for i in range(lib().sph_net_tensors(handle)):
                about = _abi.sph_tensor()
                check(lib().sph_net_tensor(handle, i, ctypes.byref(about)))
                values = np.empty(tuple(about.shape[: about.ndim]))
                check(lib().sph_net_get(handle, about.name, doubles(values), about.count))
                out[text(about.name)] = values
        return out

    def set(self, name: str, values: Any) -> None:
        """Replaces one named tensor."""
        array = np.ascontiguousarray(values, dtype=np.float64)
        with self._held() as handle:
            check(lib().sph_net_set(handle, c_text(name, "name"), doubles(array), array.size))

    def convert(self, to: str, *, strict: bool = False, keep_bn: bool = False) -> Net:
        """The same function in another parameterization: "sp", "wn", "gmp" or "sphere"."""
        flags = _abi.SPH_CONVERT_STRICT * strict | _abi.SPH_CONVERT_KEEP_BN * keep_bn
        out = ctypes.c_void_p()
        with self._held() as handle:
            check(lib().sph_net_convert(ctypes.byref(out), handle, number_of("PARAM", to), flags))
        return Net(out)

    def boundaries(self, x: Any = None, **options: Any) -> list[Boundary]:
        from ._boundary import boundaries

        return boundaries(self, x, **options)

    def regions(self, window: Any = None, **options: Any) -> Regions:
        from ._boundary import regions

        return regions(self, window, **options)

    def plot_regions(self, window: Any = None, ax: Any = None, **options: Any) -> Any:
        return self.regions(window, **options).plot(ax)

    # ---- how it looks

    def __repr__(self) -> str:
        if not self._handle:
            return "<Net, closed>"
        layers = self.layers
        return f"<Net {self.inputs} -> {' -> '.join(f'{a.units} {a.param}' for a in layers)}, {self.learned} learned numbers>"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in (a.path, a.inputs, a.units, a.param, a.norm, a.activation)) + "</tr>"
            for a in self.layers
        )
        heads = "".join(f"<th>{head}</th>" for head in ("layer", "inputs", "units", "param", "norm", "activation"))
        return f"<table><caption>{self.learned} learned numbers, {self.dtype}</caption><tr>{heads}</tr>{rows}</table>"


def _check_described(data: bytes) -> None:
    """A state dict does not say which activation is where, nor in which order layers come: libspherelu would take it for a
    chain with relu between, sorted by name."""
    if len(data) >= 8 and 0 < (length := int.from_bytes(data[:8], "little")) <= len(data) - 8:
        try:
            header = json.loads(data[8 : 8 + length])
        except ValueError:
            return  # the library says what is wrong with it
        if isinstance(header, dict) and "spherelu" not in (header.get("__metadata__") or {}):
            raise FormatError("data: tensors without a description of their network; make a net of a PyTorch module by Net.from_torch(module, example)", key="data")


def load(path: Path) -> Net:
    """A net from a safetensors file: ours, torchvision's resnets, or a chain of dense layers."""
    return Net.open(path)


def save(net: Net, path: Path) -> None:
    net.save(path)


def convert(net: Net | Path, to: str, *, strict: bool = False, keep_bn: bool = False) -> Net:
    """The same function in another parameterization; net may be a file's path.

    >>> import numpy as np, spherelu
    >>> x = np.random.default_rng(0).normal(size=(40, 3))
    >>> net = spherelu.train(x, x[:, 0], hidden=5, epochs=5, dtype="f64").net
    >>> bool(np.allclose(net(x), spherelu.convert(net, "sp")(x), atol=1e-12))
    True
    """
    return (net if isinstance(net, Net) else load(net)).convert(to, strict=strict, keep_bn=keep_bn)


@contextmanager
def all_held(nets: Sequence[Net]) -> Iterator[list[ctypes.c_void_p]]:
    """Their handles; each net once, in an order that two threads share."""
    with ExitStack() as stack:
        held = {id(net): stack.enter_context(net._held()) for net in sorted(nets, key=id)}
        yield [held[id(net)] for net in nets]
