"""The way from a program of this package to the engine: memory, launches, and how large tiles should be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as _np

from epitaxy import _engine
from epitaxy.numpy._emit import dtype_code
from epitaxy.numpy._expr import Const, Leaf, Node
from epitaxy.numpy._layout import Shape, row_major, size_of
from epitaxy.numpy._storage import Storage

HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, HOST_TO_HOST = range(4)
_INT64 = _np.dtype("int64")


PROGRAMS: dict[tuple[Any, ...], Any] = {}
"""Every program of this process by what decides it: (id of the device, ...). Programs keep no array alive."""
_MOST_PROGRAMS = 4096


def is_host(device: Any) -> bool:
    """Whether the host reads the device's memory directly."""
    queue_of(device)
    return id(device) in _HOSTS


_QUEUES: dict[int, Any] = {}
_HOSTS: set[int] = set()


def queue_of(device: Any) -> Any:
    """The device's default queue."""
    queue = _QUEUES.get(id(device))
    if queue is None:
        queue = _QUEUES[id(device)] = device.default_queue()
        if device.kind == "cpu":
            _HOSTS.add(id(device))
    return queue


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
    buffer = _engine.Buffer.allocate(nbytes, queue_of(device))
    return Storage(device, buffer.address, nbytes, buffer)


def empty_leaf(device: Any, dtype: _np.dtype[Any], shape: Shape) -> Leaf:
    """A new contiguous array's memory."""
    storage = allocate(device, size_of(shape) * dtype.itemsize)
    return Leaf(storage, dtype, shape, row_major(shape), 0, True)


def materialise(root: Node, device: Any) -> Leaf:
    """The expression as a contiguous array in memory."""
    from epitaxy.numpy._elementwise import evaluate

    out = empty_leaf(device, root.dtype, root.shape)
    evaluate(root, out)
    return out


def index_constant(value: int) -> Const:
    """An int64 scalar argument."""
    return Const(value, _INT64)


def _scalar(c: Const) -> Any:
    """A scalar argument as the engine takes it: a Python number where that converts exactly, else the value's bytes."""
    value, dtype = c.value, c.dtype
    if type(value) is int:
        if dtype.kind in "iu" or (dtype.char in "fd" and -(1 << 53) < value < 1 << 53):
            return value
    elif type(value) is float and dtype.char in "fd":
        return value
    return _np.array(value if dtype.kind in "cb" else value.real).astype(dtype).tobytes()


def prepare(
    device: Any,
    name: str,
    key: tuple[Any, ...],
    views: list[_np.dtype[Any]],
    outputs: int,
    scalars: list[_np.dtype[Any]],
    build: Callable[[list[Any]], Any],
) -> Any:
    """The program of `key`, whose first entry is the device's id; `build` makes its IR for a layout of arguments."""
    if len(PROGRAMS) >= _MOST_PROGRAMS:
        PROGRAMS.clear()
    text = f"{name} {key[1:]}"
    codes = [dtype_code(d) for d in views], [dtype_code(d) for d in scalars]
    program = PROGRAMS[key] = _engine.Program(queue_of(device), name, text, codes[0], outputs, codes[1], build)
    return program


def launch(program: Any, programs: int, views: tuple[Any, ...], constants: list[Const]) -> None:
    """Queues `programs` programs on views, each (address, extents, strides in elements), and scalars."""
    if programs >= 1 << 31:
        raise ValueError(f"an array operation of {programs} programs; a launch takes up to {(1 << 31) - 1}")
    program.launch(programs, views, tuple([_scalar(c) for c in constants]))


def to_host(leaf: Leaf) -> _np.ndarray[Any, Any]:
    """A contiguous array's elements as a new NumPy array. Waits for the device."""
    out = _np.empty(leaf.shape, leaf.dtype)
    queue = queue_of(leaf.storage.device)
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
        queue = queue_of(device)
        queue.copy(leaf.address, source.ctypes.data, source.nbytes, HOST_TO_HOST if is_host(device) else HOST_TO_DEVICE)
        queue.synchronise()  # the source may change or go once we return
    return leaf
