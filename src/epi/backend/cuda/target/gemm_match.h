// Recognises a contraction that Hopper's tensor cores take whole: a loop over K whose only work is acc = mma(load,
// load, acc), followed by elementwise code and stores. Everything else goes the generic way.
#pragma once
#include <optional>
#include <string>

#include "epi/backend/cuda/target/gemm_shape.h"
#include "epi/ir/dialect.h"

namespace epi::cuda {

/// One operand's load: a tile of a rank-2 kernel argument, which TMA can address.
struct GemmLoad {
  tile::LoadOp load;
  unsigned argument = 0;    ///< the kernel argument
  unsigned outer_axis = 0;  ///< index in load.getOffsets() of M (or N)
  unsigned k_axis = 1;
  bool mn_major = false;
};

struct GemmMatch {
  mlir::scf::ForOp loop;
  tile::MmaOp mma;
  GemmLoad a;
  GemmLoad b;
  double initial = 0;
  llvm::SmallVector<tile::StoreOp, 2> stores;  ///< all that follows the loop
  GemmShape shape;
};

/// The match, or nothing.
std::optional<GemmMatch> match_gemm(mlir::func::FuncOp kernel, std::uint32_t shared_limit);

/// The same loop for mma.sync: operands are any tiles that the loop computes, accumulators stay in registers across the
/// loop.
struct MmaLoopMatch {
  mlir::scf::ForOp loop;
  tile::MmaOp mma;
  unsigned threads = 128;
  unsigned warps_m = 2;  ///< the block's warps as a grid over the accumulator
  unsigned warps_n = 2;
  llvm::SmallVector<tile::StoreOp, 2> stores;  ///< that take the accumulators from registers
  bool only_stores = false;                    ///< nothing else reads the loop's result
};

std::optional<MmaLoopMatch> match_mma_loop(mlir::func::FuncOp kernel, std::uint32_t shared_limit);

}  // namespace epi::cuda
