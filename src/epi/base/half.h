// float16 and bfloat16 as storage types: conversions round to nearest, ties to even; NaN stays NaN.
#pragma once
#include <bit>
#include <cstdint>

namespace epi {

/// IEEE binary16 bits. Arithmetic goes through float.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(float x) : bits(from_float(x)) {}
  explicit operator float() const { return to_float(bits); }
  static std::uint16_t from_float(float x);
  static float to_float(std::uint16_t h);
};

/// bfloat16 bits: the upper half of a float.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float x) : bits(from_float(x)) {}
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
  static std::uint16_t from_float(float x) {
    const auto u = std::bit_cast<std::uint32_t>(x);
    if ((u & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((u >> 16) | 0x40U);
    return static_cast<std::uint16_t>((u + 0x7fffU + ((u >> 16) & 1U)) >> 16);
  }
};

inline std::uint16_t Half::from_float(float x) {
  const auto u = std::bit_cast<std::uint32_t>(x);
  const auto sign = static_cast<std::uint16_t>((u >> 16) & 0x8000U);
  const std::uint32_t a = u & 0x7fffffffU;
  if (a > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U | ((a >> 13) & 0x3ffU));
  if (a >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // rounds past 65504
  if (a < 0x38800000U) {  // subnormal half: let the float adder round at 2^-24
    const float r = std::bit_cast<float>(a) + std::bit_cast<float>(0x3f000000U);
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(r) - 0x3f000000U));
  }
  const std::uint32_t r = a + 0xfffU + ((a >> 13) & 1U) - 0x38000000U;
  return static_cast<std::uint16_t>(sign | (r >> 13));
}

inline float Half::to_float(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000U) << 16;
  const std::uint32_t e = (h >> 10) & 0x1fU;
  const std::uint32_t m = h & 0x3ffU;
  if (e == 0x1f) return std::bit_cast<float>(sign | 0x7f800000U | (m << 13));
  if (e == 0) {
    const float f = static_cast<float>(m) * 0x1p-24f;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(f) | sign);
  }
  return std::bit_cast<float>(sign | ((e + 112) << 23) | (m << 13));
}

}  // namespace epi
