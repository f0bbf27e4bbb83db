// log1p; asinh, acosh, atanh by log1p of a pair; asin, acos, atan, atan2.
#pragma once

#include "epi/ir/math/coefficients.h"
#include "epi/ir/math/log.h"
#include "epi/ir/math/value.h"

namespace epi::ir::math {

/// log(1 + x.hi + x.lo) for -1 < 1 + x < inf, x.lo far below x.hi; garbage elsewhere. `extra_k` times ln2 is added.
template <class B, int W>
R<B, W> log1p_pair(Pair<B, W> x, R<B, W> extra_k) {
  using F = FloatOf<W>;
  Pair<B, W> u = two_sum(x.hi.constant(F(1)), x.hi);
  auto [m1, k] = reduce_log(u.hi);
  // What 1 + x lost, brought to the scale of m; it matters only where k is small.
  constexpr F kFar = F(2 * (Format<W>::kMantissa + 2));
  R<B, W> near = at_most(at_least(k, -kFar), kFar);
  Int<B, W> down = shl(bits(Format<W>::kMagic - near), Format<W>::kMantissa) + Format<W>::kOne;
  R<B, W> lost = select(k < kFar, (u.lo + x.lo) * from_bits(down), F(0));
  Pair<B, W> f = fast_two_sum(m1, lost);
  R<B, W> n = k + extra_k;
  if constexpr (W == 32) {
    R<B, W> tail = fma(f.hi * f.hi, horner(f.hi, kLogTail32), fma(n, kLn2Trunc32[1], f.lo));
    return fma(n, kLn2Trunc32[0], f.hi + tail);
  } else {
    LogCore64<B> c = log_core(f.hi);
    R<B, W> y = f.hi - (c.half_square - fma(n, kLn2Trunc64[1], c.tail + f.lo));
    return fma(n, kLn2Trunc64[0], y);
  }
}

template <class B, int W>
R<B, W> log1p(R<B, W> x) {
  using F = FloatOf<W>;
  R<B, W> zero = x.constant(F(0));
  R<B, W> y = log1p_pair({x, zero}, zero);
  y = select(fabs(x) < F(1) / F(WordOf<W>{1} << (Format<W>::kMantissa + 2)), x, y);
  return select(x > F(-1), select(x == kInf<W>, x, y), select(x == F(-1), x.constant(-kInf<W>), x.constant(kNan<W>)));
}

/// sqrt(v) and what it lost, as a pair; v positive, not tiny.
template <class B, int W>
Pair<B, W> sqrt_pair(R<B, W> v, R<B, W> v_low) {
  R<B, W> s = sqrt(v);
  return {s, (fma(-s, s, v) + v_low) / (s + s)};
}

/// log(a + sqrt(a^2 + 1)) = log1p(a + a^2 / (1 + sqrt(a^2 + 1))); log(2a) where a is big.
template <class B, int W>
R<B, W> asinh(R<B, W> x) {
  using F = FloatOf<W>;
  constexpr F kBig = F(WordOf<W>{1} << (Format<W>::kMantissa / 2 + 3));
  R<B, W> a = fabs(x);
  Mask<B> big = a > kBig;
  R<B, W> s = select(big, F(1), a);  // keeps the square finite
  Pair<B, W> square = two_product(s, s);
  R<B, W> den = sqrt(square.hi + F(1)) + F(1);
  R<B, W> quotient = square.hi / den;
  Pair<B, W> sum = fast_two_sum(s, quotient);
  Pair<B, W> arg{select(big, a, sum.hi), select(big, F(-1), sum.lo)};
  R<B, W> y = log1p_pair(arg, select(big, x.constant(F(1)), x.constant(F(0))));
  y = select(a < kInf<W>, y, a);
  return select(a < F(1) / kBig / F(16), x, copysign(y, x));
}

/// log1p(t + sqrt(2t + t^2)), t = x - 1; log(2x) where x is big.
template <class B, int W>
R<B, W> acosh(R<B, W> x) {
  using F = FloatOf<W>;
  constexpr F kBig = F(WordOf<W>{1} << (Format<W>::kMantissa / 2 + 3));
  Mask<B> big = x > kBig;
  R<B, W> t = select(big, F(1), x - F(1));
  Pair<B, W> square = two_product(t, t), v = two_sum(t + t, square.hi);
  Pair<B, W> root = sqrt_pair(v.hi, v.lo + square.lo);
  root.lo = select(t == F(0), t, root.lo);
  Pair<B, W> sum = two_sum(t, root.hi);
  Pair<B, W> arg{select(big, x, sum.hi), select(big, F(-1), sum.lo + root.lo)};
  R<B, W> y = log1p_pair(arg, select(big, x.constant(F(1)), x.constant(F(0))));
  return select(x >= F(1), select(x == kInf<W>, x, y), kNan<W>);
}

/// log1p(2a / (1 - a)) / 2.
template <class B, int W>
R<B, W> atanh(R<B, W> x) {
  using F = FloatOf<W>;
  R<B, W> a = fabs(x);
  Pair<B, W> den = fast_two_sum(x.constant(F(1)), -a);
  R<B, W> num = a + a, q = num / den.hi;
  R<B, W> rest = fma(-q, den.lo, fma(-q, den.hi, num)) / den.hi;
  R<B, W> y = F(0.5) * log1p_pair({q, rest}, x.constant(F(0)));
  y = select(a < F(1), y, select(a == F(1), x.constant(kInf<W>), x.constant(kNan<W>)));
  return select(a < F(1) / F(WordOf<W>{1} << (Format<W>::kMantissa / 2 + 3)), x, copysign(y, x));
}

template <int W>
struct ArcTable;
template <>
struct ArcTable<32> {
  static constexpr auto& kAsin = kAsinTail32;
  static constexpr auto& kAtan = kAtanTail32;
  static constexpr auto& kPi = kPi32;
  static constexpr auto& kPiOver2 = kPiOver232;
  static constexpr auto& kPiOver4 = kPiOver432;
};
template <>
struct ArcTable<64> {
  static constexpr auto& kAsin = kAsinTail64;
  static constexpr auto& kAtan = kAtanTail64;
  static constexpr auto& kPi = kPi64;
  static constexpr auto& kPiOver2 = kPiOver264;
  static constexpr auto& kPiOver4 = kPiOver464;
};

/// asin and acos share: below 1/2 the series in x, above it the series in s = sqrt((1 - |x|) / 2), asin(|x|) = pi/2 - 2
/// asin(s). `root` is s or |x| as a pair, `tail` is what the series adds to it.
template <class B, int W>
struct ArcSine {
  Mask<B> large;
  Pair<B, W> root;
  R<B, W> tail;
};
template <class B, int W>
ArcSine<B, W> arc_sine(R<B, W> x) {
  using F = FloatOf<W>;
  R<B, W> a = fabs(x);
  Mask<B> large = a > F(0.5);
  R<B, W> z = select(large, fma(a, F(-0.5), F(0.5)), a * a);
  R<B, W> s = sqrt(z), low = fma(-s, s, z) / (s + s);
  low = select(large & (z > F(0)), low, F(0));
  R<B, W> root = select(large, s, a);
  return {large, {root, low}, fma(root * z, horner(z, ArcTable<W>::kAsin), low)};
}

template <class B, int W>
R<B, W> asin(R<B, W> x) {
  using T = ArcTable<W>;
  auto [large, root, tail] = arc_sine(x);
  Pair<B, W> outer = fast_two_sum(x.constant(T::kPiOver2[0]), FloatOf<W>(-2) * root.hi);
  R<B, W> far = outer.hi + (outer.lo + fma(tail, FloatOf<W>(-2), x.constant(T::kPiOver2[1])));
  return copysign(select(large, far, root.hi + tail), x);
}

template <class B, int W>
R<B, W> acos(R<B, W> x) {
  using T = ArcTable<W>;
  using F = FloatOf<W>;
  auto [large, root, tail] = arc_sine(x);
  Mask<B> negative = x < F(0);
  R<B, W> twice = root.hi + root.hi, twice_tail = tail + tail;
  Pair<B, W> from_pi = fast_two_sum(x.constant(T::kPi[0]), -twice);
  R<B, W> left = from_pi.hi + (from_pi.lo + (T::kPi[1] - twice_tail));
  Pair<B, W> middle = fast_two_sum(x.constant(T::kPiOver2[0]), flip_sign(-root.hi, x));
  R<B, W> inner = middle.hi + (middle.lo + (T::kPiOver2[1] + flip_sign(-tail, x)));
  return select(large, select(negative, left, twice + twice_tail), inner);
}

/// The angle of (|y|, |x|) in the first quadrant, y/x reduced by pi/4 or pi/2 to |t| <= tan(pi/8), as base + t + tail.
/// 0/0 and inf/inf give garbage.
template <class B, int W>
struct Angle {
  R<B, W> base, base_low, t, tail;
};
template <class B, int W>
Angle<B, W> angle_of(R<B, W> ay, R<B, W> ax) {
  using F = FloatOf<W>;
  using T = ArcTable<W>;
  constexpr F kTan8 = F(0.41421356237309503);
  Mask<B> low = ay < ax * kTan8, high = ax < ay * kTan8;
  R<B, W> num = select(low, ay, select(high, -ax, ay - ax));
  R<B, W> den = select(low, ax, select(high, ay, ay + ax));
  R<B, W> base = select(low, F(0), select(high, ay.constant(T::kPiOver2[0]), ay.constant(T::kPiOver4[0])));
  R<B, W> base_low = select(low, F(0), select(high, ay.constant(T::kPiOver2[1]), ay.constant(T::kPiOver4[1])));
  R<B, W> t = num / den, z = t * t;
  return {base, base_low, t, t * z * horner(z, T::kAtan)};
}

template <class B, int W>
R<B, W> atan(R<B, W> x) {
  using F = FloatOf<W>;
  constexpr F kFar = W == 32 ? F(0x1p30) : F(0x1p60);  // beyond it the angle is pi/2
  R<B, W> a = at_most(fabs(x), kFar);
  Angle<B, W> g = angle_of(a, x.constant(F(1)));
  Pair<B, W> sum = fast_two_sum(g.base, g.t);
  return copysign(sum.hi + (sum.lo + (g.tail + g.base_low)), x);
}

template <class B, int W>
R<B, W> atan2(R<B, W> y, R<B, W> x) {
  using F = FloatOf<W>;
  using T = ArcTable<W>;
  constexpr F kBig = W == 32 ? F(0x1p120) : F(0x1p1000), kSmall = F(1) / kBig;
  constexpr F kUp = W == 32 ? F(0x1p60) : F(0x1p200);
  R<B, W> ax = fabs(x), ay = fabs(y);
  Mask<B> both_inf = (ax == kInf<W>)&(ay == kInf<W>), both_zero = (ax == F(0)) & (ay == F(0));
  // inf/inf counts as 1/1 and 0/0 as 0/1.
  ax = select(both_inf | both_zero, F(1), ax);
  ay = select(both_inf, F(1), ay);
  Mask<B> big = (ax > kBig) | (ay > kBig), small = (ax < kSmall) & (ay < kSmall);
  R<B, W> factor = select(big, F(1) / kUp, select(small, kUp, x.constant(F(1))));
  Angle<B, W> g = angle_of(ay * factor, ax * factor);
  // The left half plane: pi - angle. bits of x, so that -0 is on the left.
  Mask<B> left = bits(x) < WordOf<W>{0};
  R<B, W> turn = select(left, x.constant(T::kPi[0]), x.constant(F(0)));
  R<B, W> turn_low = select(left, x.constant(T::kPi[1]), x.constant(F(0)));
  R<B, W> base = turn + flip_sign(g.base, x), base_low = turn_low + flip_sign(g.base_low, x);
  base = select(g.base > F(0.8), x.constant(T::kPiOver2[0]), base);
  base_low = select(g.base > F(0.8), x.constant(T::kPiOver2[1]), base_low);
  Pair<B, W> sum = fast_two_sum(base, flip_sign(g.t, x));
  R<B, W> angle = copysign(sum.hi + (sum.lo + (flip_sign(g.tail, x) + base_low)), y);
  return select(is_nan(x) | is_nan(y), x + y, angle);
}

}  // namespace epi::ir::math
