#include "epi/backend/cuda/target/plan.h"

#include <llvm/ADT/bit.h>

#include <algorithm>

namespace epi::cuda {
namespace {

constexpr unsigned kAccessBytes = 16;
constexpr unsigned kMinThreads = 128;
constexpr unsigned kMaxThreads = 512;

unsigned power_of_two_at_most(std::int64_t n) {
  return n < 1 ? 1U : static_cast<unsigned>(llvm::bit_floor(static_cast<std::uint64_t>(n)));
}

constexpr std::int64_t kScannedRegisters = 64;  ///< of 32 bits, of scanned tiles, that a thread holds

/// Threads so that each has about two chunks of the largest tile, or many of one that is scanned: a scan's cost is its
/// barriers and shuffles.
unsigned choose_threads(const Plan& plan, std::int64_t largest, std::int64_t scanned_words, bool folds) {
  if (largest <= 1) return 32;
  // A short row is one warp's: its folds need neither barriers nor shared memory.
  if (folds && largest <= 1024 && scanned_words == 0) return 32;
  if (scanned_words > 0) {
    const std::int64_t wanted = (scanned_words + kScannedRegisters - 1) / kScannedRegisters;
    return std::clamp(static_cast<unsigned>(llvm::bit_ceil(static_cast<std::uint64_t>(wanted))), kMinThreads,
                      kMaxThreads);
  }
  const unsigned bytes = plan.widest.lookup(largest);
  const std::int64_t wanted = largest / (2 * std::max(1U, kAccessBytes / std::max(1U, bytes)));
  return std::clamp(power_of_two_at_most(wanted), kMinThreads, kMaxThreads);
}

}  // namespace

std::optional<Processor> find_processor(std::string_view name) {
  if (name == "sm_90a") return Processor{"sm_90a", 90, true, 232448};
  if (name == "sm_90") return Processor{"sm_90", 90, false, 232448};
  if (name == "sm_89" || name == "sm_86") return Processor{std::string(name), name == "sm_89" ? 89 : 86, false, 101376};
  if (name == "sm_80") return Processor{"sm_80", 80, false, 166912};
  return std::nullopt;
}

unsigned Plan::lanes(std::int64_t count) const {
  const unsigned bytes = std::max(1U, widest.lookup(count));
  const std::int64_t share = std::max<std::int64_t>(1, count / threads);
  unsigned v = std::min(std::max(1U, kAccessBytes / bytes), power_of_two_at_most(share));
  while (v > 1 && count % v != 0) v /= 2;
  return v;
}

std::int64_t Plan::unrolled(std::int64_t count) const { return by_warps(count) ? 32 : 8; }

bool Plan::is_single_of_scan(tile::ExtractOp op) const {
  return op.getSource().getDefiningOp<tile::ScanOp>() && by_warps(tile::size_of(op.getSource().getType())) &&
         tile::size_of(op.getType()) == 1;
}

std::int64_t Plan::chunks(std::int64_t count) const {
  const std::int64_t per = static_cast<std::int64_t>(threads) * lanes(count);
  return (count + per - 1) / per;
}

bool Plan::reduces_by_block(tile::ReduceOp op) const {
  const auto shape = tile::shape_of(op.getSources()[0].getType());
  const std::int64_t n = tile::size_of(op.getSources()[0].getType());
  if (n == 0 || shape[op.getAxis()] != n || !op.getLanes() || by_warps(n)) return false;
  return static_cast<std::int64_t>(*op.getLanes()) == static_cast<std::int64_t>(threads) * lanes(n);
}

namespace {

/// A scan of a whole 1-D tile of `count` elements.
bool is_block_scan(tile::ScanOp op, std::int64_t count) {
  const auto shape = tile::shape_of(op.getSources()[0].getType());
  return shape[op.getAxis()] == count && tile::size_of(op.getSources()[0].getType()) == count;
}

/// 32-bit registers that a scan's tiles take.
std::int64_t scanned_words(tile::ScanOp op) {
  std::int64_t words = 0;
  for (mlir::Value v : op.getSources())
    words += tile::size_of(v.getType()) *
             std::max<std::int64_t>(1, static_cast<std::int64_t>(size_bytes(tile::dtype_of(v.getType()))) / 4);
  return words;
}

/// Tiles whose chunks warps hold side by side: they are scanned in segments of one chunk, in whole rounds of the block,
/// and no reduction wants them spread otherwise.
void find_scanned(mlir::func::FuncOp kernel, Plan& plan) {
  kernel.walk([&](tile::ScanOp op) {
    const std::int64_t n = tile::size_of(op.getSources()[0].getType());
    const bool own_segments = !op.getSegment() || static_cast<std::int64_t>(*op.getSegment()) == plan.lanes(n);
    if (n > 0 && is_block_scan(op, n) && own_segments && n % (plan.threads * plan.lanes(n)) == 0 &&
        scanned_words(op) <= kScannedRegisters * plan.threads)
      plan.scanned.insert(n);
  });
  kernel.walk([&](tile::ReduceOp op) { plan.scanned.erase(tile::size_of(op.getSources()[0].getType())); });
}

}  // namespace

Plan make_plan(mlir::func::FuncOp kernel, const Processor& processor) {
  Plan plan;
  plan.processor = processor;
  std::int64_t largest = 1;
  kernel.walk([&](mlir::Operation* op) {
    for (mlir::Value v : op->getResults()) {
      if (!mlir::isa<mlir::RankedTensorType>(v.getType())) continue;
      const std::int64_t count = tile::size_of(v.getType());
      unsigned& bytes = plan.widest[count];
      bytes = std::max(bytes, static_cast<unsigned>(size_bytes(tile::dtype_of(v.getType()))));
      largest = std::max(largest, count);
    }
  });
  std::int64_t words = 0;
  kernel.walk([&](tile::ScanOp op) {
    if (is_block_scan(op, largest)) words = std::max(words, scanned_words(op));
  });
  bool folds = false;
  kernel.walk([&](tile::ReduceOp op) {
    const auto shape = tile::shape_of(op.getSources()[0].getType());
    folds = folds || shape[op.getAxis()] == largest;
  });
  plan.threads = choose_threads(plan, largest, words, folds);
  if (processor.hopper) plan.gemm = match_gemm(kernel, processor.shared_limit);
  if (plan.gemm) {
    plan.threads = plan.gemm->shape.threads();
    plan.keep_loads = false;
    return plan;
  }
  plan.mma_loop = match_mma_loop(kernel, processor.shared_limit);
  if (plan.mma_loop) plan.threads = plan.mma_loop->threads;
  if (!plan.mma_loop) find_scanned(kernel, plan);
  return plan;
}

unsigned resident_blocks(mlir::func::FuncOp kernel, const Plan& plan, std::int64_t kept_registers) {
  if (plan.gemm || plan.mma_loop) return 1;
  bool wide = false;   // f64 arithmetic
  bool heavy = false;  // long expansions
  bool scans = false;  // hold a tile twice for a while
  kernel.walk([&](mlir::Operation* op) {
    for (mlir::Value v : op->getResults())
      wide = wide || (!mlir::isa<tile::ViewType, mlir::IndexType>(v.getType()) &&
                      is_float(tile::dtype_of(v.getType())) && size_bytes(tile::dtype_of(v.getType())) == 8);
    auto unary = mlir::dyn_cast<tile::UnaryOp>(op);
    scans = scans || mlir::isa<tile::ScanOp>(op);
    heavy = heavy || mlir::isa<tile::TakeOp, tile::GatherOp, tile::RankOp, tile::MmaOp>(op) ||
            (unary && unary.getKind() >= tile::UnaryKind::k_sin && unary.getKind() <= tile::UnaryKind::k_erf);
  });
  if (wide || heavy || kept_registers > 32) return 1;
  const unsigned budget = scans ? 80 : kept_registers <= 16 ? 32 : 64;
  return std::clamp(65536 / (budget * plan.threads), 1U, 32U);
}

// -- tiles in registers --------------------------------------------------------------------------------------------
namespace {

constexpr std::int64_t kPrivateRegisters = 80;  ///< of 32 bits, all kept tiles together

/// Every user meets the value chunk by chunk, in loops that spread chunks alike.
bool meets_own_chunks(mlir::Value v, const Plan& plan, llvm::DenseSet<mlir::Value>& seen) {
  if (!seen.insert(v).second) return true;
  for (mlir::OpOperand& use : v.getUses()) {
    mlir::Operation* user = use.getOwner();
    if (mlir::isa<tile::StoreOp, tile::ScatterOp, tile::AtomicRmwOp, tile::AtomicCasOp, tile::AssertOp>(user)) continue;
    if (auto reduce = mlir::dyn_cast<tile::ReduceOp>(user)) {
      if (!plan.reduces_by_block(reduce)) return false;
      continue;
    }
    if (auto part = mlir::dyn_cast<tile::ExtractOp>(user)) {
      if (!plan.is_single_of_scan(part)) return false;
      continue;
    }
    if (auto scan = mlir::dyn_cast<tile::ScanOp>(user)) {
      if (!plan.by_warps(tile::size_of(v.getType())) || scan.getReverse()) return false;
      continue;
    }
    // A loop takes its starts and its next values in chunk loops too.
    if (mlir::isa<mlir::scf::ForOp>(user)) continue;
    if (mlir::isa<mlir::scf::YieldOp>(user) && mlir::isa<mlir::scf::ForOp>(user->getParentOp())) continue;
    if (compiler::Analysis::is_root(user) || user->getNumResults() != 1) return false;
    mlir::Value result = user->getResult(0);
    const bool same = tile::size_of(result.getType()) == tile::size_of(v.getType());
    if (!same || !(compiler::Analysis::is_positional(user) || mlir::isa<tile::BroadcastOp>(user))) return false;
    if (!meets_own_chunks(result, plan, seen)) return false;
  }
  return true;
}

}  // namespace

PrivateTiles choose_private(mlir::func::FuncOp kernel, const Plan& plan, const compiler::Analysis& analysis) {
  PrivateTiles out;
  if (plan.gemm || plan.mma_loop) return out;
  auto& homes = out.homes;
  std::int64_t used = 0;
  const auto consider = [&](mlir::Value v, mlir::Value also) {
    if (!mlir::isa<mlir::RankedTensorType>(v.getType())) return;
    const std::int64_t count = tile::size_of(v.getType());
    const std::int64_t chunks = count == 0 ? 0 : plan.chunks(count);
    const auto bytes = static_cast<std::int64_t>(size_bytes(tile::dtype_of(v.getType())));
    const std::int64_t registers = (chunks * plan.lanes(count) * bytes + 3) / 4;
    llvm::DenseSet<mlir::Value> seen;
    if (chunks == 0 || count / (plan.threads * plan.lanes(count)) > plan.unrolled(count) ||
        used + registers > kPrivateRegisters || !meets_own_chunks(v, plan, seen) ||
        (also && !meets_own_chunks(also, plan, seen)))
      return;
    used += registers;
    out.largest = std::max(out.largest, registers);
    homes[v] = static_cast<int>(homes.size());
  };
  kernel.walk([&](mlir::Operation* op) {
    if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op)) {
      for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults())) consider(argument, result);
      return;
    }
    auto scan = mlir::dyn_cast<tile::ScanOp>(op);
    if (scan && !scan.getReverse() && plan.by_warps(tile::size_of(op->getResult(0).getType())))
      for (mlir::Value v : op->getResults()) consider(v, {});
    if (compiler::Analysis::is_root(op) || op->getNumResults() != 1) return;
    if (mlir::isa<mlir::RankedTensorType>(op->getResult(0).getType()) &&
        analysis.placement(op->getResult(0)) != compiler::Placement::kLazy)
      consider(op->getResult(0), {});
  });
  return out;
}

