// Compiled code as a thing that is loaded, shared by threads, and freed.
#include "harness.h"

#include <atomic>
#include <fstream>
#include <thread>

#include "epi/backend/cpu/target/link.h"

namespace epi::test {
namespace {

using ir::Builder;
using ir::Value;
using ir::Values;

ir::Module add_one(int amount) {
  Arg a = zeros(DType::kInt32, {64});
  Builder b("add_one", {spec(a)});
  Value zero = b.constant(ir::Scalar::of_int(DType::kInt32, 0));
  Value x = b.load(b.args()[0], Values{zero}, std::vector<std::int64_t>{64});
  b.store(b.args()[0], Values{zero}, b.binary(ir::Binary::k_add, x, b.constant(ir::Scalar::of_int(DType::kInt32, amount))));
  return finished(b);
}

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  std::size_t n = 0;
  while (std::getline(maps, line)) ++n;
  return n;
}

TEST(Link, ThreadsCompileAndRunAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&wrong, t] {
      for (int i = 0; i < 5; ++i) {
        const ir::Module m = add_one(10 * t + i);
        std::vector<Arg> args = {zeros(DType::kInt32, {64})};
        if (!run_compiled(m, args, {1}).empty() || values_of<std::int32_t>(args[0])[63] != 10 * t + i) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Link, FreedCodeGivesItsMemoryBack) {
  const ir::Module m = add_one(1);
  compiler::CompileOptions o;
  o.target = "cpu";
  Result<compiler::Compiled> c = compiler::compile(m, o);
  ASSERT_TRUE(c.ok()) << c.status().message();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(cpu::link_object(c->bytes, c->info.name).ok());
  const std::size_t before = mappings();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(cpu::link_object(c->bytes, c->info.name).ok());
  EXPECT_LT(mappings(), before + 20);
}

TEST(Link, DamagedObjectsAreErrors) {
  EXPECT_FALSE(cpu::link_object("not an object", "f").ok());
  const ir::Module m = add_one(1);
  compiler::CompileOptions o;
  o.target = "cpu";
  Result<compiler::Compiled> c = compiler::compile(m, o);
  ASSERT_TRUE(c.ok());
  EXPECT_FALSE(cpu::link_object(c->bytes, "no_such_symbol").ok());
  EXPECT_FALSE(cpu::link_object(c->bytes.substr(0, c->bytes.size() / 2), c->info.name).ok());
}

TEST(Link, ViewsAndTilesWithoutAxes) {
  std::vector<Arg> args = {random_array(DType::kFloat32, {}, 1), zeros(DType::kFloat32, {})};
  Builder b("scalar", {spec(args[0], 0), spec(args[1], 1)});
  Value x = b.load(b.args()[0], Values{}, std::vector<std::int64_t>{});
  b.store(b.args()[1], Values{}, b.binary(ir::Binary::k_add, x, x));
  ASSERT_TRUE(b.status().ok()) << b.status().message();
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

TEST(Link, TilesOfNoElements) {
  std::vector<Arg> args = {random_array(DType::kFloat32, {4}, 1), zeros(DType::kFloat32, {4})};
  Builder b("none", {spec(args[0], 0), spec(args[1], 1)});
  Value zero = b.constant(ir::Scalar::of_int(DType::kInt32, 0));
  Value x = b.load(b.args()[0], Values{zero}, std::vector<std::int64_t>{0});
  const Values v = {x};
  b.store(b.args()[1], Values{zero}, b.unary(ir::Unary::k_exp, x));
  Value sum = b.reduce(ir::Combine::k_add, v, 0)[0];
  b.store(b.args()[1], Values{zero}, b.broadcast(sum, std::vector<std::int64_t>{1}));
  ASSERT_TRUE(b.status().ok()) << b.status().message();
  const ir::Module m = finished(b);
  expect_same(m, args, {1});
}

}  // namespace
}  // namespace epi::test
