"""Elementwise functions of kernels: arithmetic, comparison, bits, mathematics, selection and casts."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import builtins
import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

from .. import _engine
from . import _convert as cv
from ._api import api
from ._errors import TileTypeError, TileUnsupportedFeatureError
from ._options import RoundingMode
from ._record import recorder
from ._values import Tile

_UNARY, _BINARY, _COMPARE = _engine.UNARY, _engine.BINARY, _engine.COMPARE


# -- the three ways to emit ----------------------------------------------------------------------------------------
def _unary(kind: str, x: Tile, *, approx: bool = False, result: Any = None) -> Tile:
    out = Tile(result or x.dtype, x.shape, weak=x.weak)
    recorder().emit("unary", (_UNARY[kind], x, approx), [out])
    return out


def _emit_binary(kind: str, a: Tile, b: Tile) -> Tile:
    shape = cv.broadcast_shapes([a.shape, b.shape], kind)
    out = Tile(a.dtype, shape, weak=a.weak and b.weak)
    recorder().emit("binary", (_BINARY[kind], a, b, False), [out])
    return out


def _emit_compare(kind: str, a: Tile, b: Tile) -> Tile:
    out = Tile(cv.BOOL, cv.broadcast_shapes([a.shape, b.shape], "comparison"))
    recorder().emit("compare", (_COMPARE[kind], a, b), [out])
    return out


def _both_numbers(x: Any, y: Any) -> bool:
    return cv.is_number(x) and cv.is_number(y)


def _arithmetic(kind: str, name: str, x: Any, y: Any) -> Tile:
    """Bool operands count as int32, as in Python."""
    a, b = cv.promote([x, y], name)
    if a.dtype is cv.BOOL:
        a, b = cv.cast(a, cv.INT32), cv.cast(b, cv.INT32)
    return _emit_binary(kind, a, b)


def _float(x: Any, name: str) -> Tile:
    """`x` as floats: bool and integers become float32."""
    t = cv.as_tile(x, f"the operand of {name}")
    if t.dtype.kind == "c":
        raise TileTypeError(f"{name} takes real numbers, got {cv.describe(t)}")
    return t if t.dtype.kind == "f" else cv.cast(t, cv.FLOAT32)


def _approx(mode: RoundingMode | None, name: str) -> bool:
    if mode is None or mode in (RoundingMode.RN, RoundingMode.FULL):
        return False
    if mode is RoundingMode.APPROX:
        return True
    raise TileUnsupportedFeatureError(f"{name} rounds to nearest even; {mode} is not supported")


# -- arithmetic ----------------------------------------------------------------------------------------------------
@api
def add(x: Any, y: Any, /, *, rounding_mode: RoundingMode | None = None, flush_to_zero: bool = False) -> Any:
    """`x + y`. Denormals are kept whatever `flush_to_zero` permits."""
    _approx(rounding_mode, "add")
    return x + y if _both_numbers(x, y) else _arithmetic("add", "+", x, y)


@api
def sub(x: Any, y: Any, /, *, rounding_mode: RoundingMode | None = None, flush_to_zero: bool = False) -> Any:
    """`x - y`."""
    _approx(rounding_mode, "sub")
    return x - y if _both_numbers(x, y) else _arithmetic("sub", "-", x, y)


@api
def mul(x: Any, y: Any, /, *, rounding_mode: RoundingMode | None = None, flush_to_zero: bool = False) -> Any:
    """`x * y`."""
    _approx(rounding_mode, "mul")
    return x * y if _both_numbers(x, y) else _arithmetic("mul", "*", x, y)


@api
def truediv(x: Any, y: Any, /, *, rounding_mode: RoundingMode | None = None, flush_to_zero: bool = False) -> Any:
    """`x / y`; of integers as float32."""
    _approx(rounding_mode, "truediv")
    if _both_numbers(x, y):
        return x / y
    a, b = cv.promote([x, y], "/")
    if a.dtype.kind not in "fc":
        a, b = cv.cast(a, cv.FLOAT32), cv.cast(b, cv.FLOAT32)
    return _emit_binary("div", a, b)


@api
def floordiv(x: Any, y: Any, /) -> Any:
    """`x // y`, rounded down. An integer divided by zero is 0."""
    return x // y if _both_numbers(x, y) else _arithmetic("floordiv", "//", x, y)


@api
def mod(x: Any, y: Any, /) -> Any:
    """`x % y`, with the sign of `y`: `(x // y) * y + x % y == x`."""
    return x % y if _both_numbers(x, y) else _arithmetic("mod", "%", x, y)


@api
def divmod(x: Any, y: Any, /) -> Any:
    """`(x // y, x % y)`."""
    return (floordiv(x, y), mod(x, y))


@api
def truncdiv(x: Any, y: Any, /) -> Any:
    """The quotient of integers rounded towards zero, as in C."""
    return _arithmetic("truncdiv", "truncdiv", x, y)


@api
def rem(x: Any, y: Any, /) -> Any:
    """The remainder of `truncdiv`, with the sign of `x`, as in C."""
    return _arithmetic("rem", "rem", x, y)


@api
def cdiv(x: Any, y: Any, /) -> Any:
    """`x / y` of integers rounded up. Also a host function."""
    if _both_numbers(x, y):
        return -(-x // y)
    a, b = cv.promote([x, y], "cdiv")
    if a.dtype.kind == "b":
        a, b = cv.cast(a, cv.INT32), cv.cast(b, cv.INT32)
    if a.dtype.kind not in "iu":
        raise TileTypeError(f"cdiv takes integers, got {cv.describe(a)}")
    rest = _emit_compare("ne", _emit_binary("mod", a, b), cv.constant(0, a.dtype))
    out = _emit_binary("add", _emit_binary("floordiv", a, b), cv.cast(rest, a.dtype))
    out.weak = a.weak and b.weak
    return out


cdiv.__tile_host__ = True  # type: ignore[attr-defined]


@api
def pow(x: Any, y: Any, /) -> Any:
    """`x ** y`. The square is `x * x`."""
    if _both_numbers(x, y):
        return x**y
    if cv.is_number(y) and y == 2 and not isinstance(y, float | complex):
        return mul(x, x)
    return _arithmetic("pow", "**", x, y)


@api
def fma(x: Any, y: Any, z: Any, /) -> Tile:
    """`x * y + z` of floats with one rounding."""
    a, b, c = (_float(t, "fma") for t in cv.promote([x, y, z], "fma"))
    shape = cv.broadcast_shapes([a.shape, b.shape, c.shape], "fma")
    out = Tile(a.dtype, shape)
    recorder().emit("fma", tuple(cv.broadcast(t, shape) for t in (a, b, c)), [out])
    return out


@api
def minimum(x: Any, y: Any, /, *, flush_to_zero: bool = False, propagate_nan: bool = False) -> Any:
    """The smaller one. NaN loses against a number unless `propagate_nan`."""
    return _extreme("min", x, y, propagate_nan)


@api
def maximum(x: Any, y: Any, /, *, flush_to_zero: bool = False, propagate_nan: bool = False) -> Any:
    """The larger one. NaN loses against a number unless `propagate_nan`."""
    return _extreme("max", x, y, propagate_nan)


def _extreme(which: str, x: Any, y: Any, propagate_nan: bool) -> Any:
    if _both_numbers(x, y) and not (isinstance(x, float) or isinstance(y, float)):
        return builtins.min(x, y) if which == "min" else builtins.max(x, y)
    a, b = cv.promote([x, y], f"{which}imum")
    ignore = a.dtype.kind == "f" and not propagate_nan
    return _emit_binary(f"f{which}" if ignore else f"{which}imum", a, b)


@api
def negative(x: Any, /) -> Any:
    """`-x`: of floats, the sign flips (also of zero and NaN)."""
    if cv.is_number(x):
        return -x
    t = cv.as_tile(x)
    return _unary("neg", cv.cast(t, cv.INT32) if t.dtype is cv.BOOL else t)


@api
def positive(x: Any, /) -> Any:
    """`+x`."""
    if cv.is_number(x):
        return +x
    return cv.cast(x, cv.INT32) if x.dtype is cv.BOOL else x


@api
def abs(x: Any, /) -> Any:
    """The magnitude; of complex numbers a float."""
    if cv.is_number(x):
        return builtins.abs(x)
    t = cv.as_tile(x)
    if t.dtype is cv.BOOL:
        t = cv.cast(t, cv.INT32)
    part = {"complex64": cv.FLOAT32, "complex128": cv.FLOAT64}.get(t.dtype.name)
    return t if t.dtype.kind == "u" else _unary("abs", t, result=part)


@api
def clip(x: Any, low: Any, high: Any, /) -> Any:
    """`x` limited to [low, high]; a NaN stays one."""
    return minimum(maximum(x, low, propagate_nan=True), high, propagate_nan=True)


# -- comparison and bits -------------------------------------------------------------------------------------------
def _comparison(kind: str, symbol: str, fold: Callable[[Any, Any], Any], doc: str) -> Callable[[Any, Any], Any]:
    @api
    def function(x: Any, y: Any, /) -> Any:
        if _both_numbers(x, y):
            return fold(x, y)
        a, b = cv.promote([x, y], symbol)
        return _emit_compare(kind, a, b)

    return _named(function, doc)


def _named(function: Any, doc: str) -> Any:
    name, text = doc.split(": ", 1)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


equal = _comparison("eq", "==", operator.eq, "equal: `x == y`.")
not_equal = _comparison("ne", "!=", operator.ne, "not_equal: `x != y`; true of NaN.")
less = _comparison("lt", "<", operator.lt, "less: `x < y`.")
less_equal = _comparison("le", "<=", operator.le, "less_equal: `x <= y`.")
greater = _comparison("gt", ">", operator.gt, "greater: `x > y`.")
greater_equal = _comparison("ge", ">=", operator.ge, "greater_equal: `x >= y`.")


def _bitwise(kind: str, symbol: str, fold: Callable[[Any, Any], Any], doc: str) -> Callable[[Any, Any], Any]:
    shift = kind in ("shl", "shr")

    @api
    def function(x: Any, y: Any, /) -> Any:
        if _both_numbers(x, y):
            return fold(x, y)
        a, b = cv.promote([x, y], symbol)
        if a.dtype.kind in "fc":
            raise TileTypeError(
                f"{symbol} takes integers or bools, got {cv.describe(x)} and {cv.describe(y)}",
                hint="reinterpret the bits with ct.bitcast(x, ct.int32) if that is meant",
            )
        if shift and a.dtype is cv.BOOL:
            a, b = cv.cast(a, cv.INT32), cv.cast(b, cv.INT32)
        return _emit_binary(kind, a, b)

    return _named(function, doc)


bitwise_and = _bitwise("bitand", "&", operator.and_, "bitwise_and: `x & y`.")
bitwise_or = _bitwise("bitor", "|", operator.or_, "bitwise_or: `x | y`.")
bitwise_xor = _bitwise("bitxor", "^", operator.xor, "bitwise_xor: `x ^ y`.")
bitwise_lshift = _bitwise("shl", "<<", operator.lshift, "bitwise_lshift: `x << y`; 0 where y is the width or more.")
bitwise_rshift = _bitwise(
    "shr",
    ">>",
    operator.rshift,
    "bitwise_rshift: `x >> y`, arithmetic for signed integers; all sign where y is the width or more.",
)


@api
def bitwise_not(x: Any, /) -> Any:
    """`~x`; of a bool, its negation."""
    if cv.is_number(x):
        return not x if isinstance(x, bool) else ~x
    t = cv.as_tile(x)
    if t.dtype.kind not in "iub":
        raise TileTypeError(f"~ takes integers or bools, got {cv.describe(t)}")
    return _unary("bitnot", t)


@api
def logical_not(x: Any, /) -> Any:
    """Whether `x` is zero."""
    return (not x) if cv.is_number(x) else _unary("bitnot", cv.cast(cv.as_tile(x), cv.BOOL))


@api
def logical_and(x: Any, y: Any, /) -> Any:
    """Whether both are not zero."""
    return bitwise_and(*(cv.cast(cv.as_tile(t), cv.BOOL) for t in (x, y)))


@api
def logical_or(x: Any, y: Any, /) -> Any:
    """Whether one is not zero."""
    return bitwise_or(*(cv.cast(cv.as_tile(t), cv.BOOL) for t in (x, y)))


@api
def logical_xor(x: Any, y: Any, /) -> Any:
    """Whether exactly one is not zero."""
    return bitwise_xor(*(cv.cast(cv.as_tile(t), cv.BOOL) for t in (x, y)))


# -- mathematics ---------------------------------------------------------------------------------------------------
def _function(kind: str, fold: Callable[[Any], Any] | None, doc: str) -> Callable[..., Any]:
    @api
    def function(x: Any, /, *, rounding_mode: RoundingMode | None = None, flush_to_zero: bool = False) -> Any:
        approx = _approx(rounding_mode, kind)
        if fold is not None and isinstance(x, bool | int | float):
            try:
                return fold(x)
            except (ValueError, OverflowError):
                pass  # the engine's answer: NaN or infinity
        return _unary(kind, _float(x, kind), approx=approx)

    return _named(function, doc)


exp = _function("exp", math.exp, "exp: e to the power x.")
exp2 = _function("exp2", math.exp2, "exp2: 2 to the power x.")
expm1 = _function("expm1", math.expm1, "expm1: exp(x) - 1, exact near 0.")
log = _function("log", math.log, "log: natural logarithm.")
log2 = _function("log2", math.log2, "log2: logarithm to base 2.")
log10 = _function("log10", math.log10, "log10: logarithm to base 10.")
log1p = _function("log1p", math.log1p, "log1p: log(1 + x), exact near 0.")
sqrt = _function("sqrt", math.sqrt, "sqrt: square root, correctly rounded.")
rsqrt = _function("rsqrt", None, "rsqrt: 1 / sqrt(x).")
sin = _function("sin", math.sin, "sin: sine, of any magnitude.")
cos = _function("cos", math.cos, "cos: cosine, of any magnitude.")
tan = _function("tan", math.tan, "tan: tangent.")
asin = _function("asin", math.asin, "asin: arc sine.")
acos = _function("acos", math.acos, "acos: arc cosine.")
atan = _function("atan", math.atan, "atan: arc tangent.")
sinh = _function("sinh", math.sinh, "sinh: hyperbolic sine.")
cosh = _function("cosh", math.cosh, "cosh: hyperbolic cosine.")
tanh = _function("tanh", math.tanh, "tanh: hyperbolic tangent.")
asinh = _function("asinh", math.asinh, "asinh: inverse of sinh.")
acosh = _function("acosh", math.acosh, "acosh: inverse of cosh.")
atanh = _function("atanh", math.atanh, "atanh: inverse of tanh.")
erf = _function("erf", math.erf, "erf: the error function.")


def _rounding(kind: str, doc: str) -> Callable[[Any], Any]:
    @api
    def function(x: Any, /) -> Any:
        t = cv.as_tile(x, f"the operand of {kind}")
        if t.dtype.kind in "iub":
            return x
        return _unary(kind, _float(t, kind))

    return _named(function, doc)


floor = _rounding("floor", "floor: rounded down, in the same dtype.")
ceil = _rounding("ceil", "ceil: rounded up.")
trunc = _rounding("trunc", "trunc: rounded towards zero.")
round = _rounding("rint", "round: rounded to the nearest integer, ties to even.")


def _test(kind: str, fold: Callable[[Any], bool], doc: str) -> Callable[[Any], Any]:
    @api
    def function(x: Any, /) -> Any:
        if cv.is_number(x):
            return fold(x)
        t = cv.as_tile(x)
        return _unary(kind, cv.cast(t, cv.INT32) if t.dtype is cv.BOOL else t, result=cv.BOOL)

    return _named(function, doc)


isnan = _test("isnan", cmath.isnan, "isnan: whether x is not a number.")
isinf = _test("isinf", cmath.isinf, "isinf: whether x is infinite.")
isfinite = _test("isfinite", cmath.isfinite, "isfinite: whether x is neither infinite nor NaN.")


@api
def signbit(x: Any, /) -> Any:
    """Whether the sign bit of a float is set."""
    return _unary("signbit", _float(x, "signbit"), result=cv.BOOL)


@api
def sign(x: Any, /) -> Any:
    """-1, 0 or 1; a NaN stays one."""
    t = cv.as_tile(x)
    return _unary("sign", cv.cast(t, cv.INT32) if t.dtype is cv.BOOL else t)


def _float_binary(kind: str, doc: str) -> Callable[[Any, Any], Any]:
    @api
    def function(x: Any, y: Any, /) -> Any:
        a, b = (_float(t, kind) for t in cv.promote([x, y], kind))
        return _emit_binary(kind, a, b)

    return _named(function, doc)


atan2 = _float_binary("atan2", "atan2: the angle of the point (y, x), with atan2's quadrant rules.")
hypot = _float_binary("hypot", "hypot: sqrt(x*x + y*y) without overflow.")
logaddexp = _float_binary("logaddexp", "logaddexp: log(exp(x) + exp(y)).")
copysign = _float_binary("copysign", "copysign: the magnitude of x with the sign of y.")
nextafter = _float_binary("nextafter", "nextafter: the next float after x towards y.")


# -- complex -------------------------------------------------------------------------------------------------------
def _part(kind: str, doc: str) -> Callable[[Any], Any]:
    @api
    def function(x: Any, /) -> Any:
        t = cv.as_tile(x)
        if t.dtype.kind != "c":
            raise TileTypeError(f"{kind} takes complex numbers, got {cv.describe(t)}")
        part = cv.FLOAT32 if t.dtype is cv.COMPLEX64 else cv.FLOAT64
        return _unary(kind, t, result=t.dtype if kind == "conj" else part)

    return _named(function, doc)


real = _part("real", "real: the real part.")
imag = _part("imag", "imag: the imaginary part.")
conj = _part("conj", "conj: the complex conjugate.")


# -- selection and casts -------------------------------------------------------------------------------------------
@api
def where(cond: Any, x: Any, y: Any, /) -> Tile:
    """`x` where `cond` is true, else `y`; all three broadcast."""
    c = cv.cast(cv.as_tile(cond, "the condition of where"), cv.BOOL)
    a, b = cv.promote([x, y], "where")
    shape = cv.broadcast_shapes([c.shape, a.shape, b.shape], "where")
    out = Tile(a.dtype, shape)
    args = (cv.broadcast(c, shape) if c.shape else c, cv.broadcast(a, shape), cv.broadcast(b, shape))
    recorder().emit("select", args, [out])
    return out


@api
def astype(x: Any, dtype: Any, /, *, rounding_mode: RoundingMode | None = None) -> Tile:
    """`x` as another dtype. Float to integer saturates (NaN is 0), integers wrap, to bool is `!= 0`."""
    _approx(rounding_mode, "astype")
    to = cv.require_dtype(dtype)
    if cv.is_number(x):
        return cv.constant(x, to, exact=False)
    return cv.strengthen(cv.cast(cv.as_tile(x), to))


@api
def bitcast(x: Any, /, dtype: Any) -> Tile:
    """The same bits as another dtype of the same size."""
    to, t = cv.require_dtype(dtype), cv.as_tile(x)
    if t.dtype.size != to.size or "b" in (t.dtype.kind, to.kind):
        raise TileTypeError(f"bitcast from {t.dtype.name} to {to.name}: the sizes must be equal, and neither bool")
    if t.dtype is to:
        return cv.strengthen(t)
    out = Tile(to, t.shape)
    recorder().emit("bitcast", (t, to), [out])
    return out
