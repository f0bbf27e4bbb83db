"""Making tiles and changing their shape. Shapes are compile-time constants of any size."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from . import _convert as cv
from . import _elementwise as ew
from ._api import api
from ._errors import TileTypeError, TileValueError
from ._record import recorder
from ._values import Array, Tile


# -- creation ------------------------------------------------------------------------------------------------------
@api
def arange(size: Any, /, *, dtype: Any, start: Any = 0, step: Any = 1) -> Tile:
    """The 1-D tile `start, start + step, ...` of `size` elements."""
    to = cv.require_dtype(dtype)
    (n,) = cv.as_shape(size, "the size of arange")
    index = Tile(cv.INT32, (n,))
    whole = to.kind in "iu"
    if whole:
        index.dtype = to
    recorder().emit("iota", (index.dtype, (n,), 0), [index])
    t = index if whole else cv.cast(index, to)
    if not (cv.is_number(step) and step == 1):
        t = ew.mul(t, cv.cast(cv.as_tile(step), to) if not cv.is_number(step) else cv.constant(step, to))
    if not (cv.is_number(start) and start == 0):
        t = ew.add(t, cv.cast(cv.as_tile(start), to) if not cv.is_number(start) else cv.constant(start, to))
    return t


@api
def full(shape: Any, fill_value: Any, dtype: Any) -> Tile:
    """A tile of `shape` filled with a value."""
    to, dims = cv.require_dtype(dtype), _any_shape(shape)
    if cv.is_number(fill_value):
        return cv.constant(fill_value, to, dims, exact=False)
    t = cv.as_tile(fill_value, "fill_value")
    if math.prod(t.shape) != 1:
        raise TileTypeError(f"fill_value must be a scalar, got {cv.describe(t)}")
    return cv.broadcast(cv.strengthen(cv.cast(cv.reshape(t, ()), to)), dims)


@api
def zeros(shape: Any, dtype: Any) -> Tile:
    """A tile of zeros."""
    return full(shape, 0, dtype)


@api
def ones(shape: Any, dtype: Any) -> Tile:
    """A tile of ones."""
    return full(shape, 1, dtype)


@api
def zeros_like(x: Tile, /) -> Tile:
    """Zeros of x's shape and dtype."""
    return full(x.shape, 0, x.dtype)


@api
def full_like(x: Tile, fill_value: Any, /) -> Tile:
    """`fill_value` in x's shape and dtype."""
    return full(x.shape, fill_value, x.dtype)


@api
def astile(value: Any, /, *, dtype: Any) -> Tile:
    """A tile of a scalar or of (nested) tuples of scalars."""
    to = cv.require_dtype(dtype)
    if not isinstance(value, tuple | list):
        return ew.astype(value, to)
    if not value:
        raise TileValueError("astile got an empty tuple")
    parts = [astile(v, dtype=to) for v in value]
    if any(p.shape != parts[0].shape for p in parts):
        raise TileTypeError("astile: tuples at one level must have equal lengths")
    return cat(tuple(cv.reshape(p, (1, *p.shape)) for p in parts), 0)


def _any_shape(shape: Any) -> tuple[int, ...]:
    return () if isinstance(shape, tuple | list) and not shape else cv.as_shape(shape)


