// Loops and branches that carry scalars and tiles.
#include "harness.h"

namespace epi::test {
namespace {

using ir::Binary;
using ir::Builder;
using ir::Value;
using Shape = std::vector<std::int64_t>;

Value i32(Builder& b, std::int64_t v) { return b.constant(ir::Scalar::of_int(DType::kInt32, v)); }
Value f32(Builder& b, double v) { return b.constant(ir::Scalar::of_float(DType::kFloat32, v)); }
Value add(Builder& b, Value x, Value y) { return b.binary(Binary::k_add, x, y); }
Value mul(Builder& b, Value x, Value y) { return b.binary(Binary::k_mul, x, y); }

TEST(Control, ForCarriesATileInPlace) {
  for (std::int64_t n : {4, 16, 24, 256}) {
    std::vector<Arg> args = {random_array(DType::kFloat32, {8, n}, 1), zeros(DType::kFloat32, {n}), scalar_arg<std::int32_t>(DType::kInt32, 8)};
    Builder b("sum_rows", {spec(args[0], 0), spec(args[1], 1), spec(args[2])});
    auto loop = b.begin_for(i32(b, 0), b.args()[2], i32(b, 1), std::vector<Value>{b.full(ir::Scalar::of_float(DType::kFloat32, 0), Shape{n})});
    Value row = b.reshape(b.load(b.args()[0], std::vector<Value>{loop.index, i32(b, 0)}, Shape{1, n}), Shape{n});
    auto out = b.end_for(std::vector<Value>{add(b, loop.carried[0], row)});
    b.store(b.args()[1], std::vector<Value>{i32(b, 0)}, out[0]);
    const ir::Module m = finished(b);
    expect_same(m, args, {1});
  }
}

TEST(Control, ForThatMovesItsTileUsesASecondBuffer) {
  const std::int64_t n = 96;
  std::vector<Arg> args = {random_array(DType::kInt32, {n}, 1), zeros(DType::kInt32, {n})};
  Builder b("rotate", {spec(args[0], 0), spec(args[1], 1)});
  Value x = b.load(b.args()[0], std::vector<Value>{i32(b, 0)}, Shape{n});
  auto loop = b.begin_for(i32(b, 0), i32(b, 5), i32(b, 1), std::vector<Value>{x, x});
  Value next = b.binary(Binary::k_mod, add(b, b.iota(DType::kInt32, Shape{n}, 0), i32(b, 1)), i32(b, n));
  Value moved = b.take(loop.carried[0], next, 0);
  auto out = b.end_for(std::vector<Value>{add(b, moved, loop.carried[1]), loop.carried[0]});
  b.store(b.args()[1], std::vector<Value>{i32(b, 0)}, add(b, out[0], out[1]));
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Control, ForWithNoTripsGivesItsInitialValues) {
  std::vector<Arg> args = {random_array(DType::kFloat32, {64}, 1), zeros(DType::kFloat32, {64}), scalar_arg<std::int32_t>(DType::kInt32, 0)};
  Builder b("none", {spec(args[0], 0), spec(args[1], 1), spec(args[2])});
  Value x = b.load(b.args()[0], std::vector<Value>{i32(b, 0)}, Shape{64});
  auto loop = b.begin_for(i32(b, 0), b.args()[2], i32(b, 1), std::vector<Value>{x, f32(b, 2.5)});
  auto out = b.end_for(std::vector<Value>{add(b, loop.carried[0], loop.carried[0]), add(b, loop.carried[1], loop.carried[1])});
  b.store(b.args()[1], std::vector<Value>{i32(b, 0)}, mul(b, out[0], out[1]));
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Control, NestedLoopsWithTilesOfTwoShapes) {
  std::vector<Arg> args = {random_array(DType::kFloat32, {12, 40}, 1), zeros(DType::kFloat32, {12}), zeros(DType::kFloat32, {8})};
  Builder b("nest", {spec(args[0], 0), spec(args[1], 1), spec(args[2], 2)});
  auto outer = b.begin_for(i32(b, 0), i32(b, 12), i32(b, 1), std::vector<Value>{b.full(ir::Scalar::of_float(DType::kFloat32, 1), Shape{8}), f32(b, 0)});
  auto inner = b.begin_for(i32(b, 0), i32(b, 40), i32(b, 8), std::vector<Value>{b.full(ir::Scalar::of_float(DType::kFloat32, 0), Shape{8})});
  Value part = b.reshape(b.load(b.args()[0], std::vector<Value>{outer.index, inner.index}, Shape{1, 8}), Shape{8});
  auto sum = b.end_for(std::vector<Value>{add(b, inner.carried[0], mul(b, part, outer.carried[0]))});
  const std::vector<Value> sums = {sum[0]};
  Value total = b.reduce(ir::Combine::k_add, sums, 0)[0];
  b.store(b.args()[1], std::vector<Value>{outer.index}, b.broadcast(total, Shape{1}));
  auto out = b.end_for(std::vector<Value>{mul(b, add(b, outer.carried[0], sum[0]), f32(b, 0.125)), add(b, outer.carried[1], total)});
  b.store(b.args()[2], std::vector<Value>{i32(b, 0)}, add(b, out[0], out[1]));
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Control, WhileHalvesUntilSmall) {
  std::vector<Arg> args = {random_array(DType::kFloat64, {48}, 1), zeros(DType::kFloat64, {48}), zeros(DType::kInt32, {1})};
  Builder b("halve", {spec(args[0], 0), spec(args[1], 1), spec(args[2], 2)});
  auto f64 = [&](double v) { return b.constant(ir::Scalar::of_float(DType::kFloat64, v)); };
  Value x = b.load(b.args()[0], std::vector<Value>{i32(b, 0)}, Shape{48});
  auto before = b.begin_while(std::vector<Value>{x, i32(b, 0)});
  const std::vector<Value> magnitude = {b.unary(ir::Unary::k_abs, before[0])};
  Value big = b.compare(ir::Compare::k_gt, b.reduce(ir::Combine::k_maximum, magnitude, 0)[0], f64(0.01));
  auto body = b.while_body(big);
  auto out = b.end_while(std::vector<Value>{mul(b, body[0], f64(0.5)), add(b, body[1], i32(b, 1))});
  b.store(b.args()[1], std::vector<Value>{i32(b, 0)}, out[0]);
  b.store(b.args()[2], std::vector<Value>{i32(b, 0)}, b.broadcast(out[1], Shape{1}));
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Control, WhileWithAFalseFirstConditionNeverRuns) {
  std::vector<Arg> args = {zeros(DType::kInt32, {1}), scalar_arg<std::int32_t>(DType::kInt32, 0)};
  Builder b("never", {spec(args[0], 0), spec(args[1])});
  auto before = b.begin_while(std::vector<Value>{b.args()[1]});
  auto body = b.while_body(b.compare(ir::Compare::k_gt, before[0], i32(b, 0)));
  auto out = b.end_while(std::vector<Value>{b.binary(Binary::k_sub, body[0], i32(b, 1))});
  b.store(b.args()[0], std::vector<Value>{i32(b, 0)}, b.broadcast(add(b, out[0], i32(b, 7)), Shape{1}));
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Control, IfGivesTilesAndScalars) {
  std::vector<Arg> args = {random_array(DType::kFloat32, {4, 64}, 1), zeros(DType::kFloat32, {4, 64})};
  Builder b("choose", {spec(args[0], 0), spec(args[1], 1)});
  Value p = b.program_id(0);
  const std::vector<Value> at = {p, i32(b, 0)};
  Value x = b.load(b.args()[0], at, Shape{1, 64});
  Value e = b.unary(ir::Unary::k_exp, x);
  b.begin_if(b.compare(ir::Compare::k_eq, b.binary(Binary::k_mod, p, i32(b, 2)), i32(b, 0)));
  const std::vector<Value> yes = {add(b, e, e), f32(b, 3)};
  b.begin_else();
  const std::vector<Value> no = {b.unary(ir::Unary::k_neg, e), b.cast(p, DType::kFloat32, ir::Cast::k_wrap)};
  auto out = b.end_if(yes, no);
  b.store(b.args()[1], at, mul(b, add(b, out[0], e), out[1]));
  const ir::Module m = finished(b);
  expect_same(m, args, {4});
}

TEST(Control, AStoreInsideALoopIsSeenByItsNextTrip) {
  std::vector<Arg> args = {random_array(DType::kFloat32, {80}, 1)};
  Builder b("feed", {spec(args[0])});
  auto loop = b.begin_for(i32(b, 0), i32(b, 3), i32(b, 1), std::vector<Value>{});
  Value x = b.load(b.args()[0], std::vector<Value>{loop.index}, Shape{64});
  Value y = b.load(b.args()[0], std::vector<Value>{i32(b, 8)}, Shape{64});
  b.store(b.args()[0], std::vector<Value>{i32(b, 5)}, add(b, x, y));
  b.end_for(std::vector<Value>{});
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Control, AFailedAssertionLeavesItsSiteAndTheRestRuns) {
  std::vector<Arg> args = {array_of<std::int32_t>(DType::kInt32, {1, 2, 3, 4}), zeros(DType::kInt32, {4})};
  Builder b("positive", {spec(args[0], 0), spec(args[1], 1)});
  Value x = b.load(b.args()[0], std::vector<Value>{i32(b, 0)}, Shape{4});
  b.assert_(b.compare(ir::Compare::k_lt, x, i32(b, 3)), "x is too large");
  b.store(b.args()[1], std::vector<Value>{i32(b, 0)}, x);
  const ir::Module m = finished(b);
  EXPECT_NE(run_compiled(m, args, {1}).find("x is too large"), std::string::npos);
  EXPECT_EQ(args[1].memory, args[0].memory);
}

TEST(Control, AZeroDivisorIsFlaggedWhereAsked) {
  std::vector<Arg> args = {array_of<std::int32_t>(DType::kInt32, {4, 0, 3, 4}), zeros(DType::kInt32, {4})};
  Builder b("divide", {spec(args[0], 0), spec(args[1], 1)});
  Value x = b.load(b.args()[0], std::vector<Value>{i32(b, 0)}, Shape{4});
  b.store(b.args()[1], std::vector<Value>{i32(b, 0)}, b.binary(Binary::k_floordiv, i32(b, 12), x, true));
  const ir::Module m = finished(b);
  EXPECT_NE(run_compiled(m, args, {1}).find("division by zero"), std::string::npos);
  EXPECT_EQ(values_of<std::int32_t>(args[1]), (std::vector<std::int32_t>{3, 0, 4, 3}));
}

TEST(Control, PrintFormatsAsTheInterpreterDoes) {
  std::vector<Arg> args = {array_of<float>(DType::kFloat32, {1.5F, -2.0F}), zeros(DType::kInt32, {1})};
  Builder b("show", {spec(args[0], 0), spec(args[1], 1)});
  Value x = b.load(b.args()[0], std::vector<Value>{i32(b, 0)}, Shape{2});
  const std::vector<Value> values = {x, b.iota(DType::kInt32, Shape{2}, 0)};
  b.print("x=%.2f at %5d%%", values);
  const ir::Module m = finished(b);
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_compiled(m, args, {1}), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "x=1.50 at     0%\nx=-2.00 at     1%\n");
}

}  // namespace
}  // namespace epi::test
