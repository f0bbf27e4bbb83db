#include "epi/backend/cuda/target/mma_loop.h"

#include <llvm/IR/InlineAsm.h>

namespace epi::cuda {

using llvm::Value;

namespace {
constexpr std::int64_t kPad = 8;  ///< elements: rows start 4 banks apart, so that ldmatrix meets no conflict
constexpr std::int64_t kUnrolledK = 4;
}  // namespace

bool MmaLoop::take(mlir::Operation* op) {
  if (e.muted_mma_) return mlir::isa<tile::MmaOp>(op);
  if (op == m_.loop.getOperation()) {
    emit_loop_nest();
    return true;
  }
  auto store = mlir::dyn_cast<tile::StoreOp>(op);
  if (!store || !done_ || !llvm::is_contained(m_.stores, store)) return false;
  e.before_effect(op);
  store_fragments(e, store, m_.loop.getResult(0), result_);
  e.after_effect(op);
  return true;
}

MmaLoop::Stage MmaLoop::make_stage(mlir::Value tile) {
  const auto shape = tile::shape_of(tile.getType());
  Stage s;
  s.width = shape[1];
  s.pitch = shape[1] + kPad;
  s.buffer = e.make_buffer(tile::dtype_of(tile.getType()), shape[0] * s.pitch);
  return s;
}

void MmaLoop::fill(const Stage& stage, mlir::Value tile) {
  const auto shape = tile::shape_of(tile.getType());
  const auto walk = e.prepare({tile}, true);
  const unsigned lanes = stage.width % 8 == 0 ? 8 : 1;
  e.versioned(walk.accesses, {}, [&] {
    e.for_chunks(shape, lanes, [&](const Pos& pos) {
      const auto [row, col] = e.divmod(pos.index, stage.width);
      const Vec value = e.pull(tile, pos);
      e.write_walked(walk, pos);
      e.write(stage.buffer, e.at(b.CreateAdd(b.CreateMul(row, e.i32(stage.pitch)), col), pos.lanes, pos.lanes), value);
    });
  });
  e.walked(walk);
}

llvm::SmallVector<Value*> MmaLoop::load_matrix(const Stage& stage, Value* row, Value* col, unsigned count,
                                               bool transposed) {
  Value* at = b.CreateAdd(b.CreateMul(row, e.i32(stage.pitch)), col);
  Value* address = b.CreatePtrToInt(b.CreateGEP(b.getInt16Ty(), stage.buffer.pointer, at), b.getInt32Ty());
  return e.ptx().load_matrix(address, count, transposed);
}

LlvmValues MmaLoop::k_step(Value* k, const LlvmValues& acc) {
  Value* low = b.CreateAnd(e.lane(), e.i32(15));
  Value* high = b.CreateShl(b.CreateLShr(e.lane(), 4), 3);
  llvm::SmallVector<llvm::SmallVector<Value*>> left;
  for (std::int64_t r = 0; r < rows_; ++r) {
    Value* row = b.CreateAdd(b.CreateAdd(row0_, e.i32(16 * r)), low);
    left.push_back(load_matrix(a_, row, b.CreateAdd(k, high), 4, false));
  }
  const bool bf16 = a_.buffer.dtype == DType::kBFloat16;
  LlvmValues next = acc;
  for (std::int64_t c = 0; c < cols_; ++c) {
    const auto right = load_matrix(b_stage_, b.CreateAdd(k, low), b.CreateAdd(col0_, e.i32(8 * c)), 2, true);
    for (std::int64_t r = 0; r < rows_; ++r) {
      const auto at = static_cast<std::size_t>((r * cols_ + c) * 4);
      const auto sum = e.ptx().mma(bf16, left[static_cast<std::size_t>(r)], right, llvm::ArrayRef(next).slice(at, 4));
      std::copy(sum.begin(), sum.end(), next.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return next;
}

LlvmValues MmaLoop::multiply(const LlvmValues& acc) {
  const std::int64_t k = a_.width;
  if (k / 16 > kUnrolledK)
    return emit_loop(b, e.i32(0), e.i32(k), e.i32(16), acc,
                     [&](Value* at, const LlvmValues& c) { return k_step(at, c); });
  LlvmValues next = acc;
  for (std::int64_t at = 0; at < k; at += 16) next = k_step(e.i32(at), next);
  return next;
}

Fragments MmaLoop::fragments(const LlvmValues& acc) {
  Value* row = b.CreateAdd(row0_, b.CreateLShr(e.lane(), 2));
  Value* col = b.CreateAdd(col0_, b.CreateShl(b.CreateAnd(e.lane(), e.i32(3)), 1));
  Fragments out;
  for (std::int64_t r = 0; r < rows_; ++r)
    for (std::int64_t half = 0; half < 2; ++half)
      for (std::int64_t c = 0; c < cols_; ++c) {
        const auto at = static_cast<std::size_t>((r * cols_ + c) * 4 + 2 * half);
        out.push_back(
            {b.CreateAdd(row, e.i32(16 * r + 8 * half)), b.CreateAdd(col, e.i32(8 * c)), acc[at], acc[at + 1]});
      }
  return out;
}

void MmaLoop::emit_loop_nest() {
  const auto shape = tile::shape_of(m_.mma.getResult().getType());
  rows_ = shape[0] / (16 * m_.warps_m);
  cols_ = shape[1] / (8 * m_.warps_n);
  row0_ = b.CreateMul(b.CreateUDiv(e.warp(), e.i32(m_.warps_n)), e.i32(16 * rows_));
  col0_ = b.CreateMul(b.CreateURem(e.warp(), e.i32(m_.warps_n)), e.i32(8 * cols_));
  a_ = make_stage(m_.mma.getA());
  b_stage_ = make_stage(m_.mma.getB());
  LlvmValues acc(static_cast<std::size_t>(rows_ * cols_ * 4), llvm::PoisonValue::get(b.getFloatTy()));
  mlir::Value start = m_.loop.getInitArgs()[0];
  const auto walk = e.prepare({start}, false);
  const auto held = e.make_registers(llvm::SmallVector<DType>(acc.size(), DType::kFloat32), 1);
  e.versioned(walk.accesses, {}, [&] {
    const Fragments places = fragments(acc);
    std::size_t next = 0;
    for (const FragmentPair& f : places) {
      const compiler::Emitter::Scope scope(e);
      const Vec pair = e.pull(start, e.at(b.CreateAdd(b.CreateMul(f.row, e.i32(shape[1])), f.col), 2, 2));
      // places run [r][half][c], the accumulators [r][c][half].
      const std::size_t c = next % static_cast<std::size_t>(cols_);
      const std::size_t half = next / static_cast<std::size_t>(cols_) % 2;
      const std::size_t r = next / static_cast<std::size_t>(2 * cols_);
      const std::size_t at = (r * static_cast<std::size_t>(cols_) + c) * 4 + 2 * half;
      e.put({held[at]}, {e.extract(pair, 0)});
      e.put({held[at + 1]}, {e.extract(pair, 1)});
      ++next;
    }
  });
  for (std::size_t i = 0; i < acc.size(); ++i) acc[i] = e.get({held[i]})[0].re;
  auto loop = e.begin_loop(e.scalar(m_.loop.getLowerBound()).re, e.scalar(m_.loop.getUpperBound()).re,
                           e.scalar(m_.loop.getStep()).re, llvm::SmallVector<Value*>(acc.begin(), acc.end()), false);
  e.set_scalar(m_.loop.getInductionVar(), {loop.index});
  e.muted_mma_ = true;
  e.emit_block(*m_.loop.getBody());
  e.muted_mma_ = false;
  fill(a_, m_.mma.getA());
  fill(b_stage_, m_.mma.getB());
  e.barrier();
  const LlvmValues next = multiply(LlvmValues(loop.carried.begin(), loop.carried.end()));
  e.barrier();
  e.end_loop(loop, llvm::SmallVector<Value*>(next.begin(), next.end()));
  result_ = fragments(LlvmValues(loop.results.begin(), loop.results.end()));
  done_ = true;
  if (m_.only_stores) return;
  const Buffer whole = e.result_buffer(m_.loop.getResult(0));
  for_fragments(e, m_.loop.getResult(0), shape, result_,
                [&](const Pos& pos) { e.Emitter::write(whole, pos, e.pull(m_.loop.getResult(0), pos)); });
  e.barrier();
}

}  // namespace epi::cuda
