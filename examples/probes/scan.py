"""Probe: a single-pass scan. Each program scans its tile, publishes the tile's total, looks back for what came before.

Sums of int32 and float32, and first-order recurrences y[i] = a[i] y[i-1] + b[i] as the scan of the maps (a, b), whose
composition is not commutative. One read and one write of each item.

    python examples/probes/scan.py [interp|cpu|cuda] [items]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from epitaxy import _engine
from probes.plan import SIZES, Array, Code, Machine, Program, scalar

TILE, SEGMENT = 4096, 4  # the association of floats: the same on every machine, so the bits are too


@dataclass(frozen=True)
class Operator:
    """An associative operation on tuples; `identities` is its neutral tuple."""

    name: str
    identities: tuple[float, ...]


SUM = Operator("sum", (0,))
AFFINE = Operator("affine", (1, 0))


def combine(code: Code, operator: Operator, left: list[Any], right: list[Any]) -> list[Any]:
    """left then right: scalars in a region, or tiles."""
    if operator is SUM:
        return [code.binary("add", left[0], right[0])]
    (a, b), (c, d) = left, right
    return [code.binary("mul", a, c), code.binary("add", code.binary("mul", b, c), d)]


def write_scan(code: Code, args: list[Any], operator: Operator, dtype: str, tile: int, segment: int) -> None:
    """args: the inputs, the outputs (one of each an element of the tuple), the state."""
    b, parts = code.b, len(operator.identities)
    inputs, outputs, state = args[:parts], args[parts : 2 * parts], args[-1]
    kind = _engine.COMBINE["add" if operator is SUM else "region"]
    region = None if operator is SUM else lambda _, left, right: combine(code, operator, left, right)
    identities = [scalar(dtype, v) for v in operator.identities]
    at = [code.start(0, tile)]
    tiles = [b.load(x, at, [tile], i, False) for x, i in zip(inputs, identities, strict=True)]
    within = b.scan(kind, tiles, 0, False, segment, region)
    totals = [b.reshape(b.extract(t, [tile - 1], [1]), []) for t in within]
    before = b.lookback(kind, state, totals, identities, region)
    for view, value in zip(outputs, combine(code, operator, before, within), strict=True):
        b.store(view, at, value, False)


def state_words(dtypes: list[str], items: int, programs: int) -> int:
    """The size of look-back's state in 8-byte words (src/epi/ir/lookback.h)."""
    size = sum(SIZES[d] for d in dtypes)
    one_word = len(dtypes) == 1 and size <= 4
    return items * programs * (1 if one_word else 1 + 2 * (-(-size // 8)))


class Scan:
    """The plan: zero the state, launch. Made once for a size, run as often as wanted."""

    def __init__(
        self, machine: Machine, operator: Operator, dtype: str, n: int, tile: int = TILE, segment: int = SEGMENT
    ) -> None:
        self.machine = machine
        self.programs = -(-n // tile)
        parts = len(operator.identities)
        self.state = machine.empty("uint64", (state_words([dtype] * parts, 1, self.programs),))
        self.program = Program("scan", write_scan, (operator, dtype, tile, segment), ascending=True)

    def __call__(self, inputs: list[Array], outputs: list[Array]) -> None:
        """Queues the scan."""
        if self.programs == 0:
            return
        self.machine.clear(self.state)
        self.machine.launch(self.program, (self.programs,), *inputs, *outputs, self.state)


def scan(
    machine: Machine, operator: Operator, *columns: np.ndarray[Any, Any], tile: int = TILE
) -> list[np.ndarray[Any, Any]]:
    """Inclusive scan of a tuple of host arrays."""
    inputs = [machine.upload(c) for c in columns]
    outputs = [machine.empty(x.dtype, x.shape) for x in inputs]
    Scan(machine, operator, inputs[0].dtype, columns[0].size, tile)(inputs, outputs)
    return [machine.download(x) for x in outputs]


def main() -> None:
    """Scan a million numbers on the machine of the command line and say how far from NumPy's answer it is."""
    machine = Machine(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    rng = np.random.default_rng(1)
    x = rng.integers(-100, 100, n).astype(np.int32)
    print("int32 sum:", "equal" if np.array_equal(scan(machine, SUM, x)[0], np.cumsum(x, dtype=np.int32)) else "WRONG")
    y = rng.standard_normal(n).astype(np.float32)
    error = np.abs(scan(machine, SUM, y)[0] - np.cumsum(y, dtype=np.float64)).max()
    print(f"float32 sum: largest error {error:.3g}")


if __name__ == "__main__":
    main()
