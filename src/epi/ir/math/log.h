// log, log2, log10, log1p, and the pairs that the inverse hyperbolic functions build on: x = 2^k (1 + f) with 1 + f in
// [sqrt(1/2), sqrt(2)).
#pragma once

#include "epi/ir/math/coefficients.h"
#include "epi/ir/math/value.h"

namespace epi::ir::math {

template <class B, int W>
struct LogReduced {
  R<B, W> f, k;
};

/// Splits a positive finite x; subnormals included. Garbage for others.
template <class B, int W>
LogReduced<B, W> reduce_log(R<B, W> x) {
  constexpr int kShift = Format<W>::kMantissa;
  constexpr WordOf<W> kRootHalf = W == 32 ? WordOf<W>(0x3f3504f3) : WordOf<W>(0x3fe6a09e667f3bcd);
  constexpr WordOf<W> kMantissaMask = (WordOf<W>{1} << kShift) - 1;
  constexpr FloatOf<W> kUp = FloatOf<W>(WordOf<W>{1} << (kShift + 1));
  Mask<B> small = x < kMinNormal<W>;
  R<B, W> normal = select(small, x * kUp, x);
  Int<B, W> shifted = bits(normal) + (Format<W>::kOne - kRootHalf);
  R<B, W> m = from_bits((shifted & kMantissaMask) + kRootHalf);
  // The biased exponent under the magic number's bits becomes a float without a conversion.
  Int<B, W> magic = lshr(shifted, kShift) | kMagicBits<W>;
  R<B, W> bias = select(small, x.constant(Format<W>::kMagic + Format<W>::kBias + kShift + 1),
                        x.constant(Format<W>::kMagic + Format<W>::kBias));
  return {m - 1, from_bits(magic) - bias};
}

/// y where 0 < x < inf; the right special value elsewhere.
template <class B, int W>
R<B, W> log_specials(R<B, W> x, R<B, W> y) {
  R<B, W> odd = select(x == FloatOf<W>(0), x.constant(-kInf<W>), x.constant(kNan<W>));
  return select(x > FloatOf<W>(0), select(x == kInf<W>, x, y), odd);
}

/// log(1 + f) - f + f^2/2 = f s/2 f + s R(s^2) with s = f / (2 + f), f64 only: hi = f - f^2/2 to be added to it.
template <class B>
struct LogCore64 {
  R<B, 64> f, half_square, tail;
};
template <class B>
LogCore64<B> log_core(R<B, 64> f) {
  R<B, 64> s = f / (f + 2.0), z = s * s;
  R<B, 64> half_square = 0.5 * f * f;
  return {f, half_square, s * fma(z, horner(z, kLogAtanh64), half_square)};
}
/// log(1 + f) as a pair, relative error about 2^-57.
template <class B>
Pair<B, 64> log_pair(R<B, 64> f) {
  LogCore64<B> c = log_core(f);
  R<B, 64> hi = f - c.half_square;
  R<B, 64> square_low = fma(0.5 * f, f, -c.half_square);
  return fast_two_sum(hi, ((f - hi) - c.half_square) + (c.tail - square_low));
}

template <class B>
R<B, 32> log(R<B, 32> x) {
  auto [f, k] = reduce_log(x);
  R<B, 32> tail = fma(f * f, horner(f, kLogTail32), k * kLn2Trunc32[1]);
  return log_specials(x, fma(k, kLn2Trunc32[0], f + tail));
}

template <class B>
R<B, 64> log(R<B, 64> x) {
  auto [f, k] = reduce_log(x);
  LogCore64<B> c = log_core(f);
  R<B, 64> y = f - (c.half_square - fma(k, kLn2Trunc64[1], c.tail));
  return log_specials(x, fma(k, kLn2Trunc64[0], y));
}

template <class B>
R<B, 32> log2(R<B, 32> x) {
  auto [f, k] = reduce_log(x);
  R<B, 32> tail = fma(f * f, horner(f, kLog2Tail32), f * kLog2E32[1]);
  return log_specials(x, k + fma(f, kLog2E32[0], tail));
}

template <class B>
R<B, 64> log2(R<B, 64> x) {
  auto [f, k] = reduce_log(x);
  Pair<B, 64> y = product(log_pair(f), {x.constant(kLog2E64[0]), x.constant(kLog2E64[1])});
  Pair<B, 64> sum = fast_two_sum(k, y.hi);
  return log_specials(x, sum.hi + (sum.lo + y.lo));
}

template <class B>
R<B, 32> log10(R<B, 32> x) {
  auto [f, k] = reduce_log(x);
  R<B, 32> tail = fma(f * f, horner(f, kLog10Tail32), fma(f, kLog10E32[1], k * kLog10Of2Trunc32[1]));
  return log_specials(x, fma(k, kLog10Of2Trunc32[0], fma(f, kLog10E32[0], tail)));
}

template <class B>
R<B, 64> log10(R<B, 64> x) {
  auto [f, k] = reduce_log(x);
  Pair<B, 64> y = product(log_pair(f), {x.constant(kLog10E64[0]), x.constant(kLog10E64[1])});
  Pair<B, 64> sum = fast_two_sum(k * kLog10Of2Trunc64[0], y.hi);
  return log_specials(x, sum.hi + (sum.lo + fma(k, kLog10Of2Trunc64[1], y.lo)));
}

}  // namespace epi::ir::math
