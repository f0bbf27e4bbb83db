"""The probes of examples/probes: scan, radix sort and GEMM beside NumPy (CPU) or torch and CuPy (GPU).

python benchmarks/probes.py [--device cuda] [--json FILE]
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from _harness import Bench

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
from probes.plan import Array, Machine

from probes import gemm, radix, scan

FLUSH_BYTES = 256 << 20
GPU_TILE = {"scan": 8192, "radix": 8192}
CPU_TILE = {"scan": 16384, "radix": 16384}


class Probes:
    """One run: the machine, its tile sizes, how a plan is timed, and which peers there are."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.machine = Machine(bench.device)
        self.tile = GPU_TILE if self.machine.on_gpu else CPU_TILE
        self.flush = self.machine.empty("uint8", (FLUSH_BYTES,)) if self.machine.on_gpu else None

    def ours(
        self, plan: Callable[[], None], unit: str, work: float, prepare: Callable[[], None] | None = None
    ) -> float:
        """The plan's figure. On a GPU by the queue's own events, the L2 flushed; `prepare` runs outside the timing."""
        queue = self.machine.queue
        times = []
        for run in range(self.bench.repeats + 2):
            if prepare:
                prepare()
            if self.flush:
                self.machine.clear(self.flush)
            self.machine.synchronise()
            begin = queue.record()
            plan()
            end = queue.record()
            self.machine.synchronise()
            if run >= 2:
                times.append(begin.elapsed_ns(end))
        return work / statistics.median(times) * 1e9 / (1e12 if unit[0] == "T" else 1e9)

    def scans(self) -> None:
        """One read and one write of each item count as work."""
        n = 1 << (28 if self.machine.on_gpu else 24)
        rng = np.random.default_rng(1)
        for dtype in ("int32", "float32"):
            name = f"scan {dtype}"
            if not self.bench.wants(name):
                continue
            host = rng.integers(-100, 100, n).astype(dtype)  # sums below 2^24 at first, exact in float32 there
            x = self.machine.upload(host)
            out = self.machine.empty(dtype, (n,))
            plan = scan.Scan(self.machine, scan.SUM, dtype, n, self.tile["scan"])
            work = 2.0 * x.nbytes
            self.bench.row(
                name,
                n=n,
                dtype=dtype,
                unit=self.unit,
                ours=self.ours(lambda p=plan, a=x, b=out: p([a], [b]), self.unit, work),
                check=lambda h=host, b=out, d=dtype: scan_is_right(h, self.machine.download(b), d),
                peers=self.scan_peers(host, work),
                absolute=2.5 if self.machine.on_gpu else None,
                target_peer="numpy",
                target=1.0 if self.machine.on_gpu else 2.0,
                work=work,
            )

    @property
    def unit(self) -> str:
        """Of memory-bound rows."""
        return "TB/s" if self.machine.on_gpu else "GB/s"

    def scan_peers(self, host: np.ndarray[Any, Any], work: float) -> Mapping[str, Any]:
        """The same scan by others."""
        if not self.machine.on_gpu:
            return {"numpy": lambda: np.cumsum(host, dtype=host.dtype)}
        found: dict[str, Any] = {}
        torch = optional("torch")
        if torch:
            t = torch.from_numpy(host).cuda()
            found["torch"] = lambda: torch.cumsum(t, 0, dtype=t.dtype)
        cupy = optional("cupy")
        if cupy:
            c = cupy.asarray(host)
            found["cupy"] = lambda: cupy.cumsum(c, dtype=c.dtype)
        return found

    def sort(self) -> None:
        """Keys a second; four passes."""
        name, n = "radix sort uint32", 1 << (27 if self.machine.on_gpu else 22)
        if not self.bench.wants(name):
            return
        host = np.random.default_rng(2).integers(0, 1 << 32, n, dtype=np.uint32)
        source, keys = self.machine.upload(host), self.machine.upload(host)
        plan = radix.RadixSort(self.machine, n, 1, self.tile["radix"])
        figure = self.ours(lambda: plan([keys]), "Gkeys/s", float(n), lambda: copy(self.machine, keys, source))
        peers: dict[str, Any] = {}
        torch = optional("torch") if self.machine.on_gpu else None
        if torch:
            t = torch.from_numpy(host.view(np.int32)).cuda()
            peers["torch"] = lambda: torch.sort(t)
        if not self.machine.on_gpu:
            peers["numpy"] = lambda: np.sort(host)
        self.bench.row(
            name,
            n=n,
            dtype="uint32",
            unit="Gkeys/s",
            ours=figure,
            check=lambda: np.array_equal(self.machine.download(keys), np.sort(host)),
            peers=peers,
            target_peer="torch" if self.machine.on_gpu else "numpy",
            target=0.5,
            work=float(n),
        )

    def gemm(self) -> None:
        """2 n^3 operations."""
        name, n = "gemm bfloat16", 8192 if self.machine.on_gpu else 1024
        if not self.bench.wants(name):
            return
        rng = np.random.default_rng(3)
        host = [bfloat16(rng.standard_normal((n, n), dtype=np.float32)) for _ in range(2)]
        a, b = (upload_bits(self.machine, h) for h in host)
        c = self.machine.empty("bfloat16", (n, n))
        plan = gemm.Gemm(self.machine)
        work = 2.0 * n**3
        peers: dict[str, Any] = {}
        torch = optional("torch") if self.machine.on_gpu else None
        if torch:
            left, right = (torch.from_numpy(widened(h)).cuda().bfloat16() for h in host)
            peers["torch"] = lambda: left @ right
        if not self.machine.on_gpu:
            wide = [widened(h) for h in host]
            peers["numpy float32"] = lambda: wide[0] @ wide[1]
        self.bench.row(
            name,
            n=n,
            dtype="bfloat16",
            unit="TFLOP/s" if self.machine.on_gpu else "GFLOP/s",
            ours=self.ours(lambda: plan(a, b, c), "TFLOP/s" if self.machine.on_gpu else "GFLOP/s", work),
            check=lambda: product_is_right(host, download_bits(self.machine, c)),
            peers=peers,
            absolute=450.0 if self.machine.on_gpu else None,
            target_peer="numpy float32",
            target=1.0 if self.machine.on_gpu else 0.5,
            work=work,
        )


