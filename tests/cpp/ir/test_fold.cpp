// The folders' integer arithmetic is a second spelling of the semantics: it must give the interpreter's answers.
#include <gtest/gtest.h>

#include <limits>

#include "epi/ir/interp.h"
#include "epi/ir/passes/passes.h"

namespace epi::ir {
namespace {

constexpr DType kIntegers[] = {DType::kBool,  DType::kInt8,   DType::kInt16,  DType::kInt32, DType::kInt64,
                               DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64};

/// Values at which integer arithmetic goes wrong: zeros, ones, ends of the range, widths.
std::vector<std::int64_t> edges(DType d) {
  if (d == DType::kBool) return {0, 1};
  const auto bits = static_cast<int>(size_bytes(d) * 8);
  const std::int64_t top = static_cast<std::int64_t>(std::uint64_t{1} << (bits - 1));  // least of signed
  return {0, 1, 2, 3, -1, -2, -3, 7, -7, 100, bits - 1, bits, bits + 1, top, top + 1, top - 1};
}

using Make = std::function<Value(Builder&, Value, Value)>;

/// A kernel that stores make(a, b) for every pair of edges of `from`, and how many there are.
Result<Module> kernel(DType from, DType to, const Make& make, std::size_t& count) {
  ArgSpec out;
  out.is_view = true;
  out.view = {to, {kDynamic}, {1}, {1}, 1, 0};
  Builder b("k", {out});
  count = 0;
  for (std::int64_t x : edges(from))
    for (std::int64_t y : edges(from)) {
      Value v = make(b, b.constant(Scalar::of_int(from, x)), b.constant(Scalar::of_int(from, y)));
      const auto at = static_cast<std::int64_t>(count++);
      b.scatter(b.args()[0], std::vector<Value>{b.constant(Scalar::of_int(DType::kInt64, at))}, v);
    }
  return b.finish();
}

std::vector<unsigned char> run(const Module& module, DType to, std::size_t count) {
  std::vector<unsigned char> memory(count * size_bytes(to));
  InterpArg arg;
  arg.is_view = true;
  arg.base = memory.data();
  arg.extents = {static_cast<std::int64_t>(count)};
  arg.strides = {1};
  const std::uint32_t grid[3] = {1, 1, 1};
  Status status = interpret(module, std::span(&arg, 1), grid);
  EXPECT_TRUE(status.ok()) << status.message();
  return memory;
}

/// Folded and not, the kernel stores the same; and nothing named `op` is left to compute.
void expect_folds(DType from, DType to, std::string_view op, const Make& make, const std::string& what) {
  std::size_t count = 0;
  Result<Module> module = kernel(from, to, make, count);
  ASSERT_TRUE(module.ok()) << what << ": " << module.status().message();
  const std::vector<unsigned char> wanted = run(*module, to, count);
  ASSERT_TRUE(canonicalize(*module).ok());
  ASSERT_TRUE(module->verify().ok());
  EXPECT_EQ(module->print().find(op), std::string::npos) << what << "\n" << module->print();
  EXPECT_EQ(run(*module, to, count), wanted) << what;
}

class Folds : public testing::TestWithParam<DType> {};

TEST_P(Folds, BinaryAsTheInterpreter) {
  const DType d = GetParam();
  constexpr Binary kAll[] = {Binary::k_add,     Binary::k_sub,      Binary::k_mul,  Binary::k_floordiv,
                             Binary::k_mod,     Binary::k_truncdiv, Binary::k_rem,  Binary::k_minimum,
                             Binary::k_maximum, Binary::k_fmin,     Binary::k_fmax, Binary::k_bitand,
                             Binary::k_bitor,   Binary::k_bitxor,   Binary::k_shl,  Binary::k_shr};
  constexpr Binary kBools[] = {Binary::k_minimum, Binary::k_maximum, Binary::k_bitand, Binary::k_bitor,
                               Binary::k_bitxor};
  const std::span<const Binary> kinds = d == DType::kBool ? std::span<const Binary>(kBools) : kAll;
  for (Binary kind : kinds)
    expect_folds(
        d, d, "tile.binary", [&](Builder& b, Value x, Value y) { return b.binary(kind, x, y); },
        "binary kind " + std::to_string(static_cast<int>(kind)));
}

TEST_P(Folds, CompareAsTheInterpreter) {
  for (int kind = 0; kind <= static_cast<int>(Compare::k_ge); ++kind)
    expect_folds(
        GetParam(), DType::kBool, "tile.compare",
        [&](Builder& b, Value x, Value y) { return b.compare(static_cast<Compare>(kind), x, y); },
        "compare kind " + std::to_string(kind));
}

TEST_P(Folds, CastAsTheInterpreter) {
  for (DType to : kIntegers)
    expect_folds(
        GetParam(), to, "tile.cast", [&](Builder& b, Value x, Value) { return b.cast(x, to, Cast::k_wrap); },
        "cast to " + std::string(name(to)));
}

/// One operand known: what identities leave must be what the op gives.
TEST_P(Folds, IdentitiesAsTheInterpreter) {
  const DType d = GetParam();
  for (int kind = 0; kind <= static_cast<int>(Binary::k_shr); ++kind) {
    ArgSpec out;
    out.is_view = true;
    out.view = {d, {kDynamic}, {1}, {1}, 1, 0};
    Builder b("k", {out, {false, d, {}, "x"}});
    std::int64_t at = 0;
    for (std::int64_t c : {0, 1, -1})
      for (bool left : {true, false}) {
        Value known = b.constant(Scalar::of_int(d, c));
        Value v = b.binary(static_cast<Binary>(kind), left ? known : b.args()[1], left ? b.args()[1] : known);
        if (!v) break;  // not a kind of this dtype; test_builder says which are
        b.scatter(b.args()[0], std::vector<Value>{b.constant(Scalar::of_int(DType::kInt64, at++))}, v);
      }
    if (!b.status().ok()) continue;
    Result<Module> module = b.finish();
    ASSERT_TRUE(module.ok()) << module.status().message();
    std::vector<std::vector<unsigned char>> before, after;
    for (std::vector<std::vector<unsigned char>>* results : {&before, &after}) {
      for (std::int64_t x : edges(d)) {
        std::vector<unsigned char> memory(6 * size_bytes(d));
        InterpArg args[2];
        args[0] = {true, memory.data(), {6}, {1}, {0, 0}};
        args[1].bits[0] = static_cast<std::uint64_t>(x);
        const std::uint32_t grid[3] = {1, 1, 1};
        ASSERT_TRUE(interpret(*module, args, grid).ok());
        results->push_back(memory);
      }
      ASSERT_TRUE(canonicalize(*module).ok());
    }
    EXPECT_EQ(before, after) << "binary kind " << kind;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Folds, testing::ValuesIn(kIntegers),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST(Folds, AReportedDivisionStaysReported) {
  Builder b("k", {{false, DType::kInt32, {}, "x"}});
  Value zero = b.constant(Scalar::of_int(DType::kInt32, 0));
  Value q = b.binary(Binary::k_floordiv, b.args()[0], zero, /*flag_zero=*/true);
  b.print("%d", std::vector<Value>{q});
  Result<Module> module = b.finish();
  ASSERT_TRUE(module.ok());
  ASSERT_TRUE(canonicalize(*module).ok());
  EXPECT_NE(module->print().find("flag_zero"), std::string::npos);
}

TEST(Canonicalize, ErrorsCarryTheirPlace) {
  Result<Module> module = Module::parse(
      "func.func @f() {\n  func.call @f() : () -> ()\n  return\n}\n"
      "func.func @k() attributes {tile.kernel} {\n  func.call @f() : () -> ()\n  return\n}\n");
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(canonicalize(*module).message(), "tile:2:3: helper f calls itself; kernels have no recursion");
}

}  // namespace
}  // namespace epi::ir
