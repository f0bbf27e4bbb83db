// Frame, chunks and scratch of host kernels.
#include "epi/backend/cpu/target/cpu_emitter.h"

#include <bit>

#include "epi/ir/module_impl.h"

namespace epi::cpu {

CpuEmitter::CpuEmitter(llvm::Module& module, mlir::func::FuncOp kernel, KernelInfo& info, const Level& level)
    : Emitter(module, kernel, info), level_(level) {}

// void kernel(const HostLaunch* launch, u64 begin, u64 end, void* arena)
void CpuEmitter::begin_kernel() {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Type* i64 = b_.getInt64Ty();
  llvm::Type* i32 = b_.getInt32Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, i64, i64, pointer}, false);
  function_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, info_.name, module_);
  function_->addFnAttr(llvm::Attribute::NoUnwind);
  function_->addFnAttr("prefer-vector-width", level_.vector_bytes == 64 ? "512" : "256");
  function_->addParamAttr(3, llvm::Attribute::NoAlias);
  entry_ = llvm::BasicBlock::Create(context_, "entry", function_);
  auto* start = llvm::BasicBlock::Create(context_, "start", function_);
  auto* loop = llvm::BasicBlock::Create(context_, "program", function_);
  latch_ = llvm::BasicBlock::Create(context_, "next", function_);
  exit_ = llvm::BasicBlock::Create(context_, "return", function_);
  b_.SetInsertPoint(entry_);
  llvm::Value* launch = function_->getArg(0);
  arena_ = function_->getArg(3);
  end_ = function_->getArg(2);
  llvm::Value* begin = function_->getArg(1);
  slots_ = b_.CreateAlignedLoad(pointer, launch, llvm::Align(8), "slots");
  for (unsigned a = 0; a < 3; ++a)
    grid_[a] = b_.CreateAlignedLoad(i32, b_.CreateConstGEP1_32(b_.getInt8Ty(), launch, 8 + 4 * a), llvm::Align(4), "grid");
  llvm::Value* gx = b_.CreateZExt(grid_[0], i64);
  llvm::Value* gy = b_.CreateZExt(grid_[1], i64);
  b_.CreateCondBr(b_.CreateICmpULT(begin, end_), start, exit_);
  b_.SetInsertPoint(start);
  llvm::Value* rows = b_.CreateUDiv(begin, gx);
  llvm::Value* first[3] = {b_.CreateTrunc(b_.CreateURem(begin, gx), i32), b_.CreateTrunc(b_.CreateURem(rows, gy), i32),
                           b_.CreateTrunc(b_.CreateUDiv(rows, gy), i32)};
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  program_ = b_.CreatePHI(i64, 2, "p");
  program_->addIncoming(begin, start);
  for (unsigned a = 0; a < 3; ++a) {
    ids_[a] = b_.CreatePHI(i32, 2, "id");
    ids_[a]->addIncoming(first[a], start);
  }
}

void CpuEmitter::end_kernel() {
  b_.CreateBr(latch_);
  b_.SetInsertPoint(latch_);
  llvm::Value* next = b_.CreateAdd(program_, b_.getInt64(1));
  program_->addIncoming(next, latch_);
  llvm::Value* carry = b_.getTrue();
  for (unsigned a = 0; a < 3; ++a) {
    llvm::Value* up = b_.CreateAdd(ids_[a], b_.CreateZExt(carry, b_.getInt32Ty()));
    llvm::Value* wraps = b_.CreateAnd(carry, b_.CreateICmpEQ(up, grid_[a]));
    ids_[a]->addIncoming(b_.CreateSelect(wraps, b_.getInt32(0), up), latch_);
    carry = wraps;
  }
  b_.CreateCondBr(b_.CreateICmpULT(next, end_), program_->getParent(), exit_);
  b_.SetInsertPoint(exit_);
  b_.CreateRetVoid();
}

llvm::Value* CpuEmitter::slot(unsigned i) {
  llvm::Value*& v = slot_values_[i];
  if (!v) {
    llvm::IRBuilder<> at(entry_->getTerminator());
    auto* load = at.CreateAlignedLoad(at.getInt64Ty(), at.CreateConstGEP1_32(at.getInt64Ty(), slots_, i), llvm::Align(8), "slot");
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    v = load;
  }
  return v;
}

// -- chunks ------------------------------------------------------------------------------------------------------------
unsigned CpuEmitter::lanes_for(unsigned widest, std::int64_t count) {
  const unsigned native = std::max(1U, level_.vector_bytes / std::max(1U, widest));
  return static_cast<unsigned>(std::min<std::int64_t>(native, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1))))));
}

void CpuEmitter::for_range(std::int64_t from, std::int64_t to, std::int64_t step, llvm::function_ref<void(llvm::Value*)> body) {
  const std::int64_t trips = (to - from + step - 1) / step;
  if (trips <= (heavy_ ? 1 : kUnroll)) {
    for (std::int64_t i = from; i < to; i += step) {
      Scope scope(*this);
      body(constant_index(i));
    }
    return;
  }
  Loop loop = begin_loop(constant_index(from), constant_index(to), constant_index(step));
  body(loop.index);
  end_loop(loop);
}

