"""Computes the minimax polynomials of src/epi/ir/math/coefficients.h with a Remez exchange in mpmath.

Usage: python tools/math/generate_coefficients.py [--check]. Prints, for each polynomial, its degree and the largest
error of the rounded coefficients, evaluated exactly. `--check` fails when the header on disk differs.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from mpmath import mp, mpf
from polynomials import Poly, all_polynomials

mp.dps = 80
HEADER = Path(__file__).resolve().parents[2] / "src/epi/ir/math/coefficients.h"


def remez(poly: Poly, rounds: int = 12) -> list[mpf]:
    """Coefficients, lowest first, of the best polynomial in the weighted maximum norm."""
    n = poly.degree + 2
    mid, half = (poly.hi + poly.lo) / 2, (poly.hi - poly.lo) / 2
    nodes = [mid - half * mp.cos(mp.pi * i / (n - 1)) for i in range(n)]
    grid = [mid - half * mp.cos(mp.pi * (i + mpf("0.37")) / (40 * n)) for i in range(40 * n)]
    values = [poly.f(x) for x in grid]
    weights = [poly.weight(x) for x in grid]
    coefficients: list[mpf] = []
    for _ in range(rounds):
        rows = mp.matrix(n, n)
        rhs = mp.matrix(n, 1)
        for i, x in enumerate(nodes):
            for j in range(n - 1):
                rows[i, j] = x**j
            rows[i, n - 1] = (-1) ** i / poly.weight(x)
            rhs[i] = poly.f(x)
        solution = mp.lu_solve(rows, rhs)
        coefficients = [solution[i] for i in range(n - 1)]
        error = [w * (v - mp.polyval(coefficients[::-1], x)) for x, v, w in zip(grid, values, weights, strict=True)]
        new = alternating_extrema(grid, error, n)
        if new is None:
            break
        level = abs(solution[n - 1])
        worst = max(abs(e) for e in error)
        nodes = new
        if worst < level * mpf("1.001"):
            break
    return coefficients


def alternating_extrema(grid: list[mpf], error: list[mpf], count: int) -> list[mpf] | None:
    """The largest point of each run of one sign, cut to `count` from the weaker end."""
    runs: list[tuple[mpf, mpf]] = []
    for x, e in zip(grid, error, strict=True):
        if runs and (runs[-1][1] > 0) == (e > 0):
            if abs(e) > abs(runs[-1][1]):
                runs[-1] = (x, e)
        else:
            runs.append((x, e))
    if len(runs) < count:
        return None
    while len(runs) > count:
        runs.pop(0 if abs(runs[0][1]) < abs(runs[-1][1]) else -1)
    return [x for x, _ in runs]


def rounded(value: mpf, bits: int) -> float:
    """The nearest float32 or float64 (one rounding: mpf to binary64 is correct, to binary32 goes through 24 bits)."""
    if bits == 64:
        return float(value)
    with mp.workprec(24):
        single = float(+value)
    assert struct.unpack("f", struct.pack("f", single))[0] == single
    return single


def emit(poly: Poly) -> str:
    """The C++ array of one polynomial, with its measured error."""
    coefficients = [rounded(c, poly.bits) for c in remez(poly)]
    exact = [mpf(c) for c in coefficients]
    xs = [poly.lo + (poly.hi - poly.lo) * (mpf(i) + mpf("0.5")) / 2000 for i in range(2000)]
    worst = max(abs(poly.weight(x) * (poly.f(x) - mp.polyval(exact[::-1], x))) for x in xs)
    print(f"{poly.name}: degree {poly.degree}, error 2^{float(mp.log(worst, 2)):.1f}")
    kind, suffix = ("float", "f") if poly.bits == 32 else ("double", "")
    body = ",\n    ".join(float.hex(c) + suffix for c in coefficients)
    lo, hi = mp.nstr(poly.lo, 6), mp.nstr(poly.hi, 6)
    return (
        f"/// {poly.doc} on [{lo}, {hi}]; largest error 2^{float(mp.log(worst, 2)):.1f}.\n"
        f"inline constexpr {kind} {poly.name}[] = {{\n    {body}}};\n"
    )


def words_of_two_over_pi(count: int) -> str:
    """2/pi as 64-bit words of its binary expansion, most significant first, after one word of zeros."""
    with mp.workprec(64 * count + 100):
        value = mp.floor(mp.ldexp(2 / mp.pi, 64 * count))
        digits = int(value)
    words = [0] + [(digits >> (64 * (count - 1 - i))) & (2**64 - 1) for i in range(count)]
    body = ",\n    ".join(f"0x{w:016x}u" for w in words)
    return (
        "/// One word of zeros, then the bits of 2/pi after the binary point, most significant word first.\n"
        f"inline constexpr std::uint64_t kTwoOverPi[] = {{\n    {body}}};\n"
    )


def split_constant(name: str, value: mpf, bits: int, parts: int) -> str:
    """`value` as an unevaluated sum of `parts` floats, each the nearest to what is left."""
    out = []
    for _ in range(parts):
        part = rounded(value, bits)
        out.append(part)
        value -= mpf(part)
    kind, suffix = ("float", "f") if bits == 32 else ("double", "")
    body = ", ".join(float.hex(c) + suffix for c in out)
    return f"inline constexpr {kind} {name}[] = {{{body}}};\n"


def truncated_pair(name: str, value: mpf, bits: int, keep: int) -> str:
    """`value` as high (only `keep` leading bits, so that small integers times it are exact) and low part."""
    shift = keep - 1 - int(mp.floor(mp.log(value, 2)))
    high = mp.ldexp(mp.nint(mp.ldexp(value, shift)), -shift)
    kind, suffix = ("float", "f") if bits == 32 else ("double", "")
    low = rounded(value - high, bits)
    return f"inline constexpr {kind} {name}[] = {{{float.hex(float(high))}{suffix}, {float.hex(low)}{suffix}}};\n"


def constants() -> str:
    """Split constants, both widths."""
    out = "// -- constants: value as a sum of parts ----------------------------------------------------\n"
    for bits, keep in ((32, 16), (64, 42)):
        out += truncated_pair(f"kLn2Trunc{bits}", mp.log(2), bits, keep)
        out += truncated_pair(f"kLog10Of2Trunc{bits}", mp.log(2, 10), bits, keep)
        for name, value in (
            ("PiOver2", mp.pi / 2),
            ("Ln2", mp.log(2)),
            ("Log2E", 1 / mp.log(2)),
            ("Log10E", 1 / mp.log(10)),
            ("Pi", mp.pi),
            ("PiOver4", mp.pi / 4),
            ("TwoOverPi", 2 / mp.pi),
            ("TwoThirdsLog2E", 2 / (3 * mp.log(2))),
            ("TwoLog2E", 2 / mp.log(2)),
        ):
            out += split_constant(f"k{name}{bits}", value, bits, 3)
    return out


def main() -> int:
    """Writes or checks the header."""
    text = (
        "// Generated by tools/math/generate_coefficients.py; do not edit. Minimax polynomials, lowest\n"
        "// coefficient first, and split constants of the math functions (room: src/epi/ir/math).\n"
        "#pragma once\n\n#include <cstdint>\n\nnamespace epi::ir::math {\n\n// clang-format off\n"
    )
    text += constants() + "\n" + words_of_two_over_pi(21) + "\n"
    text += "\n".join(emit(p) for p in all_polynomials())
    text += "// clang-format on\n\n}  // namespace epi::ir::math\n"
    if "--check" in sys.argv:
        return 0 if HEADER.read_text() == text else 1
    HEADER.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
