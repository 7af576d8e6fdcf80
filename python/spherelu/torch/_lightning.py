# SPDX-License-Identifier: MIT
"""A callback for Lightning that watches the boundaries of the module that is trained."""

from __future__ import annotations

import importlib
from typing import Any

from torch import nn

from ._watch import Watch


def _base() -> Any:
    """Lightning's Callback, under either name of the package; without Lightning, object."""
    for name in ("lightning.pytorch", "pytorch_lightning"):
        try:
            return importlib.import_module(name).Callback
        except ImportError:
            pass
    return object


_Callback: Any = _base()


class WatchCallback(_Callback):  # type: ignore[misc]
    """A callback for Lightning's Trainer: `Trainer(callbacks=[WatchCallback(every=10)])`.

    `watch` is the Watch of the training. Its scalars go to the loggers of the trainer.

    module: the name of the submodule to watch, such as "model"; by default the only one that has Linear or Conv layers, or
    the LightningModule itself if there are several. options: those of `spherelu.watch`.
    """

    def __init__(self, every: int = 10, module: str | None = None, **options: Any) -> None:
        if _Callback is object:
            raise ImportError("WatchCallback needs Lightning: pip install lightning")
        self.every, self.module, self.options = every, module, options
        self.watch: Watch | None = None

    def _target(self, pl_module: Any) -> nn.Module:
        if self.module is not None:
            chosen: nn.Module = pl_module.get_submodule(self.module)
            return chosen
        from ._probe import watched

        inside = [child for child in pl_module.children() if watched(child)]
        return inside[0] if len(inside) == 1 else pl_module

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Begins the recording."""

        def log(scalars: dict[str, float]) -> None:
            for logger in trainer.loggers:
                logger.log_metrics({k: v for k, v in scalars.items() if k != "step"}, step=int(scalars["step"]))

        callbacks = [log, *self.options.get("callbacks", ())]
        self.watch = Watch(self._target(pl_module), self.every, **{**self.options, "callbacks": callbacks})

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        """Ends the recording; the records stay in `watch`."""
        if self.watch is not None:
            self.watch.close()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        """Ends the recording."""
        self.on_train_end(trainer, pl_module)
