// Elementwise functions of one operand. One loop a kind, so that the kind is chosen once a tile.
#include "epi/ir/interp_elementwise.h"
#include "epi/ir/interp_math.h"
#include "epi/ir/interp_numbers.h"

namespace epi::ir::interp {
namespace {

template <class T, class R, class F>
Datum map(DType result, const Datum& x, F f) {
  Datum out(result, x.count());
  auto from = x.as<T>();
  auto to = out.as<R>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = static_cast<R>(f(from[i]));
  return out;
}

[[noreturn]] void unreachable_kind() {
  EPI_CHECK(false && "a kind that the verifier refuses for this dtype");
  __builtin_unreachable();
}

template <Integer T>
Datum unary_integer(Unary kind, const Datum& x) {
  const DType d = x.dtype();
  switch (kind) {
    case Unary::k_neg:
      return map<T, T>(d, x, [](T v) { return T(0 - wide_bits(v)); });
    case Unary::k_abs:
      return map<T, T>(d, x, [](T v) { return v > T{0} ? v : T(0 - wide_bits(v)); });
    case Unary::k_bitnot:
      return map<T, T>(d, x, [](T v) { return T(~wide_bits(v)); });
    case Unary::k_sign:
      return map<T, T>(d, x, [](T v) { return v > T{0} ? T(1) : v == T{0} ? T(0) : T(-1); });
    case Unary::k_floor:
    case Unary::k_ceil:
    case Unary::k_trunc:
    case Unary::k_rint:
      return x;
    case Unary::k_isnan:
    case Unary::k_isinf:
      return Datum(DType::kBool, x.count());
    case Unary::k_isfinite:
      return map<T, bool>(DType::kBool, x, [](T) { return true; });
    default:
      unreachable_kind();
  }
}

template <Float T>
Datum unary_float(Unary kind, const Datum& x) {
  using W = Wide<T>;
  const DType d = x.dtype();
  auto wide = [&](auto f) { return map<T, T>(d, x, [f](T v) { return T(f(widen(v))); }); };
  auto test = [&](auto f) { return map<T, bool>(DType::kBool, x, f); };
  switch (kind) {
    case Unary::k_neg:
      return map<T, T>(d, x, [](T v) { return negate(v); });
    case Unary::k_abs:
      return map<T, T>(d, x, [](T v) { return sign_of(v) ? negate(v) : v; });
    case Unary::k_sqrt:
      return wide([](W v) { return std::sqrt(v); });
    case Unary::k_floor:
      return wide([](W v) { return std::floor(v); });
    case Unary::k_ceil:
      return wide([](W v) { return std::ceil(v); });
    case Unary::k_trunc:
      return wide([](W v) { return std::trunc(v); });
    case Unary::k_rint:
      return wide([](W v) { return std::nearbyint(v); });
    case Unary::k_sign:
      return wide([](W v) { return v > 0 ? W{1} : v < 0 ? W{-1} : v == 0 ? W{0} : v; });
    case Unary::k_isnan:
      return test([](T v) { return is_nan(v); });
    case Unary::k_isinf:
      return test([](T v) { return std::isinf(widen(v)); });
    case Unary::k_isfinite:
      return test([](T v) { return std::isfinite(widen(v)); });
    case Unary::k_signbit:
      return test([](T v) { return sign_of(v); });
    case Unary::k_bitnot:
    case Unary::k_real:
    case Unary::k_imag:
    case Unary::k_conj:
      unreachable_kind();
    default:
      return wide([kind](W v) { return math_unary(kind, v); });
  }
}

template <Complex T>
Datum unary_complex(Unary kind, const Datum& x) {
  using P = typename T::value_type;
  const DType d = x.dtype();
  const DType part = sizeof(P) == 4 ? DType::kFloat32 : DType::kFloat64;
  auto test = [&](auto f) { return map<T, bool>(DType::kBool, x, f); };
  switch (kind) {
    case Unary::k_neg:
      return map<T, T>(d, x, [](T v) { return T(-v.real(), -v.imag()); });
    case Unary::k_conj:
      return map<T, T>(d, x, [](T v) { return T(v.real(), -v.imag()); });
    case Unary::k_abs:
      return map<T, P>(part, x, [](T v) { return math_binary(Binary::k_hypot, v.real(), v.imag()); });
    case Unary::k_real:
      return map<T, P>(part, x, [](T v) { return v.real(); });
    case Unary::k_imag:
      return map<T, P>(part, x, [](T v) { return v.imag(); });
    case Unary::k_isnan:
      return test([](T v) { return std::isnan(v.real()) || std::isnan(v.imag()); });
    case Unary::k_isinf:
      return test([](T v) { return std::isinf(v.real()) || std::isinf(v.imag()); });
    case Unary::k_isfinite:
      return test([](T v) { return std::isfinite(v.real()) && std::isfinite(v.imag()); });
    default:
      unreachable_kind();
  }
}

}  // namespace

Datum unary(Unary kind, const Datum& x) {
  return visit_dtype(x.dtype(), [&]<class T>() -> Datum {
    if constexpr (Float<T>) {
      return unary_float<T>(kind, x);
    } else if constexpr (Complex<T>) {
      return unary_complex<T>(kind, x);
    } else if constexpr (Integer<T>) {
      return unary_integer<T>(kind, x);
    } else {
      if (kind != Unary::k_bitnot) unreachable_kind();
      return map<bool, bool>(DType::kBool, x, [](bool v) { return !v; });
    }
  });
}

}  // namespace epi::ir::interp
