"""What the scripts share beside timing: the device under test, input from one seed, arguments that launch cheaply."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import epitaxy.numpy as ep
from _harness import Bench
from epitaxy import _engine

CORES = len(os.sched_getaffinity(0))
LARGE_MACHINE = CORES >= 8


class Machine:
    """The device that a benchmark runs on, and its queue."""

    def __init__(self, bench: Bench) -> None:
        self.on_gpu = bench.on_gpu
        self.device = _engine.device(bench.device)
        self.queue = self.device.default_queue()

    def array(self, host: np.ndarray[Any, Any]) -> Any:
        """A copy on the device."""
        return ep.array(host, device=self.device)

    def run(self, f: Callable[[], Any]) -> Callable[[], Any]:
        """A call that queues `f`'s recorded work, and on the CPU (wall time) waits for it; GPU times are events'."""

        def call() -> Any:
            out = f()
            if isinstance(out, ep.ndarray):
                out._compute()
            if not self.on_gpu:
                self.queue.synchronise()
            return out

        return call


class Fixed:
    """Device memory with a fixed interface: an argument that costs a launch no more than another library's array."""

    def __init__(self, array: Any) -> None:
        self.owner = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def argument(array: Any, on_gpu: bool) -> Any:
    """Our array as kernels are usually given it: NumPy's on the CPU (same memory), torch's on the GPU if there."""
    if not on_gpu:
        return np.asarray(_Host(array))
    try:
        import torch

        return torch.as_tensor(array, device="cuda")
    except ImportError:
        return Fixed(array)


class _Host:
    def __init__(self, array: Any) -> None:
        self.owner = array
        self.__array_interface__ = array.__array_interface__


def normal(n: int, dtype: str = "float32", scale: float = 1.0, seed: int = 0) -> np.ndarray[Any, Any]:
    """Standard-normal numbers; beyond 2^22 the same block again, shifted each time, for speed."""
    block = min(n, 1 << 22)
    first = (np.random.default_rng(seed).standard_normal(block, dtype=np.float32) * np.float32(scale)).astype(dtype)
    return np.concatenate([np.roll(first, 977 * i) for i in range(-(-n // block))])[:n]


def no_cache() -> None:
    """Kernels are compiled anew in this process, or kept where a child is told to. Call before the first one."""
    os.environ["EPITAXY_CACHE_DIR"] = os.environ.get("EPITAXY_BENCH_CACHE", "")


def empty_cache() -> str:
    """A private, empty folder for kernels."""
    return tempfile.mkdtemp(prefix="epitaxy-bench-")
