// A tile program as one thread block: every thread runs the emitted code, chunk r of a tile belongs to thread
// (r mod threads), tiles that must exist live in shared memory, or in registers where each thread reads only what it
// wrote. Collectives are in reduce.cpp, scan.cpp, lookback.cpp, rank.cpp, mma.cpp; the tensor-core path in
// gemm_lower.cpp.
#pragma once
#include <functional>
#include <map>

#include "epi/backend/cuda/target/flow.h"
#include "epi/backend/cuda/target/plan.h"
#include "epi/backend/cuda/target/ptx_isa.h"
#include "epi/compiler/emitter.h"

namespace epi::cuda {

using compiler::Access;
using compiler::Buffer;
using compiler::Pos;
using compiler::Vec;

/// A tuple of values, one for each tile that a collective folds.
using Tuple = llvm::SmallVector<Vec, 2>;

class MmaLoop;

class GpuEmitter final : public compiler::Emitter {
 public:
  GpuEmitter(llvm::Module& module, mlir::func::FuncOp kernel, KernelInfo& info, const Plan& plan);
  ~GpuEmitter() override;

  // -- frame
  void begin_kernel() override;
  void end_kernel() override;
  llvm::Value* slot(unsigned i) override;
  llvm::Value* program_id(unsigned axis) override { return ids_[axis]; }
  llvm::Value* num_programs(unsigned axis) override;
  llvm::Value* linear_program() override;
  void add_slots() override;
  llvm::Type* index_type() override { return b_.getInt32Ty(); }
  [[nodiscard]] unsigned view_address_space() const override { return 1; }

  /// After run(): loads from memory that the kernel never writes may take the read-only path and move across stores.
  void mark_read_only_loads();

  // -- chunks
  unsigned lanes_for(unsigned widest, std::int64_t count) override;
  void for_chunks(llvm::ArrayRef<std::int64_t> shape, unsigned lanes, Body body) override;
  void before_effect(mlir::Operation* op) override;
  void after_effect(mlir::Operation* op) override;
  void once(llvm::function_ref<void()> body) override;
  Vec once_value(mlir::Type type, llvm::function_ref<Vec()> body) override;

  // -- scratch
  Buffer make_buffer(DType dtype, std::int64_t count) override;
  Buffer make_storage(mlir::Value v) override;
  Vec read(const Buffer& buffer, const Pos& pos) override;
  void write(const Buffer& buffer, const Pos& pos, Vec value) override;
  void barrier() override;

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
  bool emit_special(mlir::Operation* op) override;
  [[nodiscard]] bool native_half_from_double() const override { return true; }
  [[nodiscard]] bool native_minmax() const override { return true; }
  [[nodiscard]] bool scalar_edges() const override { return private_.empty(); }
  llvm::SyncScope::ID sync_scope(tile::MemoryScope scope) override;

  // ================================================================ for this room's own files
  [[nodiscard]] llvm::ConstantInt* i32(std::int64_t v) { return b_.getInt32(static_cast<std::uint32_t>(v)); }
  [[nodiscard]] unsigned warps() const { return plan_.threads / 32; }
  /// `bytes` of the block's shared memory, at a 16-byte boundary: its address.
  llvm::Value* shared(std::int64_t bytes);
  /// Thread 0's value for all. `again`: the next broadcast from here may come before another barrier (a loop).
  Tuple broadcast(const Tuple& values, llvm::ArrayRef<DType> dtypes, bool again);
  [[nodiscard]] llvm::Value* tid() const { return tid_; }
  [[nodiscard]] llvm::Value* lane() const { return lane_; }  ///< of the warp
  [[nodiscard]] llvm::Value* warp() const { return warp_; }
  [[nodiscard]] unsigned threads() const { return plan_.threads; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  /// `v` is kept in registers, chunk by chunk.
  [[nodiscard]] bool is_private(mlir::Value v) const { return private_.contains(v); }
  Ptx& ptx() { return ptx_; }
  [[nodiscard]] bool at_edge() const { return checked_; }  ///< emitting the version that tests bounds
  /// Rounds of a tile that is spread `per` elements at a time: unrolled or looped, with the index of each round's
  /// start.
  void for_rounds(std::int64_t begin, std::int64_t rounds, std::int64_t per,
                  llvm::function_ref<void(llvm::Value*)> body, std::int64_t unrolled = 8);

  // -- values in registers across code that a loop or branch writes
  struct Register {
    llvm::AllocaInst* re = nullptr;
    llvm::AllocaInst* im = nullptr;
  };
  using Registers = llvm::SmallVector<Register, 2>;
  Registers make_registers(llvm::ArrayRef<DType> dtypes, unsigned lanes);
  void put(const Registers& r, const Tuple& v);
  Tuple get(const Registers& r);

  // -- between threads of a warp; any dtype
  Tuple shuffle_down(const Tuple& v, unsigned distance);
  Tuple shuffle_up(const Tuple& v, unsigned distance);
  Tuple shuffle_from(const Tuple& v, llvm::Value* lane);
  llvm::Value* shuffle_bits(llvm::Value* v, unsigned intrinsic, llvm::Value* lane, unsigned clamp);
  Tuple map_parts(const Tuple& v, const std::function<llvm::Value*(llvm::Value*)>& f);

  // -- tuples in shared memory
  struct Shelf {
    llvm::SmallVector<Buffer, 2> tiles;
  };
  Shelf make_shelf(llvm::ArrayRef<DType> dtypes, std::int64_t count);
  Tuple read(const Shelf& s, llvm::Value* index, unsigned lanes = 1);
  void write(const Shelf& s, llvm::Value* index, const Tuple& v, unsigned lanes = 1);
  Tuple select_tuple(llvm::Value* condition, const Tuple& yes, const Tuple& no);

  /// own + base: where this thread's chunk of a round starts.
  llvm::Value* chunk_index(llvm::Value* base, llvm::Value* own);
  /// Says that `index` starts this thread's chunk number `chunk`.
  void name_chunk(llvm::Value* index, std::int64_t chunk) { chunk_of_[index] = chunk; }
  /// Takes a result of a root: a scalar for all threads, or element 0 of a tile of one element.
  void set_single(mlir::Value result, const Vec& value);

 private:
  friend class MatchedGemm;
  friend class MmaLoop;
  [[nodiscard]] bool rolled() const { return checked_ && private_.empty(); }
  [[nodiscard]] bool meets_others(mlir::Operation* effect);
  const Plan& plan_;
  Ptx ptx_;
  llvm::GlobalVariable* arena_ = nullptr;
  std::int64_t shared_used_ = 0;
  llvm::Value* tid_ = nullptr;
  llvm::Value* lane_ = nullptr;
  llvm::Value* warp_ = nullptr;
  llvm::Value* ids_[3] = {};
  llvm::SmallVector<llvm::Value*> slots_;
  PrivateTiles kept_;
  const llvm::DenseMap<mlir::Value, int>& private_;      ///< tiles in registers: their home's number
  std::vector<llvm::SmallVector<Registers>> homes_;      ///< by number: registers of each chunk
  llvm::DenseMap<llvm::Value*, std::int64_t> chunk_of_;  ///< by Pos::index of chunk loops
  std::unique_ptr<MmaLoop> mma_loop_;
  bool heavy_ = false;  ///< the kernel has long code for each element
  int ticket_slot_ = -1;
  int map_slots_ = -1;      ///< of the first of two tensor maps
  bool gemm_done_ = false;  ///< its loop has been emitted, and with it what follows
  bool in_epilogue_ = false;
  bool muted_mma_ = false;  ///< the loop's mma is being emitted elsewhere
};

}  // namespace epi::cuda
