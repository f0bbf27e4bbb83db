"""The reductions users call: axes, keepdims, dtypes and empty input by NumPy's rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as _np

from epitaxy import _trace
from epitaxy.numpy import _exec
from epitaxy.numpy._array import ndarray
from epitaxy.numpy._create import asarray
from epitaxy.numpy._elementwise import evaluate
from epitaxy.numpy._expr import Const, Leaf, Op, cast
from epitaxy.numpy._layout import normalise_axes, normalise_axis, size_of
from epitaxy.numpy._reduction import fold_of, reduce_axes

Axis = int | Sequence[int] | None
_HALF = ("float16", "bfloat16")


def _accumulator(name: str, given: _np.dtype[Any], dtype: Any) -> tuple[_np.dtype[Any], _np.dtype[Any]]:
    """(dtype of the fold, dtype of the result)"""
    if name in ("any", "all"):
        return _np.dtype("bool"), _np.dtype("bool")
    result = given
    if dtype is not None:
        result = _np.dtype(dtype)
    elif name in ("sum", "prod") and given.kind in "biu":
        result = _np.dtype("uint64" if given.kind == "u" else "int64")
    elif name == "mean" and given.kind in "biu":
        result = _np.dtype("float64")
    fold = _np.dtype("float32") if name in ("sum", "prod", "mean") and result.name in _HALF else result
    return fold, result


def _reduce(name: str, a: Any, axis: Axis, dtype: Any, keepdims: bool, out: ndarray | None) -> ndarray:
    start = _trace.begin()
    x = asarray(a)
    axes = normalise_axes(axis, x.ndim)
    count = size_of(tuple(x.shape[i] for i in axes))
    fold_dtype, result_dtype = _accumulator(name, x.dtype, dtype)
    if count == 0 and name in ("min", "max"):
        raise ValueError(f"zero-size array to reduction operation {name}imum which has no identity")
    if fold_dtype.kind == "c" and name in ("min", "max"):
        raise NotImplementedError(f"{name} of complex arrays; convert with .numpy() first")
    fold = fold_of(name, fold_dtype)
    node = cast(x._node, fold_dtype)
    kept = tuple(e for i, e in enumerate(x.shape) if i not in axes)
    if x.size == 0 or not axes:
        result = node if count else Const(fold.identity, fold_dtype)
    else:
        result = reduce_axes(node, axes, fold, x.device)[0]
    if name == "mean":
        result = Op("divide", (result, Const(count, fold_dtype)), fold_dtype, result.shape)
    result = cast(result, result_dtype)
    if not isinstance(result, Leaf) or result.shape != kept:
        leaf = _exec.empty_leaf(x.device, result_dtype, kept)
        evaluate(result, leaf)
        result = leaf
    _trace.end(start, name)
    return _finish(ndarray(result, x.device), x.ndim, axes, keepdims, out)


def _finish(value: ndarray, rank: int, axes: tuple[int, ...], keepdims: bool, out: ndarray | None) -> ndarray:
    if keepdims:
        value = value[tuple(None if i in axes else slice(None) for i in range(rank))]
    if out is not None:
        out[...] = value
        return out
    return value


def sum(a: Any, axis: Axis = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Sum along axes. Integers are summed as int64 (uint64); float16 through float32.

    >>> from epitaxy.numpy import ones
    >>> sum(ones((2, 3)), axis=0).tolist()
    [2.0, 2.0, 2.0]
    """
    return _reduce("sum", a, axis, dtype, keepdims, out)


def prod(a: Any, axis: Axis = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Product along axes."""
    return _reduce("prod", a, axis, dtype, keepdims, out)


def mean(a: Any, axis: Axis = None, dtype: Any = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Arithmetic mean along axes; NaN of nothing."""
    return _reduce("mean", a, axis, dtype, keepdims, out)


def min(a: Any, axis: Axis = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Smallest value along axes; NaN where there is one. ValueError of nothing."""
    return _reduce("min", a, axis, None, keepdims, out)


def max(a: Any, axis: Axis = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Largest value along axes; NaN where there is one. ValueError of nothing."""
    return _reduce("max", a, axis, None, keepdims, out)


def any(a: Any, axis: Axis = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Whether some element is non-zero."""
    return _reduce("any", a, axis, None, keepdims, out)


def all(a: Any, axis: Axis = None, out: ndarray | None = None, keepdims: bool = False) -> ndarray:
    """Whether all elements are non-zero."""
    return _reduce("all", a, axis, None, keepdims, out)


def _arg(name: str, a: Any, axis: int | None, keepdims: bool) -> ndarray:
    x = asarray(a)
    if x.dtype.kind == "c":
        raise NotImplementedError(f"{name} of complex arrays; convert with .numpy() first")
    rank = x.ndim
    axes = tuple(range(rank)) if axis is None else (normalise_axis(axis, rank),)
    if size_of(tuple(x.shape[i] for i in axes)) == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    if x.size == 0:
        kept = tuple(e for i, e in enumerate(x.shape) if i not in axes)
        return _finish(
            ndarray(_exec.empty_leaf(x.device, _np.dtype("int64"), kept), x.device), rank, axes, keepdims, None
        )
    source = x.ravel() if axis is None else x
    chosen = (0,) if axis is None else axes
    leaf = reduce_axes(source._node, chosen, fold_of(name, x.dtype), x.device)[1]
    return _finish(ndarray(leaf, x.device), rank, axes, keepdims, None)


def argmin(a: Any, axis: int | None = None, *, keepdims: bool = False) -> ndarray:
    """Index of the smallest value: the first of equal ones, or the first NaN."""
    return _arg("argmin", a, axis, keepdims)


def argmax(a: Any, axis: int | None = None, *, keepdims: bool = False) -> ndarray:
    """Index of the largest value: the first of equal ones, or the first NaN.

    >>> from epitaxy.numpy import array
    >>> int(argmax(array([3, 9, 9])))
    1
    """
    return _arg("argmax", a, axis, keepdims)


def install_methods() -> None:
    """Gives the array its reductions as methods."""
    for function in (sum, prod, mean, min, max, any, all, argmin, argmax):
        setattr(ndarray, function.__name__, function)


install_methods()
