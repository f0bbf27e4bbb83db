// Conversions of the interpreter. `wrap` is checked against answers recorded from NumPy 2.4.6 on x86-64 (one-element
// arrays; NumPy's vector loops differ from its scalar ones for uint32), `saturate` against the definition.
#include "interp_kit.h"

namespace epi::ir::kit {
namespace {

const std::vector<double>& cast_inputs() {
  static const std::vector<double> values = {kNaN, kInf, -kInf, 300., -1.,         -300.7,       70000., 3e9,  -3e9,
                                             5e9,  1e19, -1e19, 3e20, 2147483648., -2147483649., 0.9,    -0.9, -0.0};
  return values;
}
template <class T>
std::vector<T> numpy_casts();
template <>
std::vector<std::int8_t> numpy_casts() {
  return {0, 0, 0, 44, -1, -44, 112, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
}
template <>
std::vector<std::int16_t> numpy_casts() {
  return {0, 0, 0, 300, -1, -300, 4464, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
}
template <>
std::vector<std::int32_t> numpy_casts() {
  return {-2147483647 - 1,
          -2147483647 - 1,
          -2147483647 - 1,
          300,
          -1,
          -300,
          70000,
          -2147483647 - 1,
          -2147483647 - 1,
          -2147483647 - 1,
          -2147483647 - 1,
          -2147483647 - 1,
          -2147483647 - 1,
          -2147483647 - 1,
          -2147483647 - 1,
          0,
          0,
          0};
}
template <>
std::vector<std::int64_t> numpy_casts() {
  return {-9223372036854775807 - 1,
          -9223372036854775807 - 1,
          -9223372036854775807 - 1,
          300,
          -1,
          -300,
          70000,
          3000000000,
          -3000000000,
          5000000000,
          -9223372036854775807 - 1,
          -9223372036854775807 - 1,
          -9223372036854775807 - 1,
          2147483648,
          -2147483649,
          0,
          0,
          0};
}
template <>
std::vector<std::uint8_t> numpy_casts() {
  return {0, 0, 0, 44, 255, 212, 112, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
}
template <>
std::vector<std::uint16_t> numpy_casts() {
  return {0, 0, 0, 300, 65535, 65236, 4464, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
}
template <>
std::vector<std::uint32_t> numpy_casts() {
  return {0U,         0U, 0U, 300U, 4294967295U, 4294966996U, 70000U, 3000000000U, 1294967296U,
          705032704U, 0U, 0U, 0U,   2147483648U, 2147483647U, 0U,     0U,          0U};
}
template <>
std::vector<std::uint64_t> numpy_casts() {
  return {9223372036854775808U,
          0U,
          9223372036854775808U,
          300U,
          18446744073709551615U,
          18446744073709551316U,
          70000U,
          3000000000U,
          18446744070709551616U,
          5000000000U,
          10000000000000000000U,
          9223372036854775808U,
          0U,
          2147483648U,
          18446744071562067967U,
          0U,
          0U,
          0U};
}

template <class T>
class Casts : public testing::Test {};
using IntegerTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                    std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Casts, IntegerTypes);

template <class To, class From>
Array<To> cast(const Array<From>& x, Cast mode) {
  return compute<To>(x.shape(), [&](Builder& b, const Values& v) { return b.cast(v[0], dtype_of<To>(), mode); }, x);
}
template <class From>
Array<From> inputs() {
  std::vector<From> out;
  for (double x : cast_inputs()) out.push_back(static_cast<From>(static_cast<float>(x)));
  return Array<From>({static_cast<std::int64_t>(out.size())}, out);
}

TYPED_TEST(Casts, WrapOfDoublesIsNumPys) {
  const Array<double> x({18}, cast_inputs());
  expect_same(cast<TypeParam>(x, Cast::k_wrap), numpy_casts<TypeParam>());
}

TYPED_TEST(Casts, WrapOfOtherFloatsIsThatOfTheirValueInDouble) {
  auto check = [](auto x) {
    std::vector<double> wide;
    for (const auto& v : x.values()) wide.push_back(plain(v));
    const auto wanted = cast<TypeParam>(Array<double>({18}, wide), Cast::k_wrap);
    expect_same(cast<TypeParam>(x, Cast::k_wrap), wanted.values());
  };
  check(inputs<float>());
  check(inputs<Half>());
  check(inputs<BFloat16>());
}

TYPED_TEST(Casts, SaturateClampsAndSendsNaNToZero) {
  using L = std::numeric_limits<TypeParam>;
  auto check = [](auto x) {
    std::vector<TypeParam> wanted;
    for (const auto& v : x.values()) {
      const long double w = plain(v);
      wanted.push_back(w != w          ? TypeParam{0}
                       : w <= L::min() ? L::min()
                       : w >= L::max() ? L::max()
                                       : static_cast<TypeParam>(w));
    }
    expect_same(cast<TypeParam>(x, Cast::k_saturate), wanted);
  };
  check(Array<double>({18}, cast_inputs()));
  check(inputs<float>());
  check(inputs<Half>());
  check(inputs<BFloat16>());
}

TYPED_TEST(Casts, IntegersWrapOrClamp) {
  using L = std::numeric_limits<TypeParam>;
  auto check = [](auto x) {
    if constexpr (!std::is_same_v<decltype(x), Array<TypeParam>>) {
      std::vector<TypeParam> wrapped;
      std::vector<TypeParam> clamped;
      for (auto v : x.values()) {
        const __int128 w = v;
        wrapped.push_back(static_cast<TypeParam>(w));
        clamped.push_back(static_cast<TypeParam>(w < L::min()   ? __int128{L::min()}
                                                 : w > L::max() ? __int128{L::max()}
                                                                : w));
      }
      expect_same(cast<TypeParam>(x, Cast::k_wrap), wrapped, "wrap");
      expect_same(cast<TypeParam>(x, Cast::k_saturate), clamped, "saturate");
    }
  };
  check(Array<std::int64_t>{0, 1, -1, 127, 128, -129, 40000, -40000, 1LL << 31, INT64_MIN, INT64_MAX});
  check(Array<std::uint64_t>{0, 1, 255, 256, 65536, 1ULL << 32, UINT64_MAX});
  check(Array<std::int8_t>{0, 1, -1, 127, -128});
  check(Array<std::uint32_t>{0, 200, 4294967295U});
  expect_same(cast<TypeParam>(Array<bool>{false, true}, Cast::k_wrap), {0, 1});
}

TYPED_TEST(Casts, ToFloatsAndBoolAndComplex) {
  using T = TypeParam;
  const Array<T> x{0, 1, static_cast<T>(-1), std::numeric_limits<T>::max()};
  std::vector<float> f;
  std::vector<double> d;
  std::vector<std::complex<float>> c;
  for (T v : x.values()) {
    f.push_back(static_cast<float>(v));
    d.push_back(static_cast<double>(v));
    c.emplace_back(static_cast<float>(v), 0.0F);
  }
  expect_same(cast<float>(x, Cast::k_wrap), f);
  expect_same(cast<double>(x, Cast::k_wrap), d);
  expect_same(cast<std::complex<float>>(x, Cast::k_wrap), c);
  expect_same(cast<bool>(x, Cast::k_wrap), {false, true, true, true});
}

TEST(Cast, HalvesRoundOnceFromWiderTypes) {
  // Half way between two numbers of the format, and a bit that float would lose.
  const double h = 1 + 0x1p-11;
  expect_same(
      cast<Half>(Array<double>{h, h + 0x1p-40, h - 0x1p-40, 65519.99, 65520, 1e300, 0x1p-25, 0x1.00001p-25, kNaN},
                 Cast::k_wrap),
      {Half(1), Half(1 + 0x1p-10F), Half(1), Half(65504), Half(INFINITY), Half(INFINITY), Half(0), Half(0x1p-24F),
       Half(NAN)});
  const double b = 1 + 0x1p-8;
  expect_same(
      cast<BFloat16>(Array<double>{b, b + 0x1p-40, b - 0x1p-40, -b - 0x1p-40, 1e300, -1e-300}, Cast::k_wrap),
      {BFloat16(1), BFloat16(1 + 0x1p-7F), BFloat16(1), BFloat16(-1 - 0x1p-7F), BFloat16(INFINITY), BFloat16(-0.0F)});
  const std::int64_t n = (1LL << 60) + (1LL << 52);  // half way for bfloat16
  expect_same(cast<BFloat16>(Array<std::int64_t>{n, n + 1, n - 1, -n - 1}, Cast::k_wrap),
              {BFloat16(0x1p60F), BFloat16(0x1.02p60F), BFloat16(0x1p60F), BFloat16(-0x1.02p60F)});
  expect_same(cast<Half>(Array<std::int64_t>{2049, 2051, 65519, 65520, INT64_MIN}, Cast::k_wrap),
              {Half(2048), Half(2052), Half(65504), Half(INFINITY), Half(-INFINITY)});
  expect_same(cast<float>(Array<std::int64_t>{(1LL << 53) + (1LL << 29) + 1}, Cast::k_wrap), {0x1.000002p53F});
}

TEST(Cast, FloatsToFloatsBoolAndComplex) {
  expect_same(cast<float>(Array<double>{0.1, 1e300, 0x1p-150, kNaN}, Cast::k_wrap), {0.1F, INFINITY, 0.0F, NAN});
  expect_same(cast<double>(Array<Half>{Half(0.1F), Half(-0.0F)}, Cast::k_wrap),
              {static_cast<double>(static_cast<float>(Half(0.1F))), -0.0});
  expect_same(cast<bool>(Array<float>{0, -0.0F, 0.5F, NAN}, Cast::k_wrap), {false, false, true, true});
  expect_same(cast<bool>(Array<Half>{Half(0), Half(-0.0F), Half(1e-7F), Half(NAN)}, Cast::k_saturate),
              {false, false, true, true});
  using C = std::complex<double>;
  const Array<C> c{C(1.5, -2), C(0, 1), C(0, 0)};
  expect_same(cast<bool>(c, Cast::k_wrap), {true, true, false});
  expect_same(cast<float>(c, Cast::k_wrap), {1.5F, 0.0F, 0.0F});
  expect_same(cast<std::int32_t>(c, Cast::k_wrap), {1, 0, 0});
  expect_same(cast<std::complex<float>>(c, Cast::k_wrap), {{1.5F, -2}, {0, 1}, {0, 0}});
}

TEST(Cast, BitcastKeepsTheBits) {
  expect_same(
      compute<std::uint32_t>(
          {2}, [](Builder& b, const Values& v) { return b.bitcast(v[0], DType::kUInt32); }, Array<float>{1.0F, -0.0F}),
      {0x3f800000U, 0x80000000U});
  expect_same(compute<BFloat16>(
                  {1}, [](Builder& b, const Values& v) { return b.bitcast(v[0], DType::kBFloat16); },
                  Array<std::int16_t>{0x3f80}),
              {BFloat16(1)});
  expect_same(compute<std::complex<float>>(
                  {1}, [](Builder& b, const Values& v) { return b.bitcast(v[0], DType::kComplex64); },
                  Array<std::uint64_t>{0x400000003f800000U}),
              {{1, 2}});
}

}  // namespace
}  // namespace epi::ir::kit
