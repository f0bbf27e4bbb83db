"""Probe: a one-sweep radix sort of uint32 keys, with or without uint32 values. Four passes of 8 bits; stable.

Before the passes one program a tile counts the digits of all passes. A pass reads each key once: a program ranks its
tile, looks back the tile's 256 digit counts, and scatters. Positions are int32: up to 2^31 - 1 keys.

    python examples/probes/radix.py [interp|cpu|cuda] [keys]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from epitaxy import _engine
from probes.plan import Array, Code, Machine, Program, scalar
from probes.scan import state_words

BITS, BINS, PASSES, TILE = 8, 256, 4, 4096
ADD = _engine.COMBINE["add"]


def digits(code: Code, keys: Any, position: Any, n: Any, shift: Any, tile: int) -> Any:
    """The keys' digits at bit `shift` as int32; at or past `n` BINS, which ranks last and is not counted."""
    shifted = code.binary("shr", keys, code.b.broadcast(shift, [tile]))
    digit = code.cast(code.binary("bitand", shifted, code.full("uint32", BINS - 1, [tile])), "int32")
    return code.b.select(code.compare("lt", position, n), digit, code.full("int32", BINS, [tile]))


def tile_of_keys(code: Code, keys: Any, tile: int) -> tuple[Any, Any, Any, list[Any]]:
    """This program's keys, their positions (int64), the number of keys as such a tile, and the tile's offset."""
    at = [code.start(0, tile)]
    position = code.binary("add", code.iota("int64", tile), code.b.broadcast(at[0], [tile]))
    return code.b.load(keys, at, [tile], None, False), position, code.b.broadcast(code.b.dim(keys, 0), [tile]), at


def write_histogram(code: Code, args: list[Any], tile: int) -> None:
    """args: keys, counts [PASSES, BINS] int32, zeroed. Adds the digits of this program's tile."""
    keys, counts = args
    loaded, position, n, _ = tile_of_keys(code, keys, tile)
    bins = code.iota("int32", BINS)
    zero, passes, one = (code.constant("int32", v) for v in (0, PASSES, 1))
    index, _ = code.b.begin_for(zero, passes, one, [])
    shift = code.cast(code.binary("mul", index, code.constant("int32", BITS)), "uint32")
    _, found = code.b.rank(digits(code, loaded, position, n, shift, tile), BINS)
    order, scope = _engine.ORDER["relaxed"], _engine.SCOPE["device"]
    row = code.b.broadcast(index, [BINS])
    code.b.atomic_rmw(_engine.ATOMIC["add"], counts, [row, bins], found, None, order, scope)
    code.b.end_for([])


def write_starts(code: Code, args: list[Any]) -> None:
    """args: counts, starts. Program p: where each digit of pass p begins."""
    at = [code.start(0, 1), code.constant("int64", 0)]
    counts = code.b.reshape(code.b.load(args[0], at, [1, BINS], None, True), [BINS])
    (sums,) = code.b.scan(ADD, [counts], 0, False, 0, None)
    code.b.store(args[1], at, code.b.reshape(code.binary("sub", sums, counts), [1, BINS]), True)


def write_pass(code: Code, args: list[Any], index: int, tile: int, columns: int) -> None:
    """args: `columns` inputs (keys first), as many outputs, starts, state. Moves this program's tile to its places."""
    b = code.b
    inputs, outputs, (starts, state) = args[:columns], args[columns : 2 * columns], args[-2:]
    keys, position, n, at = tile_of_keys(code, inputs[0], tile)
    digit = digits(code, keys, position, n, code.constant("uint32", BITS * index), tile)
    ranks, counts = b.rank(digit, BINS)
    (before,) = b.lookback(ADD, state, [counts], [scalar("int32", 0)], None)
    (within,) = b.scan(ADD, [counts], 0, False, 0, None)
    row = b.load(starts, [code.constant("int64", index), code.constant("int64", 0)], [1, BINS], None, True)
    first = code.binary("add", b.reshape(row, [BINS]), before)
    first = code.binary("sub", first, code.binary("sub", within, counts))
    place = code.binary("add", b.take(first, digit, 0), ranks)
    exists = code.compare("lt", position, n)
    values = [keys, *(b.load(x, at, [tile], None, False) for x in inputs[1:])]
    for output, value in zip(outputs, values, strict=True):
        b.scatter(output, [place], value, exists, False)


class RadixSort:
    """The plan: histogram, starts, then four passes between the columns and scratch of their size."""

    def __init__(self, machine: Machine, n: int, columns: int = 1, tile: int = TILE) -> None:
        self.machine = machine
        self.programs = -(-n // tile)
        self.columns = columns
        self.scratch = [machine.empty("uint32", (n,)) for _ in range(columns)]
        self.counts = machine.empty("int32", (PASSES, BINS))
        self.starts = machine.empty("int32", (PASSES, BINS))
        self.state = machine.empty("uint64", (state_words(["int32"], BINS, self.programs),))
        self.histogram = Program("radix_histogram", write_histogram, (tile,))
        self.offsets = Program("radix_starts", write_starts, ())
        self.passes = [Program("radix_pass", write_pass, (p, tile, columns), ascending=True) for p in range(PASSES)]

    def __call__(self, columns: list[Array]) -> None:
        """Queues the sort of `columns` in place; the first holds the keys."""
        if self.programs == 0:
            return
        self.prepare(columns[0])
        here, there = columns, self.scratch
        for index in range(PASSES):
            self.one_pass(index, here, there)
            here, there = there, here

    def prepare(self, keys: Array) -> None:
        """Counts the digits of all passes."""
        self.machine.clear(self.counts)
        self.machine.launch(self.histogram, (self.programs,), keys, self.counts)
        self.machine.launch(self.offsets, (PASSES,), self.counts, self.starts)

    def one_pass(self, index: int, inputs: list[Array], outputs: list[Array]) -> None:
        """Sorts by one digit, stably."""
        self.machine.clear(self.state)
        self.machine.launch(self.passes[index], (self.programs,), *inputs, *outputs, self.starts, self.state)


def sort(machine: Machine, *columns: np.ndarray[Any, Any], tile: int = TILE) -> list[np.ndarray[Any, Any]]:
    """Sorts host arrays of uint32 by the first of them."""
    arrays = [machine.upload(c) for c in columns]
    RadixSort(machine, columns[0].size, len(columns), tile)(arrays)
    return [machine.download(a) for a in arrays]


def main() -> None:
    """Sort a million keys with their positions and compare with NumPy."""
    machine = Machine(sys.argv[1] if len(sys.argv) > 1 else "cpu")
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    keys = np.random.default_rng(1).integers(0, 1 << 32, n, dtype=np.uint32) & np.uint32(0xFFFF00FF)
    got, order = sort(machine, keys, np.arange(n, dtype=np.uint32))
    wanted = np.argsort(keys, kind="stable")
    print(
        "keys and values:", "equal" if np.array_equal(got, keys[wanted]) and np.array_equal(order, wanted) else "WRONG"
    )


if __name__ == "__main__":
    main()
