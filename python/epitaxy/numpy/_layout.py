"""Shapes and strides: broadcasting, merging of axes, basic indexing. Pure arithmetic on tuples."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import EllipsisType
from typing import Any

Shape = tuple[int, ...]


def size_of(shape: Shape) -> int:
    """Number of elements."""
    total = 1
    for extent in shape:
        total *= extent
    return total


def row_major(shape: Shape) -> Shape:
    """Strides, in elements, of a contiguous array."""
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def broadcast(*shapes: Shape) -> Shape:
    """The common shape by NumPy's rules; ValueError names the shapes that do not fit."""
    rank = max((len(s) for s in shapes), default=0)
    out = [1] * rank
    for shape in shapes:
        for i, extent in enumerate(shape, rank - len(shape)):
            if extent != 1 and out[i] not in (1, extent):
                text = " ".join(str(s) for s in shapes)
                raise ValueError(f"operands could not be broadcast together with shapes {text}")
            if extent != 1:
                out[i] = extent
    return tuple(out)


def broadcast_strides(shape: Shape, strides: Shape, to: Shape) -> Shape:
    """Strides of an array of `shape` seen as `to`: zero where it is repeated."""
    lead = len(to) - len(shape)
    own = (st if ex != 1 else 0 for ex, st in zip(shape, strides, strict=True))
    return (0,) * lead + tuple(own)


def merge(shape: Shape, strides: Sequence[Shape]) -> tuple[Shape, list[Shape]]:
    """Fewest axes that describe the same walk for all operands: neighbours that step together become one."""
    axes = [i for i, extent in enumerate(shape) if extent != 1]
    if not axes:
        return (), [() for _ in strides]
    extents = [shape[axes[0]]]
    columns = [[s[axes[0]]] for s in strides]
    for i in axes[1:]:
        extent = shape[i]
        if all(c[-1] == s[i] * extent for c, s in zip(columns, strides, strict=True)):
            extents[-1] *= extent
            for c, s in zip(columns, strides, strict=True):
                c[-1] = s[i]
        else:
            extents.append(extent)
            for c, s in zip(columns, strides, strict=True):
                c.append(s[i])
    return tuple(extents), [tuple(c) for c in columns]


def normalise_axis(axis: int, rank: int) -> int:
    """A non-negative axis; IndexError in NumPy's words."""
    value = operator.index(axis)
    if not -rank <= value < rank:
        raise IndexError(f"axis {value} is out of bounds for array of dimension {rank}")
    return value % rank


def normalise_axes(axis: int | Sequence[int] | None, rank: int) -> Shape:
    """The axes, sorted; all of them for None. ValueError for a repeated one."""
    if axis is None:
        return tuple(range(rank))
    given = tuple(axis) if isinstance(axis, (tuple, list)) else (operator.index(axis),)  # type: ignore[arg-type]
    axes = tuple(sorted(normalise_axis(a, rank) for a in given))
    if len(set(axes)) != len(axes):
        raise ValueError(f"duplicate value in 'axis': {given}")
    return axes


def index(shape: Shape, strides: Shape, offset: int, key: Any) -> tuple[Shape, Shape, int]:
    """Shape, strides and offset after basic indexing with integers, slices, None and Ellipsis."""
    items = list(key) if isinstance(key, tuple) else [key]
    if sum(isinstance(k, EllipsisType) for k in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(k is not None and not isinstance(k, EllipsisType) for k in items)
    if used > len(shape):
        raise IndexError(f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed")
    fill = [slice(None)] * (len(shape) - used)
    position = next((i for i, k in enumerate(items) if isinstance(k, EllipsisType)), None)
    items = [*items, *fill] if position is None else [*items[:position], *fill, *items[position + 1 :]]
    new_shape: list[int] = []
    new_strides: list[int] = []
    axis = 0
    for k in items:
        if k is None:
            new_shape.append(1)
            new_strides.append(0)
            continue
        extent, stride = shape[axis], strides[axis]
        if isinstance(k, slice):
            start, stop, step = k.indices(extent)
            offset += start * stride if extent else 0
            new_shape.append(len(range(start, stop, step)))
            new_strides.append(stride * step)
        else:
            offset += _integer(k, extent, axis) * stride
        axis += 1
    return tuple(new_shape), tuple(new_strides), offset


def _integer(k: Any, extent: int, axis: int) -> int:
    if isinstance(k, bool) or not hasattr(k, "__index__") or getattr(k, "shape", ()) != ():
        raise NotImplementedError(
            f"index {k!r} of type {type(k).__name__} on axis {axis}: integers, slices, None and ... are supported; "
            "for others convert with .numpy() first"
        )
    value = operator.index(k)
    if not -extent <= value < extent:
        raise IndexError(f"index {value} is out of bounds for axis {axis} with size {extent}")
    return value % extent


def reshape_strides(shape: Shape, strides: Shape, to: Shape) -> Shape | None:
    """Strides that show the same memory under another shape of the same size, or None where a copy is needed."""
    merged, (columns,) = merge(shape, [strides])
    out: list[int] = []
    group = len(merged) - 1
    room, step = (merged[group], columns[group]) if merged else (1, 1)
    for extent in reversed(to):
        if extent == 1:
            out.append(0)
            continue
        if room == 1:
            group -= 1
            if group < 0:
                return None
            room, step = merged[group], columns[group]
        if room % extent:
            return None
        out.append(step)
        step *= extent
        room //= extent
    return tuple(reversed(out))
