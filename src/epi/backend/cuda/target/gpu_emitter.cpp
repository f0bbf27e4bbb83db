#include "epi/backend/cuda/target/gpu_emitter.h"

#include <llvm/IR/IntrinsicsNVPTX.h>

#include "epi/backend/cuda/target/gemm_emit.h"
#include "epi/backend/cuda/target/machine.h"
#include "epi/backend/cuda/target/mma_loop.h"

namespace epi::cuda {
namespace {

using llvm::Value;

constexpr std::int64_t kLoopUnroll = 4;

/// Becomes tens of instructions an element.
bool is_heavy(mlir::Operation* op) {
  using U = tile::UnaryKind;
  using B = tile::BinaryKind;
  if (auto u = mlir::dyn_cast<tile::UnaryOp>(op))
    return u.getKind() >= U::k_exp && u.getKind() <= U::k_erf && u.getKind() != U::k_sqrt;
  if (auto x = mlir::dyn_cast<tile::BinaryOp>(op))
    return llvm::is_contained({B::k_pow, B::k_atan2, B::k_hypot, B::k_logaddexp, B::k_mod, B::k_floordiv}, x.getKind());
  return false;
}

compiler::AnalysisOptions analysis_options(const Plan& plan) {
  compiler::AnalysisOptions o;
  o.store_loads_of_many_roots = plan.keep_loads;
  o.max_lazy_weight = 32;
  return o;
}

}  // namespace

GpuEmitter::GpuEmitter(llvm::Module& module, mlir::func::FuncOp kernel, KernelInfo& info, const Plan& plan)
    : Emitter(module, kernel, info, analysis_options(plan)),
      plan_(plan),
      ptx_(b_),
      kept_(choose_private(kernel, plan, analysis())),
      private_(kept_.homes) {
  kernel.walk([&](mlir::Operation* op) { heavy_ = heavy_ || is_heavy(op); });
  if (plan.mma_loop) mma_loop_ = std::make_unique<MmaLoop>(*this, *plan.mma_loop);
}

GpuEmitter::~GpuEmitter() = default;

// -- frame ---------------------------------------------------------------------------------------------------------
void GpuEmitter::add_slots() {
  if (info_.ascending) {
    ticket_slot_ = static_cast<int>(info_.slots.size());
    Slot slot;
    slot.kind = SlotKind::kTicket;
    info_.slots.push_back(slot);
  }
  if (!plan_.gemm) return;
  map_slots_ = static_cast<int>(info_.slots.size());
  const auto& g = *plan_.gemm;
  for (const auto& [load, operand] : {std::pair{g.a, g.shape.a}, std::pair{g.b, g.shape.b}}) {
    Slot slot;
    slot.kind = SlotKind::kTensorMap;
    slot.arg = static_cast<std::uint16_t>(load.argument);
    slot.swizzle_bytes = static_cast<std::uint8_t>(operand.swizzle);
    slot.box = {operand.inner, operand.outer};
    info_.slots.push_back(slot);
  }
}

void GpuEmitter::begin_kernel() {
  llvm::SmallVector<llvm::Type*> types;
  llvm::SmallVector<unsigned> maps;
  for (const auto& [i, s] : llvm::enumerate(info_.slots)) {
    const bool map = s.kind == SlotKind::kTensorMap;
    types.push_back(map ? static_cast<llvm::Type*>(b_.getPtrTy()) : b_.getInt64Ty());
    if (map) maps.push_back(static_cast<unsigned>(i));
  }
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), types, false);
  function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, info_.name, module_);
  for (unsigned i : maps) {
    auto* bytes = llvm::ArrayType::get(b_.getInt8Ty(), 128);
    function_->addParamAttr(i, llvm::Attribute::getWithByValType(context_, bytes));
    function_->addParamAttr(i, llvm::Attribute::getWithAlignment(context_, llvm::Align(64)));
  }
  mark_kernel(*function_, plan_.threads, resident_blocks(kernel_, plan_, kept_.largest), maps);
  info_.block_threads = plan_.threads;
  b_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function_));
  arena_ = new llvm::GlobalVariable(module_, llvm::ArrayType::get(b_.getInt8Ty(), 0), false,
                                    llvm::GlobalValue::ExternalLinkage, nullptr, "epi_shared", nullptr,
                                    llvm::GlobalValue::NotThreadLocal, 3);
  arena_->setAlignment(llvm::Align(plan_.gemm ? 1024 : 128));
  for (auto& arg : function_->args()) slots_.push_back(&arg);
  tid_ = ptx_.tid();
  lane_ = b_.CreateAnd(tid_, i32(31));
  warp_ = b_.CreateLShr(tid_, 5);
  for (int axis = 0; axis < 3; ++axis) ids_[axis] = ptx_.block_id(axis);
  if (plan_.gemm) {
    const LlvmValues ids = emit_grouped_ids(b_, plan_.gemm->shape.raster_group());
    for (unsigned axis = 0; axis < 3; ++axis) ids_[axis] = ids[axis];
  }
  if (ticket_slot_ < 0) return;
  Value* counter = b_.CreateIntToPtr(slot(static_cast<unsigned>(ticket_slot_)), llvm::PointerType::get(context_, 1));
  const Vec number = once_value(mlir::IntegerType::get(kernel_.getContext(), 32), [&] {
    return Vec{b_.CreateAtomicRMW(llvm::AtomicRMWInst::Add, counter, i32(1), llvm::Align(4),
                                  llvm::AtomicOrdering::Monotonic, context_.getOrInsertSyncScopeID("device"))};
  });
  Value* x = ptx_.grid_dim(0);
  Value* y = ptx_.grid_dim(1);
  ids_[0] = b_.CreateURem(number.re, x);
  Value* rest = b_.CreateUDiv(number.re, x);
  ids_[1] = b_.CreateURem(rest, y);
  ids_[2] = b_.CreateUDiv(rest, y);
}

