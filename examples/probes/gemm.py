"""Probe: C = A @ B for bfloat16 with float32 sums. The plain tile program: a loop over K of load, load, mma.

On Hopper the same program becomes a ring of TMA loads that feeds wgmma; on a CPU packed fused multiply-adds.

    python examples/probes/gemm.py [interp|cpu|cuda] [size]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from probes.plan import Array, Code, Machine, Program

GPU_TILE = (128, 256, 64)
CPU_TILE = (96, 128, 256)


def write_gemm(code: Code, args: list[Any], tile: tuple[int, int, int]) -> None:
    """args: A [M, K], B [K, N], C [M, N]. Program (i, j) makes a tile of C; edges are padded with zeros."""
    b = code.b
    left, right, out = args
    m, n, k = tile
    row, column = code.start(0, m), code.start(1, n)
    zero, one, step = (code.constant("int64", v) for v in (0, 1, k))
    trips = code.binary("floordiv", code.binary("add", b.dim(left, 1), code.constant("int64", k - 1)), step)
    index, (acc,) = b.begin_for(zero, trips, one, [code.full("float32", 0, [m, n])])
    at = code.binary("mul", index, step)
    a_tile = b.load(left, [row, at], [m, k], None, False)
    b_tile = b.load(right, [at, column], [k, n], None, False)
    (total,) = b.end_for([b.mma(a_tile, b_tile, acc)])
    b.store(out, [row, column], code.cast(total, "bfloat16"), False)


class Gemm:
    """The plan: one launch."""

    def __init__(self, machine: Machine, tile: tuple[int, int, int] | None = None) -> None:
        self.machine = machine
        self.tile = tile or (GPU_TILE if machine.on_gpu else CPU_TILE)
        self.program = Program("gemm", write_gemm, (self.tile,))

    def __call__(self, a: Array, b: Array, c: Array) -> None:
        """Queues c = a @ b."""
        grid = (-(-c.shape[0] // self.tile[0]), -(-c.shape[1] // self.tile[1]))
        if grid[0] * grid[1]:
            self.machine.launch(self.program, grid, a, b, c)


def matmul(
    machine: Machine, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any], tile: tuple[int, int, int] | None = None
) -> Any:
    """The product of two bfloat16 host arrays."""
    left, right = machine.upload(a), machine.upload(b)
    out = machine.empty("bfloat16", (a.shape[0], b.shape[1]))
    Gemm(machine, tile)(left, right, out)
    return machine.download(out)


def main() -> None:
    """Multiply two matrices on the machine of the command line; the error is in units of bfloat16's last place."""
    import ml_dtypes

    machine = Machine(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 512
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((n, n)).astype(ml_dtypes.bfloat16) for _ in range(2))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    got = matmul(machine, a, b).astype(np.float64)
    print(
        f"bfloat16 product: largest error {np.abs(got - exact).max() / np.abs(exact).max():.3g} of the largest element"
    )


if __name__ == "__main__":
    main()
