"""Printing, assertions and what happens at compile time only."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

import math
import re
from typing import Any

from . import _convert as cv
from . import _elementwise as ew
from . import _shapes as sh
from ._api import api
from ._errors import TileStaticAssertionError, TileTypeError, TileValueError
from ._record import recorder
from ._values import Array, Tile

_MAX_PRINTED = 1024


# -- printing ------------------------------------------------------------------------------------------------------
class Formatted:
    """A value of an f-string with its format, known at run time only."""

    def __init__(self, value: Any, spec: str) -> None:
        self.value = value
        self.spec = spec


class FString:
    """An f-string with values that only the program knows: text and Formatted parts."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts


_SPEC = re.compile(r"^(?P<flags>[-+ #0]*)(?P<width>\d*)(?P<precision>(\.\d+)?)(?P<type>[diouxXeEfFgGb]?)$")


def _conversion(t: Tile, spec: str) -> tuple[str, Tile]:
    """The C conversion of a scalar under a Python format, and the scalar as that conversion takes it."""
    if spec[:1] in ("<", ">"):  # Python's alignments: right is C's default, left its flag -
        spec = spec[1:] if spec[0] == ">" else "-" + spec[1:]
    match = _SPEC.match(spec)
    if not match or match["type"] == "b":
        raise TileValueError(
            f"the format {spec!r} is not supported; use [flags][width][.precision] and one of dxXoeEfFgG"
        )
    kind = match["type"]
    body = match["flags"] + match["width"] + match["precision"]
    if t.dtype.kind == "f":
        return f"%{body}{kind or 'f'}", t
    if kind and kind in "eEfFgG":
        return f"%{body}{kind}", cv.cast(t, cv.FLOAT64)
    if kind and kind in "xXou":
        return f"%{body}{kind}", t
    return f"%{body}{'u' if t.dtype.kind == 'u' else 'd'}", cv.cast(t, cv.INT32) if t.dtype is cv.BOOL else t


def _add_tile(t: Tile, spec: str, out: list[str], values: list[Tile]) -> None:
    """Appends the format of a tile, nested brackets as NumPy's, and its elements."""
    if t.dtype.kind == "c":
        raise TileTypeError("print takes real numbers; print ct.real(x) and ct.imag(x)")
    if not t.shape:
        text, value = _conversion(t, spec)
        out.append(text)
        values.append(value)
        return
    if math.prod(t.shape) > _MAX_PRINTED:
        raise TileValueError(f"print of {cv.describe(t)}: at most {_MAX_PRINTED} elements; extract a part, or a sum")
    out.append("[")
    for i in range(t.shape[0]):
        if i:
            out.append(", ")
        part = sh.extract(t, (i, *[0] * (t.ndim - 1)), (1, *t.shape[1:]))
        _add_tile(cv.reshape(part, t.shape[1:]), spec, out, values)
    out.append("]")


def _add(value: Any, spec: str, out: list[str], values: list[Tile]) -> None:
    if isinstance(value, FString):
        for part in value.parts:
            _add(part.value if isinstance(part, Formatted) else part, getattr(part, "spec", ""), out, values)
    elif isinstance(value, Tile):
        _add_tile(value, spec, out, values)
    elif isinstance(value, tuple):
        out.append("(")
        for i, v in enumerate(value):
            out.append(", " if i else "")
            _add(v, spec, out, values)
        out.append(",)" if len(value) == 1 else ")")
    elif isinstance(value, Array):
        raise TileTypeError("print takes tiles, not arrays", hint="load a tile first")
    else:
        out.append((format(value, spec) if spec else str(value)).replace("%", "%%"))


@api
def print(*args: Any, sep: str = " ", end: str = "\n") -> None:
    """Prints values as Python's print does: text, f-strings, scalars and tiles of up to 1024 elements."""
    out: list[str] = []
    values: list[Tile] = []
    for i, a in enumerate(args):
        out.append(sep.replace("%", "%%") if i else "")
        _add(a, "", out, values)
    recorder().emit("print", ("".join(out) + end.replace("%", "%%"), values), [])