void GpuEmitter::end_kernel() {
  b_.CreateRetVoid();
  info_.shared_bytes = static_cast<std::uint32_t>(shared_used_);
  if (shared_used_ > plan_.processor.shared_limit)
    fail(kernel_, "the tiles that must be kept need " + std::to_string(shared_used_) + " bytes of shared memory, and " +
                      plan_.processor.name + " has " + std::to_string(plan_.processor.shared_limit) +
                      " a block: use smaller tiles");
}

namespace {

/// The kernel parameter that a global address comes from; null where that is not plain.
llvm::Argument* origin_of(Value* pointer) {
  while (auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer)) pointer = step->getPointerOperand();
  auto* made = llvm::dyn_cast<llvm::IntToPtrInst>(pointer);
  return made == nullptr ? nullptr : llvm::dyn_cast<llvm::Argument>(made->getOperand(0));
}

}  // namespace

void GpuEmitter::mark_read_only_loads() {
  llvm::DenseSet<std::int64_t> written;
  kernel_.walk([&](mlir::Operation* op) {
    if (mlir::isa<tile::LoadOp, tile::GatherOp>(op)) return;
    if (mlir::isMemoryEffectFree(op)) return;
    for (mlir::Value v : op->getOperands())
      if (auto view = mlir::dyn_cast<tile::ViewType>(v.getType())) written.insert(view.getAlias());
  });
  llvm::MDNode* empty = llvm::MDNode::get(context_, {});
  for (auto& block : *function_)
    for (auto& instruction : block) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (load == nullptr || load->getPointerAddressSpace() != 1 || load->isAtomic()) continue;
      const llvm::Argument* origin = origin_of(load->getPointerOperand());
      if (origin == nullptr || info_.slots[origin->getArgNo()].kind != SlotKind::kPointer) continue;
      auto view = mlir::dyn_cast<tile::ViewType>(kernel_.getArgumentTypes()[info_.slots[origin->getArgNo()].arg]);
      if (view && !written.contains(view.getAlias())) load->setMetadata(llvm::LLVMContext::MD_invariant_load, empty);
    }
}

Value* GpuEmitter::slot(unsigned i) { return slots_[i]; }
Value* GpuEmitter::num_programs(unsigned axis) { return ptx_.grid_dim(static_cast<int>(axis)); }

Value* GpuEmitter::linear_program() {
  Value* zy = b_.CreateAdd(b_.CreateMul(ids_[2], ptx_.grid_dim(1)), ids_[1]);
  return b_.CreateAdd(b_.CreateMul(zy, ptx_.grid_dim(0)), ids_[0]);
}

