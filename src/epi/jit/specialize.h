// From the caller's arguments to what the compiler may assume of them. Everything assumed is in the key, nothing else
// is: neither addresses nor sizes cause a recompilation.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "epi/base/dtype.h"
#include "epi/base/status.h"
#include "epi/ir/builder.h"

namespace epi::jit {

inline constexpr int kMaxRank = 16;

/// One argument of a launch: a view of memory or a scalar. Plain data on the caller's stack.
struct Arg {
  bool is_view = false;
  bool readonly = false;  ///< views: a kernel that writes it is refused
  DType dtype = DType::kInt32;
  std::uint8_t rank = 0;
  void* base = nullptr;                           ///< views: address of element (0, 0, ...)
  std::array<std::int64_t, kMaxRank> extents{};
  std::array<std::int64_t, kMaxRank> strides{};   ///< in elements; any sign
  std::array<std::uint64_t, 2> bits{};            ///< scalars, zero-extended
};

/// What distinguishes two compilations of one kernel, one word an argument.
using SpecKey = std::vector<std::uint64_t>;

/// Appends the words of `args` to `key`: dtype, rank, unit and 16-byte-divisible strides, 16-byte base, alias class.
void append_key(std::span<const Arg> args, SpecKey& key);

/// The builder's view of the same facts; names[i] (may be missing) is argument i's name in messages.
std::vector<ir::ArgSpec> arg_specs(std::span<const Arg> args, std::span<const std::string> names);

}  // namespace epi::jit
