"""Finds, for each binary exponent, the floats closest to a multiple of pi/2: the hardest inputs of sin, cos and tan.

Usage: python tools/math/hard_angles.py {32,64} COUNT. Prints the COUNT closest (relative to nothing: the absolute
distance) as C++ hexadecimal literals, found by the continued fraction of pi/2 / 2^e.
"""

from __future__ import annotations

import sys

from mpmath import mp, mpf

mp.prec = 2400


def closest(bits: int, exponent: int) -> list[tuple[mpf, int]]:
    """Distances and mantissas p, |p 2^exponent - q pi/2| small, from the convergents q/p and their multiples."""
    alpha = mpf(2) ** exponent / (mp.pi / 2)  # p * alpha is near an integer q
    found = []
    h0, h1, k0, k1, x = 0, 1, 1, 0, alpha
    while True:
        a = int(mp.floor(x))
        h0, h1, k0, k1 = h1, a * h1 + h0, k1, a * k1 + k0
        if k1 >= 2**bits:
            break
        for multiple in range(max(1, -(-(2 ** (bits - 1)) // max(k1, 1))), 2**bits // max(k1, 1) + 1):
            p = multiple * k1
            if 2 ** (bits - 1) <= p < 2**bits and multiple < 64:
                distance = abs(p * alpha - mp.nint(p * alpha)) * (mp.pi / 2)
                found.append((distance, p))
            break
        x = 1 / (x - a)
    return found


def main() -> int:
    """Prints the hardest inputs of one format."""
    width, count = int(sys.argv[1]), int(sys.argv[2])
    bits, low, high = (24, -24, 104) if width == 32 else (53, -53, 971)
    cases = [(d, p, e) for e in range(low, high + 1) for d, p in closest(bits, e)]
    cases.sort()
    for distance, p, e in cases[:count]:
        print(f"{float.hex(float(p) * 2.0**e)}{'f' if width == 32 else ''},  // r = {mp.nstr(distance, 5)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
