// The emitter's frame: slots, arguments, the walk over ops, positions of errors. What each op computes is in pull.cpp
// (tiles), effects.cpp (stores, atomics), control.cpp (loops) and elementwise.cpp, casts.cpp (arithmetic on lanes).
#include "epi/compiler/emitter.h"

#include <llvm/ADT/TypeSwitch.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/raw_ostream.h>

namespace epi::compiler {

Emitter::Emitter(llvm::Module& module, mlir::func::FuncOp kernel, KernelInfo& info, const AnalysisOptions& options)
    : module_(module), context_(module.getContext()), b_(context_), kernel_(kernel), info_(info),
      analysis_(kernel, options) {}

Emitter::~Emitter() = default;

Status Emitter::run() {
  info_.name = kernel_.getName().str();
  info_.ascending = kernel_->hasAttr(tile::kAscendingAttr);
  push_scope();
  layout_slots();
  add_slots();
  begin_kernel();
  bind_arguments();
  if (!failed()) emit_block(kernel_.getBody().front());
  end_kernel();
  pop_scope();
  attach_scopes();
  return status_;
}

// -- slots and arguments -------------------------------------------------------------------------------------------
bool Emitter::needs_errors() {
  bool found = false;
  kernel_.walk([&](mlir::Operation* op) {
    auto b = mlir::dyn_cast<tile::BinaryOp>(op);
    found = found || mlir::isa<tile::AssertOp>(op) || (b && b.getFlagZero());
  });
  return found;
}

void Emitter::layout_slots() {
  auto add = [&](SlotKind kind, unsigned arg, unsigned axis) {
    Slot slot;
    slot.kind = kind;
    slot.arg = static_cast<std::uint16_t>(arg);
    slot.axis = static_cast<std::uint8_t>(axis);
    info_.slots.push_back(slot);
  };
  for (auto [i, type] : llvm::enumerate(kernel_.getArgumentTypes())) {
    const auto arg = static_cast<unsigned>(i);
    auto view = mlir::dyn_cast<tile::ViewType>(type);
    if (!view) {
      for (unsigned part = 0; part < (size_bytes(tile::dtype_of(type)) + 7) / 8; ++part) add(SlotKind::kScalar, arg, part);
      continue;
    }
    add(SlotKind::kPointer, arg, 0);
    for (auto [axis, e] : llvm::enumerate(view.getExtents()))
      if (mlir::ShapedType::isDynamic(e)) add(SlotKind::kExtent, arg, static_cast<unsigned>(axis));
    for (auto [axis, s] : llvm::enumerate(view.getStrides()))
      if (mlir::ShapedType::isDynamic(s)) add(SlotKind::kStride, arg, static_cast<unsigned>(axis));
  }
  if (needs_errors()) {
    error_slot_ = static_cast<int>(info_.slots.size());
    add(SlotKind::kErrors, 0, 0);
  }
}

void Emitter::bind_arguments() {
  unsigned next = 0;
  for (mlir::BlockArgument arg : kernel_.getArguments()) {
    auto type = mlir::dyn_cast<tile::ViewType>(arg.getType());
    if (!type) {
      const DType dtype = tile::dtype_of(arg.getType());
      llvm::Value* bits = slot(next++);
      const unsigned width = static_cast<unsigned>(size_bytes(dtype)) * 8;
      Vec v;
      if (dtype == DType::kBool) {
        v.re = b_.CreateICmpNE(bits, b_.getInt64(0));
      } else if (is_complex(dtype)) {
        llvm::Type* part = register_type(dtype, 1);
        llvm::Value* high = width == 128 ? slot(next++) : b_.CreateLShr(bits, 32);
        v.re = b_.CreateBitCast(b_.CreateTrunc(bits, b_.getIntNTy(width / 2)), part);
        v.im = b_.CreateBitCast(b_.CreateTrunc(high, b_.getIntNTy(width / 2)), part);
      } else {
        v.re = b_.CreateBitCast(b_.CreateTrunc(bits, b_.getIntNTy(width)), register_type(dtype, 1));
      }
      scalars_[arg] = v;
      continue;
    }
    ViewValue v;
    v.pointer = b_.CreateIntToPtr(slot(next++), llvm::PointerType::get(context_, view_address_space()));
    for (std::int64_t e : type.getExtents())
      v.extents.push_back(mlir::ShapedType::isDynamic(e) ? slot(next++) : b_.getInt64(static_cast<std::uint64_t>(e)));
    for (std::int64_t s : type.getStrides())
      v.strides.push_back(mlir::ShapedType::isDynamic(s) ? slot(next++) : b_.getInt64(static_cast<std::uint64_t>(s)));
    v.divisors.assign(type.getDivisors().begin(), type.getDivisors().end());
    v.dtype = tile::dtype_of(type);
    v.align = type.getAlign();
    v.alias = type.getAlias();
    v.argument = arg.getArgNumber();
    views_[arg] = v;
  }
}

// -- the walk --------------------------------------------------------------------------------------------------------
void Emitter::emit_block(mlir::Block& block) {
  for (mlir::Operation& op : block) {
    if (failed()) return;
    emit_op(&op);
  }
}

void Emitter::emit_op(mlir::Operation* op) {
  if (op->use_empty() && op->getNumResults() && mlir::isPure(op)) return;
  if (emit_special(op) || emit_view(op)) return;
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case([&](mlir::scf::ForOp o) { emit_for(o); })
      .Case([&](mlir::scf::WhileOp o) { emit_while(o); })
      .Case([&](mlir::scf::IfOp o) { emit_if(o); })
      .Case<tile::StoreOp, tile::ScatterOp, tile::AtomicRmwOp, tile::AtomicCasOp>([&](mlir::Operation* o) {
        before_effect(o);
        if (auto store = mlir::dyn_cast<tile::StoreOp>(o)) emit_store(store);
        else if (auto scatter = mlir::dyn_cast<tile::ScatterOp>(o)) emit_scatter(scatter);
        else emit_atomic(o);
        after_effect(o);
      })
      .Case([&](tile::FenceOp o) { emit_fence(o); })
      .Case([&](tile::CatOp o) { emit_cat(o); })
      .Case([&](tile::InsertOp o) { emit_insert(o); })
      .Case([&](tile::ReduceOp o) { emit_reduce(o); })
      .Case([&](tile::ScanOp o) { emit_scan(o); })
      .Case([&](tile::RankOp o) { emit_rank(o); })
      .Case([&](tile::LookbackOp o) { emit_lookback(o); })
      .Case([&](tile::MmaOp o) { emit_mma(o); })
      .Case([&](tile::AssertOp o) { emit_assert(o); })
      .Case([&](tile::PrintOp o) { emit_print(o); })
      .Case<mlir::scf::YieldOp, mlir::scf::ConditionOp, mlir::func::ReturnOp>([](mlir::Operation*) {})
      .Default([&](mlir::Operation* o) {
        if (o->getNumRegions() || o->getNumResults() != 1) {
          fail(o, "the compiler does not know this op");
        } else if (mlir::isa<mlir::RankedTensorType>(o->getResult(0).getType())) {
          if (auto load = mlir::dyn_cast<tile::LoadOp>(o))
            accesses_[o] = access(load.getView(), load.getOffsets(), tile::shape_of(load.getType()), load.getInbounds());
          if (analysis_.placement(o->getResult(0)) == Placement::kEager) materialise(o->getResult(0));
        } else {
          emit_scalar(o);
        }
      });
}

void Emitter::emit_scalar(mlir::Operation* op) {
  Vec v;
  if (auto o = mlir::dyn_cast<tile::ProgramIdOp>(op)) {
    v.re = program_id(o.getAxis());
  } else if (auto o = mlir::dyn_cast<tile::NumProgramsOp>(op)) {
    v.re = num_programs(o.getAxis());
  } else if (auto o = mlir::dyn_cast<tile::DimOp>(op)) {
    v.re = view(o.getView()).extents[o.getAxis()];
  } else if (auto o = mlir::dyn_cast<tile::StrideOp>(op)) {
    v.re = view(o.getView()).strides[o.getAxis()];
  } else if (auto o = mlir::dyn_cast<tile::GatherOp>(op)) {
    v = compute_gather(o, 1, nullptr);
  } else if (auto o = mlir::dyn_cast<tile::ReshapeOp>(op)) {
    if (!mlir::isa<mlir::RankedTensorType>(o.getSource().getType())) {
      v = scalar(o.getSource());
    } else {
      prepare({o.getSource()}, false);
      Scope scope(*this);
      const bool was = std::exchange(checked_, true);
      v = pull(o.getSource(), at(std::int64_t{0}));
      checked_ = was;
    }
  } else {
    llvm::SmallVector<Vec, 4> operands;
    for (mlir::Value x : op->getOperands()) operands.push_back(scalar(x));
    v = elementwise(op, operands, 1, nullptr);
  }
  scalars_[op->getResult(0)] = v;
}

Vec Emitter::scalar(mlir::Value v) {
  auto it = scalars_.find(v);
  if (it != scalars_.end()) return it->second;
  return fail(v.getDefiningOp() ? v.getDefiningOp() : kernel_.getOperation(), "internal: a scalar is used before it is made",
              tile::dtype_of(v.getType()));
}

void Emitter::emit_assert(tile::AssertOp op) {
  const unsigned where = site(op, op.getMessage().str());
  mlir::Value c = op.getCondition();
  if (!mlir::isa<mlir::RankedTensorType>(c.getType())) {
    llvm::Value* bad = b_.CreateNot(scalar(c).re);
    once([&] { report_error(bad, where, b_.getInt64(0)); });
    return;
  }
  for_each({c}, tile::shape_of(c.getType()), [&](const Pos& pos) {
    llvm::Value* bad = b_.CreateNot(pull(c, pos).re);
    report_lanes(bad, where, pos);
  });
}

void Emitter::report_lanes(llvm::Value* bad, unsigned where, const Pos& pos) {
  llvm::Value* first = pos.linear() ? pos.index : b_.CreateExtractElement(pos.vector, std::uint64_t{0});
  llvm::Value* item = b_.CreateZExt(first, b_.getInt64Ty());
  if (pos.lanes > 1 && pos.linear()) {
    llvm::Value* bits = b_.CreateBitCast(bad, b_.getIntNTy(pos.lanes));
    llvm::Value* skip = b_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b_.CreateZExtOrTrunc(bits, b_.getInt64Ty()), b_.getFalse());
    item = b_.CreateAdd(item, skip);
  }
  report_error(any(bad), where, item);
}

