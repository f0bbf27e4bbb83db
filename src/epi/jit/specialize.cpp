// The key's word of a view, low bits first: dtype 8, rank 8, base aligned to 16 bytes 1, to its element 1, alias class 6, then two bits
// an axis: stride is 1, stride is a multiple of 16 bytes.
#include "epi/jit/specialize.h"

#include <algorithm>

namespace epi::jit {
namespace {

constexpr std::int64_t kVectorBytes = 16;

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;  ///< one past the last byte; equal to begin for empty views
};

Range touched(const Arg& a) {
  const auto size = static_cast<std::int64_t>(size_bytes(a.dtype));
  std::int64_t low = 0;
  std::int64_t high = size;
  for (int i = 0; i < a.rank; ++i) {
    if (a.extents[i] <= 0) return {0, 0};
    const std::int64_t reach = (a.extents[i] - 1) * a.strides[i] * size;
    (reach < 0 ? low : high) += reach;
  }
  const auto base = reinterpret_cast<std::uintptr_t>(a.base);
  return {base + static_cast<std::uintptr_t>(low), base + static_cast<std::uintptr_t>(high)};
}

bool overlap(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

/// Class of each view: the lowest argument index among those whose byte ranges overlap it, transitively.
void alias_classes(std::span<const Arg> args, std::array<std::uint8_t, 128>& classes) {
  std::array<Range, 128> ranges;
  const std::size_t n = std::min<std::size_t>(args.size(), 127);
  for (std::size_t i = 0; i < n; ++i) {
    classes[i] = static_cast<std::uint8_t>(i);
    if (!args[i].is_view) continue;
    ranges[i] = touched(args[i]);
    for (std::size_t j = 0; j < i; ++j) {
      if (!args[j].is_view || !overlap(ranges[i], ranges[j])) continue;
      const std::uint8_t from = std::max(classes[i], classes[j]);
      const std::uint8_t to = std::min(classes[i], classes[j]);
      for (std::size_t k = 0; k <= i; ++k)
        if (classes[k] == from) classes[k] = to;
    }
  }
}

struct AxisFacts {
  bool unit;
  bool divisible;
};

AxisFacts axis_facts(const Arg& a, int axis) {
  const std::int64_t stride = a.strides[static_cast<std::size_t>(axis)];
  const auto bytes = stride * static_cast<std::int64_t>(size_bytes(a.dtype));
  return {stride == 1, bytes % kVectorBytes == 0};
}

bool aligned(const Arg& a, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(a.base) % static_cast<std::uintptr_t>(bytes) == 0;
}

std::int64_t base_align(const Arg& a) {
  const auto size = static_cast<std::int64_t>(size_bytes(a.dtype));
  return aligned(a, kVectorBytes) ? kVectorBytes : aligned(a, size) ? size : 1;
}

/// The key has 6 bits for a class; those past it share one, which only assumes less.
constexpr std::uint8_t kMaxAlias = 63;

ir::ViewSpec view_spec(const Arg& a, std::uint8_t alias) {
  ir::ViewSpec v;
  v.dtype = a.dtype;
  v.align = base_align(a);
  v.alias = alias;
  const std::int64_t per_vector = std::max<std::int64_t>(1, kVectorBytes / static_cast<std::int64_t>(size_bytes(a.dtype)));
  for (int i = 0; i < a.rank; ++i) {
    const AxisFacts f = axis_facts(a, i);
    v.extents.push_back(ir::kDynamic);
    v.strides.push_back(f.unit ? 1 : ir::kDynamic);
    v.divisors.push_back(f.unit ? 1 : f.divisible ? per_vector : 1);
  }
  return v;
}

}  // namespace

void append_key(std::span<const Arg> args, SpecKey& key) {
  std::array<std::uint8_t, 128> classes{};
  alias_classes(args, classes);
  for (std::size_t i = 0; i < args.size(); ++i) {
    const Arg& a = args[i];
    auto word = static_cast<std::uint64_t>(a.dtype);
    if (!a.is_view) {
      key.push_back(word | (std::uint64_t{0xff} << 8));
      continue;
    }
    word |= std::uint64_t{a.rank} << 8;
    word |= std::uint64_t{aligned(a, kVectorBytes)} << 16;
    word |= std::uint64_t{base_align(a) > 1 || size_bytes(a.dtype) == 1} << 17;
    word |= std::uint64_t{std::min(kMaxAlias, classes[std::min<std::size_t>(i, 127)])} << 18;
    for (int axis = 0; axis < a.rank; ++axis) {
      const AxisFacts f = axis_facts(a, axis);
      word |= (std::uint64_t{f.unit} | (std::uint64_t{f.divisible} << 1)) << (24 + 2 * axis);
    }
    key.push_back(word);
  }
}

std::vector<ir::ArgSpec> arg_specs(std::span<const Arg> args, std::span<const std::string> names) {
  std::array<std::uint8_t, 128> classes{};
  alias_classes(args, classes);
  std::vector<ir::ArgSpec> specs;
  for (std::size_t i = 0; i < args.size(); ++i) {
    ir::ArgSpec s;
    s.is_view = args[i].is_view;
    s.dtype = args[i].dtype;
    s.name = i < names.size() ? names[i] : "arg" + std::to_string(i);
    if (s.is_view) s.view = view_spec(args[i], std::min(kMaxAlias, classes[std::min<std::size_t>(i, 127)]));
    specs.push_back(std::move(s));
  }
  return specs;
}

}  // namespace epi::jit
