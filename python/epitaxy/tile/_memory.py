"""Loads, stores, gathers, scatters and atomics.

`load` and `store` count in tiles, as cuTile does: tile (i, j) of shape (m, n) starts at element (i*m, j*n); offsets are
64-bit. With `at=` they count in elements. What lies outside the array is padding (zero unless asked otherwise) when
read and is dropped when written.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from .. import _engine
from . import _convert as cv
from . import _elementwise as ew
from . import _shapes as sh
from ._api import api
from ._errors import TileTypeError, TileUnsupportedFeatureError, TileValueError
from ._options import MemoryOrder, MemoryScope, PaddingMode
from ._record import Literal, recorder
from ._values import Array, Tile

_ORDER, _SCOPE, _ATOMIC = _engine.ORDER, _engine.SCOPE, _engine.ATOMIC
_SCOPES = {"none": "device", "block": "program", "device": "device", "sys": "system"}
_PADDING = {
    PaddingMode.NEG_ZERO: -0.0, PaddingMode.NAN: float("nan"), PaddingMode.POS_INF: float("inf"),
    PaddingMode.NEG_INF: float("-inf"),
}  # fmt: skip


def _array(x: Any, what: str) -> Array:
    if isinstance(x, Array):
        return x
    raise TileTypeError(f"{what} takes an array of the kernel's arguments, got {cv.describe(x)}")


def _order(order: Any, rank: int) -> tuple[int, ...]:
    if order == "C":
        return tuple(range(rank))
    if order == "F":
        return tuple(reversed(range(rank)))
    if not isinstance(order, tuple):
        raise TileValueError(f"order must be 'C', 'F' or a tuple of axes, got {order!r}")
    axes = tuple(cv.axis_of(a, rank, "order") for a in order)
    if sorted(axes) != list(range(rank)):
        raise TileValueError(f"order {order} is not a permutation of the {rank} axes")
    return axes


def _padding(mode: Any, array: Array) -> Literal | None:
    if not isinstance(mode, PaddingMode):
        raise TileTypeError(f"padding_mode must be a ct.PaddingMode, got {cv.describe(mode)}")
    value = _PADDING.get(mode)
    if value is None:
        return None
    if array.dtype.kind not in "fc":
        raise TileTypeError(f"padding_mode {mode.name} is for floats; the array has {array.dtype.name} elements")
    return Literal(array.dtype, value)


def _entries(x: Any) -> list[Any]:
    return list(x) if isinstance(x, tuple | list) else [x]


def _offsets(array: Array, index: Any, at: Any, shape: tuple[int, ...], what: str) -> list[Tile]:
    """Element offsets (int64) of a tile by its index, or by `at`."""
    if (index is None) == (at is None):
        raise TileTypeError(f"{what} takes either index (in tiles) or at= (in elements)")
    entries = _entries(index if at is None else at)
    if len(entries) != array.ndim:
        raise TileTypeError(
            f"{what}: the index has {len(entries)} entries; the array {array.argument!r} has {array.ndim} axes"
        )
    if at is not None:
        return [cv.cast(cv.scalar_index(e, "element offsets"), cv.INT64) for e in entries]
    return [_tile_start(e, n) for e, n in zip(entries, shape, strict=True)]


def _tile_start(entry: Any, extent: int) -> Tile:
    known = cv.static_int(entry)
    if known is not None:
        return cv.constant(known * extent, cv.INT64)
    wide = cv.cast(cv.scalar_index(entry, "tile indices"), cv.INT64)
    return wide if extent == 1 else ew.mul(wide, cv.constant(extent, cv.INT64))


def _scope(scope: MemoryScope) -> int:
    return int(_SCOPE[_SCOPES[scope.value]])


def _fence(order: MemoryOrder, scope: MemoryScope, wanted: MemoryOrder, what: str) -> None:
    if order in (MemoryOrder.WEAK, MemoryOrder.RELAXED):
        return
    if order is not wanted:
        raise TileValueError(f"memory_order of {what} must be WEAK, RELAXED or {wanted.name}, got {order.name}")
    recorder().emit("fence", (_ORDER[order.value], _scope(scope)), [])


# -- tiles ---------------------------------------------------------------------------------------------------------
@api
def load(
    array: Array, /, index: Any = None, shape: Any = None, *, at: Any = None, order: Any = "C",
    padding_mode: PaddingMode = PaddingMode.ZERO, check_bounds: bool = True, latency: int | None = None,
    allow_tma: bool | None = None, memory_order: MemoryOrder = MemoryOrder.WEAK,
    memory_scope: MemoryScope = MemoryScope.NONE,
) -> Tile:  # fmt: skip
    """The tile of `shape` at tile `index` (or at element offsets `at`). `order` permutes the array's axes first.

    A shape of () loads one element as a scalar. `latency` and `allow_tma` are hints.
    """
    view = sh.permuted(_array(array, "load"), _order(order, array.ndim))
    if shape is None:
        raise TileTypeError("load needs the shape of the tile")
    dims = () if shape == () else cv.as_shape(shape)
    full = dims or (1,) * view.ndim
    if len(full) != view.ndim:
        raise TileTypeError(
            f"load: shape {list(full)} has {len(full)} axes; the array {array.argument!r} has {view.ndim}"
        )
    out = Tile(view.dtype, full)
    padding = _padding(padding_mode, view)
    offsets = _offsets(view, index, at, full, "load")
    recorder().emit("load", (view, offsets, full, padding, not check_bounds), [out])
    _fence(memory_order, memory_scope, MemoryOrder.ACQUIRE, "load")
    return cv.reshape(out, dims)


@api
def store(
    array: Array, /, index: Any = None, tile: Any = None, *, at: Any = None, order: Any = "C",
    check_bounds: bool = True, latency: int | None = None, allow_tma: bool | None = None,
    memory_order: MemoryOrder = MemoryOrder.WEAK, memory_scope: MemoryScope = MemoryScope.NONE,
) -> None:  # fmt: skip
    """Writes a tile at tile `index` (or at element offsets `at`), cast to the array's dtype. A scalar is an element."""
    view = sh.permuted(_array(array, "store"), _order(order, array.ndim))
    if tile is None:
        raise TileTypeError("store needs the tile to write")
    t = stored_value(tile, view)
    if not t.shape:
        t = cv.reshape(t, (1,) * view.ndim)
    if t.ndim != view.ndim:
        raise TileTypeError(
            f"store: the tile {cv.describe(t)} has {t.ndim} axes; the array {array.argument!r} has {view.ndim}",
            hint="reshape the tile, or index it with None to add axes",
        )
    _fence(memory_order, memory_scope, MemoryOrder.RELEASE, "store")
    offsets = _offsets(view, index, at, t.shape, "store")
    recorder().emit("store", (view, offsets, t, not check_bounds), [])


