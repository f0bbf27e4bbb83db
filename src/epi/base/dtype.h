// The engine's element types. Generated from dtype.def; no other file lists them.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "epi/base/half.h"

namespace epi {

enum class DType : std::uint8_t {
#define EPI_DTYPE(Enum, name, size, kind, ctype, dl, ts) Enum,
#include "epi/base/dtype.def"
#undef EPI_DTYPE
};
inline constexpr int kDTypeCount = 0
#define EPI_DTYPE(Enum, name, size, kind, ctype, dl, ts) +1
#include "epi/base/dtype.def"
#undef EPI_DTYPE
    ;

/// One dtype's facts, a row of dtype.def.
struct DTypeInfo {
  std::string_view name;     ///< NumPy's name ("bool" for kBool)
  std::size_t size_bytes;
  char kind;                 ///< b, i, u, f or c
  std::uint8_t dlpack_code;
  std::string_view typestr;  ///< array-interface description
};

[[nodiscard]] const DTypeInfo& info(DType dtype);
[[nodiscard]] inline std::string_view name(DType d) { return info(d).name; }
[[nodiscard]] inline std::size_t size_bytes(DType d) { return info(d).size_bytes; }
[[nodiscard]] inline char kind(DType d) { return info(d).kind; }
[[nodiscard]] inline bool is_float(DType d) { return kind(d) == 'f'; }
[[nodiscard]] inline bool is_complex(DType d) { return kind(d) == 'c'; }
[[nodiscard]] inline bool is_integer(DType d) { return kind(d) == 'i' || kind(d) == 'u'; }
[[nodiscard]] std::optional<DType> dtype_from_name(std::string_view name);

/// Calls f.template operator()<T>() with the C++ type of `dtype`. The only dispatch on dtype outside code generators.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
#define EPI_DTYPE(Enum, name, size, kind, ctype, dl, ts) \
  case DType::Enum:                                      \
    return std::forward<F>(f).template operator()<ctype>();
#include "epi/base/dtype.def"
#undef EPI_DTYPE
  }
  __builtin_unreachable();
}

}  // namespace epi