namespace {

/// The axis cut of a folded tile: `outer` x n x `inner`.
struct Cut {
  std::int64_t outer = 1;
  std::int64_t n = 1;
  std::int64_t inner = 1;
  Cut(llvm::ArrayRef<std::int64_t> shape, std::int64_t axis) {
    for (std::size_t i = 0; i < shape.size(); ++i)
      (i < static_cast<std::size_t>(axis) ? outer : i == static_cast<std::size_t>(axis) ? n : inner) *= shape[i];
  }
};

std::int64_t reduce_lanes(const Plan& plan, const Cut& cut) {
  const std::int64_t results = cut.outer * cut.inner;
  if (results == 1) return static_cast<std::int64_t>(plan.threads) * plan.lanes(cut.n);
  if (cut.inner == 1 && cut.n >= 32) {
    std::int64_t v = plan.lanes(results * cut.n);
    while (v > 1 && (cut.n % v != 0 || 32 * v > cut.n)) v /= 2;
    return 32 * v;
  }
  return power_of_two_at_most(std::max<std::int64_t>(1, plan.threads / results));
}

std::int64_t scan_segment(const Plan& plan, const Cut& cut) {
  if (cut.outer * cut.inner == 1) return plan.lanes(cut.n);
  return cut.inner == 1 && cut.n % 4 == 0 && cut.n >= 128 ? 4 : 1;
}

}  // namespace

void assign_association(mlir::func::FuncOp kernel, const Plan& plan) {
  mlir::Builder b(kernel.getContext());
  kernel.walk([&](tile::ReduceOp op) {
    if (op.getLanes()) return;
    const Cut cut(tile::shape_of(op.getSources()[0].getType()), static_cast<std::int64_t>(op.getAxis()));
    op.setLanesAttr(b.getI64IntegerAttr(reduce_lanes(plan, cut)));
  });
  kernel.walk([&](tile::ScanOp op) {
    if (op.getSegment()) return;
    const Cut cut(tile::shape_of(op.getSources()[0].getType()), static_cast<std::int64_t>(op.getAxis()));
    op.setSegmentAttr(b.getI64IntegerAttr(scan_segment(plan, cut)));
  });
}

}  // namespace epi::cuda
