// Placement of tile values and the order of loads against stores.
#include "epi/compiler/analysis.h"

#include <algorithm>
#include <optional>

namespace epi::compiler {
namespace {

bool is_tile(mlir::Value v) { return mlir::isa<mlir::RankedTensorType>(v.getType()); }

unsigned loop_depth(mlir::Operation* op) {
  unsigned depth = 0;
  for (mlir::Operation* p = op->getParentOp(); p; p = p->getParentOp()) depth += Analysis::is_loop(p) ? 1 : 0;
  return depth;
}

bool is_terminator(mlir::Operation* op) { return op->hasTrait<mlir::OpTrait::IsTerminator>(); }

bool is_math(tile::UnaryKind kind) {
  using K = tile::UnaryKind;
  switch (kind) {
    case K::k_neg:
    case K::k_abs:
    case K::k_bitnot:
    case K::k_floor:
    case K::k_ceil:
    case K::k_trunc:
    case K::k_rint:
    case K::k_sign:
    case K::k_isnan:
    case K::k_isinf:
    case K::k_isfinite:
    case K::k_signbit:
    case K::k_real:
    case K::k_imag:
    case K::k_conj: return false;
    default: return true;
  }
}

bool is_math(tile::BinaryKind kind) {
  using K = tile::BinaryKind;
  switch (kind) {
    case K::k_div:
    case K::k_floordiv:
    case K::k_mod:
    case K::k_truncdiv:
    case K::k_rem:
    case K::k_pow:
    case K::k_atan2:
    case K::k_hypot:
    case K::k_logaddexp: return true;
    default: return false;
  }
}

std::optional<std::int64_t> alias_of(mlir::Value view) {
  if (auto type = mlir::dyn_cast<tile::ViewType>(view.getType())) return type.getAlias();
  return std::nullopt;
}

}  // namespace

bool Analysis::is_loop(mlir::Operation* op) { return mlir::isa<mlir::scf::ForOp, mlir::scf::WhileOp>(op); }

bool Analysis::is_heavy(mlir::Operation* op) {
  if (auto u = mlir::dyn_cast<tile::UnaryOp>(op))
    return is_math(u.getKind()) && u.getKind() != tile::UnaryKind::k_sqrt && u.getKind() != tile::UnaryKind::k_rsqrt;
  if (auto b = mlir::dyn_cast<tile::BinaryOp>(op))
    return is_math(b.getKind()) && !(b.getKind() == tile::BinaryKind::k_div && is_float(tile::dtype_of(b.getType())));
  return false;
}

bool Analysis::is_root(mlir::Operation* op) {
  return mlir::isa<tile::StoreOp, tile::ScatterOp, tile::AtomicRmwOp, tile::AtomicCasOp, tile::FenceOp, tile::ReduceOp,
                   tile::ScanOp, tile::RankOp, tile::LookbackOp, tile::MmaOp, tile::AssertOp, tile::PrintOp, tile::CatOp,
                   tile::InsertOp, mlir::scf::ForOp, mlir::scf::WhileOp, mlir::scf::IfOp>(op) ||
         is_terminator(op);
}

bool Analysis::is_positional(mlir::Operation* op) {
  return mlir::isa<tile::UnaryOp, tile::BinaryOp, tile::FmaOp, tile::CompareOp, tile::SelectOp, tile::CastOp,
                   tile::BitcastOp, tile::ReshapeOp, tile::GatherOp>(op);
}

// -- who pulls ---------------------------------------------------------------------------------------------------
void Analysis::Pullers::add(mlir::Operation* op, unsigned at) {
  many = many || (first && first != op);
  first = op;
  depth = std::max(depth, at);
}
void Analysis::Pullers::merge(const Pullers& o) {
  if (o.first) add(o.first, o.depth);
  many = many || o.many;
}

Analysis::Pullers Analysis::pullers(mlir::Value v) {
  Pullers out;
  for (mlir::OpOperand& use : v.getUses()) {
    mlir::Operation* user = use.getOwner();
    const bool part = mlir::isa<tile::PermuteOp>(user) || (mlir::isa<tile::TakeOp>(user) && use.getOperandNumber() == 0);
    out.scattered = out.scattered || part;
    if (is_root(user)) {
      out.add(user, loop_depth(user));
      continue;
    }
    mlir::Value result = user->getResult(0);
    if (mlir::isa<tile::BroadcastOp>(user) && tile::size_of(v.getType()) > 1 &&
        tile::size_of(result.getType()) > tile::size_of(v.getType()))
      out.repeated = true;
    if (!is_tile(result) || placement_.lookup(result) != Placement::kLazy) {
      out.add(user, loop_depth(user));
      continue;
    }
    const Pullers& next = pullers_[result];
    out.merge(next);
    const bool passes = mlir::isa<tile::ReshapeOp, tile::BroadcastOp>(user);
    out.scattered = out.scattered || (passes && next.scattered);
    out.repeated = out.repeated || (passes && next.repeated);
  }
  return out;
}

Analysis::Cost Analysis::cost(mlir::Value v) {
  if (auto it = cost_.find(v); it != cost_.end()) return it->second;
  Cost c;
  mlir::Operation* op = v.getDefiningOp();
  if (!op || is_root(op) || !is_tile(v)) return cost_[v] = c;
  c.weight = mlir::isa<tile::ConstantOp, tile::BroadcastOp, tile::ReshapeOp>(op) ? 0 : 1;
  if (auto u = mlir::dyn_cast<tile::UnaryOp>(op)) c.expensive = is_math(u.getKind());
  if (auto b = mlir::dyn_cast<tile::BinaryOp>(op)) c.expensive = is_math(b.getKind());
  if (mlir::isa<tile::GatherOp, tile::TakeOp>(op)) c.weight = 8;
  for (mlir::Value operand : op->getOperands()) {
    const Cost o = cost(operand);
    c.weight = std::min(c.weight + o.weight, 1000U);
    c.expensive = c.expensive || o.expensive;
  }
  return cost_[v] = c;
}

Placement Analysis::decide(mlir::Operation* op, const Pullers& p) {
  const bool deeper = p.depth > loop_depth(op);
  const bool again = p.many || deeper;
  if (mlir::isa<tile::ConstantOp, tile::IotaOp, tile::BroadcastOp, tile::ReshapeOp>(op)) return Placement::kLazy;
  if (mlir::isa<tile::LoadOp>(op)) {
    const bool keep = (options_.store_loads_across_loops && deeper) || (options_.store_loads_of_many_roots && p.many);
    return keep ? Placement::kStored : Placement::kLazy;
  }
  if (mlir::isa<tile::PermuteOp, tile::TakeOp, tile::GatherOp>(op))
    return again || p.scattered ? Placement::kStored : Placement::kLazy;
  if (mlir::isa<tile::ExtractOp>(op)) return p.scattered ? Placement::kStored : Placement::kLazy;
  const Cost c = cost(op->getResult(0));
  if (p.scattered) return Placement::kStored;
  if (p.repeated && (c.expensive || c.weight > 4)) return Placement::kStored;
  return again && (c.expensive || c.weight > options_.max_lazy_weight) ? Placement::kStored : Placement::kLazy;
}

Analysis::Analysis(mlir::func::FuncOp kernel, const AnalysisOptions& options) : options_(options) {
  kernel.getBody().walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    order_[op] = static_cast<unsigned>(ops_.size());
    ops_.push_back(op);
    // A combiner's region holds scalars that its op emits itself.
    return mlir::isa<tile::ReduceOp, tile::ScanOp, tile::LookbackOp>(op) ? mlir::WalkResult::skip()
                                                                         : mlir::WalkResult::advance();
  });
  for (mlir::Operation* op : llvm::reverse(ops_)) {
    for (mlir::Value v : op->getResults()) {
      if (!is_tile(v)) continue;
      if (is_root(op)) {
        placement_[v] = Placement::kRoot;
        continue;
      }
      const Pullers p = pullers(v);
      pullers_[v] = p;
      placement_[v] = decide(op, p);
    }
  }
  order_loads();
}

