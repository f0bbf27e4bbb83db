"""Types of values: what Python constants become, which dtypes promote to which, casts and broadcasts.

A Python constant is loose: it takes the dtype of the tile it meets. A loose value that only the program knows (a
constant carried by a loop) is a weak tile. Promotion: bool < integers < floats < complex; signed with unsigned and
float16 with bfloat16 are errors.
"""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
from typing import Any

from .. import _engine
from .._dtypes import DType, all_dtypes, to_dtype
from ._errors import TileTypeError, TileValueError
from ._record import Literal, recorder
from ._values import Array, Tile

_D = {d.name: d for d in all_dtypes()}
BOOL, INT32, INT64, UINT64 = _D["bool"], _D["int32"], _D["int64"], _D["uint64"]
FLOAT16, BFLOAT16, FLOAT32, FLOAT64 = _D["float16"], _D["bfloat16"], _D["float32"], _D["float64"]
COMPLEX64, COMPLEX128 = _D["complex64"], _D["complex128"]
_RANK = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
_WRAP, _SATURATE = _engine.CAST["wrap"], _engine.CAST["saturate"]

Number = bool | int | float | complex


def is_number(x: Any) -> bool:
    return isinstance(x, bool | int | float | complex)


def describe(x: Any) -> str:
    """How messages name a value: its type, or the constant itself."""
    if isinstance(x, Tile):
        return f"{x.dtype.name}{list(x.shape)}" if x.shape else f"{x.dtype.name} scalar"
    if isinstance(x, Array):
        return f"array of {x.dtype.name} with {x.ndim} axes"
    if isinstance(x, tuple):
        return "tuple (" + ", ".join(describe(e) for e in x) + ")"
    if is_number(x) or isinstance(x, str) or x is None:
        return f"constant {x!r}"
    if isinstance(x, DType):
        return f"dtype {x.name}"
    return f"{type(x).__name__} {getattr(x, '__name__', '')}".rstrip()


def number_dtype(x: Any) -> DType:
    """The dtype of a Python number on its own."""
    if isinstance(x, bool):
        return BOOL
    if isinstance(x, int):
        if -(2**31) <= x < 2**31:
            return INT32
        if -(2**63) <= x < 2**63:
            return INT64
        if 0 <= x < 2**64:
            return UINT64
        raise TileValueError(f"the constant {x} does not fit 64 bits")
    return FLOAT32 if isinstance(x, float) else COMPLEX64


