"""Elementwise functions and the array's operators. Result dtypes are NumPy's own answers (`ufunc.resolve_dtypes`)."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as _np

from epitaxy._device import current_device
from epitaxy.numpy import _exec
from epitaxy.numpy._array import ndarray
from epitaxy.numpy._emit import REAL_ONLY, dtype_code
from epitaxy.numpy._expr import Const, Node, Op, cast
from epitaxy.numpy._layout import broadcast

_PYTHON_SCALARS = (bool, int, float, complex)


def as_node(value: Any, device: Any, dtype: _np.dtype[Any] | None = None) -> Node:
    """An operand: an array's node, a scalar (of `dtype` where it is a bare number), or a copy of a host array."""
    if isinstance(value, ndarray):
        if value._device is not device:
            raise ValueError(
                f"operands are on different devices: {device.label} and {value.device.label}; move one with .to(...)"
            )
        return value._node
    if type(value) in _PYTHON_SCALARS:
        return Const(value, dtype or _np.result_type(value))
    array = _np.asarray(value)
    dtype_code(array.dtype)
    if array.ndim == 0:
        return Const(array.item(), array.dtype)
    return _exec.from_host(array.astype(array.dtype.newbyteorder("="), copy=False), device)


def device_of(values: tuple[Any, ...]) -> Any:
    """The device of the first array among the operands, else the current one."""
    for value in values:
        if isinstance(value, ndarray):
            return value._device
    return current_device()


Loop = tuple[_np.dtype[Any], ...]


@functools.cache
def _loop(name: str, signature: tuple[Any, ...]) -> Loop:
    """The dtypes of operands and result; TypeError in NumPy's words where there is no such loop."""
    ufunc = getattr(_np, name)
    loop = tuple(ufunc.resolve_dtypes((*signature, None)))
    if loop[0].kind == "c" and name in REAL_ONLY:
        raise NotImplementedError(f"{name} of complex arrays; convert with .numpy() and use numpy.{name}")
    return loop


def _operand_type(value: Any) -> Any:
    """What NumPy's promotion sees of an operand: a dtype, or a Python type for bare numbers."""
    if isinstance(value, ndarray):
        return value._node.dtype
    kind = type(value)
    if kind is bool:
        return _BOOL
    if kind in (int, float, complex):
        return kind
    return _np.asarray(value).dtype


def _check_fits(value: Any, dtype: _np.dtype[Any]) -> None:
    if type(value) is int and dtype.kind in "iu":
        facts = _np.iinfo(dtype)
        if not facts.min <= value <= facts.max:
            raise OverflowError(f"Python integer {value} out of bounds for {dtype}")


def _apply(name: str, values: tuple[Any, ...], out: ndarray | None = None, dtype: Any = None) -> ndarray:
    device = device_of(values)
    if dtype is not None:
        loop = _loop(name, (_np.dtype(dtype),) * len(values))
    else:
        loop = _loop(name, tuple([_operand_type(v) for v in values]))
    if name in _ORDERS:
        decided = _compare_integers(name, values, loop, device)
        if decided is not None:
            return decided if out is None else _into(out, decided)
    for value, operand in zip(values, loop, strict=False):
        if type(value) is int:
            _check_fits(value, operand)
    nodes = tuple([cast(as_node(v, device, d), d) for v, d in zip(values, loop, strict=False)])
    made = ndarray(Op(name, nodes, loop[-1], broadcast(*[n.shape for n in nodes])), device)
    return made if out is None else _into(out, made)


def _record(name: str, x: ndarray, y: Any) -> ndarray | None:
    """The common cases in little time: an array with another like it, or with a Python number of its kind."""
    left = x._node
    kind = left.dtype
    if type(y) is ndarray:
        right = y._node
        if x._device is not y._device or left.shape != right.shape or kind != right.dtype:
            return None
        first, second, result = _loop(name, (kind, kind))
    elif type(y) in (float, int):
        first, second, result = _loop(name, (kind, type(y)))
        if second.kind != "f":
            return None
        right = Const(y, second)
    else:
        return None
    if first != kind or second != kind:
        return None
    return ndarray(Op(name, (left, right), result, left.shape), x._device)