llvm::SyncScope::ID GpuEmitter::sync_scope(tile::MemoryScope scope) {
  switch (scope) {
    case tile::MemoryScope::k_program:
      return context_.getOrInsertSyncScopeID("block");
    case tile::MemoryScope::k_device:
      return context_.getOrInsertSyncScopeID("device");
    case tile::MemoryScope::k_system:
      return llvm::SyncScope::System;
  }
  return llvm::SyncScope::System;
}

// -- chunks --------------------------------------------------------------------------------------------------------
unsigned GpuEmitter::lanes_for(unsigned widest, std::int64_t count) {
  (void)widest;  // the plan has one answer for all loops over tiles of one size, so that a thread meets its own chunks
                 // again
  return plan_.lanes(count);
}

void GpuEmitter::for_rounds(std::int64_t begin, std::int64_t rounds, std::int64_t per,
                            llvm::function_ref<void(Value*)> body, std::int64_t limit) {
  const auto unrolled = [&](Value* base, std::int64_t from, std::int64_t count) {
    for (std::int64_t r = 0; r < count; ++r) {
      Scope scope(*this);
      body(b_.CreateAdd(base, i32(from + r * per)));
    }
  };
  // The version for tiles at an edge is rare: its code is kept small, where no chunk must be known by its number.
  // So is long code for a chunk, whose time hides the loop's.
  const bool compact = rolled() || (heavy_ && private_.empty());
  if (compact) limit = 1;
  if (rounds <= limit) return unrolled(i32(0), begin, rounds);
  const std::int64_t unroll = compact ? 1 : kLoopUnroll;
  const std::int64_t looped = rounds / unroll * unroll;
  Value* to = i32(begin + looped * per);
  Loop loop = begin_loop(i32(begin), to, i32(per * unroll));
  unrolled(loop.index, 0, unroll);
  end_loop(loop);
  unrolled(i32(0), begin + looped * per, rounds - looped);
}

Value* GpuEmitter::chunk_index(Value* base, Value* own) {
  // An instruction of its own for every chunk, so that the chunk can be told from its index.
  return llvm::BinaryOperator::CreateAdd(own, base, "chunk", b_.GetInsertBlock());
}

void GpuEmitter::for_chunks(llvm::ArrayRef<std::int64_t> shape, unsigned lanes, Body body) {
  std::int64_t count = 1;
  for (std::int64_t e : shape) count *= e;
  while (lanes > 1 && count % lanes != 0) lanes /= 2;
  if (rolled()) lanes = 1;
  const std::int64_t per = static_cast<std::int64_t>(plan_.threads) * lanes;
  const bool by_warps = plan_.by_warps(count) && lanes == plan_.lanes(count);
  const std::int64_t stride = by_warps ? 32 * lanes : per;  // from one chunk of a thread to its next
  Value* own = b_.CreateMul(by_warps ? lane_ : tid_, i32(lanes));
  if (by_warps) own = b_.CreateAdd(own, b_.CreateMul(warp_, i32(count / warps())));
  const auto chunk = [&](Value* base) {
    Value* index = chunk_index(base, own);
    if (auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(base)) chunk_of_[index] = fixed->getSExtValue() / stride;
    body(at(index, lanes, lanes));
  };
  if (by_warps) return for_rounds(0, count / per, stride, chunk, plan_.unrolled(count));
  for_rounds(0, count / per, per, chunk);
  if (count % per == 0) return;
  if_then(b_.CreateICmpULT(own, i32(count % per)), [&] {
    Scope scope(*this);
    chunk(i32(count / per * per));
  });
}

// -- effects -------------------------------------------------------------------------------------------------------
namespace {

std::int64_t alias_of(mlir::Operation* op) {
  for (mlir::Value v : op->getOperands())
    if (auto view = mlir::dyn_cast<tile::ViewType>(v.getType())) return view.getAlias();
  return -1;
}

template <class Op>
bool orders(Op op, bool acquire) {
  const auto order = op.getOrder();
  if (order == tile::MemoryOrder::k_acq_rel) return true;
  return order == (acquire ? tile::MemoryOrder::k_acquire : tile::MemoryOrder::k_release);
}

bool orders(mlir::Operation* op, bool acquire) {
  if (auto a = mlir::dyn_cast<tile::AtomicRmwOp>(op)) return orders(a, acquire);
  if (auto a = mlir::dyn_cast<tile::AtomicCasOp>(op)) return orders(a, acquire);
  return false;
}

}  // namespace

