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
/// Shared memory of the threads that store, to keep the code for tiles at an edge small: each thread puts its pairs
/// there, in slots of its own, and takes them in a loop.
struct FragmentShelf {
  llvm::Value* base = nullptr;    ///< shared address (i32); null = none
  llvm::Value* thread = nullptr;  ///< 0 .. threads - 1
  unsigned threads = 0;
  unsigned barrier = 1;  ///< named barrier of these threads: all have done with what was there
  /// Row and column of pair `index` (i32).
  std::function<std::pair<llvm::Value*, llvm::Value*>(llvm::Value* index)> place;
};

/// A store of an elementwise function of `acc`, pair by pair.
void store_fragments(GpuEmitter& e, tile::StoreOp store, mlir::Value acc, const Fragments& fragments,
                     const FragmentShelf& shelf = {});

}  // namespace epi::cuda
