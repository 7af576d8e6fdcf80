# SPDX-License-Identifier: MIT
"""How the layers of a module are connected, by torch.fx: which are the outputs, what follows a layer, where a sign may go."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn
from torch.nn import functional as F

SUPPORTED = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
HOMOGENEOUS = (nn.ReLU, nn.LeakyReLU, nn.PReLU)
_HOMOGENEOUS_CALLS = (F.relu, torch.relu, torch.relu_, F.leaky_relu, F.prelu, "relu", "relu_")

# They give -y for -x, unit by unit, so that signs pass.
_ODD = (nn.Identity, nn.Flatten, nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AvgPool1d, nn.AvgPool2d, nn.AvgPool3d, nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.AdaptiveAvgPool3d)
_ODD_CALLS = (torch.flatten, "flatten", F.dropout, F.dropout2d, F.avg_pool2d, F.adaptive_avg_pool2d)


class TraceError(ValueError):
    """torch.fx cannot follow the module's forward."""


class _Tracer(fx.Tracer):
    def is_leaf_module(self, m: nn.Module, name: str) -> bool:
        ours = type(m).__module__.startswith(__package__ or "spherelu")
        return ours or isinstance(m, SUPPORTED) or super().is_leaf_module(m, name)


@dataclass
class Place:
    """Where the sign of a layer's r goes: behind the module `name`, or before it where it takes what a functional
    activation gave."""

    name: str
    before: bool


class Graph:
    def __init__(self, module: nn.Module) -> None:
        self.modules = dict(module.named_modules())
        try:
            self.graph = _Tracer().trace(module)
        except Exception as error:  # whatever forward does with a stand-in for a tensor
            raise TraceError(f"torch.fx cannot follow the forward of {type(module).__name__} ({str(error).splitlines()[0] if str(error) else type(error).__name__})") from error
        self.calls: dict[nn.Module, list[fx.Node]] = {}
        for node in self.graph.nodes:
            if node.op == "call_module":
                self.calls.setdefault(self.modules[node.target], []).append(node)

    def module(self, node: fx.Node) -> nn.Module | None:
        return self.modules[node.target] if node.op == "call_module" else None

    def outputs(self) -> set[nn.Module]:
        """The layers that nothing but other operations separates from the output."""
        found: set[nn.Module] = set()
        seen: set[fx.Node] = set()
        ahead = [node for node in self.graph.nodes if node.op == "output"]
        while ahead:
            node = ahead.pop()
            if node in seen:
                continue
            seen.add(node)
            module = self.module(node)
            if isinstance(module, SUPPORTED):
                found.add(module)
                continue
            if module is not None and any(isinstance(m, SUPPORTED) for m in module.modules()):
                raise TraceError(f"the output comes from '{node.target}', a {type(module).__name__} with layers inside")
            ahead += node.all_input_nodes
        return found

    def homogeneous(self, node: fx.Node) -> bool:
        if node.op == "call_module":
            return isinstance(self.modules[node.target], HOMOGENEOUS)
        return node.op in ("call_function", "call_method") and node.target in _HOMOGENEOUS_CALLS

    def place(self, layer: nn.Module) -> Place | None:
        """Behind which activation the sign of r can stand; None: nowhere."""
        calls = self.calls.get(layer, [])
        acts = {user for call in calls for user in call.users}
        if not calls or any(len(call.users) != 1 for call in calls) or not all(self.homogeneous(act) and act.all_input_nodes[0] in calls for act in acts):
            return None
        owner = self.only(acts)
        if owner:
            return Place(owner, before=False)
        users = {user for act in acts for user in act.users}
        owner = self.only(users)
        if owner and all(len(act.users) == 1 for act in acts) and all(user.args[:1] and user.args[0] in acts and len(user.all_input_nodes) == 1 for user in users):
            return Place(owner, before=True)
        return None

    def only(self, nodes: Iterable[fx.Node]) -> str | None:
        """The one module whose calls are these nodes, all of them and no others."""
        nodes = list(nodes)
        modules = {self.module(node) for node in nodes}
        if len(modules) != 1 or None in modules:
            return None
        (module,) = modules
        return str(nodes[0].target) if module is not None and len(self.calls[module]) == len(nodes) else None

    def consumers(self, place: Place, layer: nn.Module) -> list[nn.Module] | None:
        """The layers that take what is at the place of a layer's signs; None where signs cannot be moved into all of them."""
        dense = isinstance(layer, nn.Linear)
        found: list[nn.Module] = []
        nodes = self.calls[self.modules[place.name]]
        ahead = [(node, False) for node in nodes] if place.before else [(user, False) for node in nodes for user in node.users]
        while ahead:
            node, flat = ahead.pop()
            module = self.module(node)
            if isinstance(module, SUPPORTED):
                fits = not flat if dense or not isinstance(module, nn.Linear) else flat
                if not fits or dense != isinstance(module, nn.Linear) and not flat or len(self.calls[module]) != 1 or getattr(module, "groups", 1) != 1:
                    return None
                found.append(module)
            elif (isinstance(module, _ODD) or (module is None and node.target in _ODD_CALLS)) and node.users:
                ahead += [(user, flat or self._flattens(node)) for user in node.users]
            else:
                return None
        return found or None

    def _flattens(self, node: fx.Node) -> bool:
        return isinstance(self.module(node), nn.Flatten) or node.target in (torch.flatten, "flatten")


def is_addition(node: fx.Node) -> bool:
    return node.op in ("call_function", "call_method") and node.target in (operator.add, operator.iadd, torch.add, "add", "add_")


def argument(node: fx.Node, i: int, name: str, default: Any = None) -> Any:
    return node.args[i] if len(node.args) > i else node.kwargs.get(name, default)
