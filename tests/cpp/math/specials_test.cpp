// Special values: a row per fact of C99's annex F (which NumPy and the array API standard follow), in both formats.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <ostream>

#include "reference.h"

namespace epi::ir::math::testing {
namespace {

constexpr double kI = std::numeric_limits<double>::infinity();
constexpr double kN = std::numeric_limits<double>::quiet_NaN();
constexpr double kPiD = 3.14159265358979323846;

/// fn(x) or fn(x, y) is `want`, bit for bit but for NaN's payload (`want` rounded to the format, and one ulp allowed
/// where it is not a special value).
struct Fact {
  MathFn fn;
  double x, y, want;
};

std::ostream& operator<<(std::ostream& out, const Fact& f) {
  return out << info(f.fn).name << "(" << f.x << ", " << f.y << ")";
}

const Fact kFacts[] = {
    // exponentials
    {MathFn::exp, kI, 0, kI},
    {MathFn::exp, -kI, 0, 0.0},
    {MathFn::exp, kN, 0, kN},
    {MathFn::exp, -0.0, 0, 1},
    {MathFn::exp, 1e4, 0, kI},
    {MathFn::exp, -1e4, 0, 0.0},
    {MathFn::exp2, kI, 0, kI},
    {MathFn::exp2, -kI, 0, 0.0},
    {MathFn::exp2, kN, 0, kN},
    {MathFn::exp2, 10, 0, 1024},
    {MathFn::exp2, -140, 0, 0x1p-140},
    {MathFn::exp2, 2000, 0, kI},
    {MathFn::expm1, kI, 0, kI},
    {MathFn::expm1, -kI, 0, -1},
    {MathFn::expm1, -0.0, 0, -0.0},
    {MathFn::expm1, kN, 0, kN},
    // logarithms
    {MathFn::log, 0.0, 0, -kI},
    {MathFn::log, -0.0, 0, -kI},
    {MathFn::log, -1, 0, kN},
    {MathFn::log, kI, 0, kI},
    {MathFn::log, 1, 0, 0.0},
    {MathFn::log, kN, 0, kN},
    {MathFn::log, -kI, 0, kN},
    {MathFn::log2, 0.0, 0, -kI},
    {MathFn::log2, -1, 0, kN},
    {MathFn::log2, kI, 0, kI},
    {MathFn::log2, 1, 0, 0.0},
    {MathFn::log2, 0x1p-140, 0, -140},
    {MathFn::log2, 8, 0, 3},
    {MathFn::log10, 0.0, 0, -kI},
    {MathFn::log10, -1, 0, kN},
    {MathFn::log10, kI, 0, kI},
    {MathFn::log10, 1, 0, 0.0},
    {MathFn::log1p, -1, 0, -kI},
    {MathFn::log1p, -2, 0, kN},
    {MathFn::log1p, kI, 0, kI},
    {MathFn::log1p, -0.0, 0, -0.0},
    {MathFn::log1p, kN, 0, kN},
    {MathFn::log1p, -kI, 0, kN},
    // circular
    {MathFn::sin, 0.0, 0, 0.0},
    {MathFn::sin, -0.0, 0, -0.0},
    {MathFn::sin, kI, 0, kN},
    {MathFn::sin, -kI, 0, kN},
    {MathFn::sin, kN, 0, kN},
    {MathFn::cos, -0.0, 0, 1},
    {MathFn::cos, kI, 0, kN},
    {MathFn::cos, kN, 0, kN},
    {MathFn::tan, -0.0, 0, -0.0},
    {MathFn::tan, -kI, 0, kN},
    {MathFn::tan, kN, 0, kN},
    {MathFn::asin, -0.0, 0, -0.0},
    {MathFn::asin, 1, 0, kPiD / 2},
    {MathFn::asin, 1.5, 0, kN},
    {MathFn::asin, kI, 0, kN},
    {MathFn::acos, 1, 0, 0.0},
    {MathFn::acos, -1, 0, kPiD},
    {MathFn::acos, -1.5, 0, kN},
    {MathFn::acos, kN, 0, kN},
    {MathFn::atan, -0.0, 0, -0.0},
    {MathFn::atan, kI, 0, kPiD / 2},
    {MathFn::atan, -kI, 0, -kPiD / 2},
    {MathFn::atan, kN, 0, kN},
    {MathFn::atan2, 0.0, -0.0, kPiD},
    {MathFn::atan2, -0.0, -0.0, -kPiD},
    {MathFn::atan2, 0.0, 0.0, 0.0},
    {MathFn::atan2, -0.0, 0.0, -0.0},
    {MathFn::atan2, -0.0, -3, -kPiD},
    {MathFn::atan2, 0.0, 3, 0.0},
    {MathFn::atan2, -2, 0.0, -kPiD / 2},
    {MathFn::atan2, 2, -0.0, kPiD / 2},
    {MathFn::atan2, 2, -kI, kPiD},
    {MathFn::atan2, -2, kI, -0.0},
    {MathFn::atan2, kI, 2, kPiD / 2},
    {MathFn::atan2, -kI, -kI, -3 * kPiD / 4},
    {MathFn::atan2, kI, kI, kPiD / 4},
    {MathFn::atan2, kN, 1, kN},
    {MathFn::atan2, 1, kN, kN},
    // hyperbolic
    {MathFn::sinh, -0.0, 0, -0.0},
    {MathFn::sinh, -kI, 0, -kI},
    {MathFn::sinh, kN, 0, kN},
    {MathFn::cosh, 0.0, 0, 1},
    {MathFn::cosh, -kI, 0, kI},
    {MathFn::cosh, kN, 0, kN},
    {MathFn::tanh, -0.0, 0, -0.0},
    {MathFn::tanh, kI, 0, 1},
    {MathFn::tanh, -kI, 0, -1},
    {MathFn::tanh, kN, 0, kN},
    {MathFn::asinh, -0.0, 0, -0.0},
    {MathFn::asinh, -kI, 0, -kI},
    {MathFn::asinh, kN, 0, kN},
    {MathFn::acosh, 1, 0, 0.0},
    {MathFn::acosh, 0.5, 0, kN},
    {MathFn::acosh, kI, 0, kI},
    {MathFn::acosh, -kI, 0, kN},
    {MathFn::acosh, kN, 0, kN},
    {MathFn::atanh, 1, 0, kI},
    {MathFn::atanh, -1, 0, -kI},
    {MathFn::atanh, 2, 0, kN},
    {MathFn::atanh, -0.0, 0, -0.0},
    {MathFn::atanh, kI, 0, kN},
    {MathFn::atanh, kN, 0, kN},
    // pow
    {MathFn::pow, 0.0, -3, kI},
    {MathFn::pow, -0.0, -3, -kI},
    {MathFn::pow, -0.0, -2, kI},
    {MathFn::pow, 0.0, -kI, kI},
    {MathFn::pow, -0.0, -2.5, kI},
    {MathFn::pow, -0.0, 3, -0.0},
    {MathFn::pow, -0.0, 2, 0.0},
    {MathFn::pow, 0.0, 2.5, 0.0},
    {MathFn::pow, -1, kI, 1},
    {MathFn::pow, -1, -kI, 1},
    {MathFn::pow, 1, kN, 1},
    {MathFn::pow, 1, kI, 1},
    {MathFn::pow, kN, 0.0, 1},
    {MathFn::pow, kN, -0.0, 1},
    {MathFn::pow, 0.0, 0.0, 1},
    {MathFn::pow, kI, 0.0, 1},
    {MathFn::pow, -2, 0.5, kN},
    {MathFn::pow, -2, 3, -8},
    {MathFn::pow, -2, 2, 4},
    {MathFn::pow, -2, -1, -0.5},
    {MathFn::pow, 0.5, -kI, kI},
    {MathFn::pow, 2, -kI, 0.0},
    {MathFn::pow, 0.5, kI, 0.0},
    {MathFn::pow, 2, kI, kI},
    {MathFn::pow, -0.5, -kI, kI},
    {MathFn::pow, -2, -kI, 0.0},
    {MathFn::pow, -kI, -3, -0.0},
    {MathFn::pow, -kI, -2, 0.0},
    {MathFn::pow, -kI, -0.5, 0.0},
    {MathFn::pow, -kI, 3, -kI},
    {MathFn::pow, -kI, 2, kI},
    {MathFn::pow, -kI, 0.5, kI},
    {MathFn::pow, kI, -1, 0.0},
    {MathFn::pow, kI, 1, kI},
    {MathFn::pow, kN, 1, kN},
    {MathFn::pow, 2, kN, kN},
    {MathFn::pow, -1, kN, kN},
    {MathFn::pow, kN, kI, kN},
    {MathFn::pow, -3, 1e30, kI},
    {MathFn::pow, -1, 16777216, 1},
    {MathFn::pow, 10, 3, 1000},
    {MathFn::pow, 2, -149, 0x1p-149},
    // the rest
    {MathFn::hypot, kI, kN, kI},
    {MathFn::hypot, kN, -kI, kI},
    {MathFn::hypot, kN, 1, kN},
    {MathFn::hypot, 0.0, -0.0, 0.0},
    {MathFn::hypot, 3, -4, 5},
    {MathFn::hypot, 3e38, 0, 3e38},
    {MathFn::erf, kI, 0, 1},
    {MathFn::erf, -kI, 0, -1},
    {MathFn::erf, -0.0, 0, -0.0},
    {MathFn::erf, kN, 0, kN},
    {MathFn::logaddexp, kI, kI, kI},
    {MathFn::logaddexp, -kI, -kI, -kI},
    {MathFn::logaddexp, kI, -kI, kI},
    {MathFn::logaddexp, -kI, 3, 3},
    {MathFn::logaddexp, kN, kI, kN},
    {MathFn::logaddexp, 3, kN, kN},
    {MathFn::sqrt, -0.0, 0, -0.0},
    {MathFn::sqrt, -1, 0, kN},
    {MathFn::sqrt, kI, 0, kI},
    {MathFn::rsqrt, 0.0, 0, kI},
    {MathFn::rsqrt, -0.0, 0, -kI},
    {MathFn::rsqrt, -1, 0, kN},
    {MathFn::rsqrt, kI, 0, 0.0},
    {MathFn::reciprocal, -0.0, 0, -kI},
    {MathFn::reciprocal, -kI, 0, -0.0},
    {MathFn::sign, -0.0, 0, 0.0},
    {MathFn::sign, -kI, 0, -1},
    {MathFn::sign, kN, 0, kN},
    {MathFn::sign, 1e-40, 0, 1},
    {MathFn::floor, -0.0, 0, -0.0},
    {MathFn::ceil, -0.5, 0, -0.0},
    {MathFn::trunc, -0.5, 0, -0.0},
    {MathFn::rint, 2.5, 0, 2},
    {MathFn::rint, -0.5, 0, -0.0},
    {MathFn::rint, 3.5, 0, 4},
    {MathFn::floor, -kI, 0, -kI},
    {MathFn::minimum, kN, 1, kN},
    {MathFn::minimum, 1, kN, kN},
    {MathFn::minimum, 0.0, -0.0, -0.0},
    {MathFn::minimum, -0.0, 0.0, -0.0},
    {MathFn::maximum, -0.0, 0.0, 0.0},
    {MathFn::maximum, 0.0, -0.0, 0.0},
    {MathFn::maximum, kN, kI, kN},
    {MathFn::fmin, kN, 1, 1},
    {MathFn::fmin, 1, kN, 1},
    {MathFn::fmin, kN, kN, kN},
    {MathFn::fmax, kN, -kI, -kI},
    {MathFn::fmax, -kI, kN, -kI},
    {MathFn::fmax, -0.0, 0.0, 0.0},
    {MathFn::nextafter, 0.0, 0.0, 0.0},
    {MathFn::nextafter, 0.0, -0.0, -0.0},
    {MathFn::nextafter, kN, 1, kN},
    {MathFn::nextafter, 1, kN, kN},
    {MathFn::nextafter, kI, kI, kI},
    {MathFn::fmod, 5, 0.0, kN},
    {MathFn::fmod, kI, 2, kN},
    {MathFn::fmod, 5, kI, 5},
    {MathFn::fmod, -0.0, 2, -0.0},
    {MathFn::fmod, -6, 3, -0.0},
    {MathFn::fmod, kN, 0.0, kN},
    {MathFn::fmod, -5, 3, -2},
    {MathFn::remainder, -5, 3, 1},
    {MathFn::remainder, 5, -3, -1},
    {MathFn::remainder, 5, 0.0, kN},
    {MathFn::remainder, -6, 3, 0.0},
    {MathFn::remainder, 6, -3, -0.0},
    {MathFn::remainder, 5, -kI, -kI},
    {MathFn::floor_divide, -5, 3, -2},
    {MathFn::floor_divide, 5, 0.0, kI},
    {MathFn::floor_divide, -5, 0.0, -kI},
    {MathFn::floor_divide, 0.0, 0.0, kN},
    {MathFn::floor_divide, 5, -kI, -1},
    {MathFn::floor_divide, kI, 2, kN},
    {MathFn::floor_divide, -0.0, 3, -0.0},
};

class Specials : public ::testing::TestWithParam<Fact> {};

template <class F>
void expect_fact(const Fact& fact) {
  const F got = apply_scalar(fact.fn, F(fact.x), F(fact.y)), want = F(fact.want);
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << got;
    return;
  }
  const bool special = want == 0 || std::isinf(want) || want == std::trunc(want);
  EXPECT_LE(ulp_error(got, Wider<F>(want), Wider<F>(want)), special ? 0.0 : 1.0) << got << " not " << want;
}

TEST_P(Specials, hold_in_f32) { expect_fact<float>(GetParam()); }
TEST_P(Specials, hold_in_f64) { expect_fact<double>(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Math, Specials, ::testing::ValuesIn(kFacts));

}  // namespace
}  // namespace epi::ir::math::testing