void Emitter::flag_zero(mlir::Operation* op, Vec divisor, const Pos* pos) {
  llvm::Value* zero = b_.CreateICmpEQ(divisor.re, llvm::Constant::getNullValue(divisor.re->getType()));
  const unsigned where = site(op, "integer division by zero");
  if (pos) {
    report_lanes(zero, where, *pos);
  } else {
    once([&] { report_error(any(zero), where, b_.getInt64(0)); });
  }
}

// -- views -----------------------------------------------------------------------------------------------------------
ViewValue Emitter::view(mlir::Value v) {
  auto it = views_.find(v);
  EPI_CHECK(it != views_.end());
  return it->second;
}

bool Emitter::emit_view(mlir::Operation* op) {
  if (op->getNumResults() != 1) return false;
  auto type = mlir::dyn_cast<tile::ViewType>(op->getResult(0).getType());
  if (!type) return false;
  ViewValue v = view(op->getOperand(0));
  if (auto p = mlir::dyn_cast<tile::PermuteViewOp>(op)) {
    const ViewValue from = v;
    for (auto [i, axis] : llvm::enumerate(p.getPerm())) {
      v.extents[i] = from.extents[static_cast<std::size_t>(axis)];
      v.strides[i] = from.strides[static_cast<std::size_t>(axis)];
    }
  } else if (auto s = mlir::dyn_cast<tile::SliceOp>(op)) {
    const unsigned axis = s.getAxis();
    llvm::Value* extent = v.extents[axis];
    auto clamp = [&](llvm::Value* x) {
      x = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, b_.getInt64(0));
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, extent);
    };
    llvm::Value* start = clamp(scalar(s.getStart()).re);
    llvm::Value* stop = clamp(scalar(s.getStop()).re);
    v.pointer = b_.CreateGEP(element_struct(v.dtype), v.pointer, b_.CreateMul(start, v.strides[axis]));
    v.extents[axis] = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(stop, start), b_.getInt64(0));
  } else {
    fail(op, "the compiler does not know this view op");
    return true;
  }
  for (auto [axis, e] : llvm::enumerate(type.getExtents()))
    if (!mlir::ShapedType::isDynamic(e)) v.extents[axis] = b_.getInt64(static_cast<std::uint64_t>(e));
  v.divisors.assign(type.getDivisors().begin(), type.getDivisors().end());
  v.align = type.getAlign();
  v.alias = type.getAlias();
  views_[op->getResult(0)] = v;
  return true;
}

