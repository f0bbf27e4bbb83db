"""The list of polynomials that generate_coefficients.py fits: data, one entry per approximation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath import mp, mpf

R = mpf("0.3467")  # a little over ln2/2
SQ = mpf("1e-12")  # keeps removable singularities out of the interval


def root_form(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """f as a function of z = x^2."""
    return lambda z: f(mp.sqrt(z))


def off_zero(f: Callable[[mpf], mpf]) -> Callable[[mpf], mpf]:
    """f with its removable singularity at zero stepped over (a shift of 1e-20 is far below every error here)."""
    return lambda r: f(r if abs(r) > mpf("1e-20") else mpf("1e-20"))


def log_tail(base: mpf) -> Callable[[mpf], mpf]:
    """(log_base(1+r) - r log_base(e)) / r^2."""
    scale = 1 / mp.log(base)
    return off_zero(lambda r: (mp.log1p(r) - r) * scale / r**2)


def atanh_tail(terms: int) -> Callable[[mpf], mpf]:
    """(2 atanh(s) - the first `terms` terms of its series) / s^(2 terms + 1), in z = s^2."""
    def f(z: mpf) -> mpf:
        return mp.nsum(lambda k: 2 * z**k / (2 * (k + terms) + 1), [0, 60])
    return f


def all_polynomials(Poly: Any) -> list[Any]:
    """Every polynomial of the library."""
    exp_tail = off_zero(lambda r: (mp.expm1(r) - r) / r**2)
    exp2_tail = off_zero(lambda r: mp.expm1(r * mp.log(2)) / r)
    sin_tail = root_form(lambda r: (mp.sin(r) - r) / r**3)
    cos_tail = root_form(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4)
    sinh_tail = root_form(lambda r: (mp.sinh(r) - r) / r**3)
    cosh_tail = root_form(lambda r: (mp.cosh(r) - 1 - r * r / 2) / r**4)
    asin_tail = root_form(lambda x: (mp.asin(x) - x) / x**3)
    atan_tail = root_form(lambda x: (mp.atan(x) - x) / x**3)
    m_lo, m_hi = mpf("-0.2929"), mpf("0.4143")
    pio4_sq, tan8_sq = mpf("0.7854") ** 2, mpf("0.4143") ** 2
    s_sq = mpf("0.17158") ** 2
    out = []
    for bits, degree in ((32, 4), (64, 9)):
        out.append(Poly(f"kExpTail{bits}", bits, exp_tail, -R, R, degree, "(exp(r) - 1 - r) / r^2"))
    out.append(Poly("kExpm1Tail32", 32, exp_tail, -R, R, 5, "(exp(r) - 1 - r) / r^2"))
    for bits, degree in ((32, 5), (64, 10)):
        out.append(Poly(f"kExp2Tail{bits}", bits, exp2_tail, mpf("-0.5001"), mpf("0.5001"), degree, "(2^r - 1) / r"))
    for bits, degree in ((32, 2), (64, 5)):
        out.append(Poly(f"kSinTail{bits}", bits, sin_tail, SQ, pio4_sq, degree, "(sin(r) - r) / r^3 in z = r^2"))
        out.append(Poly(f"kCosTail{bits}", bits, cos_tail, SQ, pio4_sq, degree, "(cos(r) - 1 + r^2/2) / r^4 in z = r^2"))
    for bits, degree, even in ((32, 2, 1), (64, 5, 5)):
        out.append(Poly(f"kSinhTail{bits}", bits, sinh_tail, SQ, R * R, degree, "(sinh(r) - r) / r^3 in z = r^2"))
        out.append(Poly(f"kCoshTail{bits}", bits, cosh_tail, SQ, R * R, even, "(cosh(r) - 1 - r^2/2) / r^4 in z = r^2"))
    for name, base in (("Log", mp.e), ("Log2", mpf(2)), ("Log10", mpf(10))):
        out.append(Poly(f"k{name}Tail32", 32, log_tail(base), m_lo, m_hi, 8, f"({name.lower()}(1+r) - its linear term) / r^2"))
    out.append(Poly("kLogAtanh64", 64, atanh_tail(1), SQ, s_sq, 6, "(2 atanh(s) - 2s) / s^3 in z = s^2"))
    log2e = 1 / mp.log(2)
    scaled = atanh_tail(2)
    out.append(Poly("kPowAtanh64", 64, lambda z: scaled(z) * log2e, SQ, s_sq, 6,
                    "log2(e) (2 atanh(s) - 2s - 2s^3/3) / s^5 in z = s^2"))
    out.append(Poly("kPow32Log2", 64, off_zero(lambda r: mp.log1p(r) * log2e / r), m_lo, m_hi, 14, "log2(1+r) / r"))
    out.append(Poly("kPow32Exp2", 64, exp2_tail, mpf("-0.5001"), mpf("0.5001"), 6, "(2^r - 1) / r"))
    for bits, degree in ((32, 4), (64, 12)):
        out.append(Poly(f"kAsinTail{bits}", bits, asin_tail, SQ, mpf("0.2501"), degree, "(asin(x) - x) / x^3 in z = x^2"))
    for bits, degree in ((32, 4), (64, 11)):
        out.append(Poly(f"kAtanTail{bits}", bits, atan_tail, SQ, tan8_sq, degree, "(atan(x) - x) / x^3 in z = x^2"))
    erf_near = root_form(lambda x: mp.erf(x) / x - 1)
    for bits, degree, far in ((32, 6, 8), (64, 11, 24)):
        out.append(Poly(f"kErfNear{bits}", bits, erf_near, SQ, mpf(1), degree, "erf(x) / x - 1 in z = x^2"))
        out.append(Poly(f"kErfFar{bits}", bits, lambda u: mp.log(mp.erfc(u + 2)), mpf("-1.001"), mpf(2 if bits == 32 else 4),
                        far, "log(erfc(2 + u)), weighted by erfc(2 + u),", lambda u: mp.erfc(u + 2)))
    return out