def stored_value(x: Any, array: Array) -> Tile:
    """A tile or number in the array's dtype."""
    if cv.is_number(x):
        if isinstance(x, complex) and array.dtype.kind != "c":
            raise TileTypeError(f"cannot store the complex constant {x} into {array.dtype.name} elements")
        return cv.constant(x, array.dtype, exact=False)
    t = cv.as_tile(x, "what is stored")
    if t.dtype.kind == "c" and array.dtype.kind != "c":
        raise TileTypeError(f"cannot store {cv.describe(t)} into {array.dtype.name} elements", hint="store ct.real(x)")
    return cv.cast(t, array.dtype)


@api
def num_tiles(array: Array, /, axis: Any, shape: Any, order: Any = "C") -> Any:
    """How many tiles of `shape` cover the array along an axis: int32 (int64 where the array does not fit)."""
    view = sh.permuted(_array(array, "num_tiles"), _order(order, array.ndim))
    dims = cv.as_shape(shape)
    n = cv.axis_of(axis, view.ndim)
    return tiles_along(view, n, dims[n] if len(dims) == view.ndim else dims[0], 0)


def tiles_along(view: Array, axis: int, step: int, overhang: int) -> Any:
    """Tiles that start every `step` elements until the extent, less `overhang`, is covered."""
    extent = sh.dim_i64(view, axis)
    if isinstance(extent, int):
        return max(0, -(-(extent - overhang) // step))
    count = ew.floordiv(ew.add(extent, cv.constant(step - 1 - overhang, cv.INT64)), cv.constant(step, cv.INT64))
    return cv.cast(ew.maximum(count, cv.constant(0, cv.INT64)) if overhang else count, view.index_dtype)


# -- elements ------------------------------------------------------------------------------------------------------
def _indices(array: Array, indices: Any, what: str, *more: Any) -> tuple[list[Tile], tuple[int, ...]]:
    """Index tiles and the common shape of them and of `more` tiles."""
    entries = _entries(indices)
    if len(entries) != array.ndim:
        raise TileTypeError(
            f"{what}: {len(entries)} indices for the array {array.argument!r} with {array.ndim} axes",
            hint="give a tuple with one index tile for each axis",
        )
    tiles = []
    for e in entries:
        t = cv.constant(e, cv.number_dtype(e)) if isinstance(e, int) and not isinstance(e, bool) else e
        if not isinstance(t, Tile) or t.dtype.kind not in "iu":
            raise TileTypeError(f"{what}: indices must be integers, got {cv.describe(e)}")
        tiles.append(cv.index_type(t))
    shapes = [t.shape for t in tiles] + [t.shape for t in more if isinstance(t, Tile)]
    return tiles, cv.broadcast_shapes(shapes, what)


def _mask(mask: Any, shape: tuple[int, ...]) -> Tile | None:
    if mask is None:
        return None
    m = cv.as_tile(mask, "mask")
    if m.dtype is not cv.BOOL:
        raise TileTypeError(f"mask must be bool, got {cv.describe(m)}")
    return cv.broadcast(m, shape)


def _to(tiles: list[Tile], shape: tuple[int, ...]) -> list[Tile]:
    return [cv.broadcast(t, shape) for t in tiles]


@api
def gather(
    array: Array, indices: Any, /, *, mask: Any = None, padding_value: Any = 0, check_bounds: bool = True,
    latency: int | None = None,
) -> Tile:  # fmt: skip
    """array[indices], element by element; `padding_value` where an index is outside or the mask is false.

    `indices` is a tuple of integer tiles that broadcast (one tile will do for one axis). Negative indices are outside.
    """
    tiles, shape = _indices(_array(array, "gather"), indices, "gather", mask)
    if isinstance(padding_value, Tile) and padding_value.const is None:
        shape = cv.broadcast_shapes([shape, padding_value.shape], "gather")
        return _gather_or(array, tiles, shape, mask, padding_value, check_bounds)
    number = padding_value.const if isinstance(padding_value, Tile) else padding_value
    padding = None if number == 0 else cv.literal(number, array.dtype)
    out = Tile(array.dtype, shape)
    args = (array, _to(tiles, shape), _mask(mask, shape), padding, not check_bounds)
    recorder().emit("gather", args, [out])
    return out


def _gather_or(array: Array, tiles: list[Tile], shape: tuple[int, ...], mask: Any, other: Tile, check: bool) -> Tile:
    valid = _mask(True if mask is None else mask, shape)
    if check:
        for axis, t in enumerate(tiles):
            inside = ew.bitwise_and(ew.greater_equal(t, 0), ew.less(t, sh.dim_i64(array, axis)))
            valid = ew.bitwise_and(valid, inside)
    out = Tile(array.dtype, shape)
    recorder().emit("gather", (array, _to(tiles, shape), valid, None, False), [out])
    return ew.where(valid, out, cv.cast(other, array.dtype))


@api
def scatter(
    array: Array,
    indices: Any,
    value: Any,
    /,
    *,
    mask: Any = None,
    check_bounds: bool = True,
    latency: int | None = None,
) -> None:
    """array[indices] = value, element by element; indices outside and masked ones are dropped."""
    v = stored_value(value, _array(array, "scatter"))
    tiles, shape = _indices(array, indices, "scatter", mask, v)
    recorder().emit(
        "scatter", (array, _to(tiles, shape), cv.broadcast(v, shape), _mask(mask, shape), not check_bounds), []
    )


# -- atomics -------------------------------------------------------------------------------------------------------
def _update(x: Any, array: Array, what: str) -> Tile:
    if cv.is_number(x):
        return cv.constant(x, array.dtype)
    t = cv.as_tile(x, "update")
    if t.dtype is array.dtype:
        return t
    if cv.promote_dtypes(t.dtype, array.dtype, what) is not array.dtype:
        raise TileTypeError(f"{what}: cannot use {cv.describe(t)} on {array.dtype.name} elements", hint="cast it first")
    return cv.cast(t, array.dtype)


def _rmw(
    name: str,
    kind: str,
    array: Array,
    indices: Any,
    update: Any,
    mask: Any,
    check_bounds: bool,
    order: MemoryOrder,
    scope: MemoryScope,
) -> Tile:
    v = _update(update, _array(array, name), name)
    if kind.startswith("bit") and array.dtype.kind not in "iub":
        raise TileTypeError(f"{name} takes integers, got {array.dtype.name} elements")
    tiles, shape = _indices(array, indices, name, mask, v)
    out = Tile(array.dtype, shape)
    args = (
        _ATOMIC[kind],
        array,
        _to(tiles, shape),
        cv.broadcast(v, shape),
        _mask(mask, shape),
        _atomic_order(order),
        _scope(scope),
    )
    recorder().emit("atomic_rmw", args, [out])
    return out


def _atomic_order(order: MemoryOrder) -> int:
    if order is MemoryOrder.WEAK:
        raise TileValueError("memory_order of an atomic must not be WEAK")
    return int(_ORDER[order.value])


def _atomic(kind: str, name: str, text: str) -> Any:
    @api
    def function(
        array: Array, indices: Any, update: Any, /, *, mask: Any = None, check_bounds: bool = True,
        memory_order: MemoryOrder = MemoryOrder.ACQ_REL, memory_scope: MemoryScope = MemoryScope.DEVICE,
    ) -> Tile:  # fmt: skip
        return _rmw(name, kind, array, indices, update, mask, check_bounds, memory_order, memory_scope)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{text}, element by element and atomically; gives the old elements (zero where outside)."
    return function


atomic_add = _atomic("add", "atomic_add", "array[indices] += update")
atomic_max = _atomic("maximum", "atomic_max", "array[indices] = max(array[indices], update)")
atomic_min = _atomic("minimum", "atomic_min", "array[indices] = min(array[indices], update)")
atomic_and = _atomic("bitand", "atomic_and", "array[indices] &= update")
atomic_or = _atomic("bitor", "atomic_or", "array[indices] |= update")
atomic_xor = _atomic("bitxor", "atomic_xor", "array[indices] ^= update")
atomic_xchg = _atomic("exchange", "atomic_xchg", "array[indices] = update")


@api
def atomic_cas(
    array: Array, indices: Any, expected: Any, desired: Any, /, *, check_bounds: bool = True, mask: Any = None,
    memory_order: MemoryOrder = MemoryOrder.ACQ_REL, memory_scope: MemoryScope = MemoryScope.DEVICE,
) -> Tile:  # fmt: skip
    """array[indices] = desired where it equals `expected`, atomically; gives the old elements."""
    e, d = (_update(x, _array(array, "atomic_cas"), "atomic_cas") for x in (expected, desired))
    tiles, shape = _indices(array, indices, "atomic_cas", mask, e, d)
    out = Tile(array.dtype, shape)
    args = (
        array,
        _to(tiles, shape),
        cv.broadcast(e, shape),
        cv.broadcast(d, shape),
        _mask(mask, shape),
        _atomic_order(memory_order),
        _scope(memory_scope),
    )
    recorder().emit("atomic_cas", args, [out])
    return out


# -- tiled views ---------------------------------------------------------------------------------------------------
class TiledView:
    """An array seen as tiles of one shape, `traversal_steps` elements apart."""

    def __init__(self, array: Array, shape: tuple[int, ...], steps: tuple[int, ...], padding: PaddingMode) -> None:
        self.array = array
        self.dtype = array.dtype
        self.tile_shape = shape
        self.traversal_steps = steps
        self.padding_mode = padding

    def _start(self, index: Any) -> tuple[Any, ...]:
        entries = _entries(index)
        if len(entries) != self.array.ndim:
            raise TileTypeError(f"the index has {len(entries)} entries; the view has {self.array.ndim} axes")
        return tuple(_tile_start(e, s) for e, s in zip(entries, self.traversal_steps, strict=True))

    @api
    def num_tiles(self, axis: Any) -> Any:
        """How many tiles the view has along an axis."""
        n = cv.axis_of(axis, self.array.ndim)
        step, extent = self.traversal_steps[n], self.tile_shape[n]
        return tiles_along(self.array, n, step, max(0, extent - step))

    @api
    def load(self, index: Any, **options: Any) -> Tile:
        """The tile at `index`."""
        return load(self.array, at=self._start(index), shape=self.tile_shape, padding_mode=self.padding_mode, **options)

    @api
    def store(self, index: Any, tile: Any, **options: Any) -> None:
        """Writes the tile at `index`."""
        t = stored_value(tile, self.array)
        store(self.array, at=self._start(index), tile=cv.broadcast(t, self.tile_shape), **options)


@api
def tiled_view(array: Array, tile_shape: Any, *, padding_mode: Any = None, traversal_steps: Any = None) -> TiledView:
    """`array.tiled_view(...)`."""
    shape = cv.as_shape(tile_shape, "tile_shape")
    steps = shape if traversal_steps is None else cv.as_shape(traversal_steps, "traversal_steps")
    if len(shape) != array.ndim or len(steps) != array.ndim:
        raise TileTypeError(f"tile_shape {shape} and steps {steps} need one entry for each of {array.ndim} axes")
    return TiledView(array, shape, steps, padding_mode or PaddingMode.ZERO)


def refuse(name: str, why: str) -> Any:
    """A name of cuTile that Epitaxy does not have: calling it says so."""

    @api
    def function(*args: Any, **kwargs: Any) -> Any:
        raise TileUnsupportedFeatureError(f"{name} is not supported: {why}")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Not supported: {why}."
    return function