// -- errors ----------------------------------------------------------------------------------------------------------
namespace {
std::string describe(mlir::Location location) {
  if (auto file = mlir::dyn_cast<mlir::FileLineColLoc>(location))
    return file.getFilename().str() + ":" + std::to_string(file.getLine());
  if (auto named = mlir::dyn_cast<mlir::NameLoc>(location)) return describe(named.getChildLoc());
  if (auto call = mlir::dyn_cast<mlir::CallSiteLoc>(location)) return describe(call.getCallee());
  return "";
}
}  // namespace

Vec Emitter::fail(mlir::Operation* op, const std::string& message, DType dtype, unsigned lanes) {
  if (status_.ok()) {
    const std::string where = describe(op->getLoc());
    status_ = Status(Code::kUnsupported,
                     (where.empty() ? "" : where + ": ") + op->getName().getStringRef().str() + ": " + message);
  }
  llvm::Value* poison = llvm::PoisonValue::get(register_type(dtype, lanes));
  return {poison, is_complex(dtype) ? poison : nullptr};
}

unsigned Emitter::site(mlir::Operation* op, const std::string& message) {
  auto [it, fresh] = sites_.try_emplace(op, 0);
  if (fresh) {
    const std::string where = describe(op->getLoc());
    info_.sites.push_back((where.empty() ? "" : where + ": ") + message);
    it->second = static_cast<unsigned>(info_.sites.size());
  }
  return it->second;
}

