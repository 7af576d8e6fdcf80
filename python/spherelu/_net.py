# SPDX-License-Identifier: MIT
"""Networks as handles: open, compute, look inside, convert, save."""

from __future__ import annotations

import ctypes
import html
import json
import operator
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _abi
from ._arrays import TASKS, Array, dense, doubles
from ._errors import ArgumentError, FormatError
from ._lib import c_text, check, interruptible, lib, lock_owners, text
from ._model import Path, Predictor, kind_of_labels

if TYPE_CHECKING:
    from ._boundary import Boundary, Regions


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


class Net(Predictor):
    """A network, made by `train`, `load` or an estimator. Calls from several threads take turns.

    `net.predict(x)` returns predictions. `net(x)` returns the outputs: they are the same for regression, logits for classes, and the
    logarithm of the prediction for `loss="poisson"`.

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
        lock_owners.add(self)

    # ---- life

    @classmethod
    def open(cls, path: Path) -> Net:
        """One network from a safetensors file; `load` reads run folders, ensembles and ONNX graphs too."""
        handle = ctypes.c_void_p()
        check(lib().sph_net_open(ctypes.byref(handle), c_text(path, "path")))
        return cls(handle)

    @classmethod
    def from_bytes(cls, data: bytes) -> Net:
        """A network from the bytes of a safetensors file that describes it, as `to_bytes` returns them."""
        _check_described(data)
        handle = ctypes.c_void_p()
        check(lib().sph_net_read(ctypes.byref(handle), ctypes.c_char_p(data), len(data)))
        return cls(handle)

    def to_bytes(self) -> bytes:
        """The bytes of its safetensors file."""
        pieces: list[bytes] = []

        def write(_self: Any, data: int, length: int) -> int:
            pieces.append(ctypes.string_at(data, length))
            return 0

        def work() -> bytes:
            sink = _abi.sph_sink()
            sink.write = type(sink.write)(write)
            with self._held() as handle:
                check(lib().sph_net_write(handle, ctypes.byref(sink)))
            return b"".join(pieces)

        # In the main thread a signal handler could raise inside of `write`, where ctypes would lose the exception and the piece.
        return interruptible(work)

    @property
    def nets(self) -> tuple[Net, ...]:
        """The members of an ensemble, or the network itself."""
        return (self,)

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
        It takes (rows, features) or (rows, channels, height, width). Its outputs are compared with the network's. The module is in evaluation
        mode, because batch normalization computes another function while it trains; call `train()` to continue a training."""
        from .torch._exchange import module_of

        return module_of(self)

    def copy(self) -> Net:
        """A copy that shares nothing with it."""
        out = ctypes.c_void_p()
        with self._held() as handle:
            check(lib().sph_net_copy(ctypes.byref(out), handle))
        return Net(out)

    def close(self) -> None:
        """Frees its memory; it cannot be used afterwards."""
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
        """Number of inputs."""
        with self._held() as handle:
            return int(lib().sph_net_inputs(handle))

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        with self._held() as handle:
            return int(lib().sph_net_outputs(handle))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type it computes in: float32 or float64."""
        with self._held() as handle:
            return np.dtype(np.float64 if lib().sph_net_dtype(handle) == _abi.SPH_F64 else np.float32)

    @property
    def learned(self) -> int:
        """Number of parameters."""
        with self._held() as handle:
            return int(lib().sph_net_learned(handle))

    @property
    def note(self) -> str:
        """A description of the data as a JSON object, which copies and files keep; "" if there is none."""
        with self._held() as handle:
            return text(lib().sph_net_note(handle))

    @note.setter
    def note(self, value: str) -> None:
        with self._held() as handle:
            check(lib().sph_net_set_note(handle, c_text(value, "note")))

    @property
    def features(self) -> list[str]:
        """The names of the inputs, in the order in which calls take them: a text column is one input for each level,
        `column=level`, a date one for each part, `column.year`. Empty if the net has no note about the columns of its data."""
        if not self.note:
            return []
        data, name = ctypes.c_void_p(), ctypes.create_string_buffer(4096)
        check(lib().sph_data_of_note(ctypes.byref(data), c_text(self.note, "note")))
        out = []
        try:
            for i in range(lib().sph_data_features(data)):
                check(lib().sph_data_feature(data, i, name, len(name)))
                out.append(text(name.value))
        finally:
            lib().sph_data_free(data)
        return out

    @property
    def layers(self) -> list[Layer]:
        """Its weight layers."""
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
        """(rows, outputs): real targets in their own units (the logarithm of their mean for `loss="poisson"`), classes as logits.
        x has the numbers that the network takes, text and dates encoded. NaN features take their training mean. `predict` gives
        predictions."""
        x = dense(x, "x", self.inputs)
        y = np.empty((len(x), self.outputs))
        if len(x):
            with self._held() as handle:
                check(lib().sph_net_forward(handle, doubles(x), len(x), doubles(y)))
        return y

    def weight(self, k: int) -> tuple[Array, Array, Array]:
        """W (m, n), b (m), s (m) of weight layer k, as it computes s * act(norm(W x + b))."""
        k = operator.index(k)
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
        """As `spherelu.boundaries(net, x, ...)`."""
        from ._boundary import boundaries

        return boundaries(self, x, **options)

    def regions(self, window: Any = None, **options: Any) -> Regions:
        """As `spherelu.regions(net, window, ...)`."""
        from ._boundary import regions

        return regions(self, window, **options)

    def plot_regions(self, window: Any = None, ax: Any = None, **options: Any) -> Any:
        """Draws `regions(window, ...)` with matplotlib; returns the axes."""
        return self.regions(window, **options).plot(ax)

    # ---- how it looks

    def __repr__(self) -> str:
        if not self._handle:
            return "<Net, closed>"
        layers = self.layers
        return f"<Net {self.inputs} -> {' -> '.join(f'{a.units} {a.param}' for a in layers)}, {self.learned} parameters>"

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in (a.path, a.inputs, a.units, a.param, a.norm, a.activation)) + "</tr>"
            for a in self.layers
        )
        heads = "".join(f"<th>{head}</th>" for head in ("layer", "inputs", "units", "param", "norm", "activation"))
        return f"<table><caption>{self.learned} parameters, {self.dtype}</caption><tr>{heads}</tr>{rows}</table>"


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


class Ensemble(Net):
    """Several networks of one shape that predict together: `predict(x)` is the mean of their predictions, and `ensemble(x)` the
    outputs that a single network with these predictions would have. Boundaries and regions belong to one network: take one
    of `nets`.

    >>> import numpy as np, spherelu
    >>> x = np.random.default_rng(0).normal(size=(60, 2))
    >>> run = spherelu.train(x, x[:, 0], ensemble=3, hidden=5, epochs=5)
    >>> bool(np.allclose(run.net(x), np.mean([net(x) for net in run.net.nets], axis=0)))
    True
    """

    def __init__(self, nets: Iterable[Net]) -> None:
        self._nets = tuple(member for net in nets for member in net.nets)
        shapes = {(net.inputs, net.outputs) for net in self._nets}
        if len(shapes) != 1:
            raise ArgumentError(f"nets: expected networks of one shape, found {len(shapes)} shapes", key="nets")

    @property
    def nets(self) -> tuple[Net, ...]:
        """Its members."""
        return self._nets

    def __len__(self) -> int:
        return len(self._nets)

    def __getitem__(self, k: int) -> Net:
        return self._nets[k]

    @contextmanager
    def _held(self) -> Iterator[ctypes.c_void_p]:
        raise ArgumentError(f"net: this is an ensemble of {len(self)} networks, expected one network; take one of its `nets`", key="net")
        yield

    def __call__(self, x: Any) -> Array:
        """(rows, outputs) of a single network that would predict the mean of what the members predict."""
        if self.task != "regression":
            z = self.decision_function(x)
            return z[:, None] if z.ndim == 1 else z
        mean, _ = self._predicted(x)
        return np.log(mean) if self.loss == "poisson" else mean

    def copy(self) -> Ensemble:
        """A copy that shares nothing with it."""
        return Ensemble(net.copy() for net in self._nets)

    def convert(self, to: str, *, strict: bool = False, keep_bn: bool = False) -> Ensemble:
        """Each member in another parameterization."""
        return Ensemble(net.convert(to, strict=strict, keep_bn=keep_bn) for net in self._nets)

    def close(self) -> None:
        """Frees the memory of its members; they cannot be used afterwards."""
        for net in getattr(self, "_nets", ()):
            net.close()

    def __del__(self) -> None:
        pass  # members free themselves

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return Ensemble, (self._nets,)

    @property
    def inputs(self) -> int:
        """Number of inputs."""
        return self._nets[0].inputs

    @property
    def outputs(self) -> int:
        """Number of outputs."""
        return self._nets[0].outputs

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type its members compute in."""
        return self._nets[0].dtype

    @property
    def learned(self) -> int:
        """Number of parameters of all members."""
        return sum(net.learned for net in self._nets)

    @property
    def layers(self) -> list[Layer]:
        """The weight layers of a member."""
        return self._nets[0].layers

    @property
    def note(self) -> str:
        """The description of the data; setting it sets that of each member."""
        return self._nets[0].note

    @note.setter
    def note(self, value: str) -> None:
        for net in self._nets:
            net.note = value

    def __repr__(self) -> str:
        return f"<Ensemble of {len(self)}: {self._nets[0]!r}>"

    def _repr_html_(self) -> str:
        return f"<p>Ensemble of {len(self)} networks; the first:</p>{self._nets[0]._repr_html_()}"


