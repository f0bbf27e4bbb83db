// Elementwise arithmetic of the interpreter against formulas that need no thought: integers in 128 bits reduced to the
// width, floats in double rounded by the definition of rounding; corner cases spelled out.
#include "interp_kit.h"

namespace epi::ir::kit {
namespace {

template <class T>
class Integers : public testing::Test {};
using IntegerTypes = testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t,
                                    std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

template <class T>
std::vector<T> integer_values() {
  using L = std::numeric_limits<T>;
  return {0,
          1,
          2,
          3,
          7,
          static_cast<T>(-1),
          static_cast<T>(-2),
          static_cast<T>(-7),
          L::min(),
          T(L::min() + 1),
          L::max(),
          T(L::max() - 1),
          T(L::max() / 3),
          100};
}

using Wide = __int128;
Wide floor_of(Wide a, Wide b) { return b == 0 ? 0 : a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// What NumPy's or C's rule gives, as a number that the caller wraps to T.
template <class T>
Wide reference(Binary kind, Wide a, Wide b) {
  constexpr int width = sizeof(T) * 8;
  const bool wide_shift = b < 0 || b >= width;
  switch (kind) {
    case Binary::k_add:
      return a + b;
    case Binary::k_sub:
      return a - b;
    case Binary::k_mul:
      return static_cast<Wide>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b));
    case Binary::k_floordiv:
      return floor_of(a, b);
    case Binary::k_mod:
      return b == 0 ? 0 : a - floor_of(a, b) * b;
    case Binary::k_truncdiv:
      return b == 0 ? 0 : a / b;
    case Binary::k_rem:
      return b == 0 ? 0 : a % b;
    case Binary::k_minimum:
    case Binary::k_fmin:
      return a < b ? a : b;
    case Binary::k_maximum:
    case Binary::k_fmax:
      return a > b ? a : b;
    case Binary::k_bitand:
      return a & b;
    case Binary::k_bitor:
      return a | b;
    case Binary::k_bitxor:
      return a ^ b;
    case Binary::k_shl:
      return wide_shift ? 0 : static_cast<Wide>(static_cast<unsigned __int128>(a) << b);
    case Binary::k_shr:
      return wide_shift ? (a < 0 ? -1 : 0) : a >> b;
    case Binary::k_mulhi:
      return std::is_signed_v<T>
                 ? (a * b) >> width
                 : static_cast<Wide>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> width);
    default:
      ADD_FAILURE();
      return 0;
  }
}

TYPED_TEST(Integers, BinaryKindsWrapAndDivideAsDefined) {
  using T = TypeParam;
  const auto [a, b] = pairs(integer_values<T>());
  for (Binary kind :
       {Binary::k_add, Binary::k_sub, Binary::k_mul, Binary::k_floordiv, Binary::k_mod, Binary::k_truncdiv,
        Binary::k_rem, Binary::k_minimum, Binary::k_maximum, Binary::k_fmin, Binary::k_fmax, Binary::k_bitand,
        Binary::k_bitor, Binary::k_bitxor, Binary::k_shl, Binary::k_shr, Binary::k_mulhi}) {
    std::vector<T> wanted;
    for (std::int64_t i = 0; i < a.size(); ++i) wanted.push_back(static_cast<T>(reference<T>(kind, a[i], b[i])));
    const auto got =
        compute<T>(a.shape(), [&](Builder& b2, const Values& v) { return b2.binary(kind, v[0], v[1]); }, a, b);
    expect_same(got, wanted, "binary kind " + std::to_string(static_cast<unsigned>(kind)));
  }
}