# -- shape ---------------------------------------------------------------------------------------------------------
@api
def reshape(x: Any, /, shape: Any) -> Tile:
    """The same elements in row-major order; one extent may be -1."""
    t = cv.as_tile(x)
    dims = [shape] if not isinstance(shape, tuple | list) else list(shape)
    sizes = [cv.static_int(d) for d in dims]
    if sizes.count(-1) == 1:
        rest = math.prod(s for s in sizes if s is not None and s != -1)
        if rest == 0 or math.prod(t.shape) % rest:
            raise TileValueError(f"cannot reshape {list(t.shape)} to {sizes}")
        dims = [math.prod(t.shape) // rest if s == -1 else d for s, d in zip(sizes, dims, strict=True)]
    to = _any_shape(tuple(dims))
    if math.prod(to) != math.prod(t.shape):
        raise TileValueError(
            f"cannot reshape {list(t.shape)} ({math.prod(t.shape)} elements) to {list(to)} ({math.prod(to)} elements)"
        )
    return cv.reshape(t, to)


@api
def expand_dims(x: Any, /, axis: Any) -> Tile:
    """A new axis of extent 1 at `axis`."""
    t = cv.as_tile(x)
    n = cv.axis_of(axis, t.ndim + 1)
    return cv.reshape(t, (*t.shape[:n], 1, *t.shape[n:]))


@api
def expand_by_index(x: Tile, index: Any, /) -> Tile:
    """`x[:, None]`: whole axes, new axes and an ellipsis."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if sum(p is Ellipsis for p in parts) > 1:
        raise TileTypeError("a tile's index has at most one ellipsis")
    whole = sum(isinstance(p, slice) for p in parts)
    if Ellipsis in [p for p in parts if not isinstance(p, Tile)]:
        at = parts.index(Ellipsis)
        parts[at : at + 1] = [slice(None)] * (x.ndim - whole)
        whole = x.ndim
    if any(not (p is None or p == slice(None)) for p in parts if not isinstance(p, Tile)) or any(
        isinstance(p, Tile) for p in parts
    ):
        raise TileTypeError(
            "a tile is indexed with `:`, `None` and `...` only",
            hint="use ct.extract(tile, index, shape) for a part, ct.gather(array, indices) to index memory",
        )
    if whole > x.ndim:
        raise TileValueError(f"{whole} axes are indexed; the tile {cv.describe(x)} has {x.ndim}")
    sizes = iter(x.shape)
    return cv.reshape(x, (*(1 if p is None else next(sizes) for p in parts), *sizes))


@api
def broadcast_to(x: Any, /, shape: Any) -> Tile:
    """`x` repeated to `shape` by NumPy's rules."""
    t, dims = cv.as_tile(x), _any_shape(shape)
    if cv.broadcast_shapes([t.shape, dims], "broadcast_to") != dims:
        raise TileTypeError(f"broadcast_to: {list(t.shape)} does not broadcast to {list(dims)}")
    return cv.broadcast(t, dims)


@api
def permute(x: Any, /, axes: Any) -> Tile:
    """Axis i of the result is axis `axes[i]` of `x`."""
    t = cv.as_tile(x)
    perm = tuple(cv.axis_of(a, t.ndim, "axes") for a in axes)
    if sorted(perm) != list(range(t.ndim)):
        raise TileValueError(f"permute: axes {perm} are not a permutation of the {t.ndim} axes")
    if perm == tuple(range(t.ndim)):
        return t
    out = Tile(t.dtype, tuple(t.shape[p] for p in perm), weak=t.weak)
    recorder().emit("permute", (t, perm), [out])
    return out


@api
def transpose(x: Any, /, axis0: Any = None, axis1: Any = None) -> Tile:
    """Two axes exchanged; a 2-D tile needs no axes."""
    t = cv.as_tile(x)
    if axis0 is None and axis1 is None:
        if t.ndim != 2:
            raise TileTypeError(f"transpose without axes takes a 2-D tile, got {cv.describe(t)}")
        axis0, axis1 = 0, 1
    a, b = cv.axis_of(axis0, t.ndim, "axis0"), cv.axis_of(axis1, t.ndim, "axis1")
    perm = list(range(t.ndim))
    perm[a], perm[b] = perm[b], perm[a]
    return permute(t, tuple(perm))


@api
def cat(tiles: Any, /, axis: Any) -> Tile:
    """Tiles one after another along an axis; any number of any extents."""
    parts = cv.promote([cv.as_tile(t) for t in tiles], "cat")
    n = cv.axis_of(axis, parts[0].ndim)
    rest = {(*p.shape[:n], *p.shape[n + 1 :]) for p in parts}
    if len(rest) != 1 or any(p.ndim != parts[0].ndim for p in parts):
        raise TileTypeError(f"cat: shapes {' and '.join(str(list(p.shape)) for p in parts)} differ outside axis {n}")
    if len(parts) == 1:
        return parts[0]
    shape = (*parts[0].shape[:n], sum(p.shape[n] for p in parts), *parts[0].shape[n + 1 :])
    out = Tile(parts[0].dtype, shape)
    recorder().emit("cat", (parts, n), [out])
    return out


def _part_offsets(whole: Tile, index: Any, part: tuple[int, ...], what: str) -> list[int]:
    """Element offsets of subtile `index` of shape `part`."""
    at = [index] if not isinstance(index, tuple | list) else list(index)
    if len(at) != whole.ndim or len(part) != whole.ndim:
        raise TileTypeError(f"{what}: index {at} and shape {list(part)} need one entry for each of {whole.ndim} axes")
    out = []
    for i, n, size in zip(at, part, whole.shape, strict=True):
        k = cv.static_int(i)
        if k is None:
            raise TileTypeError(f"{what}: the index must be compile-time integers, got {cv.describe(i)}")
        if size % n or not 0 <= k < size // n:
            raise TileValueError(f"{what}: subtile {at} of shape {list(part)} is not in {list(whole.shape)}")
        out.append(k * n)
    return out


@api
def extract(x: Any, /, index: Any, shape: Any) -> Tile:
    """Subtile `index` of the grid of subtiles of `shape`. An index counts subtiles, as in `load`."""
    t = cv.as_tile(x)
    dims = _any_shape(shape)
    part = dims or (1,) * t.ndim
    offsets = _part_offsets(t, index, part, "extract")
    out = Tile(t.dtype, part)
    recorder().emit("extract", (t, offsets, part), [out])
    return cv.reshape(out, dims)


@api
def insert(x: Any, /, index: Any, value: Any) -> Tile:
    """`x` with subtile `index` replaced by `value` (its inverse is `extract`)."""
    t = cv.as_tile(x)
    v = cv.bring(value, t.dtype) if cv.is_number(value) else cv.as_tile(value)
    if v.dtype is not t.dtype:
        raise TileTypeError(f"insert: cannot put {cv.describe(v)} into {cv.describe(t)}", hint="cast the value first")
    part = cv.reshape(v, (1,) * t.ndim) if not v.shape else v
    out = Tile(t.dtype, t.shape)
    recorder().emit("insert", (part, t, _part_offsets(t, index, part.shape, "insert")), [out])
    return out


@api
def take(x: Tile, indices: Tile, /, axis: Any) -> Tile:
    """Picks along an axis: result[.., i, ..] = x[.., indices[.., i, ..], ..]; an index outside gives zero."""
    if not isinstance(x, Tile) or not isinstance(indices, Tile):
        raise TileTypeError(f"take takes two tiles, got {cv.describe(x)} and {cv.describe(indices)}")
    out = Tile(x.dtype, indices.shape)
    recorder().emit("take", (x, cv.index_type(indices), cv.axis_of(axis, x.ndim)), [out])
    return out


# -- the grid and views --------------------------------------------------------------------------------------------
def _grid_axis(axis: Any) -> int:
    n = cv.static_int(axis)
    if n not in (0, 1, 2):
        raise TileValueError(f"the grid's axis must be 0, 1 or 2, got {cv.describe(axis)}")
    return n


@api
def bid(axis: Any, /) -> Tile:
    """This program's coordinate along an axis of the grid: int32."""
    out = Tile(cv.INT32)
    recorder().emit("program_id", (_grid_axis(axis),), [out])
    return out


@api
def num_blocks(axis: Any, /) -> Tile:
    """The grid's size along an axis: int32."""
    out = Tile(cv.INT32)
    recorder().emit("num_programs", (_grid_axis(axis),), [out])
    out.positive = True
    return out


def dim_i64(array: Array, axis: int) -> Any:
    """An extent as the engine has it: a constant, or an int64 scalar."""
    known = array._extents[axis]
    if known is not None:
        return known
    out = Tile(cv.INT64)
    recorder().emit("dim", (array, axis), [out])
    return out


@api
def dim(array: Array, axis: int, /) -> Any:
    """`array.shape[axis]` in the array's index dtype."""
    n = dim_i64(array, axis)
    return cv.cast(n, array.index_dtype) if isinstance(n, Tile) else n


@api
def stride(array: Array, axis: int, /) -> Any:
    """`array.strides[axis]` in the array's index dtype."""
    known = array._strides[axis]
    if known is not None:
        return known
    out = Tile(cv.INT64)
    recorder().emit("stride", (array, axis), [out])
    return cv.cast(out, array.index_dtype)


@api
def slice_array(array: Array, axis: Any, start: Any, stop: Any, /) -> Array:
    """`array.slice(axis, start, stop)`."""
    n = cv.axis_of(axis, array.ndim)
    extents = tuple(None if i == n else e for i, e in enumerate(array._extents))
    out = Array(array.dtype, extents, array._strides, array.index_dtype, array.argument)
    recorder().emit("slice", (array, n, _wide(start, "start"), _wide(stop, "stop")), [out])
    return out


def _wide(x: Any, what: str) -> Tile:
    return cv.cast(cv.scalar_index(x, what), cv.INT64)


def permuted(array: Array, order: tuple[int, ...]) -> Array:
    """The array with its axes in another order."""
    if order == tuple(range(array.ndim)):
        return array
    pick = [tuple(xs[i] for i in order) for xs in (array._extents, array._strides)]
    out = Array(array.dtype, pick[0], pick[1], array.index_dtype, array.argument)
    recorder().emit("permute_view", (array, order), [out])
    return out