def optional(module: str) -> Any:
    """A peer's module, or None."""
    try:
        return __import__(module)
    except ImportError:
        return None


def copy(machine: Machine, to: Array, source: Array) -> None:
    """A plan's copy step."""
    machine.queue.copy(to.address, source.address, source.nbytes, 2 if machine.on_gpu else 3)


def bfloat16(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bits of the nearest bfloat16, in uint16."""
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def widened(bits: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """bfloat16 bits as float32."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def upload_bits(machine: Machine, bits: np.ndarray[Any, Any]) -> Array:
    """A bfloat16 array from its bits."""
    out = machine.upload(bits)
    out.dtype = "bfloat16"
    return out


def download_bits(machine: Machine, array: Array) -> np.ndarray[Any, Any]:
    """A bfloat16 array's bits."""
    return machine.download(Array("uint16", array.shape, array.address, array.owner))


def scan_is_right(x: np.ndarray[Any, Any], got: np.ndarray[Any, Any], dtype: str) -> bool:
    """Integers wrap and are exact; floats are near the exact sums."""
    if dtype == "int32":
        return np.array_equal(got, np.cumsum(x, dtype=np.int32))
    exact = np.cumsum(x, dtype=np.float64)
    return bool(np.abs(got - exact).max() <= 1e-5 * np.abs(exact).max())


def product_is_right(host: list[np.ndarray[Any, Any]], bits: np.ndarray[Any, Any]) -> bool:
    """Sampled rows against float64: half a unit of bfloat16's last place, and float32 sums of k products."""
    a, b = widened(host[0]).astype(np.float64), widened(host[1])
    rows = np.linspace(0, len(a) - 1, 16).astype(int)
    exact = np.stack([a[r] @ b for r in rows])
    error = np.abs(widened(bits)[rows] - exact)
    return bool((error <= np.abs(exact) * 2.0**-8 + 2.0**-12 * np.sqrt(len(a))).all())


def main(argv: list[str] | None = None) -> None:
    """Time what --only lets through."""
    bench = Bench("probes", "scan, radix sort and GEMM as plain tile programs", argv)
    probes = Probes(bench)
    probes.scans()
    probes.sort()
    probes.gemm()
    bench.close()


if __name__ == "__main__":
    main()
