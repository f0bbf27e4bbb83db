// Every function of functions.def stays within its bound, f32 over a stride through all bit patterns, f64 over random
// and structured samples.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>

#include "reference.h"

namespace epi::ir::math::testing {
namespace {

class Accuracy : public ::testing::TestWithParam<MathFn> {};

std::string describe(const Worst& worst) {
  char text[120];
  std::snprintf(text, sizeof text, "worst of %llu at (%a, %a)", static_cast<unsigned long long>(worst.count), worst.x,
                worst.y);
  return text;
}

TEST_P(Accuracy, f32_is_within_its_bound) {
  const Worst worst = measure32(GetParam(), full_run() ? 1 : 2053, 100000);
  EXPECT_GT(worst.count, 100000U);
  EXPECT_LE(worst.ulps, info(GetParam()).ulp32) << describe(worst);
}

TEST_P(Accuracy, f64_is_within_its_bound) {
  const Worst worst = measure64(GetParam(), full_run() ? 20000000 : 200000);
  EXPECT_GT(worst.count, 200000U);
  EXPECT_LE(worst.ulps, info(GetParam()).ulp64) << describe(worst);
}

std::vector<MathFn> all_functions() {
  std::vector<MathFn> out;
  for (std::size_t i = 0; i < std::size(kMathFns); ++i) out.push_back(static_cast<MathFn>(i));
  return out;
}
INSTANTIATE_TEST_SUITE_P(Math, Accuracy, ::testing::ValuesIn(all_functions()),
                         [](const auto& p) { return std::string(::epi::ir::math::info(p.param).name); });

TEST(Docs, table_has_every_function_with_its_bounds) {
  std::ifstream file(EPI_MATH_DOC);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const MathFnInfo& row : kMathFns) {
    std::ostringstream name, bound64;
    name << "\n| " << row.name << " | " << row.ulp32 << " | ";
    const std::size_t at = text.find(name.str());
    ASSERT_NE(at, std::string::npos) << "docs/design/math.md lacks" << name.str();
    bound64 << " | " << row.ulp64 << " | ";
    const std::string line = text.substr(at + name.str().size(), text.find('\n', at + 1) - at - name.str().size());
    EXPECT_NE(line.find(bound64.str()), std::string::npos) << line;
  }
}

TEST(UlpError, judges_distance_sign_of_zero_nan_and_overflow) {
  EXPECT_EQ(ulp_error(1.0f, 1.0, 1.0), 0.0);
  EXPECT_EQ(ulp_error(1.0f + 0x1p-23f, 1.0, 1.0), 1.0);
  EXPECT_EQ(ulp_error(0x1p-149f, 0x1p-148, 0x1p-148), 1.0);
  EXPECT_TRUE(std::isinf(ulp_error(0.0f, -0.0, -0.0)));
  EXPECT_TRUE(std::isinf(ulp_error(1.0f, std::nan(""), 1.0)));
  EXPECT_EQ(ulp_error(std::numeric_limits<float>::infinity(), 0x1p130, 0x1p130), 0.0);
  EXPECT_GE(ulp_error(std::numeric_limits<float>::max(), 0x1p130, 0x1p130), 1e6);
}

TEST(Contraction, product_and_sum_are_rounded_apart) {
  volatile double a = 1 + 0x1p-30, c = -1 - 0x1p-29;
  const double x = a;
  EXPECT_EQ(ScalarPolicy::fadd(ScalarPolicy::fmul(x, x), double(c)), 0.0);
  EXPECT_EQ(ScalarPolicy::fma(x, x, double(c)), 0x1p-60);
}

}  // namespace
}  // namespace epi::ir::math::testing
