// What the interpreter's arithmetic does to single numbers: wrapping integers, floats rounded once an operation, half
// floats through float. The corner cases are docs/design/semantics.md's. No MLIR, no loops over tiles.
#pragma once
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "epi/base/dtype.h"
#include "epi/ir/kinds.h"

namespace epi::ir::interp {

template <class T>
concept HalfFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
concept Float = HalfFloat<T> || std::is_floating_point_v<T>;
template <class T>
concept Complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T>
concept Bool = std::is_same_v<T, bool>;
template <class T>
concept Integer = std::is_integral_v<T> && !Bool<T>;

template <class T>
struct WideOf {
  using type = T;
};
template <HalfFloat T>
struct WideOf<T> {
  using type = float;
};
/// The type that T's arithmetic is done in.
template <class T>
using Wide = typename WideOf<T>::type;
template <class T>
Wide<T> widen(T x) {
  return static_cast<Wide<T>>(x);
}

/// The float next to `x` toward zero where x was rounded away from `exact`, with its last bit set where it was rounded
/// at all: rounding this once more to a format at least two bits narrower rounds `exact` correctly.
template <class Exact>
float round_to_odd(Exact exact) {
  const float x = static_cast<float>(exact);
  if constexpr (std::is_floating_point_v<Exact>) {
    const auto back = static_cast<Exact>(x);
    if (back == exact || exact != exact) return x;
    const bool away = std::fabs(back) > std::fabs(exact);
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) - (away ? 1U : 0U)) | 1U);
  } else {
    const auto back = static_cast<__int128>(x);
    if (back == static_cast<__int128>(exact)) return x;
    const bool away = exact > 0 ? back > static_cast<__int128>(exact) : back < static_cast<__int128>(exact);
    return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) - (away ? 1U : 0U)) | 1U);
  }
}
/// A number as a float of type T, rounded once to nearest even.
template <Float T, class From>
T to_float(From x) {
  if constexpr (!HalfFloat<T>)
    return static_cast<T>(widen(x));
  else if constexpr (std::is_same_v<From, float>)
    return T(x);
  else if constexpr (HalfFloat<From>)
    return T(static_cast<float>(x));
  else if constexpr (Bool<From>)
    return T(x ? 1.0F : 0.0F);
  else
    return T(round_to_odd(x));
}

// -- bits ----------------------------------------------------------------------------------------------------------
template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
template <Float T>
BitsOf<T> bits_of(T x) {
  return std::bit_cast<BitsOf<T>>(x);
}
template <Float T>
inline constexpr BitsOf<T> kSignBit = static_cast<BitsOf<T>>(BitsOf<T>{1} << (sizeof(T) * 8 - 1));
template <Float T>
bool sign_of(T x) {
  return (bits_of(x) & kSignBit<T>) != 0;
}
template <Float T>
bool is_nan(T x) {
  return std::isnan(widen(x));
}
template <Float T>
T with_bits(std::uint64_t bits) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}
template <Float T>
T negate(T x) {
  return with_bits<T>(bits_of(x) ^ kSignBit<T>);
}
template <Float T>
T next_after(T x, T toward) {
  if (is_nan(x) || is_nan(toward)) return T(std::numeric_limits<float>::quiet_NaN());
  if (widen(x) == widen(toward)) return toward;
  if (widen(x) == 0) return with_bits<T>((bits_of(toward) & kSignBit<T>) | 1U);
  const bool grow = (widen(x) < widen(toward)) == (widen(x) > 0);
  return with_bits<T>(grow ? bits_of(x) + 1U : bits_of(x) - 1U);
}

