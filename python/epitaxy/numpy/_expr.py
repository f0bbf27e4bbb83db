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

    __slots__ = ("_contiguous", "dtype", "offset", "readonly", "shape", "storage", "storages", "strides")
    size_nodes: int = 1

    def __init__(
        self,
        storage: Storage,
        dtype: _np.dtype[Any],
        shape: Shape,
        strides: Shape,
        offset: int,
        contiguous: bool | None = None,
    ) -> None:
        self.storage = storage
        self.storages: tuple[Storage, ...] = (storage,)
        self.dtype = dtype
        self.shape = shape
        self.strides = strides
        self.offset = offset
        self._contiguous = contiguous
        self.readonly = False

    def view(self, shape: Shape, strides: Shape, offset: int) -> Leaf:
        """Other elements of the same memory, writable where this is."""
        made = Leaf(self.storage, self.dtype, shape, strides, offset)
        made.readonly = self.readonly
        return made

    @property
    def address(self) -> int:
        """Address of the first element."""
        return self.storage.address + self.offset * self.dtype.itemsize if self.offset else self.storage.address

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        if self._contiguous is None:
            self._contiguous = self._find_contiguous()
        return self._contiguous

    def _find_contiguous(self) -> bool:
        expected = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != expected:
                return False
            expected *= max(extent, 1)
        return True


class Const:
    """A scalar known only by value; it is an argument of the kernel, so a new value does not compile again."""

    __slots__ = ("dtype", "value")
    size_nodes: int = 1
    shape: Shape = ()
    storages: tuple[Storage, ...] = ()

    def __init__(self, value: complex, dtype: _np.dtype[Any]) -> None:
        self.value = value
        self.dtype = dtype


class Op:
    """An elementwise operation; operands broadcast to `shape`. `name` is a key of `_emit.EMITTERS`."""

    __slots__ = ("args", "dtype", "extra", "name", "shape", "size_nodes", "storages")

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
        size = 1
        storages: tuple[Storage, ...] = ()
        for a in args:
            size += a.size_nodes
            more = a.storages
            if more is not storages:
                storages = storages + tuple(s for s in more if s not in storages) if storages else more
        self.size_nodes: int = size
        self.storages: tuple[Storage, ...] = storages


Node = Leaf | Const | Op


def cast(node: Node, dtype: _np.dtype[Any]) -> Node:
    """`node` converted to `dtype`, or itself where it has it."""
    if node.dtype is dtype or node.dtype == dtype:
        return node
    if isinstance(node, Const):
        return Const(node.value, dtype)
    return Op("cast", (node,), dtype, node.shape)


class Walked:
    """An expression taken apart: all nodes once, operands before users; leaves and constants in order of first use.

    `key` decides the program besides the layout of its leaves: equal keys, equal programs.
    """

    __slots__ = ("constants", "key", "leaves", "order")

    def __init__(self, root: Node) -> None:
        self.order: list[Node] = []
        self.leaves: list[Leaf] = []
        self.constants: list[Const] = []
        parts: list[Any] = []
        self._visit(root, {}, parts)
        self.key = tuple(parts)

    def _visit(self, node: Node, numbers: dict[Node, int], parts: list[Any]) -> int:
        known = numbers.get(node)
        if known is not None:
            return known
        if type(node) is Leaf:
            self.leaves.append(node)
            parts += ("leaf", node.dtype)
        elif type(node) is Const:
            self.constants.append(node)
            parts += ("constant", node.dtype)
        elif type(node) is Op:
            operands = [self._visit(a, numbers, parts) for a in node.args]
            parts += (node.name, node.dtype, node.extra, *operands)
        number = numbers[node] = len(self.order)
        self.order.append(node)
        return number

    def skeleton(self) -> tuple[list[Node], list[Leaf], list[Const]]:
        """Order, leaves and constants of the same expression without the arrays' memory; what a program may keep."""
        copies: dict[Node, Node] = {}
        for node in self.order:
            if isinstance(node, Leaf):
                copies[node] = Leaf(None, node.dtype, node.shape, node.strides, 0)  # type: ignore[arg-type]
            elif isinstance(node, Const):
                copies[node] = Const(0, node.dtype)
            else:
                copies[node] = Op(node.name, tuple(copies[a] for a in node.args), node.dtype, node.shape, node.extra)
        return (
            list(copies.values()),
            [copies[x] for x in self.leaves],  # type: ignore[misc]
            [copies[x] for x in self.constants],  # type: ignore[misc]
        )
