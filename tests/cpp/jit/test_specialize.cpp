// What the key of a launch tells apart, and what it must not.
#include <gtest/gtest.h>

#include "epi/jit/specialize.h"

namespace epi::jit {
namespace {

Arg view(std::uintptr_t base, DType dtype, std::vector<std::int64_t> extents, std::vector<std::int64_t> strides) {
  Arg a;
  a.is_view = true;
  a.dtype = dtype;
  a.rank = static_cast<std::uint8_t>(extents.size());
  a.base = reinterpret_cast<void*>(base);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    a.extents[i] = extents[i];
    a.strides[i] = strides[i];
  }
  return a;
}

SpecKey key(std::vector<Arg> args) {
  SpecKey k;
  append_key(args, k);
  return k;
}

TEST(Specialize, NeitherAddressNorSizeIsInTheKey) {
  EXPECT_EQ(key({view(0x1000, DType::kFloat32, {100}, {1})}), key({view(0x900000, DType::kFloat32, {7}, {1})}));
  EXPECT_EQ(key({view(0x1000, DType::kFloat32, {8, 64}, {64, 1})}), key({view(0x1000, DType::kFloat32, {9, 128}, {128, 1})}));
}

TEST(Specialize, DtypeRankStridesAndAlignmentAreInTheKey) {
  const SpecKey base = key({view(0x1000, DType::kFloat32, {8, 64}, {64, 1})});
  EXPECT_NE(base, key({view(0x1000, DType::kInt32, {8, 64}, {64, 1})}));
  EXPECT_NE(base, key({view(0x1000, DType::kFloat32, {512}, {1})}));
  EXPECT_NE(base, key({view(0x1000, DType::kFloat32, {8, 64}, {64, 2})}));
  EXPECT_NE(base, key({view(0x1000, DType::kFloat32, {8, 63}, {63, 1})}));
  EXPECT_NE(base, key({view(0x1004, DType::kFloat32, {8, 64}, {64, 1})}));
  EXPECT_NE(key({view(0x1004, DType::kFloat32, {8}, {1})}), key({view(0x1002, DType::kFloat32, {8}, {1})}));
}

TEST(Specialize, ScalarsAreToldApartByDtypeAlone) {
  Arg a;
  a.dtype = DType::kInt32;
  a.bits[0] = 1;
  Arg b = a;
  b.bits[0] = 2;
  EXPECT_EQ(key({a}), key({b}));
  b.dtype = DType::kInt64;
  EXPECT_NE(key({a}), key({b}));
}

TEST(Specialize, OverlappingViewsShareAnAliasClassTransitively) {
  const Arg a = view(0x1000, DType::kUInt8, {100}, {1});
  const Arg b = view(0x1050, DType::kUInt8, {100}, {1});
  const Arg c = view(0x10a0, DType::kUInt8, {100}, {1});  // meets b only
  const Arg d = view(0x2000, DType::kUInt8, {100}, {1});
  const auto specs = arg_specs(std::vector<Arg>{a, c, d, b}, {});
  EXPECT_EQ(specs[0].view.alias, specs[3].view.alias);
  EXPECT_EQ(specs[0].view.alias, specs[1].view.alias);
  EXPECT_NE(specs[0].view.alias, specs[2].view.alias);
  EXPECT_NE(key({a, b}), key({a, d}));
}

TEST(Specialize, NegativeStridesReachBelowTheBase) {
  const Arg reversed = view(0x1063, DType::kUInt8, {100}, {-1});
  const Arg low = view(0x1000, DType::kUInt8, {4}, {1});
  const auto specs = arg_specs(std::vector<Arg>{reversed, low}, {});
  EXPECT_EQ(specs[0].view.alias, specs[1].view.alias);
}

TEST(Specialize, EmptyViewsOverlapNothing) {
  const Arg empty = view(0x1000, DType::kUInt8, {0}, {1});
  const Arg other = view(0x1000, DType::kUInt8, {10}, {1});
  const auto specs = arg_specs(std::vector<Arg>{empty, other}, {});
  EXPECT_NE(specs[0].view.alias, specs[1].view.alias);
}

TEST(Specialize, FactsReachTheBuilder) {
  const auto specs = arg_specs(std::vector<Arg>{view(0x1000, DType::kFloat64, {8, 64}, {64, 1})}, {});
  EXPECT_EQ(specs[0].view.align, 16);
  EXPECT_EQ(specs[0].view.strides, (ir::Shape{ir::kDynamic, 1}));
  EXPECT_EQ(specs[0].view.divisors, (ir::Shape{2, 1}));
  const auto odd = arg_specs(std::vector<Arg>{view(0x1004, DType::kFloat64, {8}, {1})}, {});
  EXPECT_EQ(odd[0].view.align, 1);
}

}  // namespace
}  // namespace epi::jit
