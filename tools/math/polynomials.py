"""The list of polynomials that generate_coefficients.py fits: data, one entry per approximation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mpmath import mp, mpf

Function = Callable[[mpf], mpf]

LN2_HALF = mpf("0.3467")  # a little over ln2/2
ZERO = mpf("1e-12")  # where a function of z = x^2 starts: keeps the removable singularity out
MANTISSA = (mpf("-0.2929"), mpf("0.4143"))  # f for 1 + f in [sqrt(1/2), sqrt(2))
ATANH_SQUARE = mpf("0.17158") ** 2  # (f / (2 + f))^2 for these


@dataclass(frozen=True)
class Poly:
    """One polynomial: `f` on [lo, hi], minimising max |w (f - p)|, coefficients rounded to `bits` (32 or 64)."""

    name: str
    bits: int
    f: Function
    lo: mpf
    hi: mpf
    degree: int
    doc: str
    weight: Function = lambda x: mpf(1)


def root_form(f: Function) -> Function:
    """f as a function of z = x^2."""
    return lambda z: f(mp.sqrt(z))


def off_zero(f: Function) -> Function:
    """f with its removable singularity at zero stepped over (a shift of 1e-20 is far below every error here)."""
    return lambda r: f(r if abs(r) > mpf("1e-20") else mpf("1e-20"))


def log_tail(base: mpf) -> Function:
    """(log_base(1+r) - r log_base(e)) / r^2."""
    return off_zero(lambda r: (mp.log1p(r) - r) / mp.log(base) / r**2)


def atanh_tail(terms: int) -> Function:
    """(2 atanh(s) - the first `terms` terms of its series) / s^(2 terms + 1), in z = s^2."""
    return lambda z: mp.nsum(lambda k: 2 * z**k / (2 * (k + terms) + 1), [0, 60])


def both(name: str, f: Function, lo: mpf, hi: mpf, degrees: tuple[int, int], doc: str) -> Iterator[Poly]:
    """The same function for f32 and f64."""
    for bits, degree in zip((32, 64), degrees, strict=True):
        yield Poly(f"{name}{bits}", bits, f, lo, hi, degree, doc)


def exponential() -> Iterator[Poly]:
    """exp, exp2, expm1, sinh, cosh."""
    r, square = LN2_HALF, LN2_HALF**2
    exp_tail = off_zero(lambda x: (mp.expm1(x) - x) / x**2)
    exp2_tail = off_zero(lambda x: mp.expm1(x * mp.log(2)) / x)
    sinh_tail = root_form(lambda x: (mp.sinh(x) - x) / x**3)
    cosh_tail = root_form(lambda x: (mp.cosh(x) - 1 - x * x / 2) / x**4)
    half = mpf("0.5001")
    yield from both("kExpTail", exp_tail, -r, r, (4, 9), "(exp(r) - 1 - r) / r^2")
    yield Poly("kExpm1Tail32", 32, exp_tail, -r, r, 5, "(exp(r) - 1 - r) / r^2")
    yield from both("kExp2Tail", exp2_tail, -half, half, (5, 10), "(2^r - 1) / r")
    yield Poly("kPow32Exp2", 64, exp2_tail, -half, half, 6, "(2^r - 1) / r")
    yield from both("kSinhTail", sinh_tail, ZERO, square, (2, 5), "(sinh(r) - r) / r^3 in z = r^2")
    yield from both("kCoshTail", cosh_tail, ZERO, square, (1, 5), "(cosh(r) - 1 - r^2/2) / r^4 in z = r^2")


def logarithm() -> Iterator[Poly]:
    """log, log2, log10, and pow's log2."""
    log2e = 1 / mp.log(2)
    for name, base in (("Log", mp.e), ("Log2", mpf(2)), ("Log10", mpf(10))):
        yield Poly(f"k{name}Tail32", 32, log_tail(base), *MANTISSA, 8, f"({name.lower()}(1+r) - its linear term) / r^2")
    tail1, tail2 = atanh_tail(1), atanh_tail(2)
    yield Poly("kLogAtanh64", 64, tail1, ZERO, ATANH_SQUARE, 6, "(2 atanh(s) - 2s) / s^3 in z = s^2")
    doc = "log2(e) (2 atanh(s) - 2s - 2s^3/3) / s^5 in z = s^2"
    yield Poly("kPowAtanh64", 64, lambda z: tail2(z) * log2e, ZERO, ATANH_SQUARE, 6, doc)
    yield Poly("kPow32Log2", 64, off_zero(lambda r: mp.log1p(r) * log2e / r), *MANTISSA, 14, "log2(1+r) / r")


def circular() -> Iterator[Poly]:
    """sin, cos, asin, atan."""
    eighth, tan8 = mpf("0.7854") ** 2, mpf("0.4143") ** 2
    sin_tail = root_form(lambda x: (mp.sin(x) - x) / x**3)
    cos_tail = root_form(lambda x: (mp.cos(x) - 1 + x * x / 2) / x**4)
    asin_tail = root_form(lambda x: (mp.asin(x) - x) / x**3)
    atan_tail = root_form(lambda x: (mp.atan(x) - x) / x**3)
    yield from both("kSinTail", sin_tail, ZERO, eighth, (2, 5), "(sin(r) - r) / r^3 in z = r^2")
    yield from both("kCosTail", cos_tail, ZERO, eighth, (2, 5), "(cos(r) - 1 + r^2/2) / r^4 in z = r^2")
    yield from both("kAsinTail", asin_tail, ZERO, mpf("0.2501"), (4, 12), "(asin(x) - x) / x^3 in z = x^2")
    yield from both("kAtanTail", atan_tail, ZERO, tan8, (4, 11), "(atan(x) - x) / x^3 in z = x^2")


def error_function() -> Iterator[Poly]:
    """erf: the series part, and log(erfc) where an absolute error of erfc counts."""
    near = root_form(lambda x: mp.erf(x) / x - 1)
    yield from both("kErfNear", near, ZERO, mpf(1), (6, 11), "erf(x) / x - 1 in z = x^2")
    far = (lambda u: mp.log(mp.erfc(u + 2)), mpf("-1.001"))
    doc = "log(erfc(2 + u)), weighted by erfc(2 + u),"
    yield Poly("kErfFar32", 32, *far, mpf(2), 8, doc, lambda u: mp.erfc(u + 2))
    yield Poly("kErfFar64", 64, *far, mpf(4), 24, doc, lambda u: mp.erfc(u + 2))


def all_polynomials() -> list[Poly]:
    """Every polynomial of the library."""
    return [*exponential(), *logarithm(), *circular(), *error_function()]
