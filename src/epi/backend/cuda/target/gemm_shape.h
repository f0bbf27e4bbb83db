// How a program's M x N x K contraction is cut for Hopper's tensor cores: sub-tiles, warpgroups, panels, ring. Plain
// numbers, made once from the tile sizes and layouts; the emitter and the launcher's tensor maps follow them.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace epi::cuda {

/// What the program asks for.
struct GemmProblem {
  bool bf16 = true;      ///< operands; else f16
  std::int64_t m = 128;  ///< the program's tile
  std::int64_t n = 256;
  std::int64_t k = 64;                  ///< along K, each iteration
  bool a_mn_major = false;              ///< A's memory has M innermost
  bool b_mn_major = true;               ///< B's memory has N innermost (a row-major K x N array)
  std::uint32_t shared_limit = 232448;  ///< bytes a block may use
};

/// One operand's stage in shared memory: panels side by side along the innermost axis, each one TMA box.
struct GemmOperand {
  bool mn_major = false;
  std::uint32_t inner = 64;   ///< elements of a panel's row: a row is `swizzle` bytes
  std::uint32_t outer = 128;  ///< rows of a panel
  std::uint32_t panels = 1;
  std::uint32_t swizzle = 128;  ///< bytes
  std::uint32_t panel_bytes = 0;
  std::uint64_t descriptor = 0;       ///< wgmma's, without address
  std::vector<std::uint32_t> k_step;  ///< byte offset of each 16 of K
  [[nodiscard]] std::uint32_t bytes() const { return panels * panel_bytes; }
};

struct GemmShape {
  GemmProblem problem;
  // -- sub-tiles: a block works through them one after another
  std::uint32_t sub_m = 128;
  std::uint32_t sub_n = 256;
  std::uint32_t subs_m = 1;
  std::uint32_t subs_n = 1;
  // -- threads
  std::uint32_t consumers = 2;  ///< warpgroups that multiply; one more loads
  std::uint32_t frags = 1;      ///< groups of 64 rows a consumer
  // -- shared memory
  GemmOperand a;
  GemmOperand b;
  std::uint32_t stages = 4;
  std::uint32_t bar_offset = 0;  ///< of the mbarriers, from the 1024-aligned base
  std::uint32_t shared_bytes = 0;
  [[nodiscard]] std::uint32_t threads() const { return (consumers + 1) * 128; }
  [[nodiscard]] std::uint32_t stage_bytes() const { return a.bytes() + b.bytes(); }
  /// Programs along M that run side by side, so that a wave of blocks shares rows and columns evenly.
  [[nodiscard]] std::uint32_t raster_group() const { return problem.m >= 256 ? 8 : 16; }
  [[nodiscard]] std::uint32_t acc_regs() const { return frags * sub_n / 2; }
  /// Registers of a loading and of a multiplying thread (setmaxnreg); 0 where the plain share is enough.
  [[nodiscard]] std::uint32_t producer_regs() const { return consumers == 1 ? 0 : consumers == 2 ? 40 : 32; }
  [[nodiscard]] std::uint32_t consumer_regs() const { return consumers == 1 ? 0 : consumers == 2 ? 232 : 160; }
};

/// The cut, or nothing where wgmma does not fit the tile (the generic path takes it).
std::optional<GemmShape> choose_gemm_shape(const GemmProblem& problem);

}  // namespace epi::cuda
