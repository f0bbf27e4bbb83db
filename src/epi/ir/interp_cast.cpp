// Conversions of value and of bits.
#include "epi/ir/interp_elementwise.h"
#include "epi/ir/interp_numbers.h"

namespace epi::ir::interp {
namespace {

/// What x86-64's cvttss2si and cvttsd2si give: truncation, and the least integer where that does not fit.
template <class I, class F>
I truncate_or_least(F x) {
  constexpr F limit = static_cast<F>(std::uint64_t{1} << (sizeof(I) * 8 - 1));
  return x >= -limit && x < limit ? static_cast<I>(x) : std::numeric_limits<I>::min();
}

/// Float to integer as C compiles it on x86-64, which is NumPy's answer: through int32 to the narrow types, through
/// int64 to uint32, and to uint64 in two halves.
template <Integer To, std::floating_point F>
To wrap_float(F x) {
  if constexpr (std::is_same_v<To, std::uint64_t>) {
    constexpr F half = static_cast<F>(std::uint64_t{1} << 63);
    if (x >= half)
      return static_cast<std::uint64_t>(truncate_or_least<std::int64_t>(x - half)) ^ (std::uint64_t{1} << 63);
    return static_cast<std::uint64_t>(truncate_or_least<std::int64_t>(x));
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, std::uint32_t>) {
    return static_cast<To>(truncate_or_least<std::int64_t>(x));
  } else {
    return static_cast<To>(truncate_or_least<std::int32_t>(x));
  }
}

template <Integer To, std::floating_point F>
To saturate_float(F x) {
  using L = std::numeric_limits<To>;
  if (x != x) return 0;
  const F above = std::ldexp(F{1}, L::digits);  // max + 1, exact
  if (x >= above) return L::max();
  if (x <= static_cast<F>(L::min())) return L::min();
  return static_cast<To>(x);
}

template <Integer To, class From>
To to_integer(Cast mode, From x) {
  if constexpr (Float<From>) {
    return mode == Cast::k_wrap ? wrap_float<To>(widen(x)) : saturate_float<To>(widen(x));
  } else if constexpr (Bool<From>) {
    return x ? To{1} : To{0};
  } else {
    if (mode == Cast::k_wrap) return static_cast<To>(x);
    const auto wide = static_cast<__int128>(x);
    using L = std::numeric_limits<To>;
    return wide < L::min() ? L::min() : wide > L::max() ? L::max() : static_cast<To>(x);
  }
}

template <class To, class From>
To cast_one(Cast mode, From x) {
  if constexpr (Complex<From>) {
    if constexpr (Complex<To>) {
      using P = typename To::value_type;
      return To(static_cast<P>(x.real()), static_cast<P>(x.imag()));
    } else if constexpr (Bool<To>) {
      return x.real() != 0 || x.imag() != 0;
    } else {
      return cast_one<To>(mode, x.real());
    }
  } else if constexpr (Complex<To>) {
    return To(to_float<typename To::value_type>(x), 0);
  } else if constexpr (Float<To>) {
    return to_float<To>(x);
  } else if constexpr (Bool<To>) {
    return widen(x) != 0;
  } else {
    return to_integer<To>(mode, x);
  }
}

}  // namespace

Datum cast(Cast mode, const Datum& x, DType to) {
  return visit_dtype(x.dtype(), [&]<class From>() -> Datum {
    return visit_dtype(to, [&]<class To>() -> Datum {
      Datum out(to, x.count());
      auto result = out.as<To>();
      auto source = x.as<From>();
      for (std::size_t i = 0; i < source.size(); ++i) result[i] = cast_one<To>(mode, source[i]);
      return out;
    });
  });
}

Datum bitcast(const Datum& x, DType to) {
  EPI_CHECK(size_bytes(x.dtype()) == size_bytes(to));
  Datum out(to, x.count());
  if (x.count()) std::memcpy(out.data(), x.data(), x.bytes());
  if (to == DType::kBool)
    for (std::int64_t i = 0; i < x.count(); ++i) out.data()[i] = x.data()[i] & std::byte{1};
  return out;
}

Extents to_int64(const Datum& x) {
  Datum wide = cast(Cast::k_wrap, x, DType::kInt64);
  auto all = wide.as<std::int64_t>();
  return {all.begin(), all.end()};
}

std::int64_t first_zero(const Datum& x) {
  return visit_dtype(x.dtype(), [&]<class T>() -> std::int64_t {
    if constexpr (Integer<T>) {
      auto all = x.as<T>();
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] == 0) return static_cast<std::int64_t>(i);
    }
    return -1;
  });
}

}  // namespace epi::ir::interp
