"""How the tests of tile kernels run them: in the interpreter, on the CPU, or on a GPU with copies there and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import epitaxy.tile as ct
from epitaxy import _engine

Run = Callable[..., None]


class _OnDevice:
    """A NumPy array's twin in device memory, with the same strides."""

    def __init__(self, array: np.ndarray, queue: Any, buffers: dict[int, Any]) -> None:
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self.array, self.owner, self.queue = array, owner, queue
        self.span = np.lib.array_utils.byte_bounds(owner)
        self.nbytes = self.span[1] - self.span[0]
        fresh = id(owner) not in buffers
        self.buffer = buffers.setdefault(id(owner), _engine.Buffer.allocate(max(1, self.nbytes), queue))
        if self.nbytes and fresh:
            queue.copy(self.buffer.address, self.span[0], self.nbytes, 0)
        offset = array.__array_interface__["data"][0] - self.span[0]
        typestr = "<V2" if array.dtype.name == "bfloat16" else array.__array_interface__["typestr"]
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": typestr, "strides": array.strides,
            "data": (self.buffer.address + offset, not array.flags.writeable), "version": 3,
        }  # fmt: skip

    def back(self) -> None:
        if self.nbytes and self.owner.flags.writeable:
            self.queue.copy(self.span[0], self.buffer.address, self.nbytes, 1)


def _on_gpu(name: str, kernel: Any, grid: Any, args: tuple[Any, ...]) -> None:
    queue = _engine.device(name).default_queue()
    twins: dict[int, _OnDevice] = {}
    buffers: dict[int, Any] = {}  # arrays of one memory have one twin of it
    given = [twins.setdefault(id(a), _OnDevice(a, queue, buffers)) if isinstance(a, np.ndarray) else a for a in args]
    ct.launch(queue, grid, kernel, tuple(given))
    queue.synchronise()
    for t in twins.values():
        t.back()
    queue.synchronise()


@pytest.fixture
def run(device: str) -> Run:
    """run(kernel, grid, *args): the kernel's results are in its array arguments afterwards."""

    def run(kernel: Any, grid: Any, *args: Any) -> None:
        if device == "interp":
            ct.interpret(grid, kernel, args)
        elif device.startswith("cuda"):
            _on_gpu(device, kernel, grid, args)
        else:
            ct.launch(None, grid, kernel, args)

    return run
