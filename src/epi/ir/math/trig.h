// sin, cos, tan: x = q pi/2 + r, |r| <= pi/4. Up to a limit by three fused steps (Cody and Waite); beyond it, on a path
// taken only where some lane needs it, by an integer product with the bits of 2/pi (Payne and Hanek).
#pragma once

#include <tuple>

#include "epi/ir/math/coefficients.h"
#include "epi/ir/math/value.h"

namespace epi::ir::math {

inline constexpr Table kTwoOverPiTable{"epi_math_two_over_pi", kTwoOverPi, sizeof(kTwoOverPi) / sizeof(std::uint64_t)};

template <int W>
struct TrigTable;
template <>
struct TrigTable<32> {
  static constexpr auto& kPiOver2 = kPiOver232;
  static constexpr auto& kSin = kSinTail32;
  static constexpr auto& kCos = kCosTail32;
  static constexpr float kTwoOverPi = kTwoOverPi32[0];
  static constexpr float kLimit = 0x1p17f;
};
template <>
struct TrigTable<64> {
  static constexpr auto& kPiOver2 = kPiOver264;
  static constexpr auto& kSin = kSinTail64;
  static constexpr auto& kCos = kCosTail64;
  static constexpr double kTwoOverPi = kTwoOverPi64[0];
  static constexpr double kLimit = 0x1p29;
};

/// r, and q in the low two bits.
template <class B, int W>
struct TrigReduced {
  R<B, W> r;
  Int<B, W> q;
};

/// A non-negative integer below 2^32, or a signed one of 33 bits, as a float, exactly.
template <class B>
R<B, 64> small_to_float(Int<B, 64> i) {
  return from_bits(i + kMagicBits<64>) - Format<64>::kMagic;
}

/// The high 64 bits of the unsigned product.
template <class B>
Int<B, 64> multiply_high(Int<B, 64> a, Int<B, 64> c) {
  constexpr std::int64_t kLow32 = 0xffffffff;
  Int<B, 64> a0 = a & kLow32, a1 = lshr(a, 32), c0 = c & kLow32, c1 = lshr(c, 32);
  Int<B, 64> middle = a1 * c0 + lshr(a0 * c0, 32);
  Int<B, 64> other = a0 * c1 + (middle & kLow32);
  return a1 * c1 + lshr(middle, 32) + lshr(other, 32);
}

/// 64 bits of 2/pi from bit `position` of the table on; `word` steps further.
template <class B>
Int<B, 64> two_over_pi_bits(Int<B, 64> position, int word) {
  Int<B, 64> index = lshr(position, 6) + word, shift = position & 63;
  Int<B, 64> high = shl(lookup(kTwoOverPiTable, index), shift);
  return high | lshr(lshr(lookup(kTwoOverPiTable, index + 1), 1), 63 - shift);
}

/// A fraction of a quarter turn in two's complement, top * 2^-64 + next * 2^-128, with its quadrant.
template <class B>
struct Quarter {
  Int<B, 64> top, next, q;
};
/// x 2/pi modulo 4 for |x| = mantissa 2^exponent, exponent >= -62, at most 971 + 1. The window starts at the bit of
/// weight 2 and is 192 bits long; what is cut off is below 2^-120.
template <class B>
Quarter<B> times_two_over_pi(Int<B, 64> mantissa, Int<B, 64> exponent) {
  Int<B, 64> position = exponent + 62;
  Int<B, 64> w0 = two_over_pi_bits(position, 0), w1 = two_over_pi_bits(position, 1), w2 = two_over_pi_bits(position, 2);
  Int<B, 64> from_w2 = multiply_high(mantissa, w2), next = mantissa * w1 + from_w2;
  Mask<B> carry = (next ^ kSignBit<64>) < (from_w2 ^ kSignBit<64>);
  Int<B, 64> top = mantissa * w0 + multiply_high(mantissa, w1);
  top = select(carry, top + 1, top);
  Int<B, 64> q = lshr(top, 62) + (lshr(top, 61) & 1);
  return {shl(top, 2) | lshr(next, 62), shl(next, 2), q};
}

/// Magnitudes from the limit on, infinity and NaN included (r is then garbage).
template <class B>
std::tuple<R<B, 64>, Int<B, 64>> reduce_huge_abs(R<B, 64> x) {
  constexpr std::int64_t kLow32 = 0xffffffff, kHidden = std::int64_t{1} << 52;
  Int<B, 64> word = bits(x);
  Quarter<B> f = times_two_over_pi((word & (kHidden - 1)) | kHidden, lshr(word, 52) - (1023 + 52));
  Pair<B, 64> top = fast_two_sum(small_to_float(ashr(f.top, 32)) * 0x1p32, small_to_float(f.top & kLow32));
  R<B, 64> next = fma(small_to_float(lshr(f.next, 32)), 0x1p32, small_to_float(f.next & kLow32));
  R<B, 64> low = fma(next, 0x1p-64, top.lo);
  Pair<B, 64> sum = fast_two_sum(top.hi, low);
  R<B, 64> r = fma(sum.hi, kPiOver264[0], fma(sum.lo, kPiOver264[0], sum.hi * kPiOver264[1])) * 0x1p-64;
  return {r, f.q};
}

/// The same in f32: one word of the product is enough for 24 bits after any cancellation.
template <class B>
std::tuple<R<B, 32>, Int<B, 32>> reduce_huge_abs(R<B, 32> x) {
  constexpr std::int64_t kLow32 = 0xffffffff;
  constexpr std::int32_t kHidden = 1 << 23;
  Int<B, 32> word = bits(x);
  Int<B, 64> mantissa = zext((word & (kHidden - 1)) | kHidden), position = zext(lshr(word, 23)) + (62 - 127 - 23);
  Int<B, 64> w0 = two_over_pi_bits(position, 0), w1 = two_over_pi_bits(position, 1);
  Int<B, 64> top = mantissa * w0 + lshr(mantissa * lshr(w1, 32), 32);
  Int<B, 64> q = lshr(top, 62) + (lshr(top, 61) & 1), fraction = shl(top, 2);
  R<B, 64> f = fma(small_to_float(ashr(fraction, 32)), 0x1p32, small_to_float(fraction & kLow32));
  return {narrow(f * (kPiOver264[0] * 0x1p-64)), low(q)};
}

/// Infinite and NaN x give a NaN r.
template <class B, int W>
TrigReduced<B, W> reduce_trig(R<B, W> x) {
  using T = TrigTable<W>;
  R<B, W> t = fma(x, T::kTwoOverPi, Format<W>::kMagic), n = t - Format<W>::kMagic;
  R<B, W> r = fma(n, -T::kPiOver2[2], fma(n, -T::kPiOver2[1], fma(n, -T::kPiOver2[0], x)));
  auto [r_value, q_value] = x.b->if_any((fabs(x) >= T::kLimit).v, std::tuple{r.v, bits(t).v}, [&] {
    // Lanes that do not need this path must still index inside the table.
    auto [magnitude, q] = reduce_huge_abs(at_least(fabs(x), T::kLimit));
    R<B, W> huge = flip_sign(magnitude, x) + (x - x);
    return std::tuple{huge.v, select(x < FloatOf<W>(0), 0 - q, q).v};
  });
  return {{x.b, r_value}, {x.b, q_value}};
}

template <class B, int W>
R<B, W> sin_poly(R<B, W> r, R<B, W> z) {
  return fma(r * z, horner(z, TrigTable<W>::kSin), r);
}
template <class B, int W>
R<B, W> cos_poly(R<B, W> z) {
  return fma(z * z, horner(z, TrigTable<W>::kCos), fma(z, FloatOf<W>(-0.5), FloatOf<W>(1)));
}
/// sin(r + q pi/2).
template <class B, int W>
R<B, W> sin_of(R<B, W> r, Int<B, W> q) {
  R<B, W> z = r * r;
  R<B, W> y = select((q & 1) == 0, sin_poly(r, z), cos_poly(z));
  return from_bits(bits(y) ^ (shl(q, W - 2) & kSignBit<W>));
}

template <class B, int W>
R<B, W> sin(R<B, W> x) {
  auto [r, q] = reduce_trig(x);
  return select(x == FloatOf<W>(0), x, sin_of(r, q));
}

template <class B, int W>
R<B, W> cos(R<B, W> x) {
  auto [r, q] = reduce_trig(x);
  return sin_of(r, q + 1);
}

template <class B, int W>
R<B, W> tan(R<B, W> x) {
  auto [r, q] = reduce_trig(x);
  R<B, W> z = r * r, cos_tail = fma(z * z, horner(z, TrigTable<W>::kCos), z * FloatOf<W>(-0.5));
  Pair<B, W> s = fast_two_sum(r, r * z * horner(z, TrigTable<W>::kSin));
  Pair<B, W> c = fast_two_sum(x.constant(FloatOf<W>(1)), cos_tail);
  Mask<B> even = (q & 1) == 0;
  Pair<B, W> num{select(even, s.hi, c.hi), select(even, s.lo, c.lo)};
  Pair<B, W> den{select(even, c.hi, -s.hi), select(even, c.lo, -s.lo)};
  return select(x == FloatOf<W>(0), x, quotient(num, den));
}

}  // namespace epi::ir::math
