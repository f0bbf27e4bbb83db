// A contraction's K loop with mma.sync m16n8k16: operand tiles go through shared memory in padded rows, accumulators
// stay in registers from the first iteration to the stores. The path of GPUs without wgmma, and of operands that TMA
// cannot load.
#pragma once
#include "epi/backend/cuda/target/fragments.h"

namespace epi::cuda {

class MmaLoop {
 public:
  MmaLoop(GpuEmitter& emitter, const MmaLoopMatch& match) : e(emitter), b(emitter.builder()), m_(match) {}
  /// Emits `op` where it is the loop or one of its stores.
  bool take(mlir::Operation* op);

 private:
  /// A staged operand: rows of `width` 16-bit elements, `pitch` apart.
  struct Stage {
    Buffer buffer;
    std::int64_t width = 0;
    std::int64_t pitch = 0;
  };
  void emit_loop_nest();
  Stage make_stage(mlir::Value tile);
  void fill(const Stage& stage, mlir::Value tile);
  LlvmValues multiply(const LlvmValues& acc);
  LlvmValues k_step(llvm::Value* k, const LlvmValues& acc);
  llvm::SmallVector<llvm::Value*> load_matrix(const Stage& stage, llvm::Value* row, llvm::Value* col, unsigned count,
                                              bool transposed);
  /// The accumulators' places: [row fragment][column fragment][half], with these values.
  Fragments fragments(const LlvmValues& acc);

  GpuEmitter& e;
  llvm::IRBuilder<>& b;
  MmaLoopMatch m_;
  Stage a_;
  Stage b_stage_;
  std::int64_t rows_ = 0;  ///< fragments of 16 rows a warp
  std::int64_t cols_ = 0;  ///< fragments of 8 columns a warp
  llvm::Value* row0_ = nullptr;
  llvm::Value* col0_ = nullptr;
  Fragments result_;
  bool done_ = false;
};

}  // namespace epi::cuda
