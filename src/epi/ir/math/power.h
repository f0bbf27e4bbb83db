// pow, hypot, rsqrt, reciprocal, square.
#pragma once

#include "epi/ir/math/coefficients.h"
#include "epi/ir/math/exp.h"
#include "epi/ir/math/log.h"
#include "epi/ir/math/value.h"

namespace epi::ir::math {

/// log2(x) for positive finite x as a pair, relative error about 2^-65.
template <class B>
Pair<B, 64> log2_pair(R<B, 64> x) {
  auto [f, k] = reduce_log(x);
  Pair<B, 64> den = fast_two_sum(x.constant(2.0), f);
  R<B, 64> reciprocal = 1.0 / den.hi, s_hi = f * reciprocal;
  R<B, 64> s_lo = fma(-s_hi, den.lo, fma(-s_hi, den.hi, f)) * reciprocal;
  R<B, 64> z_hi = s_hi * s_hi, z_lo = fma(s_hi, s_hi, -z_hi) + 2.0 * s_hi * s_lo;
  // log2(1 + f) / s = 2 log2e + z (2/3 log2e + z P(z))
  Pair<B, 64> inner = fast_two_sum(x.constant(kTwoThirdsLog2E64[0]), z_hi * horner(z_hi, kPowAtanh64));
  Pair<B, 64> term = product<B, 64>({z_hi, z_lo}, {inner.hi, inner.lo + kTwoThirdsLog2E64[1]});
  Pair<B, 64> outer = fast_two_sum(x.constant(kTwoLog2E64[0]), term.hi);
  Pair<B, 64> y = product<B, 64>({s_hi, s_lo}, {outer.hi, outer.lo + (term.lo + kTwoLog2E64[1])});
  Pair<B, 64> sum = fast_two_sum(k, y.hi);
  return fast_two_sum(sum.hi, sum.lo + y.lo);
}

/// 2^(hi + lo); hi may be anything, lo is used only where hi is in range.
template <class B>
R<B, 64> exp2_pair(R<B, 64> hi, R<B, 64> lo) {
  R<B, 64> c = at_least(at_most(hi, 1030.0), -1080.0);
  R<B, 64> t = c + kExpMagic<64>, n = t - kExpMagic<64>;
  R<B, 64> r = select(fabs(hi) < 1080.0, (c - n) + lo, c - n);
  return scale(fma(horner(r, kExp2Tail64), r, 1), t, n);
}

/// |x|^y for x that is not 1 and y that is not 0 (the caller's table covers them), f64.
template <class B>
R<B, 64> pow_magnitude(R<B, 64> a, R<B, 64> y) {
  Pair<B, 64> l = log2_pair(a);
  R<B, 64> log_hi = select(a == 0.0, -kInf<64>, select(a < kInf<64>, l.hi, a));  // NaN stays
  R<B, 64> hi = y * log_hi, lo = fma(y, l.lo, fma(y, l.hi, -hi));
  return exp2_pair(hi, lo);
}

/// The same for f32, computed in f64 with short polynomials.
template <class B>
R<B, 32> pow_magnitude(R<B, 32> a32, R<B, 32> y32) {
  R<B, 64> a = widen(a32), y = widen(y32);
  auto [f, k] = reduce_log(a);
  R<B, 64> l = fma(f, horner(f, kPow32Log2), k);
  l = select(a == 0.0, -kInf<64>, select(a < kInf<64>, l, a));
  R<B, 64> e = at_least(at_most(y * l, 130.0), -152.0);
  R<B, 64> t = e + kExpMagic<64>, r = e - (t - kExpMagic<64>);
  return narrow(fma(horner(r, kPow32Exp2), r, 1) * power_of_two(t));
}

/// C's table: pow(x, +-0) and pow(1, y) are 1, pow(-1, +-inf) is 1, a negative finite x needs an integer y.
template <class B, int W>
R<B, W> pow(R<B, W> x, R<B, W> y) {
  using F = FloatOf<W>;
  R<B, W> a = fabs(x), half = y * F(0.5);
  Mask<B> integer = rint(y) == y, odd = integer & (rint(half) != half);
  R<B, W> p = pow_magnitude(a, y);
  p = select((a == F(1)) & !is_nan(y), F(1), p);
  Int<B, W> sign = select(odd, bits(x) & kSignBit<W>, bits(x).constant(0));
  p = from_bits(bits(p) ^ sign);
  p = select((x < F(0)) & (x > -kInf<W>)&!integer, kNan<W>, p);
  return select((y == F(0)) | (x == F(1)), F(1), p);
}

template <class B, int W>
R<B, W> hypot(R<B, W> x, R<B, W> y) {
  using F = FloatOf<W>;
  constexpr F kUp = W == 32 ? F(0x1p90) : F(0x1p600), kDown = F(1) / kUp;
  constexpr F kBig = W == 32 ? F(0x1p60) : F(0x1p500), kSmall = F(1) / kBig;
  R<B, W> ax = fabs(x), ay = fabs(y);
  Mask<B> swap = ax < ay;
  R<B, W> a = select(swap, ay, ax), c = select(swap, ax, ay);
  Mask<B> big = a > kBig, small = a < kSmall;
  R<B, W> factor = select(big, kDown, select(small, kUp, x.constant(F(1))));
  R<B, W> back = select(big, kUp, select(small, kDown, x.constant(F(1))));
  R<B, W> sa = a * factor, sc = c * factor;
  R<B, W> h = sqrt(fma(sa, sa, sc * sc)) * back;
  return select((ax == kInf<W>) | (ay == kInf<W>), kInf<W>, h);
}

template <class B, int W>
R<B, W> rsqrt(R<B, W> x) {
  return FloatOf<W>(1) / sqrt(x);
}
template <class B, int W>
R<B, W> reciprocal(R<B, W> x) {
  return FloatOf<W>(1) / x;
}
template <class B, int W>
R<B, W> square(R<B, W> x) {
  return x * x;
}

}  // namespace epi::ir::math
