// What is decided about a kernel before any code is emitted: threads a block, lanes a chunk for each tile size,
// association of its reduces and scans, a contraction for the tensor cores. A pure function of the program and the
// processor, so that assign_association and compile agree.
#pragma once
#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DenseSet.h>

#include <optional>
#include <string_view>

#include "epi/backend/cuda/target/gemm_match.h"
#include "epi/compiler/analysis.h"
#include "epi/ir/dialect.h"

namespace epi::cuda {

struct Processor {
  std::string name;  ///< "sm_90a"
  int capability = 90;
  bool hopper = true;                   ///< sm_90a: TMA and wgmma
  std::uint32_t shared_limit = 232448;  ///< bytes a block may use
};
/// What `name` ("sm_80" .. "sm_90a") can do; nothing for a name that is not an NVIDIA processor of compute
/// capability 8.0 or later.
std::optional<Processor> find_processor(std::string_view name);

struct Plan {
  Processor processor;
  unsigned threads = 128;  ///< a block, a multiple of 32
  std::optional<GemmMatch> gemm;
  std::optional<MmaLoopMatch> mma_loop;  ///< where gemm is not
  /// Elements a thread takes at once from tiles of `count` elements.
  [[nodiscard]] unsigned lanes(std::int64_t count) const;
  /// Loops over such tiles give each warp neighbouring chunks (as a block scan needs), not the block.
  [[nodiscard]] bool by_warps(std::int64_t count) const { return scanned.contains(count); }
  llvm::DenseSet<std::int64_t> scanned;  ///< counts of tiles that are scanned by the block
  /// Chunks a thread has of such tiles, the last one perhaps partly.
  [[nodiscard]] std::int64_t chunks(std::int64_t count) const;
  /// Rounds of loops over such tiles that are unrolled rather than looped.
  [[nodiscard]] std::int64_t unrolled(std::int64_t count) const;
  /// One element of a scan's result, which the thread that has it hands out.
  [[nodiscard]] bool is_single_of_scan(tile::ExtractOp op) const;
  /// The reduction runs over its source's chunks as every loop over such tiles does, in the whole block.
  [[nodiscard]] bool reduces_by_block(tile::ReduceOp op) const;
  llvm::DenseMap<std::int64_t, unsigned> widest;  ///< by count: bytes of the widest element of such tiles
  bool keep_loads = true;                         ///< a load that several roots use is kept; else loaded again
};

/// Tiles that may live in registers: each thread reads only chunks that it wrote itself. Greedy, within a budget.
struct PrivateTiles {
  llvm::DenseMap<mlir::Value, int> homes;  ///< numbered from 0
  std::int64_t largest = 0;                ///< 32-bit registers a thread, of the largest one
};
PrivateTiles choose_private(mlir::func::FuncOp kernel, const Plan& plan, const compiler::Analysis& analysis);

/// Blocks that a multiprocessor shall hold, given the 32-bit registers of the largest tile that threads keep: full
/// occupancy where that is small, fewer where spills would come.
unsigned resident_blocks(mlir::func::FuncOp kernel, const Plan& plan, std::int64_t kept_registers);

Plan make_plan(mlir::func::FuncOp kernel, const Processor& processor);
/// Fills absent `lanes` and `segment` attributes.
void assign_association(mlir::func::FuncOp kernel, const Plan& plan);

}  // namespace epi::cuda