_BOOL = _np.dtype("bool")
_ORDERS = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
_MIRRORED = {"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}


def _compare_integers(name: str, values: tuple[Any, ...], loop: Loop, device: Any) -> ndarray | None:
    """Comparisons of integers without a common type: uint64 with signed, and numbers beyond the other's range."""
    for value, operand, other in zip(values, loop, reversed(values), strict=False):
        if type(value) is int and operand.kind in "iu" and isinstance(other, ndarray):
            facts = _np.iinfo(operand)
            if not facts.min <= value <= facts.max:
                truth = _ORDERS[name](*(value if v is value else int(facts.max) // 2 for v in values))
                shape = other.shape
                return ndarray(Op("positive", (Const(truth, _BOOL),), _BOOL, shape), device)
    if loop[0] == loop[1] or {loop[0].kind, loop[1].kind} != {"i", "u"}:
        return None
    left, right = (ndarray(cast(as_node(v, device, d), d), device) for v, d in zip(values, loop, strict=False))
    if left.dtype.kind == "u":
        left, right, name = right, left, _MIRRORED.get(name, name)
    same_sign = _apply(name, (left.astype(right.dtype), right))
    if name in ("equal", "greater", "greater_equal"):
        return _apply("logical_and", (_apply("greater_equal", (left, 0)), same_sign))
    return _apply("logical_or", (_apply("less", (left, 0)), same_sign))


def _into(out: ndarray, value: ndarray) -> ndarray:
    if not isinstance(out, ndarray):
        raise TypeError(f"out: got {type(out).__name__}; accepted is an epitaxy array")
    if value.shape != out.shape:
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast shape {value.shape}"
        )
    if not _np.can_cast(value.dtype, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast output from {value.dtype} to {out.dtype} with casting rule 'same_kind'")
    out._assign(out._leaf(), value)
    return out


def _ufunc(name: str, arity: int) -> Callable[..., ndarray]:
    reference = getattr(_np, name)

    if arity == 1:

        def unary(x: Any, /, out: ndarray | None = None, *, dtype: Any = None) -> ndarray:
            if type(x) is ndarray and out is None and dtype is None:
                node = x._node
                kind, result = _loop(name, (node.dtype,))
                if kind == node.dtype:
                    return ndarray(Op(name, (node,), result, node.shape), x._device)
            return _apply(name, (x,), out, dtype)

        function: Callable[..., ndarray] = unary
    else:

        def binary(x1: Any, x2: Any, /, out: ndarray | None = None, *, dtype: Any = None) -> ndarray:
            if type(x1) is ndarray and out is None and dtype is None:
                made = _record(name, x1, x2)
                if made is not None:
                    return made
            return _apply(name, (x1, x2), out, dtype)

        function = binary
    function.__name__ = function.__qualname__ = name
    summary = next((line for line in (reference.__doc__ or "").splitlines()[1:] if line.strip()), name)
    function.__doc__ = f"{summary.strip()} Elementwise, recorded; dtypes and broadcasting as in NumPy."
    return function


UNARY_NAMES = (
    "negative positive absolute invert logical_not exp exp2 expm1 log log2 log10 log1p sqrt square reciprocal sin cos "
    "tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh floor ceil trunc rint sign isnan isinf isfinite "
    "signbit conjugate"
).split()
BINARY_NAMES = (
    "add subtract multiply divide floor_divide remainder fmod power maximum minimum fmax fmin arctan2 hypot logaddexp "
    "copysign nextafter bitwise_and bitwise_or bitwise_xor left_shift right_shift logical_and logical_or logical_xor "
    "equal not_equal less less_equal greater greater_equal"
).split()
FUNCTIONS: dict[str, Callable[..., ndarray]] = {
    **{name: _ufunc(name, 1) for name in UNARY_NAMES},
    **{name: _ufunc(name, 2) for name in BINARY_NAMES},
}
_ALIASES = {
    "abs": "absolute",
    "bitwise_invert": "invert",
    "bitwise_not": "invert",
    "conj": "conjugate",
    "mod": "remainder",
    "true_divide": "divide",
    "pow": "power",
    "atan2": "arctan2",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
}
FUNCTIONS.update({alias: FUNCTIONS[name] for alias, name in _ALIASES.items()})


def where(condition: Any, x: Any, y: Any) -> ndarray:
    """`x` where the condition holds, `y` elsewhere; the three broadcast.

    >>> from epitaxy.numpy import array
    >>> where(array([True, False]), 1, 2).tolist()
    [1, 2]
    """
    device = device_of((condition, x, y))
    dtype = _np.result_type(*(v if isinstance(v, _PYTHON_SCALARS) else _operand_type(v) for v in (x, y)))
    mask = cast(as_node(condition, device), _np.dtype("bool"))
    nodes = (mask, cast(as_node(x, device, dtype), dtype), cast(as_node(y, device, dtype), dtype))
    return ndarray(Op("where", nodes, dtype, broadcast(*(n.shape for n in nodes))), device)


def clip(a: Any, a_min: Any = None, a_max: Any = None) -> ndarray:
    """Values limited to [a_min, a_max]; None leaves a side open. NaN limits give NaN, as in NumPy."""
    result = a if isinstance(a, ndarray) else FUNCTIONS["positive"](a)
    if a_min is not None:
        result = FUNCTIONS["maximum"](result, a_min)
    return result if a_max is None else FUNCTIONS["minimum"](result, a_max)


def real(a: ndarray) -> ndarray:
    """The real part."""
    return _part("real", a)


def imag(a: ndarray) -> ndarray:
    """The imaginary part (zero for real arrays)."""
    return _part("imag", a)


def _part(name: str, a: ndarray) -> ndarray:
    dtype = _np.empty(0, a.dtype).real.dtype
    return ndarray(Op(name, (a._node,), dtype, a.shape), a.device)


def round(a: Any, decimals: int = 0) -> ndarray:
    """To the given number of decimals, ties to even (`rint` of the scaled value, as NumPy does)."""
    if decimals == 0:
        return FUNCTIONS["rint"](a) if a.dtype.kind in "fc" else a
    scale = 10.0 ** abs(decimals)
    if decimals > 0:
        return FUNCTIONS["divide"](FUNCTIONS["rint"](FUNCTIONS["multiply"](a, scale)), scale)
    return FUNCTIONS["multiply"](FUNCTIONS["rint"](FUNCTIONS["divide"](a, scale)), scale)


# -- operators -----------------------------------------------------------------------------------------------------
def _power(x: Any, y: Any) -> ndarray:
    if isinstance(y, int) and not isinstance(y, bool) and y == 2 and isinstance(x, ndarray):
        return FUNCTIONS["square"](x)
    if isinstance(y, float) and y == 0.5 and isinstance(x, ndarray) and x.dtype.kind == "f":
        return FUNCTIONS["sqrt"](x)
    if isinstance(y, int) and y < 0 and isinstance(x, ndarray) and x.dtype.kind in "iu":
        raise ValueError("Integers to negative integer powers are not allowed.")
    return FUNCTIONS["power"](x, y)


def _operand(value: Any) -> bool:
    return isinstance(value, (ndarray, *_PYTHON_SCALARS, _np.generic, _np.ndarray))


def _forward(function: Callable[..., ndarray]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(self, other) if _operand(other) else NotImplemented


def _reflected(function: Callable[..., ndarray]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(other, self) if _operand(other) else NotImplemented


def _in_place(function: Callable[..., ndarray]) -> Callable[[Any, Any], Any]:
    return lambda self, other: _into(self, function(self, other)) if _operand(other) else NotImplemented


_OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def install_operators() -> None:
    """Gives the array its arithmetic operators and comparison."""
    binary = {**{op: FUNCTIONS[name] for op, name in _OPERATORS.items()}, "pow": _power}
    for op, function in binary.items():
        setattr(ndarray, f"__{op}__", _forward(function))
        setattr(ndarray, f"__r{op}__", _reflected(function))
        setattr(ndarray, f"__i{op}__", _in_place(function))
    for op, name in _COMPARISONS.items():
        setattr(ndarray, f"__{op}__", _forward(FUNCTIONS[name]))
    for op, name in {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}.items():
        setattr(ndarray, f"__{op}__", FUNCTIONS[name])
    ndarray.clip = clip  # type: ignore[attr-defined]
    ndarray.round = round  # type: ignore[attr-defined]
    ndarray.conj = FUNCTIONS["conjugate"]  # type: ignore[attr-defined]
    ndarray.real = property(real)  # type: ignore[attr-defined]
    ndarray.imag = property(imag)  # type: ignore[attr-defined]


install_operators()