Placement Analysis::placement(mlir::Value v) const {
  auto it = placement_.find(v);
  return it == placement_.end() ? Placement::kRoot : it->second;
}

// -- loads against stores ----------------------------------------------------------------------------------------
struct Analysis::Effect {
  mlir::Operation* op;
  std::optional<std::int64_t> alias;  ///< its own class
  bool all = false;                   ///< others see it as writing everything
};
struct Analysis::Reach {
  mlir::Operation* root;
  bool identity;
};

void Analysis::reach(mlir::Value v, bool identity, llvm::SmallVectorImpl<Reach>& out,
                     llvm::DenseMap<mlir::Value, bool>& seen) {
  auto [it, fresh] = seen.try_emplace(v, identity);
  if (!fresh && (!it->second || identity)) return;  // seen at least this weakly
  it->second = identity;
  for (mlir::Operation* user : v.getUsers()) {
    mlir::Value result = user->getNumResults() ? user->getResult(0) : mlir::Value();
    if (is_root(user) || !result || !is_tile(result)) {
      out.push_back({user, identity});
      continue;
    }
    const bool same = is_positional(user) || (mlir::isa<tile::BroadcastOp>(user) &&
                                              tile::size_of(v.getType()) == tile::size_of(result.getType()));
    reach(result, identity && same, out, seen);
  }
}

