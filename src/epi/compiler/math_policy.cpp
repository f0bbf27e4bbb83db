// Instantiates the math functions over LLVM values: the one unit that pays for their templates.
#include "epi/compiler/math_policy.h"

#include <llvm/IR/MDBuilder.h>

#include "epi/ir/math/math.h"

namespace epi::compiler {

static_assert(ir::math::Policy<LaneMath>);

llvm::MDNode* LaneMath::unlikely() { return llvm::MDBuilder(b_.getContext()).createUnlikelyBranchWeights(); }

LaneMath::V LaneMath::lookup(const ir::math::Table& table, V i) {
  V base = e_.table(table);
  auto one_lane = [&](V at) -> V {
    V p = b_.CreateInBoundsGEP(b_.getInt64Ty(), base, at);
    return b_.CreateAlignedLoad(b_.getInt64Ty(), p, llvm::Align(8));
  };
  if (lanes_ == 1) return one_lane(i);
  V out = llvm::PoisonValue::get(like(b_.getInt64Ty()));
  for (unsigned l = 0; l < lanes_; ++l) out = b_.CreateInsertElement(out, one_lane(b_.CreateExtractElement(i, l)), l);
  return out;
}

llvm::Value* Emitter::table(const ir::math::Table& table) {
  llvm::GlobalVariable*& global = tables_[table.name];
  if (!global) {
    llvm::Constant* data = llvm::ConstantDataArray::get(context_, llvm::ArrayRef(table.words, table.count));
    global = new llvm::GlobalVariable(module_, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data, table.name,
                                      nullptr, llvm::GlobalValue::NotThreadLocal, constant_address_space());
    global->setAlignment(llvm::Align(16));
  }
  return generic_pointer(global);
}

llvm::Value* Emitter::math(ir::math::MathFn fn, llvm::Value* x, llvm::Value* y) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  LaneMath policy(*this, vector ? vector->getNumElements() : 1);
  const auto width = x->getType()->getScalarType()->isFloatTy() ? ir::math::FloatWidth::k32 : ir::math::FloatWidth::k64;
  return ir::math::apply(policy, fn, width, x, y);
}

}  // namespace epi::compiler