def as_one(nets: Sequence[Net]) -> Net:
    """The network, or an ensemble of several."""
    return nets[0] if len(nets) == 1 else Ensemble(nets)


def _all_of(call: Any, path: Path, *more: Any) -> list[Net]:
    """The networks that sph_nets_open or sph_nets_import makes of a file."""
    out: Any = ctypes.POINTER(ctypes.c_void_p)()
    count = ctypes.c_size_t()
    check(call(ctypes.byref(out), ctypes.byref(count), c_text(path, "path"), *more))
    nets = []
    try:
        for k in range(count.value):
            nets.append(Net(ctypes.c_void_p(out[k])))
            out[k] = None
    finally:
        lib().sph_nets_free(out, count.value)
    return nets


def _open_run(path: Path) -> list[Net]:
    run = ctypes.c_void_p()
    check(lib().sph_run_open(ctypes.byref(run), c_text(path, "path")))
    try:
        loss = text(lib().sph_run_get(run, b"loss"))
    finally:
        lib().sph_run_free(run)
    nets = _all_of(lib().sph_nets_open, os.path.join(os.fspath(path), "model.safetensors"))
    about = nets[0]._about()
    if loss and about.get("loss", loss) == loss and loss != nets[0].loss:
        for net in nets:
            net.note = json.dumps({**about, "loss": loss})
    return nets