/// Whether the program itself may meet what `effect` writes: another access of the class, or the same one in a loop.
bool GpuEmitter::meets_others(mlir::Operation* effect) {
  const std::int64_t alias = alias_of(effect);
  for (mlir::Operation* p = effect->getParentOp(); p != nullptr; p = p->getParentOp())
    if (compiler::Analysis::is_loop(p)) return true;
  bool found = false;
  kernel_.walk([&](mlir::Operation* op) {
    found = found || (op != effect && !mlir::isa<tile::DimOp, tile::StrideOp, tile::SliceOp, tile::PermuteViewOp>(op) &&
                      alias_of(op) == alias);
  });
  return found;
}

void GpuEmitter::before_effect(mlir::Operation* op) {
  const bool release = orders(op, false);
  if (!release && !meets_others(op)) return;
  barrier();
  if (release) ptx_.effect("fence.acq_rel.gpu;", "", {});
}

void GpuEmitter::after_effect(mlir::Operation* op) {
  const bool acquire = orders(op, true);
  if (acquire) ptx_.effect("fence.acq_rel.gpu;", "", {});
  if (acquire || meets_others(op)) barrier();
}

void GpuEmitter::once(llvm::function_ref<void()> body) { if_then(b_.CreateICmpEQ(tid_, i32(0)), body); }

Vec GpuEmitter::once_value(mlir::Type type, llvm::function_ref<Vec()> body) {
  const DType dtype = tile::dtype_of(type);
  const Registers r = make_registers({dtype}, 1);
  once([&] { put(r, {body()}); });
  return broadcast(get(r), {dtype}, true)[0];
}

// -- scratch -------------------------------------------------------------------------------------------------------
Value* GpuEmitter::shared(std::int64_t bytes) {
  const std::int64_t offset = shared_used_;
  shared_used_ += (bytes + 15) / 16 * 16;
  return b_.CreateConstInBoundsGEP1_64(b_.getInt8Ty(), arena_, static_cast<std::uint64_t>(offset));
}

Buffer GpuEmitter::make_buffer(DType dtype, std::int64_t count) {
  Buffer buffer;
  buffer.pointer = shared(count * static_cast<std::int64_t>(size_bytes(dtype)));
  buffer.dtype = dtype;
  buffer.count = count;
  buffer.alias_scope = buffer_scope();
  return buffer;
}

Buffer GpuEmitter::make_storage(mlir::Value v) {
  const auto found = private_.find(v);
  if (found == private_.end()) return Emitter::make_storage(v);
  const auto home = static_cast<std::size_t>(found->second);
  const DType dtype = tile::dtype_of(v.getType());
  const std::int64_t count = tile::size_of(v.getType());
  if (homes_.size() <= home) homes_.resize(home + 1);
  for (std::int64_t r = 0; r < plan_.chunks(count); ++r)
    homes_[home].push_back(make_registers({dtype}, plan_.lanes(count)));
  Buffer buffer;
  buffer.dtype = dtype;
  buffer.count = count;
  buffer.home = found->second;
  return buffer;
}

Vec GpuEmitter::read(const Buffer& buffer, const Pos& pos) {
  if (buffer.home < 0) return Emitter::read(buffer, pos);
  const auto chunk = chunk_of_.find(pos.index);
  if (chunk == chunk_of_.end())
    return fail(kernel_, "internal: a tile in registers is read elsewhere", buffer.dtype, pos.lanes);
  return get(homes_[static_cast<std::size_t>(buffer.home)][static_cast<std::size_t>(chunk->second)])[0];
}

void GpuEmitter::write(const Buffer& buffer, const Pos& pos, Vec value) {
  if (buffer.home < 0) return Emitter::write(buffer, pos, value);
  const auto chunk = chunk_of_.find(pos.index);
  if (chunk == chunk_of_.end()) {
    fail(kernel_, "internal: a tile in registers is written elsewhere");
    return;
  }
  put(homes_[static_cast<std::size_t>(buffer.home)][static_cast<std::size_t>(chunk->second)], {value});
}

