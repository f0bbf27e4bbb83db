// The PTX instructions that LLVM 19 has no intrinsic for, and shorthands for those it has. Called by every emitter of
// this room; addresses in shared memory are 32-bit integers, tensor maps generic pointers. Law: one asm string is here,
// once.
#pragma once
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <span>
#include <string>

namespace epi::cuda {

/// A warpgroup's K loop over a ring of stages that a loader fills: for each stage wait until it is full, multiply-add
/// it with wgmma, keep at most one group in flight, and give the stage before back. One asm block: the accumulators
/// must not be touched, not even copied, while a group is in flight, or ptxas waits after each instruction.
struct WgmmaLoop {
  bool bf16 = true;                       ///< else f16
  unsigned n = 256;                       ///< columns of the instruction: 8..256 by 8
  unsigned frags = 1;                     ///< groups of 64 rows a warpgroup
  bool a_mn_major = false;                ///< A's tile has M innermost in shared memory
  bool b_mn_major = false;                ///< B's tile has N innermost
  std::uint32_t a_frag = 0;               ///< bytes from one group of 64 rows to the next
  std::span<const std::uint32_t> a_step;  ///< byte offset of each 16 of K
  std::span<const std::uint32_t> b_step;
  std::uint64_t a_descriptor = 0;  ///< without addresses
  std::uint64_t b_descriptor = 0;
  // -- the ring
  std::uint32_t stages = 4;
  std::uint32_t stage_bytes = 0;
  std::uint32_t b_offset = 0;  ///< of B within a stage
};

/// Slot and phase of a ring, as they move; i32.
struct RingAt {
  llvm::Value* slot;
  llvm::Value* phase;
};

class Ptx {
 public:
  explicit Ptx(llvm::IRBuilder<>& builder) : b(builder) {}

  // -- where am I
  llvm::Value* tid();
  llvm::Value* block_id(int axis);
  llvm::Value* grid_dim(int axis);
  /// `v` of lane 0, known to be the same in the warp.
  llvm::Value* warp_uniform(llvm::Value* v);

  // -- barriers among threads
  void sync_block();
  void sync_warp();
  void sync_named(unsigned id, unsigned threads);

  // -- registers
  void set_max_registers(unsigned count, bool increase);

  // -- mbarriers
  void mbar_init(llvm::Value* bar, unsigned count);
  void mbar_init_fence();
  void mbar_expect(llvm::Value* bar, std::uint32_t bytes);
  void mbar_arrive(llvm::Value* bar);
  /// Waits until the phase of parity `parity` (0 or 1) has completed.
  void mbar_wait(llvm::Value* bar, llvm::Value* parity);

  // -- copies by the tensor memory accelerator
  void tma_prefetch_map(llvm::Value* map);
  /// Loads the box at `coords` (innermost first) to `dst`; completes on `bar`.
  void tma_load(llvm::Value* map, llvm::Value* dst, llvm::Value* bar, std::span<llvm::Value* const> coords);

  // -- tensor cores
  /// `count` 8 x 8 matrices of 16-bit elements; each lane of the warp gives a row's shared address.
  llvm::SmallVector<llvm::Value*> load_matrix(llvm::Value* address, unsigned count, bool transposed);
  /// m16n8k16: acc + left * right, with 4 accumulators, 4 and 2 operand words.
  llvm::SmallVector<llvm::Value*> mma(bool bf16, llvm::ArrayRef<llvm::Value*> left, llvm::ArrayRef<llvm::Value*> right,
                                      llvm::ArrayRef<llvm::Value*> acc);
  /// The K loop: `a` is the shared address of this warpgroup's rows in stage 0, `ring` of stage 0, `bars` of the full
  /// barriers, which the empty ones follow. `elected` (i32, 0 or 1): this thread gives stages back. Moves `at`; gives
  /// the accumulators, of which there are frags * n / 2.
  llvm::SmallVector<llvm::Value*, 0> wgmma_loop(const WgmmaLoop& loop, llvm::Value* trips, llvm::Value* a,
                                                llvm::Value* ring, llvm::Value* bars, llvm::Value* elected, RingAt& at,
                                                std::span<llvm::Value* const> acc);

  /// An asm statement with side effects and no result.
  void effect(const std::string& text, const std::string& constraints, llvm::ArrayRef<llvm::Value*> args);

  /// One with a result (the first constraint is its).
  llvm::Value* result(llvm::Type* type, const std::string& text, const std::string& constraints,
                      llvm::ArrayRef<llvm::Value*> args);

  llvm::IRBuilder<>& b;

 private:
  llvm::Value* special(unsigned intrinsic);
  llvm::SmallVector<llvm::Value*> several(llvm::Type* type, unsigned count, const std::string& text,
                                          const std::string& constraints, llvm::ArrayRef<llvm::Value*> args,
                                          bool memory);
};

/// A shared-memory matrix descriptor of wgmma without its address: swizzle in bytes (32, 64, 128), strides in bytes.
std::uint64_t wgmma_descriptor(std::uint32_t swizzle, std::uint32_t leading, std::uint32_t stride);

}  // namespace epi::cuda
