// The interpreter's door to the math functions that all devices share.
#include "epi/ir/interp_math.h"

#include "epi/base/status.h"
#include "epi/ir/math/math.h"
#include "epi/ir/math/scalar.h"

namespace epi::ir::interp {
namespace {

using math::MathFn;

MathFn function_of(Unary kind) {
  switch (kind) {
    case Unary::k_exp:
      return MathFn::exp;
    case Unary::k_exp2:
      return MathFn::exp2;
    case Unary::k_expm1:
      return MathFn::expm1;
    case Unary::k_log:
      return MathFn::log;
    case Unary::k_log2:
      return MathFn::log2;
    case Unary::k_log10:
      return MathFn::log10;
    case Unary::k_log1p:
      return MathFn::log1p;
    case Unary::k_rsqrt:
      return MathFn::rsqrt;
    case Unary::k_sin:
      return MathFn::sin;
    case Unary::k_cos:
      return MathFn::cos;
    case Unary::k_tan:
      return MathFn::tan;
    case Unary::k_asin:
      return MathFn::asin;
    case Unary::k_acos:
      return MathFn::acos;
    case Unary::k_atan:
      return MathFn::atan;
    case Unary::k_sinh:
      return MathFn::sinh;
    case Unary::k_cosh:
      return MathFn::cosh;
    case Unary::k_tanh:
      return MathFn::tanh;
    case Unary::k_asinh:
      return MathFn::asinh;
    case Unary::k_acosh:
      return MathFn::acosh;
    case Unary::k_atanh:
      return MathFn::atanh;
    case Unary::k_erf:
      return MathFn::erf;
    default:
      EPI_CHECK(false && "not a function of the math library");
      __builtin_unreachable();
  }
}

MathFn function_of(Binary kind) {
  switch (kind) {
    case Binary::k_pow:
      return MathFn::pow;
    case Binary::k_atan2:
      return MathFn::atan2;
    case Binary::k_hypot:
      return MathFn::hypot;
    case Binary::k_logaddexp:
      return MathFn::logaddexp;
    default:
      EPI_CHECK(false && "not a function of the math library");
      __builtin_unreachable();
  }
}

template <class T>
T apply(MathFn fn, T x, T y) {
  math::ScalarPolicy policy;
  return math::apply(policy, fn, sizeof(T) == 4 ? math::FloatWidth::k32 : math::FloatWidth::k64, x, y);
}

}  // namespace

float math_unary(Unary kind, float x) { return apply(function_of(kind), x, x); }
double math_unary(Unary kind, double x) { return apply(function_of(kind), x, x); }
float math_binary(Binary kind, float a, float b) { return apply(function_of(kind), a, b); }
double math_binary(Binary kind, double a, double b) { return apply(function_of(kind), a, b); }

}  // namespace epi::ir::interp
