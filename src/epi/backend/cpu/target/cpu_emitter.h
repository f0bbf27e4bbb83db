// A tile program as a host function: one thread runs the programs [begin, end) one after another, a chunk is one native
// vector, scratch is the worker's arena (small tiles: the stack, which LLVM promotes to registers). Collectives are in
// reduce.cpp, scan.cpp, mma.cpp, rank.cpp, lookback.cpp.
#pragma once
#include "epi/backend/cpu/target/machine.h"
#include "epi/compiler/emitter.h"

namespace epi::cpu {

using compiler::Access;
using compiler::Buffer;
using compiler::Pos;
using compiler::Vec;
using Tuple = llvm::SmallVector<Vec, 2>;

class CpuEmitter final : public compiler::Emitter {
 public:
  CpuEmitter(llvm::Module& module, mlir::func::FuncOp kernel, KernelInfo& info, const Level& level);

  // -- frame
  void begin_kernel() override;
  void end_kernel() override;
  llvm::Value* slot(unsigned i) override;
  llvm::Value* program_id(unsigned axis) override { return ids_[axis]; }
  llvm::Value* num_programs(unsigned axis) override { return grid_[axis]; }
  llvm::Value* linear_program() override { return b_.CreateTrunc(program_, b_.getInt32Ty()); }
  llvm::Type* index_type() override { return b_.getInt64Ty(); }

  // -- chunks
  unsigned lanes_for(unsigned widest, std::int64_t count) override;
  void for_chunks(llvm::ArrayRef<std::int64_t> shape, unsigned lanes, Body body) override;
  /// for i in [from, to) by step, all constants; unrolled up to kUnroll trips. Each trip has its own scope.
  void for_range(std::int64_t from, std::int64_t to, std::int64_t step, llvm::function_ref<void(llvm::Value*)> body);

  [[nodiscard]] bool stage_edges() const override { return true; }

  // -- scratch
  Buffer make_buffer(DType dtype, std::int64_t count) override;
  /// `bytes` of the arena at a 64-byte boundary.
  llvm::Value* arena(std::int64_t bytes);

  // -- collectives and the rest
  void emit_reduce(tile::ReduceOp op) override;
  void emit_scan(tile::ScanOp op) override;
  void emit_rank(tile::RankOp op) override;
  void emit_lookback(tile::LookbackOp op) override;
  void emit_mma(tile::MmaOp op) override;
  void emit_print(tile::PrintOp op) override;
  void report_error(llvm::Value* failed, unsigned site, llvm::Value* item) override;
  llvm::Value* checked_load(llvm::Type* type, llvm::Value* pointer, llvm::Value* ok, llvm::Value* otherwise,
                            llvm::Align align, unsigned alias_scope) override;
  void checked_store(llvm::Value* value, llvm::Value* pointer, llvm::Value* ok, llvm::Align align,
                     unsigned alias_scope) override;
  bool masked_memory(DType dtype) override;

  [[nodiscard]] const Level& level() const { return level_; }

 private:
  static constexpr std::int64_t kUnroll = 4;
  struct Fold;         // reduce.cpp
  struct Column;       // scan.cpp
  struct Chain;        // lookback.cpp
  struct Contraction;  // mma.cpp
  llvm::Value* dummy();  ///< memory that dropped lanes may read and write
  llvm::AllocaInst* stack(llvm::Type* type, std::uint64_t align);

  Level level_;
  llvm::BasicBlock* entry_ = nullptr;
  llvm::BasicBlock* latch_ = nullptr;
  llvm::BasicBlock* exit_ = nullptr;
  llvm::Value* slots_ = nullptr;
  llvm::Value* arena_ = nullptr;
  llvm::PHINode* program_ = nullptr;
  llvm::Value* end_ = nullptr;
  llvm::Value* grid_[3] = {};
  llvm::PHINode* ids_[3] = {};
  llvm::DenseMap<unsigned, llvm::Value*> slot_values_;
  llvm::Value* dummy_ = nullptr;
};

}  // namespace epi::cpu