// -- integers --------------------------------------------------------------------------------------------------------
template <Integer T>
inline constexpr int kWidth = static_cast<int>(sizeof(T) * 8);
template <Integer T>
std::uint64_t wide_bits(T x) {
  return static_cast<std::uint64_t>(x);
}
template <Integer T>
T trunc_div(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return static_cast<T>(0 - wide_bits(a));
  return static_cast<T>(a / b);
}
template <Integer T>
T trunc_rem(T a, T b) {
  if (b == 0) return 0;
  if constexpr (std::is_signed_v<T>)
    if (b == -1) return 0;
  return static_cast<T>(a % b);
}
template <Integer T>
T floor_mod(T a, T b) {
  const T r = trunc_rem(a, b);
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}
template <Integer T>
T floor_div(T a, T b) {
  const T q = trunc_div(a, b);
  const T r = trunc_rem(a, b);
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(q - 1) : q;
}
template <Integer T>
T power(T base, T exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if constexpr (std::is_signed_v<T>)
      if (base == -1) return (exponent & 1) ? T{-1} : T{1};
    return 0;
  }
  std::uint64_t result = 1;
  std::uint64_t square = wide_bits(base);
  for (auto e = wide_bits(exponent); e != 0; e >>= 1, square *= square)
    if (e & 1U) result *= square;
  return static_cast<T>(result);
}
template <Integer T>
T shift_left(T a, T n) {
  using U = std::make_unsigned_t<T>;
  return static_cast<U>(n) >= static_cast<U>(kWidth<T>) ? T{0} : static_cast<T>(wide_bits(a) << static_cast<U>(n));
}
template <Integer T>
T shift_right(T a, T n) {
  using U = std::make_unsigned_t<T>;
  const bool all = static_cast<U>(n) >= static_cast<U>(kWidth<T>);
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(a >> (all ? kWidth<T> - 1 : static_cast<int>(n)));
  else
    return all ? T{0} : static_cast<T>(a >> n);
}
template <Integer T>
T mul_high(T a, T b) {
  using W = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> kWidth<T>);
}

// -- floats
// ------------------------------------------------------------------------------------------------------------
/// NumPy's floor division and remainder, from one fmod.
template <std::floating_point T>
T floor_mod(T a, T b) {
  const T r = std::fmod(a, b);
  if (b == 0) return r;
  if (r != 0) return (b < 0) != (r < 0) ? r + b : r;
  return std::copysign(T{0}, b);
}
template <std::floating_point T>
T floor_div(T a, T b) {
  if (b == 0) return a / b;
  const T r = std::fmod(a, b);
  T q = (a - r) / b;
  if (r != 0 && (b < 0) != (r < 0)) q -= 1;
  if (q == 0) return std::copysign(T{0}, a / b);
  const T whole = std::floor(q);
  return q - whole > T{0.5} ? whole + 1 : whole;
}
/// -0 orders before +0.
template <Float T>
bool less(T a, T b) {
  if (widen(a) == widen(b)) return sign_of(a) && !sign_of(b);
  return widen(a) < widen(b);
}
template <class T>
T minimum(T a, T b) {
  if constexpr (Float<T>)
    return is_nan(a) ? a : is_nan(b) ? b : less(b, a) ? b : a;
  else
    return b < a ? b : a;
}
template <class T>
T maximum(T a, T b) {
  if constexpr (Float<T>)
    return is_nan(a) ? a : is_nan(b) ? b : less(a, b) ? b : a;
  else
    return a < b ? b : a;
}
template <class T>
T number_min(T a, T b) {
  if constexpr (Float<T>)
    return is_nan(a) ? b : is_nan(b) ? a : minimum(a, b);
  else
    return minimum(a, b);
}
template <class T>
T number_max(T a, T b) {
  if constexpr (Float<T>)
    return is_nan(a) ? b : is_nan(b) ? a : maximum(a, b);
  else
    return maximum(a, b);
}
/// a*b + c rounded once. Halves: the product is exact in double; the sum is rounded to odd, then to the format.
template <Float T>
T fused(T a, T b, T c) {
  if constexpr (!HalfFloat<T>) {
    return std::fma(a, b, c);
  } else {
    const double p = static_cast<double>(widen(a)) * static_cast<double>(widen(b));
    const double q = static_cast<double>(widen(c));
    const double s = p + q;
    if (!std::isfinite(s)) return to_float<T>(s);
    const double t = s - p;
    const double error = (p - (s - t)) + (q - t);
    auto bits = std::bit_cast<std::int64_t>(s);
    if (error != 0) {
      if ((error < 0) == (s > 0)) bits -= 1;  // s was rounded away from zero
      bits |= 1;
    }
    return to_float<T>(std::bit_cast<double>(bits));
  }
}

// -- complex
// -------------------------------------------------------------------------------------------------------------
template <Complex T>
T multiply(T a, T b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
/// Smith's algorithm, as NumPy divides.
template <Complex T>
T divide(T a, T b) {
  const auto re = std::abs(b.real());
  const auto im = std::abs(b.imag());
  if (re >= im) {
    if (re == 0 && im == 0) return {a.real() / re, a.imag() / re};
    const auto ratio = b.imag() / b.real();
    const auto scale = 1 / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const auto ratio = b.real() / b.imag();
  const auto scale = 1 / (b.imag() + b.real() * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

}  // namespace epi::ir::interp
