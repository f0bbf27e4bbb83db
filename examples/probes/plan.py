"""What the probes share: a machine that runs plans. A plan is arrays, fills and launches of tile programs, in order.

A machine is "interp" (the executable specification), "cpu" or "cuda[:N]"; program and plan are the same on all.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from epitaxy import _engine

HOST_TO_DEVICE, DEVICE_TO_HOST, _, HOST_TO_HOST = range(4)
CODES = {name: code for code, name, *_ in _engine.DTYPES}
SIZES = {name: size for _, name, size, *_ in _engine.DTYPES}


class Code:
    """The engine's builder with names for kinds and dtypes."""

    def __init__(self, builder: Any) -> None:
        self.b = builder

    def constant(self, dtype: str, value: float) -> Any:
        """A scalar constant."""
        return self.b.constant(scalar(dtype, value))

    def binary(self, kind: str, x: Any, y: Any) -> Any:
        """An elementwise operation; shapes broadcast."""
        return self.b.binary(_engine.BINARY[kind], x, y, False)

    def compare(self, kind: str, x: Any, y: Any) -> Any:
        """An elementwise comparison."""
        return self.b.compare(_engine.COMPARE[kind], x, y)

    def cast(self, x: Any, dtype: str) -> Any:
        """A conversion that wraps as NumPy's does."""
        return self.b.cast(x, CODES[dtype], _engine.CAST["wrap"])

    def full(self, dtype: str, value: float, shape: list[int]) -> Any:
        """A tile of one value."""
        return self.b.full(scalar(dtype, value), shape)

    def iota(self, dtype: str, n: int) -> Any:
        """0 .. n-1."""
        return self.b.iota(CODES[dtype], [n], 0)

    def start(self, axis: int, tile: int) -> Any:
        """First element of this program's tile along a grid axis, as int64."""
        return self.binary("mul", self.cast(self.b.program_id(axis), "int64"), self.constant("int64", tile))


def scalar(dtype: str, value: float) -> Any:
    """The engine's constant."""
    make = _engine.Scalar.of_int if "int" in dtype else _engine.Scalar.of_float
    return make(CODES[dtype], value)


@dataclass(frozen=True)
class Program:
    """A tile program: `write(code, args, *constants)` emits it; what else decides it is the file it is written in."""

    name: str
    write: Callable[..., None]
    constants: tuple[Any, ...]
    ascending: bool = False

    @property
    def key(self) -> str:
        """Equal keys mean equal programs."""
        source = Path(inspect.getsourcefile(self.write) or "").read_bytes()
        return f"{self.name} {self.constants} {hashlib.sha256(source).hexdigest()}"

    def build(self, specs: list[Any]) -> Any:
        """The module for these arguments."""
        b = _engine.Builder(self.name, specs, self.ascending)
        self.write(Code(b), b.args(), *self.constants)
        return b.finish()


@dataclass
class Array:
    """A contiguous array in a machine's memory."""

    dtype: str
    shape: tuple[int, ...]
    address: int
    owner: Any = field(repr=False)

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return int(np.prod(self.shape, dtype=np.int64)) * SIZES[self.dtype]

    def argument(self) -> Any:
        """A launch argument: base, dtype, extents, strides."""
        strides = [int(np.prod(self.shape[i + 1 :], dtype=np.int64)) for i in range(len(self.shape))]
        return _engine.RawArg.view(self.address, CODES[self.dtype], list(self.shape), strides, False)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """NumPy's dtype; bfloat16 is ml_dtypes'."""
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


class Machine:
    """Runs plans on one device, or on the interpreter. Work on it is in order."""

    def __init__(self, name: str = "cpu") -> None:
        self.name = name
        self.device = None if name == "interp" else _engine.device(name)
        self.queue = self.device.default_queue() if self.device else None
        self._loaded: dict[Any, Any] = {}

    @property
    def on_gpu(self) -> bool:
        """Whether memory is the device's own."""
        return self.device is not None and self.device.kind != "cpu"

    def empty(self, dtype: str, shape: tuple[int, ...]) -> Array:
        """Uninitialised memory."""
        if self.queue is None:
            host = np.empty(shape, numpy_dtype(dtype))
            return Array(dtype, shape, host.ctypes.data, host)
        out = Array(dtype, shape, 0, None)
        out.owner = _engine.Buffer.allocate(out.nbytes, self.queue)
        out.address = out.owner.address
        return out

    def zeros(self, dtype: str, shape: tuple[int, ...]) -> Array:
        """Zeroed memory."""
        out = self.empty(dtype, shape)
        self.clear(out)
        return out

    def clear(self, array: Array) -> None:
        """A plan's fill step: all bytes zero."""
        if self.queue is None:
            array.owner[...] = 0
        elif array.nbytes:
            self.queue.fill(array.address, b"\0", array.nbytes)

    def upload(self, host: np.ndarray[Any, Any]) -> Array:
        """A copy of a NumPy array."""
        host = np.ascontiguousarray(host)
        out = self.empty(host.dtype.name, host.shape)
        if self.queue is None:
            out.owner[...] = host
        elif host.nbytes:
            self.queue.copy(out.address, host.ctypes.data, host.nbytes, HOST_TO_DEVICE if self.on_gpu else HOST_TO_HOST)
            self.queue.synchronise()
        return out

    def download(self, array: Array) -> np.ndarray[Any, Any]:
        """A copy in host memory; waits for the work before."""
        if self.queue is None:
            return np.array(array.owner)
        host = np.empty(array.shape, numpy_dtype(array.dtype))
        if host.nbytes:
            kind = DEVICE_TO_HOST if self.on_gpu else HOST_TO_HOST
            self.queue.copy(host.ctypes.data, array.address, host.nbytes, kind)
        self.queue.synchronise()
        return host

    def synchronise(self) -> None:
        """Waits for all work; its errors surface here."""
        if self.queue is not None:
            self.queue.synchronise()

    def launch(self, program: Program, grid: tuple[int, ...], *arrays: Array) -> None:
        """Queues one program a grid cell."""
        grid = (*grid, 1, 1)[:3]
        if self.queue is None:
            arguments = _engine.extract_arguments(tuple(a.owner for a in arrays), [])
            module = program.build(arguments.specs([]))
            return _engine.interpret(module, arguments, grid)
        arguments = [a.argument() for a in arrays]
        known = (program, *((a.address, a.dtype, a.shape) for a in arrays))
        kernel = self._loaded.get(known)
        if kernel is None:
            kernel = _engine.load_kernel(self.device, program.name, program.key, [], arguments, program.build)
            self._loaded[known] = kernel
        kernel.launch(self.queue, *grid, arguments)
        return None
