// Small programs over the cuda target's lowerings: each is compiled to PTX here, and run elsewhere against what the
// interpreter gives (tests/cpp/compiler/nvptx/run_cases.py, on a machine with a GPU).
#pragma once
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "epi/ir/builder.h"
#include "epi/ir/interp.h"

namespace epi::nvptx_test {

/// A row-major array argument with bytes of its own.
struct Tensor {
  DType dtype = DType::kFloat32;
  ir::Shape shape;
  std::vector<unsigned char> bytes;
  bool written = false;  ///< compared afterwards
  std::int64_t alias = 0;
  [[nodiscard]] std::int64_t count() const;
};

struct Case {
  std::string name;
  std::vector<Tensor> tensors;  ///< arguments, in order
  std::uint32_t grid[3] = {1, 1, 1};
  std::function<void(ir::Builder&)> build;
  bool ascending = false;
  double tolerance = 0;     ///< relative to the largest expected value; 0 = the same bits
  bool timed_only = false;  ///< too large for the interpreter: no expected values, timed
};

/// Filled with small varied values: integers in [-9, 9], floats in (-2, 2).
Tensor random_tensor(DType dtype, const ir::Shape& shape, std::uint32_t seed);
Tensor output_tensor(DType dtype, const ir::Shape& shape);

std::vector<Case> elementwise_cases();
std::vector<Case> fold_cases();
std::vector<Case> chain_cases();
std::vector<Case> contraction_cases();
std::vector<Case> timed_cases();

// -- shorthands for builders
inline ir::Value i64(ir::Builder& b, std::int64_t v) { return b.constant(ir::Scalar::of_int(DType::kInt64, v)); }
inline ir::Value i32(ir::Builder& b, std::int64_t v) { return b.constant(ir::Scalar::of_int(DType::kInt32, v)); }
/// program_id(axis) * step, as i64
inline ir::Value start(ir::Builder& b, int axis, std::int64_t step) {
  return b.binary(ir::Binary::k_mul, b.cast(b.program_id(axis), DType::kInt64, ir::Cast::k_wrap), i64(b, step));
}

}  // namespace epi::nvptx_test