// -- scopes ------------------------------------------------------------------------------------------------------------
Emitter::Scope::Scope(Emitter& e) : e_(e) { e_.push_scope(); }
Emitter::Scope::~Scope() { e_.pop_scope(); }
void Emitter::push_scope() { scopes_.push_back(std::make_unique<Memo>()); }
void Emitter::pop_scope() { scopes_.pop_back(); }

unsigned Emitter::view_scope(std::int64_t alias_class) {
  if (alias_class == kNoAlias) return 0;
  auto [it, fresh] = view_scopes_.try_emplace(alias_class, 0);
  if (fresh) it->second = buffer_scope();
  return it->second;
}
unsigned Emitter::buffer_scope() {
  static constexpr unsigned kMaxScopes = 24;  // further ones share the last: metadata grows with the square
  if (scope_count_ < kMaxScopes) ++scope_count_;
  return scope_count_;
}
void Emitter::tag(llvm::Instruction* access, unsigned scope) {
  if (scope) tagged_.emplace_back(access, scope);
}

void Emitter::attach_scopes() {
  if (scope_count_ < 2) return;
  llvm::MDBuilder md(context_);
  llvm::MDNode* domain = md.createAnonymousAliasScopeDomain("tile");
  llvm::SmallVector<llvm::Metadata*> all;
  for (unsigned i = 0; i < scope_count_; ++i) all.push_back(md.createAnonymousAliasScope(domain));
  std::vector<std::pair<llvm::MDNode*, llvm::MDNode*>> of;
  for (unsigned i = 0; i < scope_count_; ++i) {
    llvm::SmallVector<llvm::Metadata*> others(all);
    others.erase(others.begin() + i);
    of.emplace_back(llvm::MDNode::get(context_, {all[i]}), llvm::MDNode::get(context_, others));
  }
  for (auto [instruction, scope] : tagged_) {
    instruction->setMetadata(llvm::LLVMContext::MD_alias_scope, of[scope - 1].first);
    instruction->setMetadata(llvm::LLVMContext::MD_noalias, of[scope - 1].second);
  }
}

}  // namespace epi::compiler
