"""Programs of recorded expressions: what elementwise kernels and reductions have in common.

A walk is a shape with as few axes as possible and, for each leaf, strides that show it under that shape. A program
takes one tile of the walk; `Frame` finds the tile's offsets from the program id and emits the expression there.
"""

from __future__ import annotations

from typing import Any

import numpy as _np

from epitaxy import _engine
from epitaxy.numpy._emit import BINARY, Context, dtype_code, emit_op, scalar
from epitaxy.numpy._expr import Const, Leaf, Node, Op
from epitaxy.numpy._layout import Shape, broadcast_strides

INT64 = _np.dtype("int64")
_I64 = dtype_code(INT64)
_WRAP: int = _engine.CAST["wrap"]


def power_of_two(n: int) -> int:
    """The smallest power of two that is at least n."""
    return 1 << max(0, n - 1).bit_length()


def ceil_div(n: int, d: int) -> int:
    """n / d, rounded up."""
    return -(-n // d)


def leaf_strides(leaves: list[Leaf], shape: Shape) -> list[Shape]:
    """Each leaf's strides under the expression's shape."""
    return [broadcast_strides(x.shape, x.strides, shape) for x in leaves]


def tile_of(shape: Shape, budget: int) -> list[int]:
    """A tile of at most `budget` elements for a walk: the last two axes, the last one first."""
    tile = [1] * len(shape)
    tile[-1] = min(power_of_two(shape[-1]), budget)
    if len(shape) > 1:
        tile[-2] = min(power_of_two(shape[-2]), max(1, budget // tile[-1]))
    return tile


def blocks_of(shape: Shape, tile: Shape) -> int:
    """Tiles that cover the walk."""
    total = 1
    for extent, step in zip(shape, tile, strict=True):
        total *= -(-extent // step)
    return total


class Frame:
    """Emission at one tile of a walk: index arithmetic on i64 scalars, and the expression's value there."""

    def __init__(self, builder: Any, tile: list[int]) -> None:
        self.b = builder
        self.tile = tile
        self.context = Context(builder, tile)

    def i64(self, value: int) -> Any:
        """A constant index."""
        return self.b.constant(scalar(value, INT64))

    def op(self, kind: str, x: Any, y: Any) -> Any:
        """Integer arithmetic on indices."""
        return self.b.binary(BINARY[kind], x, y, False)

    def program(self) -> Any:
        """This program's number along axis 0."""
        return self.b.cast(self.b.program_id(0), _I64, _WRAP)

    def blocks(self, view: Any, axis: int) -> Any:
        """Tiles along an axis of a view."""
        extent = self.op("add", self.b.dim(view, axis), self.i64(self.tile[axis] - 1))
        return self.op("truncdiv", extent, self.i64(self.tile[axis]))

    def split(self, number: Any, view: Any, axes: range) -> tuple[Any, list[Any]]:
        """Offsets of tile `number` along `axes` (the last runs fastest) and what remains of the number."""
        offsets = []
        for axis in reversed(axes):
            count = self.blocks(view, axis)
            offsets.append(self.op("mul", self.op("rem", number, count), self.i64(self.tile[axis])))
            number = self.op("truncdiv", number, count)
        return number, offsets[::-1]

    def position(self, offsets: list[Any]) -> Any:
        """The coordinate along the last axis, as an int64 tile."""
        last = len(self.tile) - 1
        return self.op("add", self.b.iota(_I64, self.tile, last), self.b.broadcast(offsets[last], self.tile))

    def expression(
        self,
        order: list[Node],
        views: dict[int, Any],
        constants: dict[int, Any],
        offsets: list[Any],
        padding: Any = None,
    ) -> Any:
        """The value of the last node of `order` at `offsets`."""
        values: dict[int, Any] = {}
        for node in order:
            if isinstance(node, Leaf):
                values[id(node)] = self.b.load(views[id(node)], offsets, self.tile, padding, False)
            elif isinstance(node, Const):
                values[id(node)] = self.b.broadcast(constants[id(node)], self.tile)
            elif node.name == "index":
                values[id(node)] = self.position(offsets)
            else:
                args = [values[id(a)] for a in node.args]
                values[id(node)] = emit_op(self.context, node.name, args, node.args[-1].dtype, node.dtype, node.extra)
        return values[id(order[-1])]


def bind(
    b: Any, leaves: list[Leaf], constants: list[Const], outputs: int
) -> tuple[dict[int, Any], list[Any], dict[int, Any]]:
    """The builder's arguments as (views of leaves, output views, values of constants); the order of every launch."""
    args = b.args()
    n = len(leaves)
    views = {id(leaf): args[i] for i, leaf in enumerate(leaves)}
    values = {id(c): args[n + outputs + i] for i, c in enumerate(constants)}
    return views, args[n : n + outputs], values


def is_plain(node: Node) -> bool:
    """Whether an expression is only an array in memory."""
    return not isinstance(node, (Op, Const))
