// A contraction on Hopper: one warpgroup loads tiles into a ring by TMA, the others multiply with wgmma. What the
// program itself computes (where its tiles are, what happens to the accumulators) comes from a GemmProgram.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include "epi/backend/cuda/target/flow.h"
#include "epi/backend/cuda/target/gemm_shape.h"
#include "epi/backend/cuda/target/ptx_isa.h"

namespace epi::cuda {

/// Element coordinates of one iteration's tiles, i32.
struct GemmCoords {
  llvm::Value* a_m;
  llvm::Value* a_k;
  llvm::Value* b_k;
  llvm::Value* b_n;
};

/// A thread's accumulators of one sub-tile: acc[(f * n/8 + j) * 4 + e] is the element at row
/// `row + 64 f + 8 (e / 2)`, column `col + 8 j + e % 2` of the program's tile.
struct GemmFragment {
  llvm::Value* row;  ///< i32
  llvm::Value* col;  ///< i32, even
  LlvmValues acc;
  llvm::Value* free_shared = nullptr;  ///< i32: 4 bytes for each accumulator of the consumers; null where there is none
  llvm::Value* thread = nullptr;       ///< i32: number among the consumers
};

/// What the tile program says around the multiplication. `b` is where code goes; each call may come several times.
class GemmProgram {
 public:
  virtual ~GemmProgram() = default;
  /// The K loop's iterations, i32.
  virtual llvm::Value* trips(llvm::IRBuilder<>& b) = 0;
  /// The accumulator's start: one f32 value for all elements.
  virtual llvm::Value* initial(llvm::IRBuilder<>& b) = 0;
  virtual GemmCoords operands(llvm::IRBuilder<>& b, llvm::Value* iteration) = 0;
  /// Emits what follows the K loop, for this thread's elements.
  virtual void finish(llvm::IRBuilder<>& b, const GemmFragment& fragment) = 0;
};

/// Emits the whole body at `b`; `map_a` and `map_b` are the operands' tensor maps. Leaves `b` after it.
void emit_gemm(llvm::IRBuilder<>& b, const GemmShape& shape, llvm::Value* map_a, llvm::Value* map_b,
               GemmProgram& program);

/// The program ids of this block: the grid's first two axes walked in groups, so that blocks that run together share
/// rows and columns. Programs are independent, hence any order is right.
LlvmValues emit_grouped_ids(llvm::IRBuilder<>& b, unsigned group);

}  // namespace epi::cuda
