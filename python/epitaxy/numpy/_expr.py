"""Recorded expressions: what has been asked for but not computed yet. Nodes are immutable and share structure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as _np

if TYPE_CHECKING:
    from epitaxy.numpy._storage import Storage

Shape = tuple[int, ...]
MAX_NODES = 48
"""An expression of more nodes than this is computed before it grows: kernels stay small, so compile times stay low."""


class Leaf:
    """An array in memory: `offset` and `strides` count elements."""

    __slots__ = ("dtype", "offset", "shape", "size_nodes", "storage", "strides")

    def __init__(
        self,
        storage: Storage,
        dtype: _np.dtype[Any],
        shape: Shape,
        strides: Shape,
        offset: int,
    ) -> None:
        self.storage = storage
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self.size_nodes = 1

    @property
    def address(self) -> int:
        """Address of the first element."""
        return self.storage.address + self.offset * self.dtype.itemsize

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != expected:
                return False
            expected *= max(extent, 1)
        return True


class Const:
    """A scalar known only by value; it is an argument of the kernel, so a new value does not compile again."""

    __slots__ = ("dtype", "shape", "size_nodes", "value")

    def __init__(self, value: complex, dtype: _np.dtype[Any]) -> None:
        self.value = value
        self.dtype = dtype
        self.shape: Shape = ()
        self.size_nodes = 1


class Op:
    """An elementwise operation; operands broadcast to `shape`. `name` is a key of `_emit.EMITTERS`."""

    __slots__ = ("args", "dtype", "extra", "name", "shape", "size_nodes")

    def __init__(
        self,
        name: str,
        args: tuple[Node, ...],
        dtype: _np.dtype[Any],
        shape: Shape,
        extra: Any = None,
    ) -> None:
        self.name = name
        self.args = args
        self.dtype = dtype
        self.shape = shape
        self.extra = extra
        self.size_nodes = 1 + sum(a.size_nodes for a in args)


Node = Leaf | Const | Op


def cast(node: Node, dtype: _np.dtype[Any]) -> Node:
    """`node` converted to `dtype`, or itself where it has it."""
    if node.dtype == dtype:
        return node
    if isinstance(node, Const):
        return Const(node.value, dtype)
    return Op("cast", (node,), dtype, node.shape)


def linearise(root: Node) -> tuple[list[Node], list[Leaf], list[Const]]:
    """All nodes once, operands before users, with the leaves and constants in the order of their first use."""
    order: list[Node] = []
    leaves: list[Leaf] = []
    constants: list[Const] = []
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, expanded = stack.pop()
        if id(node) in seen:
            continue
        if isinstance(node, Op) and not expanded:
            stack.append((node, True))
            stack.extend((a, False) for a in reversed(node.args))
            continue
        seen.add(id(node))
        order.append(node)
        if isinstance(node, Leaf):
            leaves.append(node)
        elif isinstance(node, Const):
            constants.append(node)
    return order, leaves, constants


def signature(order: list[Node], shape: Shape) -> str:
    """What decides the program of an expression besides the layout of its leaves: equal text, equal program."""
    number = {id(n): i for i, n in enumerate(order)}
    parts = []
    for node in order:
        if isinstance(node, Leaf):
            parts.append(f"L{node.dtype}")
        elif isinstance(node, Const):
            parts.append(f"C{node.dtype}")
        else:
            args = ",".join(str(number[id(a)]) for a in node.args)
            parts.append(f"{node.name}:{node.dtype}:{node.extra}({args})")
    return ";".join(parts)
