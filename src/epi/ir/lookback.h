// The size of lookback's state, known to front ends, plans, interpreter and back ends alike.
#pragma once
#include <cstdint>
#include <span>

#include "epi/base/dtype.h"

namespace epi::ir {

/// ui64 words of zeroed state for `programs` programs whose aggregates have these dtypes and `items` elements each:
/// per program and item one word of flag and value where all values fit 4 bytes together, else a flag word and two
/// copies (aggregate, prefix) of the values, each rounded up to 8 bytes.
inline std::uint64_t lookback_words(std::span<const DType> dtypes, std::uint64_t items, std::uint64_t programs) {
  std::uint64_t bytes = 0;
  for (DType d : dtypes) bytes += size_bytes(d);
  if (dtypes.size() == 1 && bytes <= 4) return items * programs;
  return items * programs * (1 + 2 * ((bytes + 7) / 8));
}

}  // namespace epi::ir
