// Elementwise functions of two operands, fma, comparisons and select.
#include "epi/ir/interp_elementwise.h"
#include "epi/ir/interp_math.h"
#include "epi/ir/interp_numbers.h"

namespace epi::ir::interp {
namespace {

template <class T, class R, class F>
Datum zip(DType result, const Datum& a, const Datum& b, F f) {
  Datum out(result, a.count());
  auto x = a.as<T>();
  auto y = b.as<T>();
  auto to = out.as<R>();
  for (std::size_t i = 0; i < x.size(); ++i) to[i] = static_cast<R>(f(x[i], y[i]));
  return out;
}

[[noreturn]] void unreachable_kind() {
  EPI_CHECK(false && "a kind that the verifier refuses for this dtype");
  __builtin_unreachable();
}

template <Integer T>
Datum binary_integer(Binary kind, const Datum& a, const Datum& b) {
  auto go = [&](auto f) { return zip<T, T>(a.dtype(), a, b, f); };
  switch (kind) {
    case Binary::k_add:
      return go([](T x, T y) { return wide_bits(x) + wide_bits(y); });
    case Binary::k_sub:
      return go([](T x, T y) { return wide_bits(x) - wide_bits(y); });
    case Binary::k_mul:
      return go([](T x, T y) { return wide_bits(x) * wide_bits(y); });
    case Binary::k_floordiv:
      return go([](T x, T y) { return floor_div(x, y); });
    case Binary::k_mod:
      return go([](T x, T y) { return floor_mod(x, y); });
    case Binary::k_truncdiv:
      return go([](T x, T y) { return trunc_div(x, y); });
    case Binary::k_rem:
      return go([](T x, T y) { return trunc_rem(x, y); });
    case Binary::k_pow:
      return go([](T x, T y) { return power(x, y); });
    case Binary::k_minimum:
    case Binary::k_fmin:
      return go([](T x, T y) { return minimum(x, y); });
    case Binary::k_maximum:
    case Binary::k_fmax:
      return go([](T x, T y) { return maximum(x, y); });
    case Binary::k_bitand:
      return go([](T x, T y) { return x & y; });
    case Binary::k_bitor:
      return go([](T x, T y) { return x | y; });
    case Binary::k_bitxor:
      return go([](T x, T y) { return x ^ y; });
    case Binary::k_shl:
      return go([](T x, T y) { return shift_left(x, y); });
    case Binary::k_shr:
      return go([](T x, T y) { return shift_right(x, y); });
    case Binary::k_mulhi:
      return go([](T x, T y) { return mul_high(x, y); });
    default:
      unreachable_kind();
  }
}

template <Float T>
Datum binary_float(Binary kind, const Datum& a, const Datum& b) {
  using W = Wide<T>;
  auto go = [&](auto f) { return zip<T, T>(a.dtype(), a, b, f); };
  auto wide = [&](auto f) { return zip<T, T>(a.dtype(), a, b, [f](T x, T y) { return T(f(widen(x), widen(y))); }); };
  switch (kind) {
    case Binary::k_add:
      return wide([](W x, W y) { return x + y; });
    case Binary::k_sub:
      return wide([](W x, W y) { return x - y; });
    case Binary::k_mul:
      return wide([](W x, W y) { return x * y; });
    case Binary::k_div:
      return wide([](W x, W y) { return x / y; });
    case Binary::k_floordiv:
      return wide([](W x, W y) { return floor_div(x, y); });
    case Binary::k_mod:
      return wide([](W x, W y) { return floor_mod(x, y); });
    case Binary::k_rem:
      return wide([](W x, W y) { return std::fmod(x, y); });
    case Binary::k_minimum:
      return go([](T x, T y) { return minimum(x, y); });
    case Binary::k_maximum:
      return go([](T x, T y) { return maximum(x, y); });
    case Binary::k_fmin:
      return go([](T x, T y) { return number_min(x, y); });
    case Binary::k_fmax:
      return go([](T x, T y) { return number_max(x, y); });
    case Binary::k_copysign:
      return go([](T x, T y) { return sign_of(x) == sign_of(y) ? x : negate(x); });
    case Binary::k_nextafter:
      return go([](T x, T y) { return next_after(x, y); });
    case Binary::k_pow:
    case Binary::k_atan2:
    case Binary::k_hypot:
    case Binary::k_logaddexp:
      return wide([kind](W x, W y) { return math_binary(kind, x, y); });
    case Binary::k_complex:
      if constexpr (std::is_same_v<T, float>)
        return zip<T, std::complex<T>>(DType::kComplex64, a, b, [](T x, T y) { return std::complex<T>(x, y); });
      if constexpr (std::is_same_v<T, double>)
        return zip<T, std::complex<T>>(DType::kComplex128, a, b, [](T x, T y) { return std::complex<T>(x, y); });
      unreachable_kind();
    default:
      unreachable_kind();
  }
}

template <Complex T>
Datum binary_complex(Binary kind, const Datum& a, const Datum& b) {
  auto go = [&](auto f) { return zip<T, T>(a.dtype(), a, b, f); };
  switch (kind) {
    case Binary::k_add:
      return go([](T x, T y) { return x + y; });
    case Binary::k_sub:
      return go([](T x, T y) { return x - y; });
    case Binary::k_mul:
      return go([](T x, T y) { return multiply(x, y); });
    case Binary::k_div:
      return go([](T x, T y) { return divide(x, y); });
    default:
      unreachable_kind();
  }
}

Datum binary_bool(Binary kind, const Datum& a, const Datum& b) {
  auto go = [&](auto f) { return zip<bool, bool>(DType::kBool, a, b, f); };
  switch (kind) {
    case Binary::k_minimum:
    case Binary::k_bitand:
      return go([](bool x, bool y) { return x && y; });
    case Binary::k_maximum:
    case Binary::k_bitor:
      return go([](bool x, bool y) { return x || y; });
    case Binary::k_bitxor:
      return go([](bool x, bool y) { return x != y; });
    default:
      unreachable_kind();
  }
}

template <class T>
Datum compare_ordered(Compare kind, const Datum& a, const Datum& b) {
  auto go = [&](auto f) { return zip<T, bool>(DType::kBool, a, b, [f](T x, T y) { return f(widen(x), widen(y)); }); };
  using W = Wide<T>;
  switch (kind) {
    case Compare::k_eq:
      return go([](W x, W y) { return x == y; });
    case Compare::k_ne:
      return go([](W x, W y) { return x != y; });
    case Compare::k_lt:
      return go([](W x, W y) { return x < y; });
    case Compare::k_le:
      return go([](W x, W y) { return x <= y; });
    case Compare::k_gt:
      return go([](W x, W y) { return x > y; });
    case Compare::k_ge:
      return go([](W x, W y) { return x >= y; });
  }
  unreachable_kind();
}

template <class T>
T identity_of(Combine kind) {
  using L = std::numeric_limits<std::conditional_t<Float<T>, float, T>>;
  switch (kind) {
    case Combine::k_mul:
      return T(1);
    case Combine::k_minimum:
      if constexpr (Float<T>)
        return T(L::infinity());
      else
        return L::max();
    case Combine::k_maximum:
      if constexpr (Float<T>)
        return T(-L::infinity());
      else
        return L::lowest();
    case Combine::k_bitand:
      if constexpr (Bool<T>)
        return true;
      else if constexpr (Integer<T>)
        return static_cast<T>(~wide_bits(T(0)));
      else
        break;
    default:
      break;
  }
  return T(0);
}

}  // namespace

Datum binary(Binary kind, const Datum& a, const Datum& b) {
  return visit_dtype(a.dtype(), [&]<class T>() -> Datum {
    if constexpr (Float<T>)
      return binary_float<T>(kind, a, b);
    else if constexpr (Complex<T>)
      return binary_complex<T>(kind, a, b);
    else if constexpr (Integer<T>)
      return binary_integer<T>(kind, a, b);
    else
      return binary_bool(kind, a, b);
  });
}

Datum compare(Compare kind, const Datum& a, const Datum& b) {
  return visit_dtype(a.dtype(), [&]<class T>() -> Datum {
    if constexpr (Complex<T>) {
      const bool equal = kind == Compare::k_eq;
      EPI_CHECK(equal || kind == Compare::k_ne);
      return zip<T, bool>(DType::kBool, a, b, [equal](T x, T y) { return (x == y) == equal; });
    } else {
      return compare_ordered<T>(kind, a, b);
    }
  });
}

Datum fused_multiply_add(const Datum& a, const Datum& b, const Datum& c) {
  return visit_dtype(a.dtype(), [&]<class T>() -> Datum {
    if constexpr (Float<T>) {
      Datum out(a.dtype(), a.count());
      for (std::size_t i = 0; i < out.as<T>().size(); ++i)
        out.as<T>()[i] = fused(a.as<T>()[i], b.as<T>()[i], c.as<T>()[i]);
      return out;
    } else {
      unreachable_kind();
    }
  });
}

Datum select(const Datum& condition, const Datum& on_true, const Datum& on_false) {
  return visit_dtype(on_true.dtype(), [&]<class T>() -> Datum {
    Datum out(on_true.dtype(), on_true.count());
    auto to = out.as<T>();
    auto which = condition.as<bool>();
    auto yes = on_true.as<T>();
    auto no = on_false.as<T>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = which[i] ? yes[i] : no[i];
    return out;
  });
}

Datum combine(Combine kind, const Datum& left, const Datum& right) {
  switch (kind) {
    case Combine::k_add:
      return binary(Binary::k_add, left, right);
    case Combine::k_mul:
      return binary(Binary::k_mul, left, right);
    case Combine::k_minimum:
      return binary(Binary::k_minimum, left, right);
    case Combine::k_maximum:
      return binary(Binary::k_maximum, left, right);
    case Combine::k_bitand:
      return binary(Binary::k_bitand, left, right);
    case Combine::k_bitor:
      return binary(Binary::k_bitor, left, right);
    case Combine::k_bitxor:
      return binary(Binary::k_bitxor, left, right);
    case Combine::k_region:
      break;
  }
  unreachable_kind();
}

Datum identity(Combine kind, DType dtype) {
  return visit_dtype(dtype, [&]<class T>() { return Datum::scalar<T>(dtype, identity_of<T>(kind)); });
}

}  // namespace epi::ir::interp
