#include "epi/backend/cuda/target/gemm_match.h"

#include "epi/compiler/analysis.h"

namespace epi::cuda {
namespace {

/// A view that is a kernel argument with its axes renamed: axis i of the view is axis axes[i] of the argument.
struct Renamed {
  mlir::BlockArgument argument;
  llvm::SmallVector<std::int64_t, 4> axes;
};

std::optional<Renamed> find_argument(mlir::Value view) {
  llvm::SmallVector<std::int64_t, 4> axes;
  for (unsigned i = 0; i < mlir::cast<tile::ViewType>(view.getType()).getRank(); ++i) axes.push_back(i);
  while (auto permuted = view.getDefiningOp<tile::PermuteViewOp>()) {
    for (auto& axis : axes) axis = permuted.getPerm()[static_cast<std::size_t>(axis)];
    view = permuted.getView();
  }
  auto argument = mlir::dyn_cast<mlir::BlockArgument>(view);
  if (!argument || !mlir::isa<mlir::func::FuncOp>(argument.getOwner()->getParentOp())) return std::nullopt;
  return Renamed{argument, axes};
}

bool is_zero(mlir::Attribute padding) {
  if (!padding) return true;
  if (auto f = mlir::dyn_cast<mlir::FloatAttr>(padding)) return f.getValue().isZero() && !f.getValue().isNegative();
  return false;
}

/// TMA's demands: base and row pitch at multiples of 16 bytes, one axis of unit stride.
std::optional<unsigned> unit_axis(tile::ViewType view) {
  if (view.getRank() != 2 || view.getAlign() % 16 != 0) return std::nullopt;
  for (unsigned axis : {1U, 0U}) {
    const unsigned other = 1 - axis;
    if (view.getStrides()[axis] != 1) continue;
    const std::int64_t stride = view.getStrides()[other];
    const std::int64_t divides = mlir::ShapedType::isDynamic(stride) ? view.getDivisors()[other] : stride;
    if (divides % 8 == 0) return axis;
  }
  return std::nullopt;
}

/// `value` as a load for operand A (rows = axis 0) or B (rows = N, axis 1); a permuted load counts.
std::optional<GemmLoad> match_load(mlir::Value value, mlir::scf::ForOp loop, bool is_a) {
  bool swapped = false;
  if (auto turned = value.getDefiningOp<tile::PermuteOp>()) {
    swapped = turned.getPerm()[0] == 1;
    value = turned.getSource();
  }
  auto load = value.getDefiningOp<tile::LoadOp>();
  if (!load || load->getParentOp() != loop.getOperation() || !is_zero(load.getPaddingAttr())) return std::nullopt;
  const auto found = find_argument(load.getView());
  if (!found) return std::nullopt;
  const auto unit = unit_axis(mlir::cast<tile::ViewType>(found->argument.getType()));
  if (!unit) return std::nullopt;
  GemmLoad m;
  m.load = load;
  m.argument = found->argument.getArgNumber();
  m.outer_axis = (is_a ? 0U : 1U) ^ (swapped ? 1U : 0U);
  m.k_axis = 1 - m.outer_axis;
  m.mn_major = found->axes[m.outer_axis] == *unit;
  if (!loop.isDefinedOutsideOfLoop(load.getOffsets()[m.outer_axis])) return std::nullopt;
  return m;
}

std::optional<double> splat(mlir::Value v) {
  if (auto wide = v.getDefiningOp<tile::BroadcastOp>()) v = wide.getSource();
  auto constant = v.getDefiningOp<tile::ConstantOp>();
  if (!constant) return std::nullopt;
  if (auto f = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue())) return f.getValueAsDouble();
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(constant.getValue());
  if (!dense || !dense.isSplat()) return std::nullopt;
  return dense.getSplatValue<llvm::APFloat>().convertToDouble();
}

/// What is pulled for `v` may be computed at any element alone, in a part of the block: no scratch, no barrier.
bool is_elementwise(mlir::Value v, mlir::Value acc, const compiler::Analysis& analysis) {
  if (v == acc || !mlir::isa<mlir::RankedTensorType>(v.getType())) return true;
  mlir::Operation* op = v.getDefiningOp();
  if (op == nullptr || compiler::Analysis::is_root(op) || analysis.placement(v) != compiler::Placement::kLazy)
    return false;
  if (mlir::isa<tile::ConstantOp, tile::IotaOp, tile::LoadOp>(op)) return true;
  if (!compiler::Analysis::is_positional(op) && !mlir::isa<tile::BroadcastOp>(op)) return false;
  for (mlir::Value operand : op->getOperands())
    if (!is_elementwise(operand, acc, analysis)) return false;
  return true;
}

bool has_effect(mlir::Operation& op) {
  return !mlir::isMemoryEffectFree(&op) && !mlir::isa<tile::LoadOp, tile::GatherOp>(op);
}

/// The code around the loop: nothing with an effect before it; after it only stores of elementwise tiles.
bool match_around(GemmMatch& m) {
  auto kernel = m.loop->getParentOfType<mlir::func::FuncOp>();
  if (m.loop->getBlock() != &kernel.getBody().front()) return false;
  const compiler::Analysis analysis(kernel, {});
  bool after = false;
  for (mlir::Operation& op : kernel.getBody().front()) {
    if (&op == m.loop.getOperation()) {
      after = true;
      continue;
    }
    if (op.hasTrait<mlir::OpTrait::IsTerminator>()) continue;
    if (auto store = mlir::dyn_cast<tile::StoreOp>(op); store && after) {
      if (tile::shape_of(store.getValue().getType()) != tile::shape_of(m.mma.getResult().getType()) ||
          !is_elementwise(store.getValue(), m.loop.getResult(0), analysis))
        return false;
      m.stores.push_back(store);
    } else if (has_effect(op) || compiler::Analysis::is_root(&op)) {
      return false;
    }
  }
  return !m.stores.empty();
}

/// The loop's only work beside pure code and loads is one mma on its only carried value; null where it is not.
tile::MmaOp only_mma(mlir::scf::ForOp loop) {
  if (loop.getNumResults() != 1) return {};
  tile::MmaOp found;
  for (mlir::Operation& op : loop.getBody()->without_terminator()) {
    if (auto mma = mlir::dyn_cast<tile::MmaOp>(op)) {
      if (found) return {};
      found = mma;
    } else if (has_effect(op) || op.getNumRegions() != 0 || compiler::Analysis::is_root(&op)) {
      return {};
    }
  }
  mlir::Value carried = loop.getRegionIterArgs()[0];
  if (!found || found.getAcc() != carried || !carried.hasOneUse() ||
      loop.getBody()->getTerminator()->getOperand(0) != found.getResult())
    return {};
  return found;
}

bool match_loop(mlir::scf::ForOp loop, GemmMatch& m) {
  m.loop = loop;
  m.mma = only_mma(loop);
  if (!m.mma) return false;
  const auto start = splat(loop.getInitArgs()[0]);
  auto a = match_load(m.mma.getA(), loop, true);
  auto b = match_load(m.mma.getB(), loop, false);
  if (!start || !a || !b) return false;
  m.initial = *start;
  m.a = *a;
  m.b = *b;
  return true;
}

}  // namespace

