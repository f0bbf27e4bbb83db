// The door to the math functions: an enum made from functions.def and one dispatch over a policy. The interpreter calls
// it with ScalarPolicy, the compiler with its own policy of llvm::Value*; both run the same templates.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "epi/ir/math/exact.h"
#include "epi/ir/math/exp.h"
#include "epi/ir/math/inverse.h"
#include "epi/ir/math/log.h"
#include "epi/ir/math/policy.h"
#include "epi/ir/math/power.h"
#include "epi/ir/math/special.h"
#include "epi/ir/math/trig.h"
#include "epi/ir/math/value.h"

namespace epi::ir::math {

enum class MathFn : std::uint8_t {
#define EPI_MATH_FN(name, arity, ulp32, ulp64, doc) name,
#include "epi/ir/math/functions.def"
#undef EPI_MATH_FN
};

/// A row of functions.def.
struct MathFnInfo {
  std::string_view name;
  int arity;
  double ulp32, ulp64;  ///< bound in ulps; 0 is exact
  std::string_view doc;
};
inline constexpr MathFnInfo kMathFns[] = {
#define EPI_MATH_FN(name, arity, ulp32, ulp64, doc) {#name, arity, ulp32, ulp64, doc},
#include "epi/ir/math/functions.def"
#undef EPI_MATH_FN
};
[[nodiscard]] constexpr const MathFnInfo& info(MathFn fn) { return kMathFns[static_cast<int>(fn)]; }

enum class FloatWidth : std::uint8_t { k32 = 32, k64 = 64 };

template <int Arity, class B, int W, class Fn>
R<B, W> call(Fn fn, R<B, W> x, R<B, W> y) {
  if constexpr (Arity == 1)
    return fn(x);
  else
    return fn(x, y);
}

template <int W, class B>
R<B, W> apply_at(MathFn fn, R<B, W> x, R<B, W> y) {
  switch (fn) {
#define EPI_MATH_FN(name, arity, ulp32, ulp64, doc) \
  case MathFn::name:                                \
    return call<arity>([](auto... args) { return ::epi::ir::math::name(args...); }, x, y);
#include "epi/ir/math/functions.def"
#undef EPI_MATH_FN
  }
  return x;
}

/// fn(x) or fn(x, y) on floats of width w, which must be the width of the values; y is not touched where arity is 1.
template <Policy B, class V>
V apply(B& b, MathFn fn, FloatWidth w, V x, V y) {
  if constexpr (std::same_as<V, typename B::F32>) {
    if (w == FloatWidth::k32) return apply_at<32, B>(fn, {&b, x}, {&b, y}).v;
  }
  if constexpr (std::same_as<V, typename B::F64>) {
    if (w == FloatWidth::k64) return apply_at<64, B>(fn, {&b, x}, {&b, y}).v;
  }
  return x;
}

}  // namespace epi::ir::math
