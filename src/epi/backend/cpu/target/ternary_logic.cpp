#include "epi/backend/cpu/target/ternary_logic.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>

namespace epi::cpu {
namespace {

bool is_logic(const llvm::Value* v) {
  while (const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(v)) v = cast->getOperand(0);
  const auto* op = llvm::dyn_cast<llvm::BinaryOperator>(v);
  return op && op->isBitwiseLogicOp();
}

/// Vectors of 32- or 64-bit elements, integers and floats: what VPTERNLOG can be masked on.
llvm::Type* fence_type(llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector) return nullptr;
  const unsigned bits = vector->getScalarSizeInBits();
  if (bits != 32 && bits != 64) return nullptr;
  llvm::LLVMContext& context = type->getContext();
  llvm::Type* element = bits == 32 ? llvm::Type::getFloatTy(context) : llvm::Type::getDoubleTy(context);
  return llvm::FixedVectorType::get(element, vector->getNumElements());
}

}  // namespace

void part_logic_from_selects(llvm::Module& module) {
  llvm::SmallVector<llvm::SelectInst*> selects;
  for (llvm::Function& f : module)
    for (llvm::Instruction& i : llvm::instructions(f))
      if (auto* s = llvm::dyn_cast<llvm::SelectInst>(&i)) selects.push_back(s);
  for (llvm::SelectInst* s : selects) {
    llvm::Type* fence = fence_type(s->getType());
    if (!fence || !s->getCondition()->getType()->isVectorTy()) continue;
    for (unsigned arm : {1U, 2U}) {
      llvm::Value* v = s->getOperand(arm);
      if (!is_logic(v)) continue;
      llvm::IRBuilder<> b(s);
      llvm::Value* apart = b.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {fence}, {b.CreateBitCast(v, fence)});
      s->setOperand(arm, b.CreateBitCast(apart, s->getType()));
    }
  }
}

}  // namespace epi::cpu