std::optional<GemmMatch> match_gemm(mlir::func::FuncOp kernel, std::uint32_t shared_limit) {
  for (auto loop : kernel.getBody().getOps<mlir::scf::ForOp>()) {
    GemmMatch m;
    if (!match_loop(loop, m) || !match_around(m)) continue;
    const DType element = tile::dtype_of(m.mma.getA().getType());
    if (tile::dtype_of(m.mma.getAcc().getType()) != DType::kFloat32 ||
        element != tile::dtype_of(m.mma.getB().getType()) ||
        (element != DType::kBFloat16 && element != DType::kFloat16))
      return std::nullopt;
    const auto a = tile::shape_of(m.mma.getA().getType());
    GemmProblem p;
    p.bf16 = element == DType::kBFloat16;
    p.m = a[0];
    p.k = a[1];
    p.n = tile::shape_of(m.mma.getB().getType())[1];
    p.a_mn_major = m.a.mn_major;
    p.b_mn_major = m.b.mn_major;
    p.shared_limit = shared_limit;
    const auto shape = choose_gemm_shape(p);
    if (!shape) return std::nullopt;
    m.shape = *shape;
    return m;
  }
  return std::nullopt;
}

// -- for mma.sync --------------------------------------------------------------------------------------------------
namespace {

/// A grid of warps whose parts are whole fragments of 16 x 8, as square as can be, and small enough for registers.
bool choose_warps(MmaLoopMatch& m, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kGoodAccumulators = 64;  ///< a thread; twice as many still work, with spills at 512 threads
  for (m.threads = 128; m.threads <= 512; m.threads *= 2) {
    const std::int64_t accumulators = rows * columns / m.threads;
    if (accumulators > (m.threads == 512 ? 2 : 1) * kGoodAccumulators) continue;
    std::int64_t best = INT64_MAX;
    const unsigned warps = m.threads / 32;
    for (unsigned across = 1; across <= warps; across *= 2) {
      const std::int64_t down = warps / across;
      if (rows % (16 * down) != 0 || columns % (8 * across) != 0) continue;
      const std::int64_t edge = rows / down + columns / across;
      if (edge >= best) continue;
      best = edge;
      m.warps_m = static_cast<unsigned>(down);
      m.warps_n = across;
    }
    if (best != INT64_MAX) return true;
  }
  return false;
}

bool computed_inside(mlir::Value v, mlir::scf::ForOp loop) {
  if (!mlir::isa<mlir::RankedTensorType>(v.getType())) return true;
  mlir::Operation* op = v.getDefiningOp();
  if (op == nullptr) return false;
  if (mlir::isa<tile::ConstantOp, tile::IotaOp>(op)) return true;
  return loop->isAncestor(op) &&
         llvm::all_of(op->getOperands(), [&](mlir::Value x) { return computed_inside(x, loop); });
}

}  // namespace

