"""What a kernel's expressions are: tiles (a scalar is a tile without axes) and arrays (views of memory).

Operators build the program. They work inside a kernel, also where a function is traced rather than read.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from typing import Any

from .._dtypes import DType
from ._record import Value

__all__ = ["Array", "Tile"]


class Tile(Value):
    """A value of a dtype and a static shape. Immutable: every operation gives a new one."""

    __slots__ = ("const", "dtype", "positive", "shape", "weak")

    def __init__(self, dtype: DType, shape: tuple[int, ...] = (), *, weak: bool = False) -> None:
        self.dtype = dtype
        self.shape = shape
        self.weak = weak
        self.const: complex | float | int | bool | None = None  # a scalar's value, where known
        self.positive = False  # known to be > 0

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<tile[{self.dtype.name}, {self.shape}]>"

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a tile has no truth value at compile time; use ct.where, or `if` in the kernel's own source")

    def item(self) -> Tile:
        """The element of a tile of one element, as a scalar."""
        return _ops.reshape(self, ())

    def extract(self, index: Any, shape: Any) -> Tile:
        """See `extract`."""
        return _ops.extract(self, index, shape)

    def insert(self, index: Any, value: Any) -> Tile:
        """See `insert`."""
        return _ops.insert(self, index, value)

    def reshape(self, shape: Any) -> Tile:
        """See `reshape`."""
        return _ops.reshape(self, shape)

    def permute(self, axes: Any) -> Tile:
        """See `permute`."""
        return _ops.permute(self, axes)

    def transpose(self, axis0: Any = None, axis1: Any = None) -> Tile:
        """See `transpose`."""
        return _ops.transpose(self, axis0, axis1)

    def astype(self, dtype: Any, *, rounding_mode: Any = None) -> Tile:
        """See `astype`."""
        return _ops.astype(self, dtype, rounding_mode=rounding_mode)

    def __getitem__(self, index: Any) -> Tile:
        return _ops.expand_by_index(self, index)

    def __add__(self, other: Any) -> Tile:
        return _ops.add(self, other)

    def __radd__(self, other: Any) -> Tile:
        return _ops.add(other, self)

    def __sub__(self, other: Any) -> Tile:
        return _ops.sub(self, other)

    def __rsub__(self, other: Any) -> Tile:
        return _ops.sub(other, self)

    def __mul__(self, other: Any) -> Tile:
        return _ops.mul(self, other)

    def __rmul__(self, other: Any) -> Tile:
        return _ops.mul(other, self)

    def __truediv__(self, other: Any) -> Tile:
        return _ops.truediv(self, other)

    def __rtruediv__(self, other: Any) -> Tile:
        return _ops.truediv(other, self)

    def __floordiv__(self, other: Any) -> Tile:
        return _ops.floordiv(self, other)

    def __rfloordiv__(self, other: Any) -> Tile:
        return _ops.floordiv(other, self)

    def __mod__(self, other: Any) -> Tile:
        return _ops.mod(self, other)

    def __rmod__(self, other: Any) -> Tile:
        return _ops.mod(other, self)

    def __divmod__(self, other: Any) -> tuple[Tile, Tile]:
        return _ops.divmod(self, other)

    def __rdivmod__(self, other: Any) -> tuple[Tile, Tile]:
        return _ops.divmod(other, self)

    def __pow__(self, other: Any) -> Tile:
        return _ops.pow(self, other)

    def __rpow__(self, other: Any) -> Tile:
        return _ops.pow(other, self)

    def __matmul__(self, other: Any) -> Tile:
        return _ops.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Tile:
        return _ops.matmul(other, self)

    def __and__(self, other: Any) -> Tile:
        return _ops.bitwise_and(self, other)

    def __rand__(self, other: Any) -> Tile:
        return _ops.bitwise_and(other, self)

    def __or__(self, other: Any) -> Tile:
        return _ops.bitwise_or(self, other)

    def __ror__(self, other: Any) -> Tile:
        return _ops.bitwise_or(other, self)

    def __xor__(self, other: Any) -> Tile:
        return _ops.bitwise_xor(self, other)

    def __rxor__(self, other: Any) -> Tile:
        return _ops.bitwise_xor(other, self)

    def __lshift__(self, other: Any) -> Tile:
        return _ops.bitwise_lshift(self, other)

    def __rlshift__(self, other: Any) -> Tile:
        return _ops.bitwise_lshift(other, self)

    def __rshift__(self, other: Any) -> Tile:
        return _ops.bitwise_rshift(self, other)

    def __rrshift__(self, other: Any) -> Tile:
        return _ops.bitwise_rshift(other, self)

    def __lt__(self, other: Any) -> Tile:
        return _ops.less(self, other)

    def __le__(self, other: Any) -> Tile:
        return _ops.less_equal(self, other)

    def __gt__(self, other: Any) -> Tile:
        return _ops.greater(self, other)

    def __ge__(self, other: Any) -> Tile:
        return _ops.greater_equal(self, other)

    def __eq__(self, other: Any) -> Any:
        return _ops.equal(self, other)

    def __ne__(self, other: Any) -> Any:
        return _ops.not_equal(self, other)

    def __neg__(self) -> Tile:
        return _ops.negative(self)

    def __pos__(self) -> Tile:
        return _ops.positive(self)

    def __invert__(self) -> Tile:
        return _ops.bitwise_not(self)

    def __abs__(self) -> Tile:
        return _ops.abs(self)


class Array(Value):
    """A view of memory: a kernel's array argument, or a part of one. Loads and stores go through it."""

    __slots__ = ("_extents", "_strides", "argument", "dtype", "index_dtype", "ndim")

    def __init__(
        self, dtype: DType, extents: tuple[int | None, ...], strides: tuple[int | None, ...], index_dtype: DType,
        argument: str = "",
    ) -> None:  # fmt: skip
        self.dtype = dtype
        self.ndim = len(extents)
        self.index_dtype = index_dtype
        self.argument = argument  # the kernel's parameter it came from
        self._extents = extents  # None where known at launch only
        self._strides = strides

    def __repr__(self) -> str:
        return f"<array[{self.dtype.name}, {self.ndim} axes]>"

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents, in elements: int32 scalars (int64 where the array does not fit), constants where known."""
        return tuple(_ops.dim(self, i) for i in range(self.ndim))

    @property
    def strides(self) -> tuple[Any, ...]:
        """The distances between neighbours along each axis, in elements."""
        return tuple(_ops.stride(self, i) for i in range(self.ndim))

    def slice(self, axis: int, start: Any, stop: Any) -> Array:
        """The part [start, stop) along an axis. Bounds are clamped to the array; nothing is copied."""
        return _ops.slice_array(self, axis, start, stop)

    def tiled_view(self, tile_shape: Any, *, padding_mode: Any = None, traversal_steps: Any = None) -> Any:
        """A view of the array in tiles of one shape, `traversal_steps` elements apart (default: the tile's shape)."""
        return _ops.tiled_view(self, tile_shape, padding_mode=padding_mode, traversal_steps=traversal_steps)


class _Operations:
    """The functions behind the methods above, filled by `_operations` when the package is imported."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


_ops: Any = _Operations()
