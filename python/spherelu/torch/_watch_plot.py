# SPDX-License-Identifier: MIT
"""Pictures of what a Watch recorded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._watch import Watch, WatchedLayer

KINDS = ("moves", "turns", "trajectories", "units")
_UNITS = 24  # trajectories that are drawn by default
_LAYERS = 10  # layers that have a line in the legend


def _chosen(watch: Watch, layer: str | None, needs: str) -> WatchedLayer:
    if layer is not None:
        about = watch[layer]
        if needs not in about.rows:
            raise ValueError(f"layer: '{layer}' has no {needs}: {about.note or f'pass locations=[{layer!r}] to watch'}")
        return about
    for about in watch.layers.values():
        if needs in about.rows:
            return about
    raise ValueError(f"no layer has {'locations that were kept; pass locations= to watch' if needs == 'phi' else 'records'}")


def _lines(watch: Watch, ax: Any, key: str) -> None:
    """The largest and the median over each layer's units at every recorded step."""
    import matplotlib.pyplot as plt

    layers = [a for a in watch.layers.values() if a.boundary == "hyperplane" and len(a.step) > 1]
    if not layers:
        raise ValueError("no layer with boundaries has records of two steps yet")
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.9, len(layers)))
    scale = np.degrees(1) if key == "turn" else 1.0
    smallest, largest = np.inf, 0.0
    for colour, about in zip(colours, layers):
        raw = getattr(about, key)[1:] * scale
        values = np.ma.masked_invalid(raw)
        most, middle = values.max(axis=1).filled(np.nan), np.nanmedian(np.where(np.isnan(raw).all(axis=1, keepdims=True), 0.0, raw), axis=1)
        label = about.name if len(layers) <= _LAYERS or about in (layers[0], layers[-1]) else None
        ax.plot(about.step[1:], most, color=colour, lw=1.4, label=label)
        ax.plot(about.step[1:], middle, color=colour, lw=0.9, ls=":")
        some = most[np.isfinite(most) & (most > 0)]
        if len(some):
            smallest, largest = min(smallest, some.min()), max(largest, some.max())
    if largest > 0 and largest / smallest > 30:
        ax.set_yscale("log")
    else:
        ax.set_ylim(bottom=0)
    ax.set_xlabel("step")
    ax.set_ylabel("turn in one step (degrees)" if key == "turn" else "move in one step")
    ax.set_title(("Turns" if key == "turn" else "Moves") + ": largest unit (solid), median (dotted)", fontsize=10)
    ax.legend(fontsize=7, ncol=2 if len(layers) > 4 else 1)


def _trajectories(watch: Watch, ax: Any, layer: str | None, units: Sequence[int] | None) -> None:
    about = _chosen(watch, layer, "phi")
    phi = about.phi
    if phi.shape[2] == 1:
        phi = np.concatenate([phi, np.zeros_like(phi)], axis=2)
    names, shown = ("phi_1", "phi_2"), range(min(about.units, _UNITS)) if units is None else units
    phi = phi[:, list(shown)]
    if phi.shape[2] > 2:  # the two directions in which the locations vary most
        known = phi[np.isfinite(phi).all(axis=2)]
        _, _, axes = np.linalg.svd(known - known.mean(axis=0), full_matrices=False)
        phi, names = (phi - known.mean(axis=0)) @ axes[:2].T, ("first principal direction of phi", "second")
    for j in range(phi.shape[1]):
        line = ax.plot(*phi[:, j].T, lw=1)[0]
        ax.plot(*phi[-1, j], "o", ms=4, color=line.get_color())
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.set_title(f"Locations of {phi.shape[1]} units of '{about.name}' (dot: last step)", fontsize=10)


def _heat(watch: Watch, ax: Any, layer: str | None) -> None:
    about = _chosen(watch, layer, "active_share")
    share = about.active_share
    order = np.argsort(share[-1])
    steps = np.array(about.step, dtype=float)
    edges = np.concatenate([[steps[0] - 0.5], (steps[1:] + steps[:-1]) / 2, [steps[-1] + 0.5]]) if len(steps) > 1 else np.array([-0.5, 0.5])
    image = ax.pcolormesh(edges, np.arange(about.units + 1), share[:, order].T, vmin=0, vmax=1, cmap="cividis", rasterized=True)
    ax.figure.colorbar(image, ax=ax, label="share of points for which the unit is active")
    ax.set_xlabel("step")
    ax.set_ylabel("unit, sorted by its last share")
    ax.set_title(f"Active shares of '{about.name}': {int((share[-1] == 0).sum())} dead at the end", fontsize=10)


def plot(watch: Watch, kind: str | None, layer: str | None, ax: Any, units: Sequence[int] | None) -> Any:
    import matplotlib.pyplot as plt

    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind: found '{kind}', expected one of {', '.join(KINDS)}")
    if not watch.steps:
        raise ValueError("nothing was recorded yet: the model has not been run")
    if kind is None:
        if ax is not None:
            raise ValueError("ax: pass it together with kind")
        kept = layer if layer is None or "phi" in watch[layer].rows else None
        kinds = [k for k in KINDS if k != "trajectories" or any("phi" in a.rows for a in watch.layers.values())]
        figure, axes = plt.subplots(2 if len(kinds) > 2 else 1, 2 if len(kinds) > 1 else 1, figsize=(11, 8 if len(kinds) > 2 else 4), squeeze=False, layout="constrained")
        for k, at in zip(kinds, axes.flat):
            plot(watch, k, kept if k == "trajectories" else layer, at, units)
        for at in axes.flat[len(kinds) :]:
            at.set_axis_off()
        return axes
    if ax is None:
        ax = plt.figure(layout="constrained").add_subplot()
    if kind in ("moves", "turns"):
        _lines(watch, ax, kind[:-1])
    elif kind == "trajectories":
        _trajectories(watch, ax, layer, units)
    else:
        _heat(watch, ax, layer)
    return ax