bool Analysis::clobbered(mlir::Operation* load, llvm::ArrayRef<Effect> effects) {
  const std::optional<std::int64_t> alias = alias_of(load->getOperand(0));
  llvm::SmallVector<Reach> roots;
  llvm::DenseMap<mlir::Value, bool> seen;
  reach(load->getResult(0), true, roots, seen);
  auto same_access = [&](mlir::Operation* root) {
    auto l = mlir::dyn_cast<tile::LoadOp>(load);
    auto s = mlir::dyn_cast<tile::StoreOp>(root);
    return l && s && l.getView() == s.getView() && l.getOffsets() == s.getOffsets() &&
           tile::shape_of(l.getResult().getType()) == tile::shape_of(s.getValue().getType());
  };
  auto in_loop_without_load = [&](mlir::Operation* a, mlir::Operation* b) {
    for (mlir::Operation* p = a->getParentOp(); p; p = p->getParentOp())
      if (is_loop(p) && p->isProperAncestor(b) && !p->isProperAncestor(load)) return true;
    return false;
  };
  for (const Effect& e : effects) {
    const bool own = e.alias == alias;
    if (!own && !e.all) continue;
    for (const Reach& r : roots) {
      if (in_loop_without_load(e.op, r.root)) return true;
      if (order_[e.op] < order_[load]) continue;
      if (e.op == r.root) {
        if (own && !(r.identity && same_access(r.root))) return true;
      } else if (order_[e.op] < order_[r.root]) {
        return true;
      }
    }
  }
  return false;
}

void Analysis::order_loads() {
  llvm::SmallVector<Effect> effects;
  for (mlir::Operation* op : ops_) {
    if (auto s = mlir::dyn_cast<tile::StoreOp>(op)) effects.push_back({op, alias_of(s.getView())});
    if (auto s = mlir::dyn_cast<tile::ScatterOp>(op)) effects.push_back({op, alias_of(s.getView())});
    if (auto a = mlir::dyn_cast<tile::AtomicRmwOp>(op))
      effects.push_back({op, alias_of(a.getView()), a.getOrder() > tile::MemoryOrder::k_relaxed});
    if (auto a = mlir::dyn_cast<tile::AtomicCasOp>(op))
      effects.push_back({op, alias_of(a.getView()), a.getOrder() > tile::MemoryOrder::k_relaxed});
    if (auto l = mlir::dyn_cast<tile::LookbackOp>(op)) effects.push_back({op, alias_of(l.getState()), true});
    if (mlir::isa<tile::FenceOp>(op)) effects.push_back({op, std::nullopt, true});
  }
  if (effects.empty()) return;
  for (mlir::Operation* op : ops_)
    if (mlir::isa<tile::LoadOp, tile::GatherOp>(op) && is_tile(op->getResult(0)) && clobbered(op, effects))
      placement_[op->getResult(0)] = Placement::kEager;
}

}  // namespace epi::compiler
