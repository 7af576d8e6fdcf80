# SPDX-License-Identifier: MIT
"""`spherelu.watch`, which imports PyTorch at its first call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .torch import Watch


def watch(
    model: Any,
    every: int = 1,
    *,
    data: Any = None,
    forward: Callable[..., Any] | None = None,
    rows: int = 64,
    layers: Iterable[str] | None = None,
    locations: bool | Iterable[str] | None = None,
    optimizer: Any = None,
    auto: bool = True,
    callbacks: Iterable[Callable[[dict[str, float]], Any]] = (),
    tensorboard: Any = None,
) -> Watch:
    """Follows the boundaries of all Linear and Conv units of a PyTorch model while it trains.

    Use it as a context manager, or call `close()` on what it returns. The training is not changed: parameters have the same
    bits with it and without.

    every: record every n-th step. Moves and turns are always those of one step.
    data: rows on which active shares, dead units and flips are measured, in evaluation: the argument of the model, a tuple
    of arguments or a dictionary of keywords. By default the first batch that the model is trained on, at most `rows` rows.
    forward: called as forward(model, *data) if the model is not called as model(*data).
    layers: names of layers; by default all. locations: the layers (names, or True for all) whose locations phi are kept for
    all units; by default those of at most 4,096 weights.
    optimizer: the one whose steps are counted, if several train the model; by default the first that steps.
    auto: False if you call `step()` after each step yourself.
    callbacks: functions of a dictionary of scalars, called after each record: `callbacks=[wandb.log]`. tensorboard: a
    SummaryWriter or a folder.

    >>> import spherelu, torch  # doctest: +SKIP
    >>> with spherelu.watch(model, every=10) as watch:  # doctest: +SKIP
    ...     train(model)
    >>> print(watch.describe())  # doctest: +SKIP
    >>> watch.to_pandas(), watch.plot()  # doctest: +SKIP
    """
    from .torch import Watch

    return Watch(
        model,
        every,
        data=data,
        forward=forward,
        rows=rows,
        layers=layers,
        locations=locations,
        optimizer=optimizer,
        auto=auto,
        callbacks=callbacks,
        tensorboard=tensorboard,
    )
