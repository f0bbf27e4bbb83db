// Figures for docs/design/compiler.md: time of each compile stage, and throughput of host kernels on one worker.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "epi/backend/cpu/target/link.h"
#include "harness.h"

namespace epi::test {
namespace {

using ir::Binary;
using ir::Builder;
using ir::Combine;
using ir::Unary;
using ir::Value;
using ir::Values;
using Shape = std::vector<std::int64_t>;
/// This thread's CPU time, so that a busy machine disturbs less.
struct Clock {
  static double now() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) / 1e3;
  }
};

double us_since(double t) { return Clock::now() - t; }

Value i32(Builder& b, std::int64_t v) { return b.constant(ir::Scalar::of_int(DType::kInt32, v)); }
Value f32(Builder& b, double v) { return b.constant(ir::Scalar::of_float(DType::kFloat32, v)); }
Value tile_start(Builder& b, std::int64_t tile, int axis = 0) { return b.binary(Binary::k_mul, b.program_id(axis), i32(b, tile)); }

ir::ArgSpec vector_of(int alias, std::size_t rank = 1, DType d = DType::kFloat32) {
  ir::ArgSpec s;
  s.is_view = true;
  s.view.dtype = d;
  s.view.extents.assign(rank, ir::kDynamic);
  s.view.strides.assign(rank, ir::kDynamic);
  s.view.strides.back() = 1;
  s.view.align = 64;
  s.view.alias = alias;
  return s;
}

struct Kernel {
  compiler::Compiled compiled;
  std::unique_ptr<cpu::LoadedCode> code;
  double link_us = 0;
};

Kernel make(const std::function<ir::Module()>& program, const char* name) {
  Kernel best;
  double least = 1e18;
  for (int i = 0; i < 15; ++i) {
    const ir::Module m = program();
    compiler::CompileOptions o;
    o.target = "cpu";
    const auto start = Clock::now();
    Result<compiler::Compiled> c = compiler::compile(m, o);
    if (!c.ok()) {
      std::printf("%s: %s\n", name, c.status().message().c_str());
      std::exit(1);
    }
    const double compile = us_since(start);
    const auto link = Clock::now();
    auto code = cpu::link_object(c->bytes, c->info.name);
    const double link_us = us_since(link);
    if (i == 0) std::printf("%-12s first %7.0f us", name, compile + link_us);
    if (compile + link_us < least) {
      least = compile + link_us;
      best = {std::move(*c), std::move(*code), link_us};
    }
  }
  std::printf("  best %6.0f us:", least);
  for (const auto& t : best.compiled.times) std::printf(" %s %.0f", t.stage.c_str(), t.us);
  std::printf(" link %.0f, %zu bytes\n", best.link_us, best.compiled.bytes.size());
  return best;
}

double run_us(const Kernel& k, const std::vector<std::uint64_t>& slots, std::uint32_t gx, std::uint32_t gy = 1) {
  const HostLaunch launch{slots.data(), {gx, gy, 1}, 0};
  auto f = reinterpret_cast<HostKernel>(k.code->entry());
  void* arena = std::aligned_alloc(64, (k.compiled.info.arena_bytes + 127) / 64 * 64);
  double best = 1e18;
  for (int i = 0; i < 7; ++i) {
    const auto t = Clock::now();
    f(&launch, 0, std::uint64_t{gx} * gy, arena);
    best = std::min(best, us_since(t));
  }
  std::free(arena);
  return best;
}