# -- constants -----------------------------------------------------------------------------------------------------
def _int_range(dtype: DType) -> tuple[int, int]:
    bits = dtype.size * 8
    return (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def wrap_int(value: int, dtype: DType) -> int:
    """`value` reduced to the range of an integer dtype."""
    low, high = _int_range(dtype)
    return (value - low) % (high - low + 1) + low


def literal(value: Any, dtype: DType, *, exact: bool = True) -> Literal:
    """A number as a constant of `dtype`; with `exact`, an integer that does not fit is an error."""
    if dtype.kind == "b":
        return Literal(dtype, bool(value))
    if dtype.kind in "iu":
        if isinstance(value, float):
            low, high = _int_range(dtype)
            value = 0 if math.isnan(value) else low if value < low else high if value > high else int(value)
        low, high = _int_range(dtype)
        if not low <= value <= high:
            if exact:
                raise TileValueError(f"the constant {value} is out of range of {dtype.name} ({low} to {high})")
            value = wrap_int(int(value), dtype)
        return Literal(dtype, int(value))
    return Literal(dtype, complex(value) if dtype.kind == "c" else float(value))


def constant(value: Any, dtype: DType, shape: tuple[int, ...] = (), *, exact: bool = True, weak: bool = False) -> Tile:
    """A constant scalar (or tile) in the program."""
    lit = literal(value, dtype, exact=exact)
    out = Tile(dtype, shape, weak=weak)
    if shape:
        recorder().emit("full", (lit, shape), [out])
    else:
        recorder().emit("constant", (lit,), [out])
        out.const = lit.value
    return out


def as_tile(x: Any, what: str = "an operand") -> Tile:
    """A tile as it is; a Python number as a weak scalar."""
    if isinstance(x, Tile):
        return x
    if is_number(x):
        return constant(x, number_dtype(x), weak=True)
    hint = "load it first: ct.load(array, index, shape)" if isinstance(x, Array) else ""
    raise TileTypeError(f"{what} must be a tile or a number, got {describe(x)}", hint=hint)


# -- promotion -----------------------------------------------------------------------------------------------------
def promote_dtypes(a: DType, b: DType, what: str = "") -> DType:
    """The common dtype of two, or an error that names both."""
    if a is b:
        return a
    ra, rb = _RANK[a.kind], _RANK[b.kind]
    if ra != rb:
        low, high = (a, b) if ra < rb else (b, a)
        if high.kind == "c" and low is FLOAT64:
            return COMPLEX128
        return high
    if a.kind == b.kind and {a, b} != {FLOAT16, BFLOAT16}:
        return a if a.size > b.size else b
    raise TileTypeError(
        f"{what or 'the operands'}: {a.name} and {b.name} have no common type",
        hint=f"cast one of them, for example x.astype(ct.{a.name})",
    )


def _with_constant(dtype: DType, loose: DType) -> DType:
    """The dtype of a tile of `dtype` with a loose value whose own dtype is `loose`."""
    if _RANK[loose.kind] <= _RANK[dtype.kind]:
        return dtype
    if loose.kind == "c":
        return COMPLEX128 if dtype is FLOAT64 else COMPLEX64
    return FLOAT32 if loose.kind == "f" else loose


def _loose(x: Any) -> DType | None:
    if isinstance(x, Tile):
        return x.dtype if x.weak else None
    return number_dtype(x)


def common_dtype(xs: list[Any], what: str = "") -> tuple[DType, bool]:
    """The dtype that tiles and numbers meet in, and whether it is weak (all of them are loose)."""
    strong: DType | None = None
    loose: DType | None = None
    for x in xs:
        w = _loose(x)
        if w is None:
            strong = x.dtype if strong is None else promote_dtypes(strong, x.dtype, what)
        else:
            loose = w if loose is None else _promote_loose(loose, w)
    if strong is None:
        assert loose is not None
        return loose, True
    return (strong if loose is None else _with_constant(strong, loose)), False


def _promote_loose(a: DType, b: DType) -> DType:
    if {a, b} == {INT64, UINT64} or {a, b} == {INT32, UINT64}:
        return UINT64
    return promote_dtypes(a, b)


def bring(x: Any, dtype: DType) -> Tile:
    """A tile or number as `dtype`, where promotion has already said that this is right."""
    if isinstance(x, Tile):
        if x.weak:
            if x.dtype is not dtype:
                recorder().weak_uses += 1
            return cast(x, dtype) if x.dtype is not dtype else x
        return cast(x, dtype)
    return constant(x, dtype)


def promote(xs: list[Any], what: str = "") -> list[Tile]:
    """Tiles and numbers brought to their common dtype. Weak among themselves stay weak."""
    xs = [x if isinstance(x, Tile) or is_number(x) else as_tile(x, what or "an operand") for x in xs]
    dtype, weak = common_dtype(xs, what)
    out = [bring(x, dtype) for x in xs]
    if weak:
        out = [strengthen(t, weak=True) for t in out]
    return out


def strengthen(t: Tile, *, weak: bool = False) -> Tile:
    """The same value with its looseness set."""
    if t.weak == weak:
        return t
    out = Tile(t.dtype, t.shape, weak=weak)
    out.const = t.const
    recorder().emit("alias", (t,), [out])
    return out


# -- casts ---------------------------------------------------------------------------------------------------------
def cast(t: Tile, dtype: DType) -> Tile:
    """astype: to bool is != 0, floats round to nearest even, float to integer saturates (NaN to 0), integers wrap."""
    if t.dtype is dtype:
        return t
    if t.const is not None and not t.shape and dtype.kind != "c" and t.dtype.kind != "c":
        return constant(t.const, dtype, exact=False)
    mode = _SATURATE if t.dtype.kind in "fc" and dtype.kind in "iu" else _WRAP
    out = Tile(dtype, t.shape)
    recorder().emit("cast", (t, dtype, mode), [out])
    return out


def cast_call(dtype: DType, value: Any) -> Any:
    """`ct.int32(value)`: a scalar or tile of exactly that dtype."""
    if isinstance(value, Tile):
        return strengthen(cast(value, dtype))
    if is_number(value):
        return constant(value, dtype, exact=False)
    raise TileTypeError(f"{dtype.name}() takes a number or a tile, got {describe(value)}")


def require_dtype(x: Any, what: str = "dtype") -> DType:
    found = to_dtype(x)
    if found is None:
        raise TileTypeError(f"{what} must be a dtype such as ct.float32, got {describe(x)}")
    return found


# -- shapes --------------------------------------------------------------------------------------------------------
def broadcast_shapes(shapes: list[tuple[int, ...]], what: str = "") -> tuple[int, ...]:
    """NumPy's rule, or an error that names the shapes."""
    out: list[int] = []
    for shape in shapes:
        if len(shape) > len(out):
            out[:0] = [1] * (len(shape) - len(out))
        lead = len(out) - len(shape)
        for i, n in enumerate(shape):
            if out[lead + i] == 1:
                out[lead + i] = n
            elif n not in (1, out[lead + i]):
                text = " and ".join(str(list(s)) for s in shapes)
                raise TileTypeError(
                    f"{what or 'the operands'}: shapes {text} do not broadcast; extents must be equal or 1"
                )
    return tuple(out)


def broadcast(t: Tile, shape: tuple[int, ...]) -> Tile:
    if t.shape == shape:
        return t
    out = Tile(t.dtype, shape, weak=t.weak)
    recorder().emit("broadcast", (t, shape), [out])
    return out


def reshape(t: Tile, shape: tuple[int, ...]) -> Tile:
    if t.shape == shape:
        return t
    out = Tile(t.dtype, shape, weak=t.weak)
    recorder().emit("reshape", (t, shape), [out])
    return out


def as_shape(x: Any, what: str = "shape") -> tuple[int, ...]:
    """A compile-time shape: an int or a tuple of ints of any positive size."""
    dims = (x,) if isinstance(x, int) or not isinstance(x, tuple | list) else tuple(x)
    out = []
    for d in dims:
        n = static_int(d)
        if n is None:
            hint = "sizes of tiles are known at compile time: pass them as ct.Constant[int]"
            raise TileTypeError(f"{what} must be compile-time integers, got {describe(d)}", hint=hint)
        if n < 1:
            raise TileValueError(f"{what} must be positive, got {list(dims)}")
        out.append(n)
    return tuple(out)


def static_int(x: Any) -> int | None:
    """`x` as a compile-time integer, or None."""
    if isinstance(x, Tile) and x.const is not None and x.dtype.kind in "iu":
        return int(x.const.real)
    if isinstance(x, int) and not isinstance(x, bool):
        return x
    return None


def scalar_index(x: Any, what: str) -> Tile:
    """An integer scalar (a tile of one element counts) as an offset or index: int32 or int64."""
    if is_number(x) and isinstance(x, int):
        return constant(int(x), INT64 if not -(2**31) <= x < 2**31 else INT32)
    if not isinstance(x, Tile) or x.dtype.kind not in "iub":
        raise TileTypeError(f"{what} must be integers, got {describe(x)}")
    if math.prod(x.shape) != 1:
        raise TileTypeError(f"{what} must be scalars, got {describe(x)}")
    return index_type(reshape(x, ()))


def index_type(t: Tile) -> Tile:
    """An integer tile as int32 or int64, whichever holds all its values."""
    if t.dtype in (INT32, INT64):
        return t
    return cast(t, INT64 if t.dtype.name in ("uint32", "uint64") else INT32)


def axis_of(axis: Any, rank: int, what: str = "axis") -> int:
    n = static_int(axis)
    if n is None:
        raise TileTypeError(f"{what} must be a compile-time integer, got {describe(axis)}")
    if not -rank <= n < rank:
        raise TileValueError(f"{what} {n} is out of range for {rank} axes")
    return n % rank


__all__ = [name for name in dir() if not name.startswith("_") and name not in ("annotations", "math", "Any", "Value")]