TYPED_TEST(Integers, PowerWrapsAndNegativeExponentsGiveZeroButForOnes) {
  using T = TypeParam;
  const auto [a, b] =
      pairs(std::vector<T>{0, 1, 2, 3, 10, 63, 64, static_cast<T>(-1), static_cast<T>(-2), static_cast<T>(-3)});
  std::vector<T> wanted;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    T r = 1;
    if (b[i] < 0) {
      r = a[i] == 1 ? T(1) : a[i] == static_cast<T>(-1) ? (b[i] % 2 == 0 ? T(1) : static_cast<T>(-1)) : T(0);
    } else {
      // The powers repeat with a period that divides 2^64 or end at 0, so a big exponent may be cut.
      const auto e = static_cast<std::uint64_t>(b[i]);
      std::uint64_t p = 1;
      for (int bit = 63; bit >= 0; --bit) p = p * p * (((e >> bit) & 1) ? static_cast<std::uint64_t>(a[i]) : 1);
      r = static_cast<T>(p);
    }
    wanted.push_back(r);
  }
  expect_same(compute<T>(
                  a.shape(), [](Builder& b2, const Values& v) { return b2.binary(Binary::k_pow, v[0], v[1]); }, a, b),
              wanted);
}

TYPED_TEST(Integers, UnaryKinds) {
  using T = TypeParam;
  const Array<T> x({14}, integer_values<T>());
  auto check = [&](Unary kind, auto f) {
    std::vector<T> wanted;
    for (T v : x.values()) wanted.push_back(static_cast<T>(f(static_cast<Wide>(v))));
    expect_same(compute<T>(
                    x.shape(), [&](Builder& b, const Values& v) { return b.unary(kind, v[0]); }, x),
                wanted, "unary kind " + std::to_string(static_cast<unsigned>(kind)));
  };
  check(Unary::k_neg, [](Wide v) { return -v; });
  check(Unary::k_abs, [](Wide v) { return v < 0 ? -v : v; });
  check(Unary::k_bitnot, [](Wide v) { return ~v; });
  check(Unary::k_sign, [](Wide v) { return (v > 0) - (v < 0); });
  for (Unary kind : {Unary::k_floor, Unary::k_ceil, Unary::k_trunc, Unary::k_rint})
    check(kind, [](Wide v) { return v; });
  for (Unary kind : {Unary::k_isnan, Unary::k_isinf, Unary::k_isfinite}) {
    const auto got = compute<bool>(x.shape(), [&](Builder& b, const Values& v) { return b.unary(kind, v[0]); }, x);
    for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(got[i], kind == Unary::k_isfinite);
  }
}

TYPED_TEST(Integers, ComparesBySign) {
  using T = TypeParam;
  const auto [a, b] = pairs(integer_values<T>());
  auto check = [&, &a = a, &b = b](Compare kind, auto f) {
    const auto got =
        compute<bool>(a.shape(), [&](Builder& b2, const Values& v) { return b2.compare(kind, v[0], v[1]); }, a, b);
    for (std::int64_t i = 0; i < a.size(); ++i) EXPECT_EQ(got[i], f(Wide(a[i]), Wide(b[i])));
  };
  check(Compare::k_eq, std::equal_to<>());
  check(Compare::k_ne, std::not_equal_to<>());
  check(Compare::k_lt, std::less<>());
  check(Compare::k_le, std::less_equal<>());
  check(Compare::k_gt, std::greater<>());
  check(Compare::k_ge, std::greater_equal<>());
}

// -- floats
// ------------------------------------------------------------------------------------------------------------
template <class T>
struct Format;
template <>
struct Format<Half> {
  static constexpr int digits = 11, least = -24;
};
template <>
struct Format<BFloat16> {
  static constexpr int digits = 8, least = -133;
};
template <>
struct Format<float> {
  static constexpr int digits = 24, least = -149;
};
template <>
struct Format<double> {
  static constexpr int digits = 53, least = -1074;
};
template <class T>
constexpr double largest() {
  return std::is_same_v<T, Half>       ? 65504.0
         : std::is_same_v<T, BFloat16> ? 0x1.fep127
         : std::is_same_v<T, float>    ? 0x1.fffffep127
                                       : 0x1.fffffffffffffp1023;
}

/// x rounded to nearest even in T's format, by definition.
template <class T>
T rounded(double x) {
  if constexpr (std::is_same_v<T, double>)
    return x;
  else {
    if (x == 0 || !std::isfinite(x)) return static_cast<T>(static_cast<float>(x));
    const int quantum = std::max(std::ilogb(x) + 1 - Format<T>::digits, Format<T>::least);
    const double r = std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
    return static_cast<T>(static_cast<float>(std::fabs(r) > largest<T>() ? std::copysign(kInf, x) : r));
  }
}

