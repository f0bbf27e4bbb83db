// Runs a program by the interpreter and by compiled code on equal copies of its arguments, and compares every bit.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "epi/compiler/compiler.h"
#include "epi/ir/builder.h"

namespace epi::test {

/// A view argument: elements in memory at `offset`, extents and strides in elements. Or a scalar's bits.
struct Arg {
  bool is_view = true;
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> extents, strides;
  std::int64_t offset = 0;
  std::vector<std::byte> memory;
  std::uint64_t bits[2] = {0, 0};
  bool compared = true;  ///< false for scratch whose contents are the back end's business
};

/// A row-major array of pseudo-random numbers that suit the dtype. With `specials` the first 225 are values at which
/// arithmetic goes wrong, so ordered that an array of an odd seed and one of an even seed meet all pairs of 15.
Arg random_array(DType dtype, std::vector<std::int64_t> extents, unsigned seed, bool specials = false);
Arg zeros(DType dtype, std::vector<std::int64_t> extents);
template <class T>
Arg array_of(DType dtype, const std::vector<T>& values) {
  Arg a = zeros(dtype, {static_cast<std::int64_t>(values.size())});
  std::memcpy(a.memory.data(), values.data(), values.size() * sizeof(T));
  return a;
}
template <class T>
Arg scalar_arg(DType dtype, T value) {
  Arg a;
  a.is_view = false;
  a.dtype = dtype;
  std::memcpy(a.bits, &value, sizeof(T));
  return a;
}
/// The spec of an argument: contiguous last axis static, the rest dynamic.
ir::ArgSpec spec(const Arg& arg, std::int64_t alias = 0);

struct Grid {
  std::uint32_t x = 1, y = 1, z = 1;
};

struct Options {
  double ulps = 0;               ///< floats may differ by so many units in the last place
  std::vector<std::string> archs = {"x86-64-v3", ""};
  unsigned workers = 1;          ///< threads that run the programs, claiming them in ascending order
};

/// Runs both; fails the test where they differ. Gives the interpreter's results in `args`.
void expect_same(const ir::Module& module, std::vector<Arg>& args, Grid grid, const Options& options = {});
/// Runs compiled code on `args`; the error text where it does not compile, or the site of an assertion that failed.
std::string run_compiled(const ir::Module& module, std::vector<Arg>& args, Grid grid, const std::string& arch = "",
                         unsigned workers = 1);

/// A module, or a test failure with the builder's error.
ir::Module finished(ir::Builder& b);

template <class T>
std::vector<T> values_of(const Arg& a) {
  std::vector<T> out(a.memory.size() / sizeof(T));
  std::memcpy(out.data(), a.memory.data(), a.memory.size());
  return out;
}

}  // namespace epi::test