def _import(path: Path) -> list[Net]:
    found = _abi.sph_imported()
    nets = _all_of(lib().sph_nets_import, path, ctypes.byref(found))
    if found.dropped and not nets[0].note:
        for net in nets:
            net.note = json.dumps({"head_left_out": text(found.first)})
    return nets


def load(path: Path, *, task: str | None = None, classes: Any = None) -> Net:
    """A model from a run folder, a safetensors file (ours, of one network or an ensemble, torchvision's resnets, or a chain of dense
    layers) or an ONNX graph (.onnx). It has `predict`, `predict_proba`, `classes`, `columns`, `save` and `export_onnx`; several
    networks are an `Ensemble`. task, classes: for files of other programs, which do not contain them: "regression", "binary"
    or "classes", and the labels.

    >>> import numpy as np, spherelu, tempfile
    >>> x = np.random.default_rng(0).normal(size=(80, 2))
    >>> run = spherelu.train(x, np.where(x[:, 0] > 0, "up", "down"), hidden=8, epochs=20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(folder + "/model.safetensors")
    ...     again = spherelu.load(folder + "/model.safetensors")
    >>> again.classes.tolist(), bool((again.predict(x) == run.predict(x)).all())
    (['down', 'up'], True)
    """
    where = os.fspath(path)
    name = os.fsdecode(where)
    if "\0" not in name and os.path.isdir(name):
        nets = _open_run(where)
    else:
        nets = _import(where) if name.lower().endswith(".onnx") else _all_of(lib().sph_nets_open, where)
    model = as_one(nets)
    if task is not None or classes is not None:
        _describe(model, task, classes)
    return model


def _describe(model: Net, task: str | None, classes: Any) -> None:
    about = {name: value for name, value in model._about().items() if name != "head_left_out"}
    labels = None if classes is None else np.asarray(classes)
    if task is None:
        task = "binary" if model.outputs == 1 else "classes"
    if task not in TASKS:
        raise ArgumentError(f"task: found '{task}', expected one of {', '.join(TASKS)}", key="task")
    if task == "binary" and model.outputs != 1:
        raise ArgumentError(f"task: 'binary' needs one output, and the network has {model.outputs}; use 'classes'", key="task")
    about["task"] = task
    count = {"regression": 0, "binary": 2}.get(task, model.outputs)
    if labels is not None:
        if labels.shape != (count,):
            raise ArgumentError(f"classes: {labels.size} labels, expected {count}", key="classes")
        about["classes"], about["labels"] = [str(label) for label in labels.tolist()], kind_of_labels(labels)
    model.note = json.dumps(about)


def save(net: Net, path: Path) -> None:
    """Writes a network or an ensemble as a safetensors file; the same as `net.save(path)`."""
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