template <class T>
class Floats : public testing::Test {};
using FloatTypes = testing::Types<Half, BFloat16, float, double>;
TYPED_TEST_SUITE(Floats, FloatTypes);

template <class T>
std::vector<T> float_values() {
  std::vector<T> out;
  const double tiny = std::ldexp(1.0, Format<T>::least);
  for (double x : {0.0, 1.0, 1.5, 2.5, 3.0, 0.1, 7.3, 100.25, tiny, 3 * tiny, largest<T>(), kInf})
    for (double s : {1.0, -1.0}) out.push_back(rounded<T>(s * x));
  out.push_back(static_cast<T>(static_cast<float>(kNaN)));
  return out;
}

/// NumPy's floor_divide and remainder in double; their results then round to T.
double numpy_mod(double a, double b) {
  const double r = std::fmod(a, b);
  if (b == 0 || std::isnan(r)) return r;
  if (r == 0) return std::copysign(0.0, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

double less_by_sign(double a, double b) { return a == b ? std::signbit(a) && !std::signbit(b) : a < b; }

TYPED_TEST(Floats, BinaryKindsRoundOnce) {
  using T = TypeParam;
  const auto [a, b] = pairs(float_values<T>());
  auto check = [&, &a = a, &b = b](const char* what, Binary kind, auto f) {
    std::vector<T> wanted;
    for (std::int64_t i = 0; i < a.size(); ++i) wanted.push_back(rounded<T>(f(plain(a[i]), plain(b[i]))));
    expect_same(compute<T>(
                    a.shape(), [&](Builder& b2, const Values& v) { return b2.binary(kind, v[0], v[1]); }, a, b),
                wanted, what);
  };
  check("add", Binary::k_add, [](double x, double y) { return x + y; });
  check("sub", Binary::k_sub, [](double x, double y) { return x - y; });
  check("mul", Binary::k_mul, [](double x, double y) { return x * y; });
  check("div", Binary::k_div, [](double x, double y) { return x / y; });
  check("rem", Binary::k_rem, [](double x, double y) { return std::fmod(x, y); });
  check("copysign", Binary::k_copysign, [](double x, double y) { return std::copysign(x, y); });
  check("minimum", Binary::k_minimum, [](double x, double y) {
    return std::isnan(x) || std::isnan(y) ? kNaN : less_by_sign(x, y) ? x : y;
  });
  check("maximum", Binary::k_maximum, [](double x, double y) {
    return std::isnan(x) || std::isnan(y) ? kNaN : less_by_sign(x, y) ? y : x;
  });
  check("fmin", Binary::k_fmin, [](double x, double y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : less_by_sign(x, y) ? x : y;
  });
  check("fmax", Binary::k_fmax, [](double x, double y) {
    return std::isnan(x) ? y : std::isnan(y) ? x : less_by_sign(x, y) ? y : x;
  });
}

TYPED_TEST(Floats, FloorDivisionAndRemainderAreNumPys) {
  using T = TypeParam;
  auto t = [](double x) { return rounded<T>(x); };
  const Array<T> a{t(1), t(-1),   t(0), t(1),  t(-1),  t(1),    t(kInf), t(-0.0),
                   t(0), t(-0.0), t(5), t(-5), t(5.5), t(-5.5), t(kNaN), t(1)};
  const Array<T> b{t(0),  t(0),  t(0),  t(kInf), t(kInf), t(-kInf), t(1), t(1),
                   t(-1), t(-1), t(-3), t(3),    t(2),    t(2),     t(1), t(kNaN)};
  std::vector<T> quotients;
  std::vector<T> rests;
  for (double q : {kInf, -kInf, kNaN, 0.0, -1.0, -1.0, kNaN, -0.0, -0.0, 0.0, -2.0, -2.0, 2.0, -3.0, kNaN, kNaN})
    quotients.push_back(t(q));
  for (double r : {kNaN, kNaN, kNaN, 1.0, kInf, -kInf, kNaN, 0.0, -0.0, -0.0, -1.0, 1.0, 1.5, 0.5, kNaN, kNaN})
    rests.push_back(t(r));
  expect_same(
      compute<T>(
          a.shape(), [](Builder& k, const Values& v) { return k.binary(Binary::k_floordiv, v[0], v[1]); }, a, b),
      quotients, "floordiv");
  expect_same(compute<T>(
                  a.shape(), [](Builder& k, const Values& v) { return k.binary(Binary::k_mod, v[0], v[1]); }, a, b),
              rests, "mod");
  for (std::size_t i = 0; i < rests.size(); ++i)
    EXPECT_TRUE(same(rests[i], rounded<T>(numpy_mod(plain(a[static_cast<std::int64_t>(i)]),
                                                    plain(b[static_cast<std::int64_t>(i)])))));
}

TYPED_TEST(Floats, UnaryKindsThatAreExact) {
  using T = TypeParam;
  std::vector<T> values = float_values<T>();
  for (double x : {0.5, -0.5, 3.5, -2.5, 0.75}) values.push_back(rounded<T>(x));
  const Array<T> x({static_cast<std::int64_t>(values.size())}, values);
  auto check = [&](const char* what, Unary kind, auto f) {
    std::vector<T> wanted;
    for (T v : values) wanted.push_back(rounded<T>(f(plain(v))));
    expect_same(
        compute<T>(x.shape(), [&](Builder& b, const Values& v) { return b.unary(kind, v[0]); }, x), wanted, what);
  };
  check("neg", Unary::k_neg, [](double v) { return -v; });
  check("abs", Unary::k_abs, [](double v) { return std::fabs(v); });
  check("sqrt", Unary::k_sqrt, [](double v) { return std::sqrt(v); });
  check("floor", Unary::k_floor, [](double v) { return std::floor(v); });
  check("ceil", Unary::k_ceil, [](double v) { return std::ceil(v); });
  check("trunc", Unary::k_trunc, [](double v) { return std::trunc(v); });
  check("rint", Unary::k_rint, [](double v) { return std::nearbyint(v); });
  check("sign", Unary::k_sign, [](double v) { return std::isnan(v) ? v : v > 0 ? 1.0 : v < 0 ? -1.0 : 0.0; });
  auto test = [&](Unary kind, auto f) {
    const auto got = compute<bool>(x.shape(), [&](Builder& b, const Values& v) { return b.unary(kind, v[0]); }, x);
    for (std::int64_t i = 0; i < x.size(); ++i) EXPECT_EQ(got[i], f(plain(x[i]))) << plain(x[i]);
  };
  test(Unary::k_isnan, [](double v) { return std::isnan(v); });
  test(Unary::k_isinf, [](double v) { return std::isinf(v); });
  test(Unary::k_isfinite, [](double v) { return std::isfinite(v); });
  test(Unary::k_signbit, [](double v) { return std::signbit(v); });
}

TYPED_TEST(Floats, NegFlipsTheSignOfNaNAndComparesAreFalseWithIt) {
  using T = TypeParam;
  const Array<T> nan{rounded<T>(kNaN), rounded<T>(1)};
  const auto turned = compute<bool>(
      {2},
      [](Builder& b, const Values& v) {
        return b.binary(Binary::k_bitxor, b.unary(Unary::k_signbit, b.unary(Unary::k_neg, v[0])),
                        b.unary(Unary::k_signbit, v[0]));
      },
      nan);
  expect_same(turned, {true, true});
  for (Compare kind : {Compare::k_eq, Compare::k_ne, Compare::k_lt, Compare::k_le, Compare::k_gt, Compare::k_ge}) {
    const bool equal = kind == Compare::k_eq || kind == Compare::k_le || kind == Compare::k_ge;
    expect_same(compute<bool>(
                    {2}, [&](Builder& b, const Values& v) { return b.compare(kind, v[0], v[0]); }, nan),
                {kind == Compare::k_ne, equal});
  }
}

TYPED_TEST(Floats, NextAfterStepsInItsOwnFormat) {
  using T = TypeParam;
  auto t = [](double x) { return rounded<T>(x); };
  const double ulp = std::ldexp(1.0, 1 - Format<T>::digits);
  const double tiny = std::ldexp(1.0, Format<T>::least);
  const Array<T> a{t(1), t(1), t(-1), t(0), t(0), t(tiny), t(largest<T>()), t(2), t(kNaN), t(kInf)};
  const Array<T> b{t(2), t(0), t(0), t(1), t(-1), t(-1), t(kInf), t(2), t(0), t(0)};
  std::vector<T> wanted;
  for (double x : {1 + ulp, 1 - ulp / 2, -1 + ulp / 2, tiny, -tiny, 0.0, kInf, 2.0, kNaN, largest<T>()})
    wanted.push_back(t(x));
  expect_same(
      compute<T>(
          a.shape(), [](Builder& k, const Values& v) { return k.binary(Binary::k_nextafter, v[0], v[1]); }, a, b),
      wanted);
}

TYPED_TEST(Floats, FmaRoundsOnceEvenNextToATie) {
  using T = TypeParam;
  // (1 + e)^2 = 1 + 2e + e^2 lies half way between two numbers of the format for e = 2^-(digits / 2); a tiny c decides.
  // (Formats with an odd number of digits: 1.5 * (1 + 2e) does the same.)
  constexpr int d = Format<T>::digits;
  const double a = d % 2 == 0 ? 1 + std::ldexp(1.0, -d / 2) : 1.5;
  const double b = d % 2 == 0 ? a : 1 + std::ldexp(1.0, 1 - d);
  const double tiny = std::ldexp(1.0, std::max(Format<T>::least, -110));
  const Array<T> x{rounded<T>(a), rounded<T>(a), rounded<T>(3), rounded<T>(largest<T>()), rounded<T>(kInf)};
  const Array<T> y{rounded<T>(b), rounded<T>(b), rounded<T>(5), rounded<T>(2), rounded<T>(0)};
  const Array<T> z{rounded<T>(tiny), rounded<T>(-tiny), rounded<T>(-15), rounded<T>(-largest<T>()), rounded<T>(1)};
  const double down = d % 2 == 0 ? 1 + std::ldexp(1.0, 1 - d / 2) : 1.5 + std::ldexp(1.0, 1 - d);
  const double up = down + std::ldexp(1.0, 1 - d);
  const auto got = compute<T>({5}, [](Builder& k, const Values& v) { return k.fma(v[0], v[1], v[2]); }, x, y, z);
  expect_same(got, {rounded<T>(up), rounded<T>(down), rounded<T>(0), rounded<T>(largest<T>()), rounded<T>(kNaN)});
}

TYPED_TEST(Floats, MathFunctionsAreNearTheCLibrary) {
  using T = TypeParam;
  const Array<T> x{rounded<T>(0.3), rounded<T>(0.9), rounded<T>(0.01)};
  const double ulp = std::ldexp(1.0, 1 - Format<T>::digits);
  auto check = [&](const char* what, Unary kind, auto f, double shift = 0) {
    const auto got = compute<T>(
        {3},
        [&](Builder& b, const Values& v) {
          return b.unary(kind, b.binary(Binary::k_add, v[0], b.full(Scalar::of_float(dtype_of<T>(), shift), Shape{3})));
        },
        x);
    for (std::int64_t i = 0; i < 3; ++i) {
      const double wanted = f(plain(rounded<T>(plain(x[i]) + shift)));
      EXPECT_NEAR(plain(got[i]), wanted, 4 * ulp * std::fabs(wanted)) << what << " of " << plain(x[i]) + shift;
    }
  };
  check("exp", Unary::k_exp, [](double v) { return std::exp(v); });
  check("exp2", Unary::k_exp2, [](double v) { return std::exp2(v); });
  check("expm1", Unary::k_expm1, [](double v) { return std::expm1(v); });
  check("log", Unary::k_log, [](double v) { return std::log(v); });
  check("log2", Unary::k_log2, [](double v) { return std::log2(v); });
  check("log10", Unary::k_log10, [](double v) { return std::log10(v); });
  check("log1p", Unary::k_log1p, [](double v) { return std::log1p(v); });
  check("rsqrt", Unary::k_rsqrt, [](double v) { return 1 / std::sqrt(v); });
  check("sin", Unary::k_sin, [](double v) { return std::sin(v); });
  check("cos", Unary::k_cos, [](double v) { return std::cos(v); });
  check("tan", Unary::k_tan, [](double v) { return std::tan(v); });
  check("asin", Unary::k_asin, [](double v) { return std::asin(v); });
  check("acos", Unary::k_acos, [](double v) { return std::acos(v); });
  check("atan", Unary::k_atan, [](double v) { return std::atan(v); });
  check("sinh", Unary::k_sinh, [](double v) { return std::sinh(v); });
  check("cosh", Unary::k_cosh, [](double v) { return std::cosh(v); });
  check("tanh", Unary::k_tanh, [](double v) { return std::tanh(v); });
  check("asinh", Unary::k_asinh, [](double v) { return std::asinh(v); });
  check("acosh", Unary::k_acosh, [](double v) { return std::acosh(v); }, 1.0);
  check("atanh", Unary::k_atanh, [](double v) { return std::atanh(v); });
  check("erf", Unary::k_erf, [](double v) { return std::erf(v); });
  const Array<T> y{rounded<T>(2.5), rounded<T>(-0.7), rounded<T>(1.25)};
  auto check2 = [&](const char* what, Binary kind, auto f) {
    const auto got = compute<T>({3}, [&](Builder& b, const Values& v) { return b.binary(kind, v[0], v[1]); }, x, y);
    for (std::int64_t i = 0; i < 3; ++i) {
      const double wanted = f(plain(x[i]), plain(y[i]));
      EXPECT_NEAR(plain(got[i]), wanted, 4 * ulp * std::fabs(wanted)) << what;
    }
  };
  check2("pow", Binary::k_pow, [](double a, double b) { return std::pow(a, b); });
  check2("atan2", Binary::k_atan2, [](double a, double b) { return std::atan2(a, b); });
  check2("hypot", Binary::k_hypot, [](double a, double b) { return std::hypot(a, b); });
  check2("logaddexp", Binary::k_logaddexp, [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); });
}

// -- bool, complex, select
// ---------------------------------------------------------------------------------------------
TEST(Bools, LogicAndOrder) {
  const Array<bool> a{false, false, true, true};
  const Array<bool> b{false, true, false, true};
  auto check = [&](Binary kind, std::vector<bool> wanted) {
    const auto got = compute<bool>({4}, [&](Builder& k, const Values& v) { return k.binary(kind, v[0], v[1]); }, a, b);
    for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(got[i], wanted[static_cast<std::size_t>(i)]);
  };
  check(Binary::k_bitand, {false, false, false, true});
  check(Binary::k_minimum, {false, false, false, true});
  check(Binary::k_bitor, {false, true, true, true});
  check(Binary::k_maximum, {false, true, true, true});
  check(Binary::k_bitxor, {false, true, true, false});
  expect_same(compute<bool>(
                  {4}, [](Builder& k, const Values& v) { return k.unary(Unary::k_bitnot, v[0]); }, a),
              {true, true, false, false});
  expect_same(compute<bool>(
                  {4}, [](Builder& k, const Values& v) { return k.compare(Compare::k_lt, v[0], v[1]); }, a, b),
              {false, true, false, false});
}

template <class T>
class Complexes : public testing::Test {};
using ComplexTypes = testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(Complexes, ComplexTypes);

TYPED_TEST(Complexes, ArithmeticIsThePlainFormulaAndSmithsDivision) {
  using T = TypeParam;
  using P = typename T::value_type;
  const P inf = std::numeric_limits<P>::infinity();
  const P nan = std::numeric_limits<P>::quiet_NaN();
  const Array<T> a{T(1, 2), T(3, -4), T(1, 2), T(inf, 0), T(1, 0)};
  const Array<T> b{T(3, -4), T(0.5, 8), T(0, 0), T(1, 1), T(0, 2)};
  auto go = [&](Binary kind) {
    return compute<T>({5}, [&](Builder& k, const Values& v) { return k.binary(kind, v[0], v[1]); }, a, b);
  };
  expect_same(go(Binary::k_add), {T(4, -2), T(3.5, 4), T(1, 2), T(inf, 1), T(1, 2)}, "add");
  expect_same(go(Binary::k_sub), {T(-2, 6), T(2.5, -12), T(1, 2), T(inf, -1), T(1, -2)}, "sub");
  expect_same(go(Binary::k_mul), {T(11, 2), T(33.5, 22), T(0, 0), T(inf, inf), T(0, 2)}, "mul");
  expect_same(go(Binary::k_div),
              {T(P(1.25) * (1 / P(-6.25)), P(-2.5) * (1 / P(-6.25))),
               T((P(3) * P(0.0625) + P(-4)) * (1 / (8 + P(0.5) * P(0.0625))),
                 (P(-4) * P(0.0625) - 3) * (1 / (8 + P(0.5) * P(0.0625)))),
               T(inf, inf), T(inf, -inf), T(0, P(-0.5))},
              "div");
  const Array<T> x{T(3, -4), T(-0.0, nan), T(inf, 1)};
  expect_same(compute<P>(
                  {3}, [](Builder& k, const Values& v) { return k.unary(Unary::k_real, v[0]); }, x),
              {P(3), P(-0.0), inf});
  expect_same(
      compute<P>({3}, [](Builder& k, const Values& v) { return k.unary(Unary::k_imag, v[0]); }, x), {P(-4), nan, P(1)});
  expect_same(
      compute<P>({3}, [](Builder& k, const Values& v) { return k.unary(Unary::k_abs, v[0]); }, x), {P(5), nan, inf});
  expect_same(compute<T>(
                  {3}, [](Builder& k, const Values& v) { return k.unary(Unary::k_conj, v[0]); }, x),
              {T(3, 4), T(-0.0, nan), T(inf, -1)});
  expect_same(compute<T>(
                  {3}, [](Builder& k, const Values& v) { return k.unary(Unary::k_neg, v[0]); }, x),
              {T(-3, 4), T(0, nan), T(-inf, -1)});
  expect_same(compute<bool>(
                  {3}, [](Builder& k, const Values& v) { return k.unary(Unary::k_isnan, v[0]); }, x),
              {false, true, false});
  expect_same(compute<bool>(
                  {3}, [](Builder& k, const Values& v) { return k.unary(Unary::k_isinf, v[0]); }, x),
              {false, false, true});
  expect_same(compute<bool>(
                  {3}, [](Builder& k, const Values& v) { return k.unary(Unary::k_isfinite, v[0]); }, x),
              {true, false, false});
  expect_same(compute<bool>(
                  {3}, [](Builder& k, const Values& v) { return k.compare(Compare::k_eq, v[0], v[0]); }, x),
              {true, false, true});
  expect_same(compute<bool>(
                  {3}, [](Builder& k, const Values& v) { return k.compare(Compare::k_ne, v[0], v[0]); }, x),
              {false, true, false});
  const Array<P> re{P(1), P(2)};
  const Array<P> im{P(-3), P(-0.0)};
  expect_same(compute<T>(
                  {2}, [](Builder& k, const Values& v) { return k.binary(Binary::k_complex, v[0], v[1]); }, re, im),
              {T(1, -3), T(2, P(-0.0))});
}

TEST(Select, TakesScalarsAndTiles) {
  const Array<float> a{1, 2, 3};
  const Array<float> b{-1, -2, -3};
  const Array<bool> c{true, false, true};
  expect_same(
      compute<float>({3}, [](Builder& k, const Values& v) { return k.select(v[2], v[0], v[1]); }, a, b, c), {1, -2, 3});
  expect_same(
      compute<float>(
          {3},
          [](Builder& k, const Values& v) { return k.select(k.constant(Scalar::of_int(DType::kBool, 0)), v[0], v[1]); },
          a, b),
      {-1, -2, -3});
}

}  // namespace
}  // namespace epi::ir::kit
