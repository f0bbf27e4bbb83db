// The functions with exact results: sign, minimum and maximum, nextafter, fmod, NumPy's remainder and floor_divide.
// (floor, ceil, trunc, rint, fabs, copysign and sqrt are primitives and live in value.h.)
#pragma once

#include <tuple>

#include "epi/ir/math/value.h"

namespace epi::ir::math {

/// -1, 0 (for both zeros) or 1; NaN for NaN.
template <class B, int W>
R<B, W> sign(R<B, W> x) {
  using F = FloatOf<W>;
  R<B, W> one = copysign(x.constant(F(1)), x);
  return select(x == F(0), F(0), select(is_nan(x), x, one));
}

/// The lesser number, -0 before +0; `x` where either is NaN (callers replace it).
template <class B, int W>
R<B, W> lesser(R<B, W> x, R<B, W> y) {
  R<B, W> of_equal = from_bits(bits(x) | bits(y));
  return select(x == y, of_equal, select(y < x, y, x));
}
template <class B, int W>
R<B, W> greater(R<B, W> x, R<B, W> y) {
  R<B, W> of_equal = from_bits(bits(x) & bits(y));
  return select(x == y, of_equal, select(x < y, y, x));
}
/// NaN if either is NaN (NumPy's minimum and maximum; LLVM's too).
template <class B, int W>
R<B, W> minimum(R<B, W> x, R<B, W> y) {
  return select(is_nan(y), y, lesser(x, y));
}
template <class B, int W>
R<B, W> maximum(R<B, W> x, R<B, W> y) {
  return select(is_nan(y), y, greater(x, y));
}
/// The number if one is NaN (C's fmin and fmax).
template <class B, int W>
R<B, W> fmin(R<B, W> x, R<B, W> y) {
  return select(is_nan(x), y, lesser(x, y));
}
template <class B, int W>
R<B, W> fmax(R<B, W> x, R<B, W> y) {
  return select(is_nan(x), y, greater(x, y));
}

template <class B, int W>
R<B, W> nextafter(R<B, W> x, R<B, W> y) {
  using F = FloatOf<W>;
  Int<B, W> word = bits(x);
  Mask<B> away = ((x < y) & (x > F(0))) | ((y < x) & (x < F(0)));
  R<B, W> step = from_bits(select(away, word + WordOf<W>{1}, word - WordOf<W>{1}));
  R<B, W> smallest = from_bits((bits(y) & kSignBit<W>) | WordOf<W>{1});
  R<B, W> moved = select(x == F(0), smallest, step);
  return select(is_nan(x) | is_nan(y), x + y, select(x == y, y, moved));
}

/// The exponent of a positive finite number, unbiased, subnormals included.
template <class B, int W>
Int<B, W> exponent_of(R<B, W> a) {
  constexpr int kShift = Format<W>::kMantissa;
  Mask<B> small = a < kMinNormal<W>;
  Int<B, W> up = lshr(bits(a * FloatOf<W>(WordOf<W>{1} << kShift)), kShift) - WordOf<W>{kShift};
  return select(small, up, lshr(bits(a), kShift)) - WordOf<W>{Format<W>::kBias};
}
/// 2^e as two factors, for 0 <= e <= twice the bias.
template <class B, int W>
R<B, W> times_power(R<B, W> a, Int<B, W> e) {
  constexpr int kShift = Format<W>::kMantissa;
  Int<B, W> half = lshr(e, 1), rest = e - half;
  R<B, W> y = a * from_bits(shl(half + WordOf<W>{Format<W>::kBias}, kShift));
  return y * from_bits(shl(rest + WordOf<W>{Format<W>::kBias}, kShift));
}

/// a - trunc(a / c) c for 0 <= a, 0 < c, a / c below 2^(p-1): the quotient may be one too large, which shows as a
/// negative rest; every operation is exact.
template <class B, int W>
R<B, W> fmod_step(R<B, W> a, R<B, W> c) {
  R<B, W> r = fma(-trunc(a / c), c, a);
  return select(r < FloatOf<W>(0), r + c, r);
}

/// C's fmod, exact. One division where the quotient is short, else a loop that takes p - 3 bits of it a turn.
template <class B, int W>
R<B, W> fmod(R<B, W> x, R<B, W> y) {
  using F = FloatOf<W>;
  constexpr int kBits = Format<W>::kMantissa - 2;
  R<B, W> a = fabs(x), c = fabs(y);
  Mask<B> valid = (a < kInf<W>)&(c > F(0));
  Mask<B> brief = a < c * F(WordOf<W>{1} << kBits);
  R<B, W> first = select(brief & (c < kInf<W>), fmod_step(a, c), a);
  auto [rest] = x.b->while_any(
      std::tuple{first.v}, [&](auto state) { return (valid & (R<B, W>{x.b, std::get<0>(state)} >= c)).v; },
      [&](auto state) {
        R<B, W> r{x.b, std::get<0>(state)};
        Int<B, W> skip = exponent_of(r) - exponent_of(c) - WordOf<W>{kBits - 1};
        skip = select(skip < WordOf<W>{0}, skip.constant(0), skip);
        skip = select(skip < WordOf<W>{2 * Format<W>::kBias}, skip, skip.constant(2 * Format<W>::kBias));
        return std::tuple{fmod_step(r, times_power(c, skip)).v};
      });
  R<B, W> magnitude{x.b, rest};
  R<B, W> invalid = x.constant(kNan<W>);
  return select(valid, copysign(magnitude, x), select(is_nan(x) | is_nan(y), x + y, invalid));
}

/// NumPy's divmod: floor(x / y) without the rounding of the quotient, and a remainder with the sign of y.
template <class B, int W>
struct FloorDivision {
  R<B, W> quotient, remainder;
};
template <class B, int W>
FloorDivision<B, W> floor_division(R<B, W> x, R<B, W> y) {
  using F = FloatOf<W>;
  R<B, W> m = fmod(x, y);
  Mask<B> opposite = ((y < F(0)) & (m > F(0))) | ((y > F(0)) & (m < F(0)));
  R<B, W> exact = (x - m) / y;
  R<B, W> div = select(opposite, exact - F(1), exact);
  R<B, W> rest = select(opposite, m + y, m);
  rest = select(m == F(0), copysign(m, y), rest);
  R<B, W> whole = floor(div);
  whole = select(div - whole > F(0.5), whole + F(1), whole);
  R<B, W> quotient = x / y;
  whole = select(div == F(0), copysign(x.constant(F(0)), quotient), whole);
  return {select(y == F(0), quotient, whole), rest};
}
template <class B, int W>
R<B, W> remainder(R<B, W> x, R<B, W> y) {
  return floor_division(x, y).remainder;
}
template <class B, int W>
R<B, W> floor_divide(R<B, W> x, R<B, W> y) {
  return floor_division(x, y).quotient;
}

}  // namespace epi::ir::math
