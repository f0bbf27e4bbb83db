"""Compile time as the tile size doubles from 2^7 to 2^14 and beyond, for a chain of 24 operations: it grows no faster
than the emitted instructions, which are bounded. Both targets are compiled for; neither needs its device. On a GPU the
driver's assembler is measured too.
"""

from __future__ import annotations

import re
import statistics
import time
from dataclasses import dataclass
from typing import Any

from _harness import Bench
from _work import Machine, no_cache

no_cache()

from epitaxy import _engine  # noqa: E402

SIZES = tuple(1 << k for k in range(7, 17))
OPS = ("mul", "add", "maximum", "sub", "minimum", "add")  # four times: 24
CODES = {name: code for code, name, *_ in _engine.DTYPES}
F32 = CODES["float32"]
GROWTH = 1.25  # what noise may add to the ratio of two times
MOST_INSTRUCTIONS = 8192  # 8 rounds of 4 lanes are unrolled at most, then there is a loop
TARGETS = {"cpu": "", "cuda": "sm_90"}


def build(specs: list[Any], tile: int) -> Any:
    """out[tile] = the chain of x and y."""
    b = _engine.Builder("chain24", specs)
    x, y, out = b.args()
    wide = b.cast(b.program_id(0), CODES["int64"], _engine.CAST["wrap"])
    at = b.binary(_engine.BINARY["mul"], wide, b.constant(_engine.Scalar.of_int(CODES["int64"], tile)), False)
    value, other = (b.load(v, [at], [tile], None, False) for v in (x, y))
    for i in range(24):
        scale = b.full(_engine.Scalar.of_float(F32, 1.0 + 0.03125 * i), [tile])
        value = b.binary(_engine.BINARY[OPS[i % len(OPS)]], value, other if i % 2 else scale, False)
    b.store(out, [at], value, False)
    return b.finish()


def specs() -> list[Any]:
    """Three dynamic, packed float32 vectors, 16-byte aligned."""
    d = _engine.DYNAMIC
    return [_engine.ArgSpec.array(F32, [d], [1], [1], 16, i, name) for i, name in enumerate(("x", "y", "out"))]


def instructions(asm: str) -> int:
    """Lines of an assembly text that are instructions: neither labels, directives, comments nor braces."""
    count = 0
    for line in asm.splitlines():
        text = line.split("//")[0].split("#")[0].strip()
        if text and not text.startswith((".", "{", "}", "(", ")")) and not re.match(r"^[\w$.@\"]+:", text):
            count += 1
    return count


@dataclass
class Found:
    """What compiling one size took: the least of several times, which other work on the machine disturbs least."""

    wall_ms: float = float("inf")
    cpu_ms: float = float("inf")  # of the compiling thread
    instructions: int = 0


def measure(target: str, sizes: tuple[int, ...], repeats: int) -> dict[int, Found]:
    """The sizes in turn, again and again, so that a slow moment of the machine does not meet one size alone."""
    found = {tile: Found() for tile in sizes}
    for _ in range(repeats):
        for tile, best in found.items():
            module = build(specs(), tile)
            wall, cpu = time.perf_counter(), time.thread_time()
            code, _, texts = _engine.compile_only(target, TARGETS[target], module)
            best.cpu_ms = min(best.cpu_ms, (time.thread_time() - cpu) * 1e3)
            best.wall_ms = min(best.wall_ms, (time.perf_counter() - wall) * 1e3)
            best.instructions = instructions(dict(texts).get("asm") or code.decode())
    return found


def growth(times: dict[int, float], counts: dict[int, int]) -> float:
    """The largest growth of time over the growth of instructions, between any two sizes."""
    pairs = [(a, b) for a in times for b in times if a < b]
    return max(times[b] / times[a] / max(1.0, counts[b] / counts[a]) for a, b in pairs)


def assembled(m: Machine, tile: int) -> tuple[float, bool]:
    """(ms of the driver's assembler, whether the kernel computed the chain): the kernel is compiled, loaded and run."""
    import numpy as np

    import epitaxy.numpy as ep

    host = [np.linspace(-2, 2, 4 * tile, dtype=np.float32), np.linspace(3, 1, 4 * tile, dtype=np.float32)]
    x, y = (m.array(a) for a in host)
    out = ep.empty(4 * tile, dtype="float32", device=m.device)
    views = [_engine.RawArg.view(a._leaf().address, F32, [4 * tile], [1], False) for a in (x, y, out)]
    kernel = _engine.load_kernel(m.device, "chain24", f"chain24 {tile}", [], views, lambda s: build(s, tile))
    kernel.launch(m.queue, 4, 1, 1, views)
    functions = {"mul": np.multiply, "add": np.add, "sub": np.subtract, "maximum": np.maximum, "minimum": np.minimum}
    value, other = host
    for i in range(24):
        value = functions[OPS[i % len(OPS)]](value, other if i % 2 else np.float32(1.0 + 0.03125 * i))
    return sum(us for stage, us in kernel.stages if stage == "assemble") / 1e3, np.array_equal(np.asarray(out), value)


def main() -> None:
    """The rows."""
    bench = Bench("compile_time", __doc__ or "")
    m = Machine(bench)
    own = "cuda" if m.on_gpu else "cpu"
    right = {tile: assembled(m, tile) for tile in SIZES}
    for target in TARGETS:
        measure(target, SIZES[:1], 2)  # the target's own first use
        found = measure(target, SIZES, 2 if bench.args.short else 9)
        counts = {tile: f.instructions for tile, f in found.items()}
        # on the device that is here, the compiled kernels also ran; elsewhere every size must have given code
        checked = all(ok for _, ok in right.values()) if target == own else min(counts.values()) > 24
        for tile in SIZES:
            bench.row(
                f"compile for {target}", n=tile, dtype="float32", unit="ms", ours=found[tile].wall_ms,
                absolute=100.0 if target == "cuda" else 30.0, check=lambda checked=checked: checked,
            )  # fmt: skip
            bench.row(
                f"instructions for {target}", n=tile, dtype="float32", unit="instr", ours=float(counts[tile]),
                absolute=MOST_INSTRUCTIONS, check=lambda checked=checked: checked,
            )  # fmt: skip
        bench.row(
            f"{target}: growth of time over instructions", n=SIZES[-1], dtype="float32", unit="x", absolute=GROWTH,
            ours=growth({tile: f.cpu_ms for tile, f in found.items()}, counts), check=lambda checked=checked: checked,
        )  # fmt: skip
    if m.on_gpu:
        ms = [right[tile][0] for tile in SIZES]
        bench.row(
            "driver's assembler, median of sizes", n=SIZES[-1], dtype="float32", unit="ms", ours=statistics.median(ms),
            absolute=50.0, check=lambda: all(ok for _, ok in right.values()),
        )  # fmt: skip
    bench.close()


if __name__ == "__main__":
    main()
