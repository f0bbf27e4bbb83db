"""Creation of arrays, and the functions that change shape without arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as _np

from epitaxy import _engine
from epitaxy._device import as_device
from epitaxy.numpy import _exec
from epitaxy.numpy._array import ndarray
from epitaxy.numpy._elementwise import evaluate
from epitaxy.numpy._emit import dtype_code
from epitaxy.numpy._expr import Const, Leaf, Op
from epitaxy.numpy._layout import Shape, broadcast, broadcast_strides, normalise_axis, size_of
from epitaxy.numpy._storage import Storage


def _shape(shape: int | Sequence[int]) -> Shape:
    extents = tuple(int(e) for e in shape) if isinstance(shape, (tuple, list)) else (int(shape),)  # type: ignore[arg-type]
    if any(e < 0 for e in extents):
        raise ValueError(f"negative dimensions are not allowed; got shape {extents}")
    return extents


def array(value: Any, dtype: Any = None, *, device: Any = None, copy: bool = True) -> ndarray:
    """An array from nested lists, numbers, a NumPy array, or anything with an array interface or DLPack.

    Always a copy of host data, so that later changes of the source do not show.

    >>> array([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if isinstance(value, ndarray):
        target = value.device if device is None else as_device(device)
        moved = value.to(target)
        if dtype is not None and _np.dtype(dtype) != moved.dtype:
            return moved.astype(dtype)
        return moved.copy() if copy and moved is value else moved
    host = _np.asarray(value, dtype=dtype)
    dtype_code(host.dtype)
    target = as_device(device)
    return ndarray(_exec.from_host(host.astype(host.dtype.newbyteorder("="), copy=False), target), target)


def asarray(value: Any, dtype: Any = None, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """As `array`, but an array of the right dtype and device is given back as it is."""
    return array(value, dtype, device=device, copy=bool(copy))


_PLACES = {1: "cpu", 2: "cuda"}
_DTYPES = {code: name for code, name, *_ in _engine.DTYPES}


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> ndarray:
    """An array of the memory of another library's array: no copy where it is on the device asked for.

    Read-only sources give read-only arrays. Work that the source has in flight is waited for by its own rules.

    >>> import numpy
    >>> source = numpy.arange(3)
    >>> shared = from_dlpack(source)
    >>> source[0] = 7
    >>> shared.tolist()
    [7, 1, 2]
    """
    arguments = _engine.extract_arguments((x,), ["x"])
    kind, code, *rest = arguments.describe(0)
    if kind != "array":
        raise TypeError(f"from_dlpack: got {type(x).__name__}; accepted are arrays with __dlpack__")
    address, shape, strides, readonly = rest
    place, ordinal = arguments.place
    home = as_device("cpu" if _PLACES[place] == "cpu" else f"cuda:{ordinal}")
    name = _DTYPES[code]
    dtype = _bfloat16() if name == "bfloat16" else _np.dtype(name)
    storage = Storage(home, address, size_of(tuple(shape)) * dtype.itemsize, (arguments, x), bool(readonly))
    shared = ndarray(Leaf(storage, dtype, tuple(shape), tuple(strides), 0), home)
    moved = shared if device is None else shared.to(device)
    if copy is False and moved is not shared:
        raise ValueError(f"from_dlpack: {home.label} to {moved.device.label} takes a copy, and copy is False")
    return moved.copy() if copy and moved is shared else moved


def _bfloat16() -> _np.dtype[Any]:
    import ml_dtypes

    found: _np.dtype[Any] = _np.dtype(ml_dtypes.bfloat16)
    return found


def full(shape: int | Sequence[int], fill_value: complex, dtype: Any = None, *, device: Any = None) -> ndarray:
    """An array of one value.

    >>> full((2,), 7).tolist()
    [7, 7]
    """
    extents = _shape(shape)
    kind = _np.dtype(dtype) if dtype is not None else _np.asarray(fill_value).dtype
    target = as_device(device)
    out = _exec.empty_leaf(target, kind, extents)
    evaluate(Const(fill_value, kind), out)
    return ndarray(out, target)


def zeros(shape: int | Sequence[int], dtype: Any = float, *, device: Any = None) -> ndarray:
    """An array of zeros."""
    return full(shape, 0, dtype, device=device)


def ones(shape: int | Sequence[int], dtype: Any = float, *, device: Any = None) -> ndarray:
    """An array of ones."""
    return full(shape, 1, dtype, device=device)


def empty(shape: int | Sequence[int], dtype: Any = float, *, device: Any = None) -> ndarray:
    """An array whose values are not set."""
    target = as_device(device)
    kind = _np.dtype(dtype)
    dtype_code(kind)
    return ndarray(_exec.empty_leaf(target, kind, _shape(shape)), target)


def zeros_like(a: ndarray, dtype: Any = None) -> ndarray:
    """Zeros of another array's shape, dtype and device."""
    return full(a.shape, 0, dtype or a.dtype, device=a.device)


def ones_like(a: ndarray, dtype: Any = None) -> ndarray:
    """Ones of another array's shape, dtype and device."""
    return full(a.shape, 1, dtype or a.dtype, device=a.device)


def empty_like(a: ndarray, dtype: Any = None) -> ndarray:
    """An unset array of another array's shape, dtype and device."""
    return empty(a.shape, dtype or a.dtype, device=a.device)


def full_like(a: ndarray, fill_value: complex, dtype: Any = None) -> ndarray:
    """One value in another array's shape, dtype and device."""
    return full(a.shape, fill_value, dtype or a.dtype, device=a.device)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, *, device: Any = None) -> ndarray:
    """Evenly spaced values in [start, stop).

    >>> arange(3).tolist()
    [0, 1, 2]
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError("arange: step must not be 0")
    kind = _np.dtype(dtype) if dtype is not None else _np.arange(start * 0, stop * 0, step).dtype
    length = max(0, math.ceil((stop - start) / step))
    target = as_device(device)
    if kind.kind not in "iuf" or length < 64:
        return array(_np.arange(start, stop, step, dtype=kind), device=target)
    index = Op("index", (), _np.dtype("int64"), (length,))
    out = _exec.empty_leaf(target, kind, (length,))
    from epitaxy.numpy._ufunc import FUNCTIONS

    # NumPy computes start + i * delta in the dtype itself, delta being the difference of the first two values
    first, delta = kind.type(start), kind.type(kind.type(start + step) - kind.type(start))
    steps = ndarray(_exec.materialise(index, target), target).astype(kind)
    evaluate(FUNCTIONS["add"](FUNCTIONS["multiply"](steps, delta), first)._node, out)
    return ndarray(out, target)


def linspace(
    start: float, stop: float, num: int = 50, endpoint: bool = True, dtype: Any = None, *, device: Any = None
) -> ndarray:
    """`num` values from start to stop."""
    return array(_np.linspace(start, stop, num, endpoint, dtype=dtype), device=device)


def eye(n: int, m: int | None = None, k: int = 0, dtype: Any = float, *, device: Any = None) -> ndarray:
    """Ones on the k-th diagonal."""
    return array(_np.eye(n, m, k, dtype), device=device)


# -- shape ---------------------------------------------------------------------------------------------------------
def reshape(a: ndarray, shape: int | Sequence[int]) -> ndarray:
    """See `ndarray.reshape`."""
    return a.reshape(shape if isinstance(shape, (tuple, list)) else (shape,))


def transpose(a: ndarray, axes: Sequence[int] | None = None) -> ndarray:
    """See `ndarray.transpose`."""
    return a.transpose(*(axes or ()))


permute_dims = transpose


def expand_dims(a: ndarray, axis: int) -> ndarray:
    """A view with a new axis of extent 1 at `axis`."""
    at = normalise_axis(axis, a.ndim + 1)
    return a[(slice(None),) * at + (None,)]


def squeeze(a: ndarray, axis: int | tuple[int, ...] | None = None) -> ndarray:
    """See `ndarray.squeeze`."""
    return a.squeeze(axis)


def broadcast_to(a: ndarray, shape: Sequence[int]) -> ndarray:
    """A read-only view repeated to `shape`."""
    wanted = tuple(shape)
    if broadcast(a.shape, wanted) != wanted:
        raise ValueError(f"cannot broadcast array of shape {a.shape} to shape {wanted}")
    leaf = a._leaf()
    repeated = leaf.view(wanted, broadcast_strides(leaf.shape, leaf.strides, wanted), leaf.offset)
    repeated.readonly = True
    return ndarray(repeated, a.device)


def flip(a: ndarray, axis: int | None = None) -> ndarray:
    """A view with the order along an axis (or all axes) reversed."""
    axes = range(a.ndim) if axis is None else [normalise_axis(axis, a.ndim)]
    return a[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(a.ndim))]


def concatenate(arrays: Sequence[ndarray], axis: int = 0) -> ndarray:
    """Arrays one after another along an axis."""
    if not arrays:
        raise ValueError("need at least one array to concatenate")
    first = arrays[0]
    at = normalise_axis(axis, first.ndim)
    for other in arrays[1:]:
        same = other.ndim == first.ndim and all(
            x == y for i, (x, y) in enumerate(zip(other.shape, first.shape, strict=True)) if i != at
        )
        if not same:
            raise ValueError(f"concatenate: shapes {first.shape} and {other.shape} differ outside of axis {at}")
    total = sum(a.shape[at] for a in arrays)
    dtype = _np.result_type(*(a.dtype for a in arrays))
    out = empty((*first.shape[:at], total, *first.shape[at + 1 :]), dtype, device=first.device)
    start = 0
    for part in arrays:
        stop = start + part.shape[at]
        out[(slice(None),) * at + (slice(start, stop),)] = part
        start = stop
    return out


def stack(arrays: Sequence[ndarray], axis: int = 0) -> ndarray:
    """Arrays of one shape along a new axis."""
    return concatenate([expand_dims(a, axis) for a in arrays], axis)


def asnumpy(a: Any) -> _np.ndarray[Any, Any]:
    """The values as a NumPy array."""
    return a.numpy() if isinstance(a, ndarray) else _np.asarray(a)
