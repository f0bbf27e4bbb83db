"""From elementwise operations to Tile IR: one small function an operation, on the engine's builder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

from epitaxy import _engine

UNARY: dict[str, int] = _engine.UNARY
BINARY: dict[str, int] = _engine.BINARY
COMPARE: dict[str, int] = _engine.COMPARE
WRAP: int = _engine.CAST["wrap"]

_CODES = {name: code for code, name, *_ in _engine.DTYPES}


def dtype_code(dtype: _np.dtype[Any]) -> int:
    """The engine's code of a NumPy dtype; TypeError names the dtype and what is accepted."""
    try:
        return int(_CODES[dtype.name])
    except KeyError:
        accepted = ", ".join(_CODES)
        raise TypeError(f"dtype {dtype} is not supported; accepted are {accepted}") from None


def scalar(value: complex, dtype: _np.dtype[Any]) -> Any:
    """A builder constant."""
    code = dtype_code(dtype)
    if dtype.kind in "biu":
        number = int(value.real)
        return _engine.Scalar.of_int(code, number - (1 << 64) if number >= 1 << 63 else number)
    if dtype.kind == "c":
        return _engine.Scalar.of_complex(code, complex(value))
    return _engine.Scalar.of_float(code, float(value.real))


class Context:
    """One program being built: the builder and the tile shape of its values."""

    def __init__(self, builder: Any, shape: list[int]) -> None:
        self.b = builder
        self.shape = shape

    def full(self, value: complex, dtype: _np.dtype[Any]) -> Any:
        """A tile of one value."""
        return self.b.full(scalar(value, dtype), self.shape)

    def is_true(self, v: Any, dtype: _np.dtype[Any]) -> Any:
        """`v != 0` as bool."""
        return v if dtype.kind == "b" else self.b.cast(v, _CODES["bool"], WRAP)


Emitter = Callable[[Context, list[Any], _np.dtype[Any], Any], Any]
"""(context, operand values, the operands' dtype, extra) -> value"""


def _unary(kind: str) -> Emitter:
    return lambda c, v, d, e: c.b.unary(UNARY[kind], v[0], False)


def _binary(kind: str, for_bool: str | None = None) -> Emitter:
    def emit(c: Context, v: list[Any], d: _np.dtype[Any], e: Any) -> Any:
        chosen = for_bool if for_bool and d.kind == "b" else kind
        return c.b.binary(BINARY[chosen], v[0], v[1], False)

    return emit


def _compare(kind: str) -> Emitter:
    return lambda c, v, d, e: c.b.compare(COMPARE[kind], v[0], v[1])


def _logical(kind: str) -> Emitter:
    return lambda c, v, d, e: c.b.binary(BINARY[kind], c.is_true(v[0], d), c.is_true(v[1], d), False)


def _test(kind: str, otherwise: bool) -> Emitter:
    """isnan and its like, which on integers have one answer."""

    def emit(c: Context, v: list[Any], d: _np.dtype[Any], e: Any) -> Any:
        if d.kind in "biu":
            return c.full(otherwise, _np.dtype("bool"))
        return c.b.unary(UNARY[kind], v[0], False)

    return emit


def _identity_on_integers(kind: str) -> Emitter:
    return lambda c, v, d, e: v[0] if d.kind in "biu" else c.b.unary(UNARY[kind], v[0], False)


EMITTERS: dict[str, Emitter] = {
    "add": _binary("add", "bitor"),
    "subtract": _binary("sub"),
    "multiply": _binary("mul", "bitand"),
    "divide": _binary("div"),
    "floor_divide": _binary("floordiv"),
    "remainder": _binary("mod"),
    "fmod": _binary("rem"),
    "power": _binary("pow"),
    "maximum": _binary("maximum"),
    "minimum": _binary("minimum"),
    "fmax": _binary("fmax", "maximum"),
    "fmin": _binary("fmin", "minimum"),
    "arctan2": _binary("atan2"),
    "hypot": _binary("hypot"),
    "logaddexp": _binary("logaddexp"),
    "copysign": _binary("copysign"),
    "nextafter": _binary("nextafter"),
    "bitwise_and": _binary("bitand"),
    "bitwise_or": _binary("bitor"),
    "bitwise_xor": _binary("bitxor"),
    "left_shift": _binary("shl"),
    "right_shift": _binary("shr"),
    "logical_and": _logical("bitand"),
    "logical_or": _logical("bitor"),
    "logical_xor": _logical("bitxor"),
    "equal": _compare("eq"),
    "not_equal": _compare("ne"),
    "less": _compare("lt"),
    "less_equal": _compare("le"),
    "greater": _compare("gt"),
    "greater_equal": _compare("ge"),
    "negative": _unary("neg"),
    "positive": lambda c, v, d, e: v[0],
    "absolute": lambda c, v, d, e: v[0] if d.kind in "bu" else c.b.unary(UNARY["abs"], v[0], False),
    "invert": _unary("bitnot"),
    "logical_not": lambda c, v, d, e: c.b.unary(UNARY["bitnot"], c.is_true(v[0], d), False),
    "square": lambda c, v, d, e: c.b.binary(BINARY["bitand" if d.kind == "b" else "mul"], v[0], v[0], False),
    "reciprocal": lambda c, v, d, e: c.b.binary(
        BINARY["truncdiv" if d.kind in "iu" else "div"], c.full(1, d), v[0], False
    ),
    "floor": _identity_on_integers("floor"),
    "ceil": _identity_on_integers("ceil"),
    "trunc": _identity_on_integers("trunc"),
    "rint": _identity_on_integers("rint"),
    "sign": _unary("sign"),
    "isnan": _test("isnan", False),
    "isinf": _test("isinf", False),
    "isfinite": _test("isfinite", True),
    "signbit": _unary("signbit"),
    "conjugate": lambda c, v, d, e: c.b.unary(UNARY["conj"], v[0], False) if d.kind == "c" else v[0],
    "real": lambda c, v, d, e: c.b.unary(UNARY["real"], v[0], False) if d.kind == "c" else v[0],
    "imag": lambda c, v, d, e: c.b.unary(UNARY["imag"], v[0], False) if d.kind == "c" else c.full(0, d),
    "where": lambda c, v, d, e: c.b.select(v[0], v[1], v[2]),
    "fma": lambda c, v, d, e: c.b.fma(v[0], v[1], v[2]),
}
"""The arithmetic, comparison and rounding operations; math functions of one name follow."""

for _name, _kind in {
    "exp": "exp",
    "exp2": "exp2",
    "expm1": "expm1",
    "log": "log",
    "log2": "log2",
    "log10": "log10",
    "log1p": "log1p",
    "sqrt": "sqrt",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "erf": "erf",
}.items():
    EMITTERS[_name] = _unary(_kind)
REAL_ONLY = frozenset(
    "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "erf floor_divide remainder fmod power maximum minimum fmax fmin sign less less_equal greater greater_equal rint "
    "reciprocal".split()
)
"""Operations that the first form has for real numbers only."""


def emit_op(
    c: Context, name: str, values: list[Any], operand: _np.dtype[Any], result: _np.dtype[Any], extra: Any
) -> Any:
    """The value of one operation; `operand` is the dtype of its (last) operand."""
    if name == "cast":
        return c.b.cast(values[0], dtype_code(result), WRAP)
    return EMITTERS[name](c, values, operand, extra)
