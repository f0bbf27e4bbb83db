// A matched contraction inside its kernel: offsets and trip count from the program's scalars, the epilogue pulled
// element pair by element pair from the accumulators.
#include "epi/backend/cuda/target/fragments.h"
#include "epi/backend/cuda/target/gemm_emit.h"
#include "epi/backend/cuda/target/mma_loop.h"

namespace epi::cuda {

using llvm::Value;

class MatchedGemm final : public GemmProgram {
 public:
  MatchedGemm(GpuEmitter& emitter, const GemmMatch& match) : e(emitter), m_(match) { trips_ = count_trips(); }
  Value* trips(llvm::IRBuilder<>&) override { return trips_; }
  Value* initial(llvm::IRBuilder<>& b) override { return llvm::ConstantFP::get(b.getFloatTy(), m_.initial); }
  GemmCoords operands(llvm::IRBuilder<>& b, Value* iteration) override;
  void finish(llvm::IRBuilder<>& b, const GemmFragment& fragment) override;

 private:
  Value* count_trips();
  Value* narrow(mlir::Value v) { return e.builder().CreateTrunc(e.scalar(v).re, e.builder().getInt32Ty()); }

  GpuEmitter& e;
  GemmMatch m_;
  Value* trips_ = nullptr;
};

Value* MatchedGemm::count_trips() {
  auto& b = e.builder();
  Value* from = e.scalar(m_.loop.getLowerBound()).re;
  Value* to = e.scalar(m_.loop.getUpperBound()).re;
  Value* step = e.scalar(m_.loop.getStep()).re;
  Value* span = b.CreateAdd(b.CreateSub(to, from), b.CreateSub(step, llvm::ConstantInt::get(step->getType(), 1)));
  Value* count = b.CreateSelect(b.CreateICmpSLT(from, to), b.CreateUDiv(span, step),
                                llvm::Constant::getNullValue(step->getType()));
  return b.CreateZExtOrTrunc(count, b.getInt32Ty());
}

GemmCoords MatchedGemm::operands(llvm::IRBuilder<>& b, Value* iteration) {
  mlir::Value index = m_.loop.getInductionVar();
  Value* from = e.scalar(m_.loop.getLowerBound()).re;
  Value* step = e.scalar(m_.loop.getStep()).re;
  Value* wide = b.CreateZExtOrTrunc(iteration, from->getType());
  e.set_scalar(index, {b.CreateAdd(from, b.CreateMul(wide, step))});
  const compiler::Emitter::Scope scope(e);
  e.muted_mma_ = true;
  e.emit_block(*m_.loop.getBody());
  e.muted_mma_ = false;
  const auto at = [&](const GemmLoad& l, unsigned axis) {
    tile::LoadOp load = l.load;
    return narrow(load.getOffsets()[axis]);
  };
  return {at(m_.a, m_.a.outer_axis), at(m_.a, m_.a.k_axis), at(m_.b, m_.b.k_axis), at(m_.b, m_.b.outer_axis)};
}

void MatchedGemm::finish(llvm::IRBuilder<>& b, const GemmFragment& fragment) {
  // Offsets, views and accesses of the epilogue's own code: pure ops after the loop.
  e.in_epilogue_ = true;
  for (mlir::Operation* op = m_.loop->getNextNode(); op != nullptr; op = op->getNextNode())
    if (!mlir::isa<tile::StoreOp>(op)) e.emit_op(op);
  e.in_epilogue_ = false;
  Fragments fragments;
  const std::uint32_t groups = m_.shape.sub_n / 8;
  for (std::uint32_t f = 0; f < m_.shape.frags; ++f)
    for (std::uint32_t half = 0; half < 2; ++half) {
      Value* row = b.CreateAdd(fragment.row, e.i32(64 * f + 8 * half));
      for (std::uint32_t j = 0; j < groups; ++j) {
        const std::size_t at = (f * groups + j) * 4 + 2 * half;
        fragments.push_back({row, b.CreateAdd(fragment.col, e.i32(8 * j)), fragment.acc[at], fragment.acc[at + 1]});
      }
    }
  FragmentShelf shelf{fragment.free_shared, fragment.thread, m_.shape.consumers * 128, 1, {}};
  shelf.place = [&](Value* index) {
    Value* line = b.CreateUDiv(index, e.i32(groups));
    Value* row = b.CreateAdd(b.CreateShl(b.CreateLShr(line, 1), 6), b.CreateShl(b.CreateAnd(line, e.i32(1)), 3));
    return std::pair{b.CreateAdd(fragment.row, row),
                     b.CreateAdd(fragment.col, b.CreateShl(b.CreateURem(index, e.i32(groups)), 3))};
  };
  for (tile::StoreOp store : m_.stores) store_fragments(e, store, m_.loop.getResult(0), fragments, shelf);
}

bool GpuEmitter::emit_special(mlir::Operation* op) {
  if (muted_mma_) return mlir::isa<tile::MmaOp>(op);
  if (plan_.mma_loop) return mma_loop_->take(op);
  if (!plan_.gemm) return false;
  const GemmMatch& m = *plan_.gemm;
  mlir::Operation* loop = mlir::scf::ForOp(m.loop).getOperation();
  if (op == loop) {
    MatchedGemm program(*this, m);
    Value* map_a = function_->getArg(static_cast<unsigned>(map_slots_));
    Value* map_b = function_->getArg(static_cast<unsigned>(map_slots_) + 1);
    emit_gemm(b_, m.shape, map_a, map_b, program);
    shared_used_ = m.shape.shared_bytes;
    gemm_done_ = true;
    return true;
  }
  // What follows the loop was emitted in the epilogue.
  return gemm_done_ && !in_epilogue_ && op->getBlock() == loop->getBlock() && loop->isBeforeInBlock(op) &&
         !op->hasTrait<mlir::OpTrait::IsTerminator>();
}

}  // namespace epi::cuda