void GpuEmitter::barrier() {
  if (plan_.threads > 32)
    ptx_.sync_block();
  else
    ptx_.sync_warp();
}

Tuple GpuEmitter::broadcast(const Tuple& values, llvm::ArrayRef<DType> dtypes, bool again) {
  const Shelf shelf = make_shelf(dtypes, 1);
  if_then(b_.CreateICmpEQ(tid_, i32(0)), [&] { write(shelf, i32(0), values); });
  barrier();
  Tuple out = read(shelf, i32(0));
  if (again) barrier();
  return out;
}

void GpuEmitter::set_single(mlir::Value result, const Vec& value) {
  if (!mlir::isa<mlir::RankedTensorType>(result.getType())) return set_scalar(result, value);
  const Buffer buffer = result_buffer(result);
  write(buffer, at(std::int64_t{0}), value);  // every thread writes the same
  barrier();
}

// -- registers -----------------------------------------------------------------------------------------------------
GpuEmitter::Registers GpuEmitter::make_registers(llvm::ArrayRef<DType> dtypes, unsigned lanes) {
  llvm::IRBuilder<>::InsertPointGuard guard(b_);
  auto& entry = function_->getEntryBlock();
  b_.SetInsertPoint(&entry, entry.getFirstInsertionPt());
  Registers out;
  for (DType d : dtypes) {
    llvm::Type* type = register_type(d, lanes);
    out.push_back({b_.CreateAlloca(type), is_complex(d) ? b_.CreateAlloca(type) : nullptr});
  }
  return out;
}

void GpuEmitter::put(const Registers& r, const Tuple& v) {
  for (std::size_t i = 0; i < r.size(); ++i) {
    b_.CreateStore(v[i].re, r[i].re);
    if (r[i].im != nullptr) b_.CreateStore(v[i].im, r[i].im);
  }
}

Tuple GpuEmitter::get(const Registers& r) {
  Tuple out;
  for (const auto& x : r)
    out.push_back({b_.CreateLoad(x.re->getAllocatedType(), x.re),
                   x.im != nullptr ? b_.CreateLoad(x.im->getAllocatedType(), x.im) : nullptr});
  return out;
}

Tuple GpuEmitter::map_parts(const Tuple& v, const std::function<Value*(Value*)>& f) {
  Tuple out;
  for (const Vec& x : v) out.push_back({f(x.re), x.im != nullptr ? f(x.im) : nullptr});
  return out;
}

Tuple GpuEmitter::select_tuple(Value* condition, const Tuple& yes, const Tuple& no) {
  Tuple out;
  for (std::size_t i = 0; i < yes.size(); ++i)
    out.push_back({b_.CreateSelect(condition, yes[i].re, no[i].re),
                   yes[i].im != nullptr ? b_.CreateSelect(condition, yes[i].im, no[i].im) : nullptr});
  return out;
}

// -- between threads of a warp -------------------------------------------------------------------------------------
Value* GpuEmitter::shuffle_bits(Value* v, unsigned intrinsic, Value* lane, unsigned clamp) {
  llvm::Type* type = v->getType();
  const auto bits = static_cast<unsigned>(type->getPrimitiveSizeInBits().getFixedValue());
  const auto word = [&](Value* w) -> Value* {
    return b_.CreateIntrinsic(static_cast<llvm::Intrinsic::ID>(intrinsic), {},
                              {b_.getInt32(-1), w, lane, b_.getInt32(clamp)});
  };
  if (bits < 32) {
    Value* narrow = b_.CreateBitCast(v, b_.getIntNTy(bits));
    Value* moved = b_.CreateTrunc(word(b_.CreateZExt(narrow, b_.getInt32Ty())), b_.getIntNTy(bits));
    return b_.CreateBitCast(moved, type);
  }
  if (bits == 32) return b_.CreateBitCast(word(b_.CreateBitCast(v, b_.getInt32Ty())), type);
  const unsigned words = bits / 32;
  Value* in = b_.CreateBitCast(v, llvm::FixedVectorType::get(b_.getInt32Ty(), words));
  Value* out = llvm::PoisonValue::get(in->getType());
  for (unsigned w = 0; w < words; ++w) out = b_.CreateInsertElement(out, word(b_.CreateExtractElement(in, w)), w);
  return b_.CreateBitCast(out, type);
}

