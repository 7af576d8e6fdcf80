# SPDX-License-Identifier: MIT
"""The exact linear regions of a PyTorch model on a plane through its inputs.

Between two activations a model that is piecewise linear is affine. Each such part becomes a matrix, whatever it is made of
(convolutions, averages, batch normalizations, additions), and libspherelu cuts the plane by the dense network of these matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, fx, nn

from .._boundary import Regions
from .._boundary import regions as regions_of
from .._errors import ArgumentError
from .._net import Net
from ._exchange import _refuse
from ._probe import evaluation
from ._trace import Graph, TraceError

_MOST = 60_000_000  # numbers of a matrix
_CHUNK = 256


class _Affine:
    """The parts of a traced module between its input, its activations and its output."""

    def __init__(self, module: nn.Module, shape: tuple[int, ...], dtype: torch.dtype, device: torch.device) -> None:
        self.graph = Graph(module)
        self.nodes = list(self.graph.graph.nodes)
        self.like = torch.zeros((), dtype=dtype, device=device)
        inputs = [node for node in self.nodes if node.op == "placeholder"]
        if len(inputs) != 1:
            raise _refuse(f"it takes {len(inputs)} arguments, and regions need one")
        self.input = inputs[0]
        self.cuts = [node for node in self.nodes if self.graph.homogeneous(node)]
        self.output = next(node for node in self.nodes if node.op == "output").args[0]
        if not isinstance(self.output, fx.Node):
            raise _refuse("it gives more than one tensor")
        self.shape: dict[fx.Node, tuple[int, ...]] = {self.input: shape}
        values = {self.input: self.like.new_zeros(1, *shape)}
        for cut in self.cuts:
            values[cut] = self.value(self.before(cut), values)
            self.shape[cut] = tuple(values[cut].shape[1:])

    def before(self, cut: fx.Node) -> fx.Node:
        return cut.all_input_nodes[0]

    def value(self, node: fx.Node, known: dict[fx.Node, Tensor]) -> Tensor:
        """What a node has, from the values of input and activations that it depends on."""
        values: dict[fx.Node, Any] = dict(known)
        for n in self.needed(node, set(known)):
            args, kwargs = fx.node.map_arg((n.args, n.kwargs), lambda a: values[a])
            if n.op == "call_module":
                values[n] = self.graph.modules[str(n.target)](*args, **kwargs)
            elif n.op == "call_function":
                values[n] = n.target(*args, **kwargs)  # type: ignore[operator]
            elif n.op == "call_method":
                values[n] = getattr(args[0], str(n.target))(*args[1:], **kwargs)
            else:
                owner, _, leaf = str(n.target).rpartition(".")
                values[n] = getattr(self.graph.modules[owner], leaf)
        out: Tensor = values[node]
        return out

    def needed(self, node: fx.Node, known: set[fx.Node]) -> list[fx.Node]:
        """The nodes to compute, in order."""
        seen: set[fx.Node] = set()
        ahead = [node]
        while ahead:
            n = ahead.pop()
            if n not in seen and n not in known:
                seen.add(n)
                ahead += n.all_input_nodes
        return [n for n in self.nodes if n in seen]

    def sources(self, node: fx.Node) -> list[fx.Node]:
        """Input and activations that a node depends on without another activation between."""
        borders = {self.input, *self.cuts}
        needed = self.needed(node, borders)
        found = {b for n in needed for b in n.all_input_nodes if b in borders} | ({node} & borders)
        return [n for n in self.nodes if n in found]

    def matrix(self, node: fx.Node, sources: list[fx.Node], plane: Tensor) -> tuple[dict[fx.Node, Tensor], Tensor]:
        """A matrix (m, n) for each source, and a bias (m). The input is replaced by the plane: (3, inputs) origin and directions."""
        zeros = {s: self.like.new_zeros(1, *self.shape[s]) for s in sources}
        if self.input in zeros:
            zeros[self.input] = plane[:1].reshape(1, *self.shape[self.input])
        bias = self.value(node, zeros).reshape(-1)
        out: dict[fx.Node, Tensor] = {}
        for source in sources:
            shape = self.shape[source]
            n = int(np.prod(shape))
            basis = plane[1:] if source is self.input else None
            count = 2 if basis is not None else n
            if count * len(bias) > _MOST:
                raise _refuse(f"'{node}' needs a matrix of {len(bias):,} x {count:,} numbers, more than {_MOST:,}; use a smaller image or fewer channels")
            columns = []
            for begin in range(0, count, _CHUNK):
                rows = torch.eye(min(_CHUNK, count - begin), n, dtype=self.like.dtype, device=self.like.device).roll(begin, 1) if basis is None else basis
                base = {s: z.expand(len(rows), *z.shape[1:]).clone() for s, z in zeros.items()}
                base[source] = base[source] + rows.reshape(-1, *shape)
                columns.append(self.value(node, base).reshape(len(rows), -1) - bias)
            out[source] = torch.cat(columns).T
        self.check(node, zeros, out, bias, plane)
        return out, bias

    def check(self, node: fx.Node, zeros: dict[fx.Node, Tensor], maps: dict[fx.Node, Tensor], bias: Tensor, plane: Tensor) -> None:
        """At random values the matrices give what the module gives."""
        random = torch.Generator().manual_seed(0)
        want, values = bias.repeat(4, 1), {}
        for source, matrix in maps.items():
            at = (torch.randn(4, matrix.shape[1], generator=random, dtype=torch.float64) * 3).to(self.like)
            want = want + at @ matrix.T
            moved = at @ plane[1:] + plane[0] if source is self.input else at
            values[source] = moved.reshape(4, *self.shape[source])
        got = self.value(node, values).reshape(4, -1)
        if got.shape != want.shape or not bool(((got - want).abs() <= 1e-7 * (1 + want.abs().amax())).all()):
            inside = [str(n.target if n.op != "call_function" else getattr(n.target, "__name__", n.target)) for n in self.needed(node, set(values))]
            raise _refuse(f"'{node}' is not an affine function of the activations before it ({', '.join(inside)}); max pooling, layer norms, other activations than relu and leaky_relu, and products are not piecewise linear in this way")


def _plane(points: Any, window: Sequence[float] | None) -> tuple[Tensor, list[float]]:
    """Origin and two orthonormal directions of the plane through three points, and the window around them."""
    p = torch.as_tensor(np.asarray(points, dtype=np.float64) if not isinstance(points, Tensor) else points.detach().cpu()).double()
    if p.shape[:1] != (3,):
        raise ArgumentError(f"plane: found shape {tuple(p.shape)}, expected three inputs of the module", key="plane")
    p = p.flatten(1)
    first, second = p[1] - p[0], p[2] - p[0]
    to_b = torch.linalg.vector_norm(first)
    first = first / to_b
    along = second @ first
    second = second - along * first
    second = second - (second @ first) * first
    apart = torch.linalg.vector_norm(second)
    if not bool(torch.isfinite(p).all()) or not (to_b > 0 and apart > 1e-9 * torch.linalg.vector_norm(p[2] - p[0])):
        raise ArgumentError("plane: the three points are not finite or lie on one line: they give no plane", key="plane")
    low, high = min(0.0, float(along)), max(float(to_b), float(along))
    edge = 0.1 * (high - low)
    box = [low - edge, high + edge, -0.1 * float(apart), 1.1 * float(apart)]
    return torch.stack([p[0], first, second / apart]), [float(w) for w in window] if window is not None else box


@torch.no_grad()
def regions(module: nn.Module, window: Sequence[float] | None = None, *, plane: Any = None, task: str = "regression", most: int | None = None) -> Regions:
    """The exact linear regions of a piecewise linear model, in evaluation, on a plane: MLPs and small convolutional networks
    with relu or leaky_relu, batch normalization, average pooling and additions.

    window: (s from, s to, t from, t to). plane: three inputs (3, ...) of the module through which the plane goes: the first is the
    origin, s goes to the second. A module of two inputs needs no plane. task "binary" or "classes": where the decision
    changes is found too. Models that torch.fx cannot trace, or that are not piecewise linear, are refused.

    >>> import torch, spherelu.torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 6), torch.nn.ReLU(), torch.nn.Linear(6, 1))
    >>> found = spherelu.torch.regions(model, (-1, 1, -1, 1))
    >>> round(float(found.area.sum()), 6)
    4.0
    """
    from ._watch import unwrapped

    module = unwrapped(module)
    if plane is None:
        along, box, shape = torch.tensor([[0.0, 0], [1, 0], [0, 1]], dtype=torch.float64), [-1.0, 1, -1, 1] if window is None else [float(w) for w in window], (2,)
    else:
        along, box = _plane(plane, window)
        shape = tuple(np.shape(plane)[1:]) if not isinstance(plane, Tensor) else tuple(plane.shape[1:])
    return regions_of(_dense(module, along, shape), box, task=task, most=most)


def _dense(module: nn.Module, plane: Tensor, shape: tuple[int, ...]) -> Net:
    """The network of two inputs, places on the plane, that computes what the module does there."""
    import copy

    with evaluation(module):
        try:
            twin = copy.deepcopy(module).to("cpu", torch.float64)
            for m in twin.modules():
                m.training = False
            parts = _Affine(nn.Sequential(twin) if isinstance(twin, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)) else twin, shape, torch.float64, torch.device("cpu"))
        except TraceError as error:
            raise _refuse(str(error)) from error
        except RuntimeError as error:
            raise _refuse(f"it does not take an input of shape {(1, *shape)}: {str(error).splitlines()[0]}") from error
    graph, made, modules = fx.Graph(), {}, {}
    at = graph.placeholder("x")
    made[parts.input] = at
    for target in [*parts.cuts, parts.output]:
        cut = target in parts.cuts
        node = parts.before(target) if cut else target
        if node in made:  # an activation of an activation, or of the input
            total = made[node]
        else:
            maps, bias = parts.matrix(node, parts.sources(node), plane)
            total = None
            for number, (source, matrix) in enumerate(maps.items()):
                dense = nn.Linear(matrix.shape[1], matrix.shape[0], dtype=torch.float64)
                dense.weight.copy_(matrix)
                dense.bias.copy_(bias if number == 0 else torch.zeros_like(bias))
                name = f"{str(node.name)}_{number}"
                modules[name] = dense
                piece = graph.call_module(name, (made[source],))
                total = piece if total is None else graph.call_function(torch.add, (total, piece))
        if not cut:
            graph.output(total)
            break
        holder = parts.graph.module(target)
        slope = getattr(holder, "negative_slope", target.kwargs.get("negative_slope", target.args[1] if len(target.args) > 1 and not isinstance(target.args[1], bool) else None))
        leaky = isinstance(holder, nn.LeakyReLU) or getattr(target.target, "__name__", "") == "leaky_relu"
        if isinstance(holder, nn.PReLU) or getattr(target.target, "__name__", "") == "prelu":
            raise _refuse(f"'{target}' is a PReLU, and regions are cut for relu and leaky_relu only")
        name = f"act_{target.name}"
        modules[name] = nn.LeakyReLU(0.01 if slope is None else slope) if leaky else nn.ReLU()
        made[target] = graph.call_module(name, (total,))
    built = fx.GraphModule(modules, graph).double()
    return Net.from_torch(built, torch.rand(8, 2, dtype=torch.float64))
