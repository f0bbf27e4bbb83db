"""Matrix products through the device's library: OpenBLAS on the CPU, cuBLAS on a GPU."""

from __future__ import annotations

import functools
import importlib.util
import pathlib
from typing import Any

import numpy as _np

from epitaxy import _engine, _trace
from epitaxy.numpy import _exec
from epitaxy.numpy._array import ndarray
from epitaxy.numpy._create import asarray
from epitaxy.numpy._emit import dtype_code
from epitaxy.numpy._expr import Leaf
from epitaxy.numpy._layout import Shape, broadcast, broadcast_strides, row_major, size_of
from epitaxy.numpy._ufunc import FUNCTIONS

_CPU_KINDS = ("float32", "float64", "complex64", "complex128")


@functools.cache
def _find_library(kind: str) -> None:
    """Tells the engine where a package has put the library, if one has."""
    if kind == "cpu":
        import scipy_openblas64

        folder = pathlib.Path(scipy_openblas64.get_lib_dir())
        found = sorted(folder.glob("libscipy_openblas64_*.so"))
    else:
        spec = importlib.util.find_spec("nvidia")
        folders = [pathlib.Path(p) for p in (spec.submodule_search_locations if spec else None) or []]
        found = [f for folder in folders for f in sorted(folder.glob("*/lib/libcublas.so.*"))]
    if found:
        _engine.set_blas_library(kind, str(found[-1]))


def matmul(x1: Any, x2: Any) -> ndarray:
    """Matrix product with NumPy's rules for one axis and for stacks.

    float32, float64 and complex by the library (f32 is never tf32); float16 and bfloat16 on a GPU with float32 sums, on
    the CPU through float32. Integers and bool raise NotImplementedError.

    >>> matmul(asarray([[1.0, 2.0]]), asarray([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    start = _trace.begin()
    a, b = asarray(x1), asarray(x2)
    if a.device != b.device:
        raise ValueError(
            f"operands are on different devices: {a.device.label} and {b.device.label}; move one with .to(...)"
        )
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul: input operand does not have enough dimensions (it needs at least 1)")
    left = a[None] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    if left.shape[-1] != right.shape[-2]:
        raise ValueError(
            f"matmul: shapes {a.shape} and {b.shape}: inner extents {left.shape[-1]} and {right.shape[-2]} differ"
        )
    out = _stacked(left, right)
    _trace.end(start, "matmul")
    if a.ndim == 1:
        out = out.squeeze(out.ndim - 2)
    return out.squeeze(out.ndim - 1) if b.ndim == 1 else out


def dot(x1: Any, x2: Any) -> ndarray:
    """`matmul` for one and two axes."""
    a, b = asarray(x1), asarray(x2)
    if a.ndim > 2 or b.ndim > 2:
        raise NotImplementedError(f"dot of shapes {a.shape} and {b.shape}; use matmul")
    return FUNCTIONS["multiply"](a, b) if a.ndim == 0 or b.ndim == 0 else matmul(a, b)


def _stacked(a: ndarray, b: ndarray) -> ndarray:
    dtype = _np.result_type(a.dtype, b.dtype)
    if dtype.kind in "biu":
        raise NotImplementedError(f"matmul of {a.dtype} and {b.dtype}; accepted are floats and complex (use .astype)")
    host = _exec.is_host(a.device)
    if host and dtype.name not in _CPU_KINDS:
        return _stacked(a.astype("float32"), b.astype("float32")).astype(dtype)
    batch = broadcast(a.shape[:-2], b.shape[:-2])
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    shape = (*batch, m, n)
    if size_of(shape) == 0 or k == 0:
        from epitaxy.numpy._create import zeros

        return zeros(shape, dtype, device=a.device)
    left = _operand(a.astype(dtype, copy=False), batch)
    right = _operand(b.astype(dtype, copy=False), batch)
    out = _exec.empty_leaf(a.device, dtype, shape)
    _run(left, right, out, batch, (m, n, k))
    return ndarray(out, a.device)


def _operand(x: ndarray, batch: Shape) -> Leaf:
    """The matrices of a stack: rows or columns contiguous, and one stride for the whole batch; else a copy."""
    leaf = x._leaf()
    strides = broadcast_strides(leaf.shape, leaf.strides, (*batch, *leaf.shape[-2:]))
    rows, columns = strides[-2:]
    m, n = leaf.shape[-2:]
    fits = (columns == 1 and rows >= max(n, 1)) or (rows == 1 and columns >= max(m, 1)) or (columns == 1 and m == 1)
    if not fits or _batch_stride(batch, strides) is None:
        dense = _exec.materialise(leaf, x.device)
        strides = broadcast_strides(dense.shape, dense.strides, (*batch, *dense.shape[-2:]))
        if _batch_stride(batch, strides) is None:
            full = Leaf(dense.storage, dense.dtype, (*batch, m, n), strides, dense.offset)
            dense = _exec.materialise(full, x.device)
            strides = row_major(dense.shape)
        leaf = dense
    return Leaf(leaf.storage, leaf.dtype, (*batch, m, n), strides, leaf.offset)


def _batch_stride(batch: Shape, strides: Shape) -> int | None:
    from epitaxy.numpy._layout import merge

    extents, (merged,) = merge(batch, [strides[: len(batch)]])
    return None if len(extents) > 1 else merged[0] if extents else 0


def _describe(leaf: Leaf, batch: Shape) -> tuple[int, int, bool, int]:
    rows, columns = leaf.strides[-2:]
    m, n = leaf.shape[-2:]
    step = _batch_stride(batch, leaf.strides)
    assert step is not None
    if columns == 1 and (rows >= max(n, 1) or m == 1):
        return leaf.address, max(rows, n, 1), False, step
    return leaf.address, max(columns, m, 1), True, step


def _run(a: Leaf, b: Leaf, out: Leaf, batch: Shape, sizes: tuple[int, int, int]) -> None:
    device = out.storage.device
    _find_library(device.kind)
    m, n, k = sizes
    target = (out.address, n, False, m * n)
    queue = device.default_queue()
    _engine.gemm(
        queue, dtype_code(out.dtype), size_of(batch), m, n, k, _describe(a, batch), _describe(b, batch), target
    )


def _reflected_matmul(x: ndarray, other: Any) -> ndarray:
    return matmul(other, x)


def install_operators() -> None:
    """Gives the array `@`."""
    setattr(ndarray, "__matmul__", matmul)  # noqa: B010
    setattr(ndarray, "__rmatmul__", _reflected_matmul)  # noqa: B010


install_operators()
