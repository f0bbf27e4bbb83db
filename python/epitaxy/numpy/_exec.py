"""The way from a program of this package to the engine: memory, launches, and how large tiles should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as _np

from epitaxy import _engine
from epitaxy.numpy._emit import dtype_code
from epitaxy.numpy._expr import Const, Leaf, Node
from epitaxy.numpy._layout import Shape, row_major, size_of
from epitaxy.numpy._storage import Storage

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, HOST_TO_HOST = range(4)
_INT64 = _np.dtype("int64")


@dataclass(frozen=True)
class View:
    """A view argument of a launch; strides count elements."""

    address: int
    dtype: _np.dtype[Any]
    shape: Shape
    strides: Shape
    readonly: bool


def is_host(device: Any) -> bool:
    """Whether the host reads the device's memory directly."""
    return bool(device.kind == "cpu")


def tile_budget(device: Any, size: int) -> int:
    """Elements of a tile: small for small arrays, so that they still make several programs."""
    if is_host(device):
        return 256 if size <= 4096 else 8192
    return 256 if size <= 1 << 15 else 2048


def program_target(device: Any) -> int:
    """How many programs keep the device busy in a reduction."""
    return int(device.processors) * (4 if is_host(device) else 8)


def allocate(device: Any, nbytes: int) -> Storage:
    """Uninitialised memory in the order of the device's queue; MemoryError says what is held."""
    buffer = _engine.Buffer.allocate(nbytes, device.default_queue())
    return Storage(device, buffer.address, nbytes, buffer)


def empty_leaf(device: Any, dtype: _np.dtype[Any], shape: Shape) -> Leaf:
    """A new contiguous array's memory."""
    storage = allocate(device, size_of(shape) * dtype.itemsize)
    return Leaf(storage, dtype, shape, row_major(shape), 0)


def materialise(root: Node, device: Any) -> Leaf:
    """The expression as a contiguous array in memory."""
    from epitaxy.numpy._elementwise import evaluate

    out = empty_leaf(device, root.dtype, root.shape)
    evaluate(root, out)
    return out


def index_constant(value: int) -> Const:
    """An int64 scalar argument."""
    return Const(value, _INT64)


def scalar_bits(value: complex, dtype: _np.dtype[Any]) -> bytes:
    """A scalar's bytes as the engine takes them."""
    return _np.array(value if dtype.kind == "c" else value.real).astype(dtype).tobytes()


def launch(
    device: Any,
    name: str,
    key: str,
    build: Callable[[list[Any]], Any],
    views: list[View],
    constants: list[Const],
    programs: int,
) -> None:
    """Queues `programs` programs of the kernel that `build` makes; equal keys must mean equal programs."""
    if programs >= 1 << 31:
        raise ValueError(f"{name}: {programs} programs; a launch takes up to {(1 << 31) - 1}")
    args = [
        _engine.RawArg.view(v.address, dtype_code(v.dtype), list(v.shape), list(v.strides), v.readonly) for v in views
    ]
    args += [_engine.RawArg.scalar(dtype_code(c.dtype), scalar_bits(c.value, c.dtype)) for c in constants]
    kernel = _engine.load_kernel(device, name, key, [], args, build)
    kernel.launch(device.default_queue(), programs, 1, 1, args)


def to_host(leaf: Leaf) -> _np.ndarray[Any, Any]:
    """A contiguous array's elements as a new NumPy array. Waits for the device."""
    out = _np.empty(leaf.shape, leaf.dtype)
    queue = leaf.storage.device.default_queue()
    if out.nbytes:
        kind = HOST_TO_HOST if is_host(leaf.storage.device) else DEVICE_TO_HOST
        queue.copy(out.ctypes.data, leaf.address, out.nbytes, kind)
    queue.synchronise()
    return out


def from_host(array: _np.ndarray[Any, Any], device: Any) -> Leaf:
    """A copy of a NumPy array on a device."""
    source = _np.ascontiguousarray(array).reshape(array.shape)
    leaf = empty_leaf(device, source.dtype, source.shape)
    if source.nbytes:
        queue = device.default_queue()
        queue.copy(leaf.address, source.ctypes.data, source.nbytes, HOST_TO_HOST if is_host(device) else HOST_TO_DEVICE)
        queue.synchronise()  # the source may change or go once we return
    return leaf
