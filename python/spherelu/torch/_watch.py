# SPDX-License-Identifier: MIT
"""Boundaries of any PyTorch model while it trains: `spherelu.watch`."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from ._planes import Array, Planes, motion, planes
from ._probe import Found, buffers_kept, places, probe, quick_probe, warn, watched

_LOCATIONS = 4096  # weights of a layer whose boundaries are all kept by default
_BITS = 1 << 24  # of a layer that are kept for flips; of larger ones those of the first rows
_SMOOTH = ("gelu", "silu", "mish", "hardswish")  # no kink: the boundary is where the sign of the unit's input changes
_SCALARS = ("move_max", "move_median", "turn_max", "turn_median", "active_share", "dead", "always_on", "flips")


@dataclass
class WatchedLayer:
    """A Linear or Conv layer and what was recorded of it: T records of m units.

    boundary: "hyperplane"; "per sample": a layer or group normalization follows, or a batch normalization without running
    statistics, so that only active shares are known; "none": nothing is recorded, and `note` has the reason.
    """

    name: str
    kind: str
    units: int
    inputs: int
    activation: str = ""
    normalization: str = "none"
    boundary: str = "none"
    note: str = ""
    trainable: bool = True
    step: list[int] = field(default_factory=list, repr=False)
    rows: dict[str, list[Array]] = field(default_factory=dict, repr=False)

    def _put(self, **values: Array | None) -> None:
        for key, value in values.items():
            self.rows.setdefault(key, []).append(np.full(self.units, np.nan, np.float32) if value is None else value)

    def __getattr__(self, key: str) -> Any:
        rows = self.__dict__.get("rows", {})
        if key in rows:
            return np.array(rows[key])
        if key in UNIT_COLUMNS or key in ("phi", "direction"):
            if key in ("phi", "direction"):
                raise AttributeError(f"'{self.name}': all locations were not kept; pass locations=['{self.name}'] to watch")
            return np.empty((0, self.units))
        raise AttributeError(key)


# What is kept of each unit, and what of it is printed for each layer.
UNIT_COLUMNS = ("norm", "offset", "move", "turn", "active_share", "flips")


def _move_to(value: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_move_to(v, change) for v in value))
    if isinstance(value, (tuple, list)):
        return type(value)(_move_to(v, change) for v in value)
    if isinstance(value, Mapping):
        return {key: _move_to(v, change) for key, v in value.items()}
    return value


_compiling: Callable[[], bool] = getattr(getattr(torch, "compiler", None), "is_compiling", lambda: False)


class _First:
    """The hook that takes the first batch. A copy or a pickle of the model has one that does nothing."""

    def __init__(self, watch: Watch | None) -> None:
        self.watch = watch

    def __call__(self, _module: nn.Module, args: Any, kwargs: Any = None) -> None:
        if self.watch is not None and not _compiling():  # a compiled function must not record anything
            self.watch._saw(args, kwargs or {})

    def __deepcopy__(self, _memo: Any) -> _First:
        return _First(None)

    def __reduce__(self) -> Any:
        return _First, (None,)


def unwrapped(model: nn.Module) -> nn.Module:
    """The module inside torch.compile's, DataParallel's and DistributedDataParallel's."""
    while True:
        inner = model._modules.get("_orig_mod")
        if inner is None and isinstance(model, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
            inner = model.module
        if inner is None:
            return model
        model = inner


def _first_parameter(model: nn.Module) -> Tensor | None:
    return next((p for p in model.parameters() if p.is_floating_point()), None)


def _check_model(model: Any, every: Any) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model: found {type(model).__name__}, expected a torch.nn.Module")
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"every: found {every!r}, expected 1 or more")
    for m in model.modules():
        if type(m).__name__ == "FullyShardedDataParallel" or any(type(p).__name__ == "DTensor" for p in m._parameters.values()):
            raise ValueError("model: its parameters are sharded over processes (FSDP); a unit's boundary needs its whole weight")