float* memory(std::size_t n) {
  auto* p = static_cast<float*>(std::aligned_alloc(64, n * 4));
  for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<float>(i % 1000) * 0.001F;
  return p;
}
std::uint64_t bits(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

void chain() {
  const std::int64_t n = 1 << 24, tile = 4096;
  Kernel k = make([&] {
    Builder b("exp_chain", {vector_of(0), vector_of(1), vector_of(2)});
    const Values at = {tile_start(b, tile)};
    Value x = b.load(b.args()[0], at, Shape{tile});
    Value y = b.load(b.args()[1], at, Shape{tile});
    Value e = b.unary(Unary::k_exp, b.binary(Binary::k_mul, b.unary(Unary::k_neg, x), x));
    b.store(b.args()[2], at, b.binary(Binary::k_add, b.binary(Binary::k_mul, e, y), f32(b, 1)));
    return finished(b);
  }, "exp_chain");
  float *x = memory(n), *y = memory(n), *z = memory(n);
  const double us = run_us(k, {bits(x), n, bits(y), n, bits(z), n}, n / tile);
  const double small = run_us(k, {bits(x), 16384, bits(y), 16384, bits(z), 16384}, 4);
  std::printf("  exp(-x*x)*y+1, 2^24: %.0f us, %.1f GB/s; in cache %.3f ns an element\n", us, 12.0 * n / us / 1e3, small * 1e3 / 16384);
}

void add() {
  const std::int64_t n = 1 << 24, tile = 4096;
  Kernel k = make([&] {
    Builder b("vector_add", {vector_of(0), vector_of(1), vector_of(2)});
    const Values at = {tile_start(b, tile)};
    b.store(b.args()[2], at, b.binary(Binary::k_add, b.load(b.args()[0], at, Shape{tile}), b.load(b.args()[1], at, Shape{tile})));
    return finished(b);
  }, "vector_add");
  float *x = memory(n), *y = memory(n), *z = memory(n);
  const double us = run_us(k, {bits(x), n, bits(y), n, bits(z), n}, n / tile);
  std::printf("  x + y, 2^24: %.0f us, %.1f GB/s\n", us, 12.0 * n / us / 1e3);
}

void sum() {
  const std::int64_t n = 1 << 24, tile = 1 << 14;
  Kernel k = make([&] {
    Builder b("sum", {vector_of(0), vector_of(1)});
    const Values x = {b.load(b.args()[0], Values{tile_start(b, tile)}, Shape{tile})};
    b.store(b.args()[1], Values{b.program_id(0)}, b.broadcast(b.reduce(Combine::k_add, x, 0)[0], Shape{1}));
    return finished(b);
  }, "sum");
  float *x = memory(n), *z = memory(n / tile);
  const double us = run_us(k, {bits(x), n, bits(z), n / tile}, n / tile);
  const double small = run_us(k, {bits(x), 16384, bits(z), 1}, 1);
  volatile float sink = 0;
  double plain = 1e18;
  for (int r = 0; r < 5; ++r) {
    const auto t = Clock::now();
    float s[64] = {};
    for (std::int64_t i = 0; i < n; i += 64)
      for (int l = 0; l < 64; ++l) s[l] += x[i + l];
    for (float v : s) sink = sink + v;
    plain = std::min(plain, us_since(t));
  }
  std::printf("  sum, 2^24: %.0f us, %.1f GB/s (a plain C loop %.1f); in cache %.1f GB/s\n", us, 4.0 * n / us / 1e3, 4.0 * n / plain / 1e3, 4.0 * 16384 / small / 1e3);
}

void softmax() {
  const std::int64_t rows = 2048, n = 8192;
  Kernel k = make([&] {
    Builder b("softmax", {vector_of(0, 2), vector_of(1, 2)});
    const Values at = {b.program_id(0), i32(b, 0)};
    Value x = b.load(b.args()[0], at, Shape{1, n});
    const Values v = {x};
    Value max = b.reshape(b.reduce(Combine::k_maximum, v, 1)[0], Shape{1, 1});
    Value e = b.unary(Unary::k_exp, b.binary(Binary::k_sub, x, max));
    const Values ev = {e};
    b.store(b.args()[1], at, b.binary(Binary::k_div, e, b.reshape(b.reduce(Combine::k_add, ev, 1)[0], Shape{1, 1})));
    return finished(b);
  }, "softmax");
  float *x = memory(rows * n), *z = memory(rows * n);
  const double us = run_us(k, {bits(x), rows, n, n, bits(z), rows, n, n}, rows);
  std::printf("  softmax 2048 x 8192: %.0f us, %.1f GB/s\n", us, 8.0 * rows * n / us / 1e3);
}

void gemm(DType in) {
  const std::int64_t n = 1024, m = 128, kk = 128, nn = 128;
  Kernel k = make([&] {
    Builder b("gemm", {vector_of(0, 2, in), vector_of(1, 2, in), vector_of(2, 2)});
    Value i = tile_start(b, m, 1), j = tile_start(b, nn, 0);
    auto loop = b.begin_for(i32(b, 0), i32(b, n), i32(b, kk), Values{b.full(ir::Scalar::of_float(DType::kFloat32, 0), Shape{m, nn})});
    Value x = b.load(b.args()[0], Values{i, loop.index}, Shape{m, kk});
    Value y = b.load(b.args()[1], Values{loop.index, j}, Shape{kk, nn});
    auto out = b.end_for(Values{b.mma(x, y, loop.carried[0])});
    b.store(b.args()[2], Values{i, j}, out[0]);
    return finished(b);
  }, in == DType::kFloat32 ? "gemm_f32" : "gemm_bf16");
  float *x = memory(n * n), *y = memory(n * n), *z = memory(n * n);
  const double us = run_us(k, {bits(x), n, n, n, bits(y), n, n, n, bits(z), n, n, n}, n / nn, n / m);
  std::printf("  %s 1024^3 by 128x128x128: %.1f GFLOP/s\n", in == DType::kFloat32 ? "f32" : "bf16", 2.0 * n * n * n / us / 1e3);
}

void scan() {
  const std::int64_t n = 1 << 24, tile = 1 << 13;
  for (DType d : {DType::kFloat32, DType::kInt32}) {
    Kernel k = make([&] {
      Builder b("scan", {vector_of(0, 1, d), vector_of(1, 1, d)});
      const Values at = {tile_start(b, tile)};
      const Values x = {b.load(b.args()[0], at, Shape{tile})};
      b.store(b.args()[1], at, b.scan(Combine::k_add, x, 0)[0]);
      return finished(b);
    }, "scan");
    float *x = memory(n), *z = memory(n);
    const double us = run_us(k, {bits(x), n, bits(z), n}, n / tile);
    std::printf("  tile scans %s, 2^24: %.0f us, %.2f ns an element\n", d == DType::kInt32 ? "i32" : "f32", us, us * 1e3 / n);
  }
}

void growth() {
  for (std::int64_t tile = 128; tile <= 16384; tile *= 2)
    make([&] {
      Builder b("chain24", {vector_of(0), vector_of(1)});
      const Values at = {tile_start(b, tile)};
      Value x = b.load(b.args()[0], at, Shape{tile});
      for (int i = 0; i < 24; ++i) x = b.binary(i % 2 ? Binary::k_mul : Binary::k_add, x, f32(b, 1.0 + i));
      b.store(b.args()[1], at, x);
      return finished(b);
    }, ("24 ops " + std::to_string(tile)).c_str());
}

}  // namespace
}  // namespace epi::test

int main(int argc, char** argv) {
  using namespace epi::test;
  const std::string which = argc > 1 ? argv[1] : "all";
  auto want = [&](const char* n) { return which == "all" || which == n; };
  if (want("add")) add();
  if (want("exp")) chain();
  if (want("sum")) sum();
  if (want("softmax")) softmax();
  if (want("gemm")) gemm(epi::DType::kFloat32), gemm(epi::DType::kBFloat16);
  if (want("scan")) scan();
  if (want("growth")) growth();
}