@api
def printf(format: str, *args: Any) -> None:
    """Prints scalars and tiles by a C format; a tile's elements share its conversion."""
    if not isinstance(format, str):
        raise TileTypeError(f"the format of printf must be a string, got {cv.describe(format)}")
    pieces = re.split(r"(%%|%[-+ #0]*\d*(?:\.\d+)?(?:hh|h|ll|l|j|z|t)?[a-zA-Z])", format)
    out: list[str] = []
    values: list[Tile] = []
    rest = list(args)
    for piece in pieces:
        if not piece.startswith("%") or piece == "%%":
            out.append(piece)
            continue
        if not rest:
            raise TileTypeError(f"printf: {piece!r} has no value; {len(args)} were given")
        spec = re.sub(r"hh|h|ll|l|j|z|t", "", piece[1:-1]) + piece[-1]
        _add(
            cv.as_tile(rest.pop(0), "a value of printf"),
            "" if spec in ("d", "i", "u") else spec.replace("i", "d"),
            out,
            values,
        )
    if rest:
        raise TileTypeError(f"printf: {len(args)} values for {len(args) - len(rest)} conversions in {format!r}")
    recorder().emit("print", ("".join(out), values), [])


@api
def assert_(cond: Any, /, message: Any = None) -> None:
    """Fails the launch where an element of `cond` is false. The error surfaces where the launch is waited for."""
    if isinstance(message, FString):
        raise TileTypeError("the message of assert_ must be known at compile time", hint="print the values instead")
    text = "assertion failed" if message is None else str(message)
    if cv.is_number(cond):
        if not cond:
            recorder().emit("assert_", (cv.constant(False, cv.BOOL), text), [])
        return
    recorder().emit("assert_", (cv.cast(cv.as_tile(cond, "the condition of assert_"), cv.BOOL), text), [])


# -- compile time --------------------------------------------------------------------------------------------------
# static_eval, static_assert, static_iter and static_exception are read by the walker: their arguments are evaluated
# as Python, not as kernel code. The functions here say so where they are called elsewhere.
def static_eval(expr: Any, /) -> Any:
    """The value of a Python expression, evaluated at compile time with full Python."""
    return expr


def static_assert(condition: Any, message: Any = None, /) -> None:
    """Fails the compilation where a compile-time condition is false."""
    if not condition:
        raise TileStaticAssertionError("static assertion failed" + (f": {message}" if message is not None else ""))


def static_iter(iterable: Any, /) -> Any:
    """`for x in ct.static_iter(...)`: the loop is unrolled at compile time."""
    return iterable


def static_range(*args: int) -> range:
    """`for i in ct.static_range(n)`: unrolled, with `i` a compile-time integer."""
    return range(*args)


def static_exception(exc: Any, /) -> Any:
    """`raise ct.static_exception(error)`: fails the compilation with that error."""
    return exc


@api
def ensure_constant(value: Any, /) -> Any:
    """`value`, which must be known at compile time."""
    if isinstance(value, Tile) and value.const is None:
        raise TileStaticAssertionError(f"ensure_constant got {cv.describe(value)}, which is known at run time only")
    return value


@api
def assume_divisible_by(x: Any, divisor: int, /) -> Any:
    """`x`; a promise that it is a multiple of `divisor`, which Epitaxy does not need."""
    if not isinstance(divisor, int) or isinstance(divisor, bool) or divisor < 1:
        raise TileValueError(f"divisor must be a positive compile-time integer, got {divisor!r}")
    return x


def truth(x: Any, what: str) -> Any:
    """A condition as a Python bool where it is known, else as a bool scalar."""
    if not isinstance(x, Tile):
        if isinstance(x, Array | FString):
            raise TileTypeError(f"{what} must be a bool, got {cv.describe(x)}")
        return bool(x)
    if x.const is not None:
        return bool(x.const)
    if math.prod(x.shape) != 1:
        raise TileTypeError(
            f"{what} must be a scalar, got {cv.describe(x)}",
            hint="choose by element with ct.where, or fold with ct.any(x) or ct.all(x)",
        )
    return ew.astype(cv.reshape(x, ()), cv.BOOL)