std::optional<MmaLoopMatch> match_mma_loop(mlir::func::FuncOp kernel, std::uint32_t shared_limit) {
  for (auto loop : kernel.getBody().getOps<mlir::scf::ForOp>()) {
    MmaLoopMatch m;
    m.loop = loop;
    m.mma = only_mma(loop);
    if (!m.mma) continue;
    const DType element = tile::dtype_of(m.mma.getA().getType());
    const auto a = tile::shape_of(m.mma.getA().getType());
    const std::int64_t n = tile::shape_of(m.mma.getB().getType())[1];
    const std::int64_t bytes = 2 * (a[0] * (a[1] + 8) + a[1] * (n + 8));
    if ((element != DType::kBFloat16 && element != DType::kFloat16) || a[1] % 16 != 0 || bytes > shared_limit ||
        tile::dtype_of(m.mma.getAcc().getType()) != DType::kFloat32 || !choose_warps(m, a[0], n) ||
        !computed_inside(m.mma.getA(), loop) || !computed_inside(m.mma.getB(), loop))
      continue;
    const compiler::Analysis analysis(kernel, {});
    if (!is_elementwise(loop.getInitArgs()[0], {}, analysis)) continue;
    m.only_stores = true;
    for (mlir::Operation* op = loop->getNextNode(); op != nullptr; op = op->getNextNode()) {
      auto store = mlir::dyn_cast<tile::StoreOp>(op);
      if (store && tile::shape_of(store.getValue().getType()) == tile::shape_of(m.mma.getResult().getType()) &&
          is_elementwise(store.getValue(), loop.getResult(0), analysis))
        m.stores.push_back(store);
      else if (compiler::Analysis::is_root(op) && !op->hasTrait<mlir::OpTrait::IsTerminator>())
        m.only_stores = false;
    }
    return m;
  }
  return std::nullopt;
}

}  // namespace epi::cuda