Tuple GpuEmitter::shuffle_down(const Tuple& v, unsigned distance) {
  return map_parts(
      v, [&](Value* x) { return shuffle_bits(x, llvm::Intrinsic::nvvm_shfl_sync_down_i32, i32(distance), 31); });
}

Tuple GpuEmitter::shuffle_up(const Tuple& v, unsigned distance) {
  return map_parts(v,
                   [&](Value* x) { return shuffle_bits(x, llvm::Intrinsic::nvvm_shfl_sync_up_i32, i32(distance), 0); });
}

Tuple GpuEmitter::shuffle_from(const Tuple& v, Value* lane) {
  return map_parts(v, [&](Value* x) { return shuffle_bits(x, llvm::Intrinsic::nvvm_shfl_sync_idx_i32, lane, 31); });
}

// -- tuples in shared memory ---------------------------------------------------------------------------------------
GpuEmitter::Shelf GpuEmitter::make_shelf(llvm::ArrayRef<DType> dtypes, std::int64_t count) {
  Shelf s;
  for (DType d : dtypes) s.tiles.push_back(make_buffer(d, count));
  return s;
}

Tuple GpuEmitter::read(const Shelf& s, Value* index, unsigned lanes) {
  Tuple out;
  for (const Buffer& t : s.tiles) out.push_back(read(t, at(index, lanes, lanes)));
  return out;
}

void GpuEmitter::write(const Shelf& s, Value* index, const Tuple& v, unsigned lanes) {
  for (std::size_t i = 0; i < v.size(); ++i) write(s.tiles[i], at(index, lanes, lanes), v[i]);
}

// -- memory under a condition, errors, print -----------------------------------------------------------------------
Value* GpuEmitter::checked_load(llvm::Type* type, Value* pointer, Value* ok, Value* otherwise, llvm::Align align,
                                unsigned alias_scope) {
  auto* before = b_.GetInsertBlock();
  auto* yes = llvm::BasicBlock::Create(context_, "inside", function_);
  auto* join = llvm::BasicBlock::Create(context_, "joined", function_);
  b_.CreateCondBr(ok, yes, join);
  b_.SetInsertPoint(yes);
  auto* load = b_.CreateAlignedLoad(type, pointer, align);
  tag(load, alias_scope);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
  auto* phi = b_.CreatePHI(type, 2);
  phi->addIncoming(otherwise, before);
  phi->addIncoming(load, yes);
  return phi;
}

void GpuEmitter::checked_store(Value* value, Value* pointer, Value* ok, llvm::Align align, unsigned alias_scope) {
  auto* yes = llvm::BasicBlock::Create(context_, "inside", function_);
  auto* join = llvm::BasicBlock::Create(context_, "joined", function_);
  b_.CreateCondBr(ok, yes, join);
  b_.SetInsertPoint(yes);
  tag(b_.CreateAlignedStore(value, pointer, align), alias_scope);
  b_.CreateBr(join);
  b_.SetInsertPoint(join);
}

void GpuEmitter::report_error(Value* failed, unsigned site, Value* item) {
  if_then(failed, [&] {
    Value* record = b_.CreateIntToPtr(slot(static_cast<unsigned>(error_slot_)), llvm::PointerType::get(context_, 1));
    Value* swapped = b_.CreateAtomicCmpXchg(record, i32(0), i32(site), llvm::Align(4), llvm::AtomicOrdering::Monotonic,
                                            llvm::AtomicOrdering::Monotonic, context_.getOrInsertSyncScopeID("device"));
    if_then(b_.CreateExtractValue(swapped, 1), [&] {
      b_.CreateStore(linear_program(), b_.CreateConstGEP1_64(b_.getInt8Ty(), record, 4));
      b_.CreateStore(b_.CreateZExtOrTrunc(item, b_.getInt64Ty()), b_.CreateConstGEP1_64(b_.getInt8Ty(), record, 8));
    });
  });
}

}  // namespace epi::cuda
