#include "epi/backend/cuda/target/flow.h"

namespace epi::cuda {

using llvm::BasicBlock;
using llvm::Value;

LlvmValues emit_loop(llvm::IRBuilder<>& b, Value* begin, Value* end, Value* step, const LlvmValues& initial,
                     const std::function<LlvmValues(Value*, const LlvmValues&)>& body) {
  auto* f = b.GetInsertBlock()->getParent();
  auto& c = b.getContext();
  auto* before = b.GetInsertBlock();
  auto* head = BasicBlock::Create(c, "loop", f);
  auto* inside = BasicBlock::Create(c, "body", f);
  auto* after = BasicBlock::Create(c, "after", f);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  auto* index = b.CreatePHI(begin->getType(), 2);
  index->addIncoming(begin, before);
  llvm::SmallVector<llvm::PHINode*, 0> phis;
  LlvmValues carried;
  for (Value* v : initial) {
    phis.push_back(b.CreatePHI(v->getType(), 2));
    phis.back()->addIncoming(v, before);
    carried.push_back(phis.back());
  }
  b.CreateCondBr(b.CreateICmpSLT(index, end), inside, after);
  b.SetInsertPoint(inside);
  const LlvmValues next = body(index, carried);
  auto* last = b.GetInsertBlock();
  index->addIncoming(b.CreateAdd(index, step), last);
  for (std::size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(next[i], last);
  b.CreateBr(head);
  b.SetInsertPoint(after);
  return carried;
}

LlvmValues emit_if(llvm::IRBuilder<>& b, Value* condition, const std::function<LlvmValues()>& then,
                   const std::function<LlvmValues()>& otherwise) {
  auto* f = b.GetInsertBlock()->getParent();
  auto& c = b.getContext();
  auto* yes = BasicBlock::Create(c, "then", f);
  auto* no = BasicBlock::Create(c, "else", f);
  auto* join = BasicBlock::Create(c, "join", f);
  b.CreateCondBr(condition, yes, no);
  b.SetInsertPoint(yes);
  const LlvmValues left = then();
  auto* yes_end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(no);
  const LlvmValues right = otherwise ? otherwise() : LlvmValues{};
  auto* no_end = b.GetInsertBlock();
  b.CreateBr(join);
  b.SetInsertPoint(join);
  LlvmValues joined;
  for (std::size_t i = 0; i < right.size(); ++i) {
    auto* phi = b.CreatePHI(left[i]->getType(), 2);
    phi->addIncoming(left[i], yes_end);
    phi->addIncoming(right[i], no_end);
    joined.push_back(phi);
  }
  return joined;
}

void emit_while(llvm::IRBuilder<>& b, const std::function<Value*()>& body) {
  auto* f = b.GetInsertBlock()->getParent();
  auto* inside = BasicBlock::Create(b.getContext(), "again", f);
  auto* after = BasicBlock::Create(b.getContext(), "after", f);
  b.CreateBr(inside);
  b.SetInsertPoint(inside);
  Value* again = body();
  b.CreateCondBr(again, inside, after);
  b.SetInsertPoint(after);
}

}  // namespace epi::cuda
