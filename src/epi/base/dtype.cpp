// The dtype table, expanded from dtype.def.
#include "epi/base/dtype.h"

#include <array>

namespace epi {
namespace {

constexpr std::string_view public_name(std::string_view n) { return n == "bool_" ? "bool" : n; }

constexpr std::array<DTypeInfo, kDTypeCount> kTable = {{
#define EPI_DTYPE(Enum, name, size, kind, ctype, dl, ts) {public_name(#name), size, kind, dl, ts},
#include "epi/base/dtype.def"
#undef EPI_DTYPE
}};

#define EPI_DTYPE(Enum, name, size, kind, ctype, dl, ts) static_assert(sizeof(ctype) == size);
#include "epi/base/dtype.def"
#undef EPI_DTYPE

}  // namespace

const DTypeInfo& info(DType dtype) { return kTable[static_cast<std::size_t>(dtype)]; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kTable.size(); ++i)
    if (kTable[i].name == name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace epi
