# SPDX-License-Identifier: MIT
"""Boundaries of units: their position and motion, linear regions, perturbations."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _abi
from ._arrays import TASKS, Array, Data, doubles, matrix
from ._errors import ArgumentError
from ._lib import Stop, check, interruptible, lib, sized, text
from ._net import Net, word

EVERY_LAYER = ctypes.c_size_t(-1).value


def _taken(pointer: Any, *shape: int) -> Array | None:
    """A copy of what C owns."""
    return np.ctypeslib.as_array(pointer, shape).copy() if pointer else None


# ---------------------------------------------------------------- boundaries


@dataclass
class Boundary:
    """The boundaries of one layer: m units of n inputs, w x + b = 0. NaN if a unit has none."""

    layer: int
    path: str
    kind: str
    raw: bool
    points: int
    direction: Array | None
    norm: Array | None
    offset: Array | None
    phi: Array | None
    active_share: Array | None
    nearest: Array | None
    pole: Array | None
    state: list[str]

    def _repr_html_(self) -> str:
        dead = self.state.count("dead")
        return f"<p><b>{self.path}</b>: {len(self.state)} units, {dead} dead, over {self.points} data points</p>"


def boundaries(net: Net, x: Any = None, *, layer: int | None = None, raw: bool = True) -> list[Boundary]:
    """The boundaries of a network's units, and how many rows of x are on each side.

    raw: boundaries of layers that read the input are given in the raw units of the data.

    >>> import numpy as np, spherelu
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = spherelu.train(x, x[:, 0], hidden=7, epochs=5).net.boundaries(x)
    >>> found[0].direction.shape, len(found[0].state)
    ((7, 2), 7)
    """
    layer = None if layer is None else operator.index(layer)
    if layer is not None and not 0 <= layer < len(net.layers):
        raise ArgumentError(f"layer: found {layer}, and the net has {len(net.layers)}", key="layer")
    out: Any = ctypes.POINTER(_abi.sph_boundaries)()
    which = EVERY_LAYER if layer is None else layer

    def make(data: Any, rows: int) -> None:
        with net._held() as handle:
            check(lib().sph_boundaries_new(ctypes.byref(out), handle, which, int(raw), data, None, rows))

    if x is None:
        make(None, 0)
    else:
        array = matrix(x, "x", net.inputs)
        with Data(array, np.zeros((len(array), 1)), "regression") as data:
            make(data.handle, len(array))
    try:
        return [_boundary(out.contents.layer[i]) for i in range(out.contents.count)]
    finally:
        lib().sph_boundaries_free(out)


def _boundary(b: Any) -> Boundary:
    return Boundary(
        layer=b.layer,
        path=text(b.path),
        kind=word("BOUNDARY_KIND", b.kind),
        raw=bool(b.raw),
        points=b.points,
        direction=_taken(b.direction, b.m, b.n),
        norm=_taken(b.norm, b.m),
        offset=_taken(b.offset, b.m),
        phi=_taken(b.phi, b.m, b.n),
        active_share=_taken(b.active_share, b.m),
        nearest=_taken(b.nearest, b.m),
        pole=_taken(b.pole, b.m),
        state=[word("UNIT_STATE", b.state[i]) for i in range(b.m)] if b.state else [],
    )


class Tracker:
    """A callback that follows every boundary from step to step: how far it moved, by what angle it turned.

    `layers` names the layers that have boundaries; `move` and `turn` are (steps, layers), the largest over a layer's
    units of |phi - phi before| and of the angle between the normals in radians; NaN where a layer has none.

    >>> import numpy as np, spherelu
    >>> x = np.random.default_rng(0).normal(size=(60, 2))
    >>> tracker = spherelu.Tracker()
    >>> run = spherelu.train(x, x[:, 0], hidden=5, epochs=4, batch="full", callbacks=[tracker])
    >>> tracker.turn.shape, bool((tracker.turn < 0.5).all())
    ((4, 1), True)
    """

    def __init__(self) -> None:
        self.layers: list[str] = []
        self._rows: list[list[tuple[float, float]]] = []
        self._which: list[int] = []
        self._tracker = ctypes.c_void_p()
        self._inner = _abi.sph_observer()
        self.failed: BaseException | None = None

    @property
    def move(self) -> Array:
        """(steps, layers) the largest move of a boundary of each layer."""
        return np.array([[move for move, _ in row] for row in self._rows]).reshape(-1, len(self._which))

    @property
    def turn(self) -> Array:
        """(steps, layers) the largest turn of a boundary of each layer, in radians."""
        return np.array([[turn for _, turn in row] for row in self._rows]).reshape(-1, len(self._which))

    def _guarded(self, work: Any) -> Any:
        def call(_self: Any, view: Any) -> int:
            try:
                return int(work(view))
            except BaseException as error:
                self.failed = error
                return 1

        return call

    def observer(self) -> Any:
        """The observer for the C library."""
        out = _abi.sph_observer()
        out.start = type(out.start)(self._guarded(self._start))
        out.step = type(out.step)(self._guarded(self._step))
        return out

    def _start(self, view: Any) -> int:
        self._free()
        self._rows, self._which, self.layers = [], [], []
        net = view.contents.net
        check(lib().sph_tracker_new(ctypes.byref(self._tracker), net))
        lib().sph_tracker_observer(self._tracker, ctypes.byref(self._inner))
        motion = _abi.sph_motion()
        for k in range(lib().sph_net_layers(net)):
            if lib().sph_tracker_layer(self._tracker, k, ctypes.byref(motion)) == 1:
                layer = lib().sph_net_layer(net, k, None).contents
                self._which.append(k)
                self.layers.append(text(layer.path) or f"layers.{k}")
        return check(self._inner.start(self._inner.self, view)) if self._inner.start else 0

    def _step(self, view: Any) -> int:
        code = check(self._inner.step(self._inner.self, view)) if self._inner.step else 0
        motion, row = _abi.sph_motion(), []
        for k in self._which:
            lib().sph_tracker_layer(self._tracker, k, ctypes.byref(motion))
            row.append((motion.move.max, motion.turn.max))
        self._rows.append(row)
        return code

    def _free(self) -> None:
        handle, self._tracker = self._tracker, ctypes.c_void_p()
        lib().sph_tracker_free(handle)

    def __del__(self) -> None:
        try:
            self._free()
        except Exception:  # the interpreter is on its way out
            pass


# ---------------------------------------------------------------- regions


@dataclass
class Regions:
    """The convex polygons on which a net is affine, in a window of a plane."""

    vertices: list[Array]  # (vertices, 2) each, anticlockwise
    area: Array
    maps: Array  # (regions, outputs, 3): an output is maps[.., 0] s + maps[.., 1] t + maps[.., 2]
    patterns: npt.NDArray[np.uint8]  # (regions, units) 1 where a unit is active
    layers: dict[str, int]  # units of each layer, in the order of the patterns
    segments: Array  # (segments, 4) where the decision changes
    window: tuple[float, float, float, float]
    stopped: bool = False
    total: dict[str, float] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.vertices)

    def __repr__(self) -> str:
        return f"<Regions: {len(self)} in {self.window}>"

    def _repr_html_(self) -> str:
        low, high = (float(self.area.min()), float(self.area.max())) if len(self) else (0.0, 0.0)
        return f"<p>{len(self)} linear regions in {self.window}, areas {low:.3g} to {high:.3g}</p>"

    def plot(self, ax: Any = None) -> Any:
        """Draws the polygons, coloured by the number of active units, and the decision boundary with matplotlib."""
        import matplotlib.pyplot as plt
        from matplotlib.collections import LineCollection, PolyCollection

        if ax is None:
            ax = plt.figure().add_subplot()
        polygons = PolyCollection(self.vertices, edgecolors="white", linewidths=0.4)
        polygons.set_array(self.patterns.sum(axis=1))
        ax.add_collection(polygons)
        if len(self.segments):
            ax.add_collection(LineCollection(list(self.segments.reshape(-1, 2, 2)), colors="black", linewidths=1.5))
        ax.set_xlim(self.window[:2])
        ax.set_ylim(self.window[2:])
        return ax


def regions(
    net: Net, window: Sequence[float] | None = None, *, plane: Any = None, task: str = "regression", most: int | None = None
) -> Regions:
    """The linear regions of a net of 1 or 2 inputs in a window (s from, s to, t from, t to), or on a plane.

    plane: three points (3, inputs) through which it goes. task "binary" or "classes": where the decision changes is found
    too.

    >>> import numpy as np, spherelu
    >>> x = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = spherelu.train(x, x[:, 0], hidden=6, epochs=3).net.regions((-1, 1, -1, 1))
    >>> bool(np.isclose(found.area.sum(), 4))
    True
    """
    if task not in TASKS:
        raise ArgumentError(f"task: found '{task}', expected one of {', '.join(TASKS)}", key="task")
    most = None if most is None else operator.index(most)
    if most is not None and most < 1:
        raise ArgumentError(f"most: found {most}, expected 1 or more", key="most")
    points = None if plane is None else matrix(plane, "plane", net.inputs)
    if points is not None and len(points) != 3:
        raise ArgumentError(f"plane: {len(points)} points, expected 3", key="plane")
    sides = None if window is None else [float(side) for side in window]
    if sides is not None and len(sides) == 2:
        sides += [0.0, 1.0]
    if sides is not None and len(sides) != 4:
        raise ArgumentError(f"window: {len(sides)} numbers, expected 4", key="window")
    stop = Stop()

    def work() -> Regions:
        opts = sized(_abi.sph_regions_opts, progress=stop.progress(), task=getattr(_abi, TASKS[task]))
        opts.window[:] = (-1, 1, -1, 1)
        if most is not None:
            opts.most = most
        kept = [np.empty(net.inputs) for _ in range(3)]
        if points is not None:
            box = np.empty(4)
            with net._held() as handle:
                check(lib().sph_plane_through(handle, *(doubles(p) for p in points), *(doubles(k) for k in kept), doubles(box)))
            opts.origin, opts.first, opts.second = (doubles(k) for k in kept)
            opts.window[:] = box
        if sides is not None:
            opts.window[:] = sides
        out = ctypes.c_void_p()
        try:
            with net._held() as handle:
                check(lib().sph_regions_new(ctypes.byref(out), handle, ctypes.byref(opts)))
            return _regions(out, tuple(opts.window), net.outputs)
        finally:
            lib().sph_regions_free(out)

    return interruptible(work, stop)


def _regions(handle: Any, window: Any, outputs: int) -> Regions:
    total = _abi.sph_regions_total()
    lib().sph_regions_sum(handle, ctypes.byref(total))
    count, layers = total.regions, []
    for k in range(total.layers):
        layer = total.layer[k]
        layers.append((text(layer.path), layer.units, layer.byte))
    last = max((byte + (units + 7) // 8 for _, units, byte in layers), default=0)
    vertices, area, maps = [], np.empty(count), np.empty((count, outputs, 3))
    patterns = np.zeros((count, sum(units for _, units, _ in layers)), dtype=np.uint8)
    one = _abi.sph_region()
    for i in range(count):
        check(lib().sph_regions_at(handle, i, ctypes.byref(one)))
        vertices.append(np.ctypeslib.as_array(one.vertex, (one.vertices, 2)).copy())
        area[i] = one.area
        maps[i] = np.ctypeslib.as_array(one.map, (outputs, 3))
        if last:
            bits = np.unpackbits(np.ctypeslib.as_array(one.pattern, (last,)))
            patterns[i] = np.concatenate([bits[8 * byte : 8 * byte + units] for _, units, byte in layers])
    rows, found = total.segment, total.segments
    segments = np.array([[*rows[i].__getattribute__("from"), *rows[i].to] for i in range(found)]).reshape(found, 4)
    return Regions(
        vertices,
        area,
        maps,
        patterns,
        {path: units for path, units, _ in layers},
        segments,
        window,
        bool(total.stopped),
        {"area": total.area, "largest": total.largest, "smallest": total.smallest, "length": total.length},
    )


# ---------------------------------------------------------------- perturbation


@dataclass
class Perturbed:
    """The boundary of one unit before and after eps is added to each of its parameters, with one method."""

    method: str
    formula: str
    eps: Array
    turn: Array  # degrees
    shift: Array
    w: Array  # (eps, inputs) effective weight afterwards
    phi: Array  # (eps, inputs)


def perturb(eps: Sequence[float] = (1e-4, 1e-3, 1e-2, 1e-1), *, inputs: int = 2, seed: int = 0, **options: Any) -> list[Perturbed]:
    """Figure 1 of the papers as numbers: SP, WN, BN, LN and GmP from the same boundary.

    >>> import spherelu
    >>> [p.method for p in spherelu.perturb()]
    ['SP', 'WN', 'BN', 'LN', 'GmP']
    """
    opts = _abi.sph_perturb_opts()
    lib().sph_perturb_defaults_sized(ctypes.byref(opts), ctypes.sizeof(opts))
    added = np.ascontiguousarray(eps, dtype=np.float64).ravel()
    inputs = operator.index(inputs)
    opts.inputs, opts.eps, opts.count, opts.seed = inputs, doubles(added), len(added), operator.index(seed)
    for name, value in options.items():
        if name not in ("length", "distance", "rows", "units"):
            raise TypeError(f"perturb() got an unexpected keyword argument '{name}'")
        setattr(opts, name, operator.index(value) if name in ("rows", "units") else float(value))
    result = _abi.sph_perturb_result()
    check(lib().sph_perturb(ctypes.byref(result), ctypes.byref(opts)))
    try:
        out = []
        for method in result.method[: result.methods]:
            planes = [method.after[i] for i in range(result.count)]
            vectors = [[np.ctypeslib.as_array(v, (inputs,)).copy() for v in (p.w, p.phi)] for p in planes]
            out.append(
                Perturbed(
                    text(method.name),
                    text(method.unit),
                    added.copy(),
                    np.array([p.turn for p in planes]),
                    np.array([p.shift for p in planes]),
                    np.array([w for w, _ in vectors]).reshape(-1, inputs),
                    np.array([phi for _, phi in vectors]).reshape(-1, inputs),
                )
            )
        return out
    finally:
        lib().sph_perturb_free(ctypes.byref(result))
