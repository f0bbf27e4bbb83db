// Accumulators of tensor cores as a tile: pairs of neighbouring elements in a thread's registers.
#pragma once
#include "epi/backend/cuda/target/gpu_emitter.h"

namespace epi::cuda {

/// Elements (row, col) and (row, col + 1) of a float32 tile; col is even.
struct FragmentPair {
  llvm::Value* row;  ///< i32
  llvm::Value* col;  ///< i32
  llvm::Value* left;
  llvm::Value* right;
};
using Fragments = llvm::SmallVector<FragmentPair, 0>;

/// Runs `body` at each pair, where pulling `acc` (a tile of `shape`) gives the pair.
void for_fragments(GpuEmitter& e, mlir::Value acc, llvm::ArrayRef<std::int64_t> shape, const Fragments& fragments,
                   llvm::function_ref<void(const Pos&)> body);
/// A store of an elementwise function of `acc`, pair by pair.
void store_fragments(GpuEmitter& e, tile::StoreOp store, mlir::Value acc, const Fragments& fragments);

}  // namespace epi::cuda