void CpuEmitter::for_chunks(llvm::ArrayRef<std::int64_t> shape, unsigned lanes, Body body) {
  std::int64_t count = 1;
  std::int64_t inner = 1;
  for (std::int64_t e : shape) {
    count *= e;
    if (e != 1) inner = e;
  }
  if (count == 0) return;
  while (lanes > inner) lanes /= 2;
  const std::int64_t rows = count / inner;
  const std::int64_t whole = inner / lanes * lanes;
  auto row = [&](llvm::Value* r) {
    llvm::Value* start = b_.CreateMul(r, constant_index(inner));
    auto run = [&](std::int64_t from, std::int64_t to, unsigned width) {
      for_range(from, to, width, [&](llvm::Value* c) {
        llvm::Value* index = rows == 1 ? c : b_.CreateAdd(start, c, "", true, true);
        Pos pos = at(index, width, inner % width == 0 ? width : 1);
        if (llvm::isa<llvm::ConstantInt>(index)) pos.multiple = at(llvm::cast<llvm::ConstantInt>(index)->getSExtValue(), width).multiple;
        pos.within = inner;
        if (rows > 1) seed_divmod(index, inner, r, c);
        body(pos);
      });
    };
    run(0, whole, lanes);
    if (whole < inner) run(whole, inner, 1);
  };
  if (rows == 1) return row(constant_index(0));
  for_range(0, rows, 1, row);
}

// -- scratch -----------------------------------------------------------------------------------------------------------
llvm::AllocaInst* CpuEmitter::stack(llvm::Type* type, std::uint64_t align) {
  llvm::IRBuilder<> at(entry_, entry_->begin());
  llvm::AllocaInst* a = at.CreateAlloca(type);
  a->setAlignment(llvm::Align(align));
  return a;
}

llvm::Value* CpuEmitter::arena(std::int64_t bytes) {
  const std::uint64_t offset = (info_.arena_bytes + 63) / 64 * 64;
  info_.arena_bytes = offset + static_cast<std::uint64_t>(bytes);
  llvm::IRBuilder<> at(entry_->getTerminator());
  return at.CreateConstInBoundsGEP1_64(at.getInt8Ty(), arena_, offset, "scratch");
}

Buffer CpuEmitter::make_buffer(DType dtype, std::int64_t count) {
  const std::int64_t bytes = std::max<std::int64_t>(count, 1) * static_cast<std::int64_t>(size_bytes(dtype));
  Buffer b;
  b.dtype = dtype;
  b.count = count;
  if (bytes <= kUnroll * level_.vector_bytes) {  // a loop over it is unrolled: LLVM makes registers of it
    b.pointer = stack(llvm::ArrayType::get(b_.getInt8Ty(), static_cast<std::uint64_t>(bytes)), 64);
  } else {
    b.pointer = arena(bytes);
  }
  b.alias_scope = buffer_scope();
  return b;
}

// -- memory under a condition, errors ----------------------------------------------------------------------------------
llvm::Value* CpuEmitter::dummy() {
  if (!dummy_) dummy_ = stack(llvm::ArrayType::get(b_.getInt8Ty(), 16), 16);
  return dummy_;
}

llvm::Value* CpuEmitter::checked_load(llvm::Type* type, llvm::Value* pointer, llvm::Value* ok, llvm::Value* otherwise,
                                      llvm::Align align, unsigned) {
  llvm::Value* safe = b_.CreateSelect(ok, pointer, dummy());
  return b_.CreateSelect(ok, b_.CreateAlignedLoad(type, safe, align), otherwise);
}

void CpuEmitter::checked_store(llvm::Value* value, llvm::Value* pointer, llvm::Value* ok, llvm::Align align, unsigned) {
  b_.CreateAlignedStore(value, b_.CreateSelect(ok, pointer, dummy()), align);
}

bool CpuEmitter::masked_memory(DType dtype) { return level_.vector_bytes == 64 || size_bytes(dtype) >= 4; }

void CpuEmitter::report_error(llvm::Value* failed, unsigned site, llvm::Value* item) {
  llvm::Value* record = b_.CreateIntToPtr(slot(static_cast<unsigned>(error_slot_)), b_.getPtrTy());
  if_then(failed, [&] {
    llvm::Value* swapped = b_.CreateAtomicCmpXchg(record, b_.getInt32(0), b_.getInt32(site), llvm::MaybeAlign(4),
                                                  llvm::AtomicOrdering::Monotonic, llvm::AtomicOrdering::Monotonic);
    if_then(b_.CreateExtractValue(swapped, 1), [&] {
      b_.CreateAlignedStore(linear_program(), b_.CreateConstGEP1_32(b_.getInt8Ty(), record, 4), llvm::Align(4));
      b_.CreateAlignedStore(item, b_.CreateConstGEP1_32(b_.getInt8Ty(), record, 8), llvm::Align(8));
    });
  });
}

}  // namespace epi::cpu