class Watch:
    """What `spherelu.watch` returns: the records of a model, until `close()` or the end of the `with` block.

    layers: a WatchedLayer for each Linear and Conv layer, by name. `steps` are the recorded steps.

    >>> import torch, spherelu
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> with spherelu.watch(model) as watch:
    ...     for _ in range(3):
    ...         loss = model(torch.randn(16, 2)).square().mean()
    ...         optimizer.zero_grad()
    ...         loss.backward()
    ...         optimizer.step()
    >>> watch.steps, watch["0"].turn.shape, watch["0"].phi.shape
    ([0, 1, 2, 3], (4, 8), (4, 8, 2))
    >>> watch["2"].note
    'no activation behind it'
    """

    def __init__(
        self,
        model: nn.Module,
        every: int = 1,
        *,
        data: Any = None,
        forward: Callable[..., Any] | None = None,
        rows: int = 64,
        layers: Iterable[str] | None = None,
        locations: bool | Iterable[str] | None = None,
        optimizer: torch.optim.Optimizer | None = None,
        auto: bool = True,
        callbacks: Iterable[Callable[[dict[str, float]], Any]] = (),
        tensorboard: Any = None,
    ) -> None:
        _check_model(model, every)
        self.every, self.model = every, unwrapped(model)
        modules = watched(self.model)
        if layers is not None:
            wanted = [layers] if isinstance(layers, str) else list(layers)
            for name in wanted:
                if name not in modules:
                    raise ValueError(f"layers: no Linear or Conv is called '{name}'; there are {', '.join(modules) or 'none'}")
            modules = {name: modules[name] for name in wanted}
        if not modules:
            raise ValueError("model: it has no Linear or Conv layers")
        self._modules = modules
        self.layers: dict[str, WatchedLayer] = {}
        self.steps: list[int] = []
        self.step_number = 0
        self.callbacks = [*callbacks]
        self._writer: Any = None
        if tensorboard is not None:
            self._writer = _writer(tensorboard)
            self.callbacks.append(to_tensorboard(self._writer))
        self._own_writer = self._writer is not None and self._writer is not tensorboard
        self._forward, self._rows, self._locations = forward, rows, locations
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = {}
        self._placed: tuple[torch.device, torch.dtype] | None = None
        self._norms: dict[str, tuple[nn.Module, ...]] = {}
        self._places: dict[str, nn.Module] | None = None  # where a pass looks; None: at each operation
        self._before: dict[str, Planes] = {}
        self._spare: dict[str, Tensor] = {}  # memory for copies of weights
        self._bits: dict[str, list[Tensor]] = {}
        self._started = self._closed = self._inside = self._blind = self._warned = False
        self._auto, self._optimizer = auto, None if optimizer is None else id(optimizer)
        self._others: set[int] = set()
        self._ids: set[int] = set()
        self._hooks: list[Any] = []
        self._versions: int | None = None
        self._global = getattr(import_module("torch.optim.optimizer"), "register_optimizer_step_post_hook", None)
        if data is not None:
            args = data if isinstance(data, tuple) else (data,)
            self._take((), data) if isinstance(data, Mapping) else self._take(args, {})
            self._begin(True)
        if data is None or (auto and self._global is None):
            kwargs: dict[str, Any] = {"with_kwargs": True} if self._global is not None else {}
            self._first = model.register_forward_pre_hook(_First(self), **kwargs)
            self._hooks.append(self._first)
        if auto and self._global is not None:
            self._hooks.append(self._global(self._optimizer_stepped))

    # ---- when

    def _take(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Copies of the rows to look at. Rows are cut off if there is a single tensor: others may not have rows first."""
        tensors: list[Tensor] = []
        _move_to((args, dict(kwargs)), lambda t: tensors.append(t) or t)  # type: ignore[func-returns-value]
        cut = slice(0, self._rows) if len(tensors) == 1 and tensors[0].ndim > 1 else slice(None)
        self._args, self._kwargs = _move_to((args, dict(kwargs)), lambda t: t.detach()[cut].clone() if t.ndim else t.detach().clone())
        like = _first_parameter(self.model)
        self._placed = None if like is None else (like.device, like.dtype)

    def _saw(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Before each forward pass: the first batch, and with old PyTorch the end of a step."""
        if self._inside or self._closed or not torch.is_grad_enabled():
            return
        if not self._started:
            self._take(args, kwargs)
            self._begin(False)
            if self._global is not None or not self._auto:
                self._first.remove()
        elif self._auto and self._global is None:
            self._flush()

    def _flush(self) -> None:
        """PyTorch 1.13 does not say when an optimizer stepped: the versions of the parameters do."""
        if self._auto and self._global is None and self._started and not self._closed:
            now = sum(p._version for p in self.model.parameters())
            if self._versions is not None and now != self._versions:
                self._stepped()
            self._versions = now

    def _optimizer_stepped(self, optimizer: torch.optim.Optimizer, _args: Any, _kwargs: Any) -> None:
        if self._inside or self._closed or not self._holds(optimizer):
            return
        if not self._started:
            if not self._warned:
                warn("no forward pass of the model was seen before the first step; pass data=, a batch for it")
            self._warned = True
            return
        which = id(optimizer)
        if self._optimizer is None or (which != self._optimizer and which in self._others):
            self._optimizer = which  # the first, or the only one that still steps
        if which != self._optimizer:
            self._others.add(which)  # a second optimizer of the same step
            return
        self._others.clear()
        self._stepped()

    def _holds(self, optimizer: torch.optim.Optimizer) -> bool:
        for again in (False, True):
            if again:
                self._ids = {id(p) for p in self.model.parameters()}
            if any(id(p) in self._ids for group in optimizer.param_groups for p in group["params"]):
                return True
        return False

    def step(self) -> dict[str, float] | None:
        """Counts a step of the optimizer, if `auto=False`; returns the scalars if it was recorded."""
        if self._auto:
            raise RuntimeError("step: steps are counted by themselves; pass auto=False to count them by calls")
        if self._closed:
            raise RuntimeError("step: the watch is closed")
        if not self._started:
            raise RuntimeError("step: no forward pass of the model was seen; pass data=, a batch for it")
        return self.scalars() if self._stepped() else None

    def _stepped(self) -> bool:
        self.step_number += 1
        due = self.step_number % self.every == 0
        if due or (self.step_number + 1) % self.every == 0:
            next_due = (self.step_number + 1) % self.every == 0
            now = self._look(next_due)
            if due:
                self._record(now)
            if next_due:
                self._before = now
        return due

    # ---- what

    def _begin(self, must: bool) -> None:
        """The first pass: which layers have boundaries."""
        self._started = True
        found: dict[str, Found] = {}
        try:
            changed = buffers_kept(self.model, lambda: found.update(self._pass(check=True)))
            if changed:
                self._blind = True
                warn(f"the forward pass changes '{changed[0]}' in evaluation too, so that active shares are not recorded")
        except Exception as error:
            if must:
                raise
            self._blind = True
            warn(f"the model did not run on its first batch in evaluation ({type(error).__name__}: {error}); nothing is recorded. Pass data= or forward=")
        for name, module in self._modules.items():
            self.layers[name] = self._describe(name, module, found.get(name))
        found = self._settle_places(found)
        self._versions = sum(p._version for p in self.model.parameters())
        now = self._look(self.every == 1)
        self._record(now, found)
        self._before = now if self.every == 1 else {}

    def _settle_places(self, found: dict[str, Found]) -> dict[str, Found]:
        """Later passes look at modules only, if that finds the same active units."""
        self._places = None if self._blind else places(self._modules, found)
        if self._places is None:
            return found
        again = self._pass()
        for name in self._places:
            counts = [sum(_count(b, axis) for b, axis in seen[name].active) if name in seen else None for seen in (found, again)]
            if not np.array_equal(*counts):  # type: ignore[arg-type]
                self._places = None
                return found
        return again

    def _pass(self, check: bool = False) -> dict[str, Found]:
        like = _first_parameter(self.model)
        if like is not None and self._placed is not None and self._placed != (like.device, like.dtype):
            dtype = like.dtype
            self._args, self._kwargs = _move_to((self._args, self._kwargs), lambda t: t.to(like.device, dtype) if t.is_floating_point() else t.to(like.device))
            self._placed = like.device, dtype
        run: Callable[..., Any] = self._forward if self._forward is not None else lambda m, *args, **kwargs: m(*args, **kwargs)
        args, kwargs = _move_to((self._args, self._kwargs), lambda t: t)
        was, self._inside = self._inside, True
        try:
            if self._places is not None:
                return quick_probe(self.model, self._places, lambda: run(self.model, *args, **kwargs))
            return probe(self.model, self._modules, lambda: run(self.model, *args, **kwargs), check)
        finally:
            self._inside = was

    def _describe(self, name: str, module: Any, found: Found | None) -> WatchedLayer:
        trainable = any(p.requires_grad for p in module.parameters())
        kind = next((c.__name__ for c in type(module).__mro__ if c.__module__.startswith("torch.nn")), type(module).__name__)
        if isinstance(module, nn.Linear):
            units, inputs = module.out_features, module.in_features
        else:
            units, inputs = module.out_channels, module.in_channels // module.groups * int(np.prod(module.kernel_size))
        about = WatchedLayer(name, kind, units, inputs, trainable=trainable)
        if found is None or not found.calls:
            about.note = "not used in the forward pass" if not self._blind else "the forward pass was not seen"
            return about
        if not found.activation:
            about.note = f"no activation behind it: {found.ended} follows" if found.ended else "no activation behind it"
            return about
        if not found.affine:
            about.note = f"{type(module).__name__} computes something else than its weight and bias say"
            return about
        about.activation, norms = found.activation, found.norms[0]
        about.normalization = "+".join(type(n).__name__ for n in norms) or "none"
        if len({tuple(map(id, n)) for n in found.norms}) > 1:
            about.boundary, about.note = "per sample", "called several times, with other norms behind it"
        elif all(isinstance(n, _BatchNorm) and n.running_var is not None for n in norms):
            about.boundary = "hyperplane"
            self._norms[name] = norms
            if found.activation in _SMOOTH:
                about.note = f"{found.activation} has no kink: the boundary is where the unit's input changes its sign"
        else:
            about.boundary, about.note = "per sample", f"{about.normalization} uses statistics of each sample or batch"
        return about

    def _look(self, kept: bool) -> dict[str, Planes]:
        """kept: until the next step, so that weights have to be copied."""
        return {name: planes(self._modules[name], norms, kept, self._spare.pop(name, None) if kept else None) for name, norms in self._norms.items()}

    def _keeps(self, about: WatchedLayer) -> bool:
        if self._locations is None or isinstance(self._locations, bool):
            return about.units * about.inputs <= _LOCATIONS if self._locations is None else self._locations
        return about.name in self._locations

    @torch.no_grad()
    def _record(self, now: dict[str, Planes], found: dict[str, Found] | None = None) -> None:
        if found is None and not self._blind:
            found = self._pass()
        self.steps.append(self.step_number)
        for name, about in self.layers.items():
            if about.boundary == "none":
                continue
            about.step.append(self.step_number)
            share, flips = self._shares(name, (found or {}).get(name))
            values: dict[str, Array | None] = {"norm": None, "offset": None, "move": None, "turn": None, "active_share": share, "flips": flips}
            if name in now:
                values.update(norm=now[name].norm, offset=now[name].offset)
                if name in self._before:
                    before = self._before.pop(name)
                    values["move"], values["turn"] = motion(before, now[name])
                    self._spare[name] = before.rows
                if self._keeps(about):
                    values["phi"] = now[name].phi
            about._put(**values)
        if self.callbacks:
            scalars = self.scalars()
            for callback in self.callbacks:
                callback(scalars)

    def _shares(self, name: str, found: Found | None) -> tuple[Array | None, Array | None]:
        """Of each unit, the share of points for which it is active, and of those whose bit differs from that of the last record."""
        if found is None or not found.active:
            return None, None
        bits, old = found.active, self._bits.get(name, [])
        points = sum(b.numel() / b.shape[axis] for b, axis in bits)
        share = sum(_count(b, axis) for b, axis in bits) / points
        flips, now = None, [(b[: max(1, _BITS * len(b) // b.numel())] if axis else b, axis) for b, axis in bits]
        if [b.shape for b in old] == [b.shape for b, _ in now]:
            points = sum(b.numel() / b.shape[axis] for b, axis in now)
            flips = sum(_count(b ^ o.to(b.device), axis) for (b, axis), o in zip(now, old)) / points
        self._bits[name] = [b.clone() if len(b) < len(whole) else b for (b, _), (whole, _) in zip(now, bits)]
        return share, flips

    # ---- results

    def __getitem__(self, name: str) -> WatchedLayer:
        self._flush()
        if name not in self.layers:
            raise KeyError(f"no layer is called '{name}'; there are {', '.join(self.layers) or 'none before the first forward pass'}")
        return self.layers[name]

    def scalars(self) -> dict[str, float]:
        """The last record as numbers, under names like "boundaries/fc1/turn_max"; angles are in radians."""
        out: dict[str, float] = {"step": float(self.steps[-1])} if self.steps else {}
        for name, about in self.layers.items():
            if about.step:
                last = _summary(about, -1)
                out.update({f"boundaries/{name}/{key}": last[key] for key in _SCALARS if last[key] == last[key]})
        return out

    def columns(self, level: str = "layers") -> dict[str, npt.NDArray[Any]]:
        """The records as columns: a row for each layer and step ("layers") or for each unit and step ("units")."""
        self._flush()
        if level not in ("layers", "units"):
            raise ValueError(f"level: found '{level}', expected layers or units")
        parts: dict[str, list[Any]] = {}
        for name, about in self.layers.items():
            for t, step in enumerate(about.step):
                if level == "layers":
                    for key, value in {"step": step, "layer": name, **_summary(about, t)}.items():
                        parts.setdefault(key, []).append(value)
                else:
                    row = {"step": np.full(about.units, step), "layer": np.full(about.units, name), "unit": np.arange(about.units)}
                    row.update({key: about.rows[key][t] for key in UNIT_COLUMNS})
                    share = row["active_share"]
                    row["state"] = np.where(share == 0, "dead", np.where(share == 1, "always_on", np.where(np.isnan(share), "", "both")))
                    for key, value in row.items():
                        parts.setdefault(key, []).append(value)
        return {key: np.array(values) if level == "layers" else np.concatenate(values) for key, values in parts.items()}

    def to_pandas(self, level: str = "layers") -> Any:
        """`columns(level)` as a tidy DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas; columns() returns NumPy arrays") from error
        return pandas.DataFrame(self.columns(level))

    def _lines(self) -> list[tuple[str, ...]]:
        lines: list[tuple[str, ...]] = [("layer", "kind", "units", "inputs", "norm", "activation", "boundary", "note")]
        lines += [(a.name, a.kind, str(a.units), str(a.inputs), a.normalization, a.activation or "-", a.boundary, a.note) for a in self.layers.values()]
        return lines

    def describe(self) -> str:
        """A table of the layers, and why some of them have no boundary."""
        lines = self._lines()
        widths = [max(len(line[i]) for line in lines) for i in range(8)]
        return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        lines = self._lines()
        rows = ["".join(f"<{cell}>{html.escape(text)}</{cell}>" for text in line) for cell, line in zip(["th", *["td"] * len(lines)], lines)]
        return f"<table><caption>{html.escape(repr(self)[1:-1])}</caption><tr>{'</tr><tr>'.join(rows)}</tr></table>"

    def plot(self, kind: str | None = None, layer: str | None = None, ax: Any = None, units: Sequence[int] | None = None) -> Any:
        """Draws with matplotlib. kind: "moves", "turns", "trajectories", "units" (a heat map of active shares), or None for all
        four. layer: for trajectories and units, by default the first layer that has them. Returns the axes."""
        from ._watch_plot import plot

        self._flush()
        return plot(self, kind, layer, ax, units)

    def regions(self, window: Any = None, **options: Any) -> Any:
        """The exact linear regions of the model as it is now, as `spherelu.torch.regions(model, window, ...)`."""
        from ._slices import regions

        return regions(self.model, window, **options)

    def close(self) -> None:
        """Ends the recording; the records stay."""
        self._flush()
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        if self._own_writer and not self._closed:
            self._writer.close()
        self._closed = True
        self._before, self._spare, self._bits, self._args, self._kwargs = {}, {}, {}, (), {}

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        followed = sum(a.boundary == "hyperplane" for a in self.layers.values())
        state = "waits for the first forward pass" if not self._started else f"{followed} of {len(self.layers)} layers have boundaries, {len(self.steps)} records"
        return f"<Watch: {state}{', closed' if self._closed else ''}>"

    def __deepcopy__(self, _memo: Any) -> Any:
        raise TypeError("a Watch cannot be copied: it belongs to one model")


def _count(bits: Tensor, axis: int) -> Array:
    """The number of ones of each unit."""
    others = [d for d in range(bits.ndim) if d != axis]
    ones = torch.count_nonzero(bits, dim=others) if others else bits
    out: Array = ones.cpu().numpy().astype(np.float64)
    return out


def _summary(about: WatchedLayer, t: int) -> dict[str, float]:
    out: dict[str, float] = {}
    for key in ("move", "turn"):
        values = about.rows[key][t]
        values = values[~np.isnan(values)]
        some = [float(values.max()), float(np.median(values)), float(np.quantile(values, 0.9))] if len(values) else [np.nan] * 3
        out.update(zip((f"{key}_max", f"{key}_median", f"{key}_p90"), some))
    share, flips = about.rows["active_share"][t], about.rows["flips"][t]
    known = not np.isnan(share).any()
    out["units"] = float(about.units)
    out["active_share"] = float(share.mean()) if known else np.nan
    out["dead"] = float((share == 0).sum()) if known else np.nan
    out["always_on"] = float((share == 1).sum()) if known else np.nan
    out["flips"] = float(flips.mean())
    return out


# ---------------------------------------------------------------- where scalars go


def _writer(where: Any) -> Any:
    if hasattr(where, "add_scalar"):
        return where
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ImportError("tensorboard= needs TensorBoard: pip install tensorboard") from error
    return SummaryWriter(where)


def to_tensorboard(writer: Any) -> Callable[[dict[str, float]], None]:
    """A callback that writes the scalars with a SummaryWriter."""

    def write(scalars: dict[str, float]) -> None:
        step = int(scalars["step"])
        for name, value in scalars.items():
            if name != "step":
                writer.add_scalar(name, value, step)

    return write
