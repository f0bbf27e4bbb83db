// exp, exp2, expm1, sinh, cosh, tanh: one reduction x = n ln2 + r, |r| <= ln2/2, and polynomials in r.
#pragma once

#include "epi/ir/math/coefficients.h"
#include "epi/ir/math/value.h"

namespace epi::ir::math {

template <int W>
struct ExpTable;
template <>
struct ExpTable<32> {
  static constexpr auto& kLn2 = kLn232;
  static constexpr auto& kTail = kExpTail32;
  static constexpr auto& kExpm1 = kExpm1Tail32;
  static constexpr auto& kExp2 = kExp2Tail32;
  static constexpr auto& kSinh = kSinhTail32;
  static constexpr auto& kCosh = kCoshTail32;
  static constexpr float kLog2E = kLog2E32[0];
  static constexpr float kLow = -104.0f, kHigh = 89.0f;  ///< exp is 0 below, infinite above
  static constexpr float kExp2Low = -151.0f, kExp2High = 128.0f;
  static constexpr float kExpm1Low = -18.0f;  ///< expm1 is -1 below
  static constexpr float kTanhHigh = 9.2f;    ///< tanh is 1 above
  static constexpr float kSinhHigh = 89.5f;
  static constexpr float kTiny = 0x1p-25f;  ///< expm1(x) is x below
};
template <>
struct ExpTable<64> {
  static constexpr auto& kLn2 = kLn264;
  static constexpr auto& kTail = kExpTail64;
  static constexpr auto& kExpm1 = kExpTail64;
  static constexpr auto& kExp2 = kExp2Tail64;
  static constexpr auto& kSinh = kSinhTail64;
  static constexpr auto& kCosh = kCoshTail64;
  static constexpr double kLog2E = kLog2E64[0];
  static constexpr double kLow = -746.0, kHigh = 710.0;
  static constexpr double kExp2Low = -1076.0, kExp2High = 1024.0;
  static constexpr double kExpm1Low = -38.0;
  static constexpr double kTanhHigh = 19.2;
  static constexpr double kSinhHigh = 710.6;
  static constexpr double kTiny = 0x1p-54;
};

/// Adding it to a number rounds that to the integer n and leaves n + twice the bias in the low bits, in two's
/// complement.
template <int W>
inline constexpr FloatOf<W> kExpMagic = Format<W>::kMagic + 2 * Format<W>::kBias;

/// x = n ln2 + r; `t` is n + kExpMagic.
template <class B, int W>
struct ExpReduced {
  R<B, W> t, n, r;
};
template <class B, int W>
ExpReduced<B, W> reduce_exp(R<B, W> x) {
  using T = ExpTable<W>;
  R<B, W> t = fma(x, T::kLog2E, kExpMagic<W>), n = t - kExpMagic<W>;
  R<B, W> r = fma(n, -T::kLn2[1], fma(n, -T::kLn2[0], x));
  return {t, n, r};
}

/// 2^(n + offset) for the n held in t; the exponent must be one of a normal number.
template <class B, int W>
R<B, W> power_of_two(R<B, W> t, int offset = 0) {
  return from_bits(shl(bits(t) - static_cast<WordOf<W>>(Format<W>::kBias - offset), Format<W>::kMantissa));
}

/// p 2^n with one rounding for n in about twice the exponent range: subnormal and infinite results come out right.
template <class B, int W>
R<B, W> scale(R<B, W> p, R<B, W> t, R<B, W> n) {
  Int<B, W> half = bits(fma(n, FloatOf<W>(0.5), Format<W>::kMagic + Format<W>::kBias));
  Int<B, W> rest = bits(t) - half;  // both hold their bias, so the shifts make powers of two
  return p * from_bits(shl(half, Format<W>::kMantissa)) * from_bits(shl(rest, Format<W>::kMantissa));
}

template <class B, int W>
R<B, W> exp(R<B, W> x) {
  using T = ExpTable<W>;
  auto [t, n, r] = reduce_exp(at_least(at_most(x, T::kHigh), T::kLow));
  R<B, W> p = fma(fma(horner(r, T::kTail), r, 1), r, 1);
  return scale(p, t, n);
}

template <class B, int W>
R<B, W> exp2(R<B, W> x) {
  using T = ExpTable<W>;
  R<B, W> c = at_least(at_most(x, T::kExp2High), T::kExp2Low);
  R<B, W> t = c + kExpMagic<W>, n = t - kExpMagic<W>, r = c - n;
  return scale(fma(horner(r, T::kExp2), r, 1), t, n);
}

template <class B, int W>
R<B, W> expm1(R<B, W> x) {
  using T = ExpTable<W>;
  auto [t, n, r] = reduce_exp(at_least(at_most(x, T::kHigh), T::kExpm1Low));
  R<B, W> half = power_of_two(t, -1);  // 2^n itself may overflow
  // Smallest term last: the sum of the first two loses at most half an ulp of the result.
  R<B, W> y = fma(half, r * r * horner(r, T::kExpm1), fma(half, r, half - FloatOf<W>(0.5)));
  return select(fabs(x) < T::kTiny, x, y + y);
}

/// (E - 1) / (E + 1) for E = exp(2|x|) = 2^n (1 + em); numerator and denominator are kept as pairs and the quotient
/// gets one correction, which leaves about 1 ulp with one division.
template <class B, int W>
R<B, W> tanh(R<B, W> x) {
  using T = ExpTable<W>;
  R<B, W> a = at_most(fabs(x), T::kTanhHigh);
  auto [t, n, r] = reduce_exp(a + a);
  R<B, W> s = power_of_two(t);
  Pair<B, W> em = fast_two_sum(r, r * r * horner(r, T::kExpm1));
  R<B, W> e = s * em.hi, tail = s * em.lo, one = x.constant(1);
  Pair<B, W> less = fast_two_sum(s, -one), more = fast_two_sum(s, one);
  Pair<B, W> num = fast_two_sum(less.hi, e), den = fast_two_sum(more.hi, e);
  num.lo = num.lo + (tail + less.lo);
  den.lo = den.lo + (tail + more.lo);
  return copysign(quotient(num, den), x);
}

/// exp(|x|) = 2^n exp(r) and exp(-|x|) share sinh(r) and cosh(r) - 1.
template <class B, int W>
struct HyperbolicParts {
  R<B, W> up, down;  ///< 2^(n-2) and 2^(-n-2); the results are doubled at the end, so that they may overflow late
  R<B, W> sinh_r, cosh_m1_r;
};
template <class B, int W>
HyperbolicParts<B, W> hyperbolic_parts(R<B, W> x) {
  using T = ExpTable<W>;
  auto [t, n, r] = reduce_exp(at_most(fabs(x), T::kSinhHigh));
  R<B, W> z = r * r;
  R<B, W> sh = fma(r * z, horner(z, T::kSinh), r);
  R<B, W> ch = fma(z * z, horner(z, T::kCosh), z * FloatOf<W>(0.5));
  R<B, W> down = power_of_two(kExpMagic<W> - n, -2);
  return {power_of_two(t, -2), select(n > 60, FloatOf<W>(0), down), sh, ch};
}

template <class B, int W>
R<B, W> sinh(R<B, W> x) {
  auto [up, down, sh, ch] = hyperbolic_parts(x);
  R<B, W> d = up - down, d_low = (up - d) - down, s = up + down;
  R<B, W> half = d + fma(s, sh, fma(d, ch, d_low));
  return select(fabs(x) < ExpTable<W>::kTiny, x, copysign(half + half, x));
}

template <class B, int W>
R<B, W> cosh(R<B, W> x) {
  auto [up, down, sh, ch] = hyperbolic_parts(x);
  R<B, W> d = up - down, s = up + down, s_low = (up - s) + down;
  R<B, W> half = s + fma(d, sh, fma(s, ch, s_low));
  return half + half;
}

}  // namespace epi::ir::math
