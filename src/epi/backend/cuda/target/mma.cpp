// Contractions off the tensor-memory path. Operands go to shared memory. float16 and bfloat16 with a float32
// accumulator use mma.sync m16n8k16, a strip of 16 rows and up to 32 columns a warp; every other type multiplies and
// adds element by element.
#include "epi/backend/cuda/target/gpu_emitter.h"

namespace epi::cuda {
namespace {

using llvm::Value;

struct Extents {
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

// -- element by element --------------------------------------------------------------------------------------------
void plain_mma(GpuEmitter& e, tile::MmaOp op, const Extents& x, const Buffer& a, const Buffer& b_tile) {
  auto& b = e.builder();
  const DType dtype = tile::dtype_of(op.getAcc().getType());
  const auto walk = e.prepare({op.getAcc()}, true);
  const Buffer result = e.result_buffer(op.getResult());
  unsigned lanes = e.lanes_for(0, x.m * x.n);
  while (lanes > 1 && x.n % lanes != 0) lanes /= 2;
  const auto operand = [&](const Buffer& t, const Pos& pos) {
    return e.cast(e.read(t, pos), t.dtype, dtype, ir::Cast::k_wrap, op);
  };
  e.versioned(walk.accesses, {}, [&] {
    e.for_chunks({x.m, x.n}, lanes, [&](const Pos& pos) {
      Vec start = e.pull(op.getAcc(), pos);
      e.write_walked(walk, pos);
      const auto [row, col] = e.divmod(pos.index, x.n);
      const auto acc = e.make_registers({dtype}, pos.lanes);
      e.put(acc, {start});
      auto loop = e.begin_loop(e.i32(0), e.i32(x.k), e.i32(1));
      const Vec left = operand(a, e.at(b.CreateAdd(b.CreateMul(row, e.i32(x.k)), loop.index)));
      const Vec right =
          operand(b_tile, e.at(b.CreateAdd(b.CreateMul(loop.index, e.i32(x.n)), col), pos.lanes, pos.lanes));
      const Vec wide = e.splat(left, pos.lanes);
      const Vec sum = e.get(acc)[0];
      if (is_float(dtype))
        e.put(acc, {e.fma(wide, right, sum, dtype)});
      else
        e.put(acc, {e.binary(ir::Binary::k_add, sum, e.binary(ir::Binary::k_mul, wide, right, dtype, op), dtype, op)});
      e.end_loop(loop);
      e.write(result, pos, e.get(acc)[0]);
    });
  });
  e.walked(walk);
  e.barrier();
}

// -- mma.sync ------------------------------------------------------------------------------------------------------
bool fits_mma_sync(tile::MmaOp op, const Extents& x) {
  const DType d = tile::dtype_of(op.getA().getType());
  return (d == DType::kBFloat16 || d == DType::kFloat16) && tile::dtype_of(op.getAcc().getType()) == DType::kFloat32 &&
         x.m % 16 == 0 && x.n % 8 == 0 && x.k % 16 == 0;
}

class MmaSync {
 public:
  MmaSync(GpuEmitter& emitter, tile::MmaOp op, const Extents& x, const Buffer& a, const Buffer& b_tile)
      : e(emitter),
        b(emitter.builder()),
        op_(op),
        x_(x),
        a_(a),
        b_tile_(b_tile),
        strip_(x.n % 32 == 0   ? 4
               : x.n % 16 == 0 ? 2
                               : 1) {}
  void emit();

 private:
  Value* address(const Buffer& t, Value* row, Value* col, std::int64_t pitch) {
    Value* at = b.CreateAdd(b.CreateMul(row, e.i32(pitch)), col);
    Value* pointer = b.CreateGEP(b.getInt16Ty(), t.pointer, at);
    return b.CreatePtrToInt(pointer, b.getInt32Ty());
  }
  LlvmValues step(Value* row, Value* col, Value* k, const LlvmValues& acc);
  void strip(Value* index);

  GpuEmitter& e;
  llvm::IRBuilder<>& b;
  tile::MmaOp op_;
  Extents x_;
  Buffer a_;
  Buffer b_tile_;
  unsigned strip_;  ///< fragments of 8 columns a warp takes at once
  Buffer result_;
};

LlvmValues MmaSync::step(Value* row, Value* col, Value* k, const LlvmValues& acc) {
  Value* low = b.CreateAnd(e.lane(), e.i32(15));
  Value* high = b.CreateShl(b.CreateLShr(e.lane(), 4), 3);
  const auto a = e.ptx().load_matrix(address(a_, b.CreateAdd(row, low), b.CreateAdd(k, high), x_.k), 4, false);
  LlvmValues next = acc;
  for (unsigned s = 0; s < strip_; ++s) {
    Value* at = address(b_tile_, b.CreateAdd(k, low), b.CreateAdd(col, e.i32(8 * s)), x_.n);
    const auto bb = e.ptx().load_matrix(at, 2, true);
    const auto d = e.ptx().mma(a_.dtype == DType::kBFloat16, a, bb, llvm::ArrayRef(acc).slice(4 * s, 4));
    std::copy(d.begin(), d.end(), next.begin() + 4 * s);
  }
  return next;
}

void MmaSync::strip(Value* index) {
  const std::int64_t across = x_.n / (8 * strip_);
  Value* row = b.CreateMul(b.CreateUDiv(index, e.i32(across)), e.i32(16));
  Value* col = b.CreateMul(b.CreateURem(index, e.i32(across)), e.i32(8 * strip_));
  Value* my_row = b.CreateAdd(row, b.CreateLShr(e.lane(), 2));
  Value* my_col = b.CreateAdd(col, b.CreateShl(b.CreateAnd(e.lane(), e.i32(3)), 1));
  const auto place = [&](unsigned s, unsigned half) {
    Value* r = b.CreateAdd(my_row, e.i32(8 * half));
    return e.at(b.CreateAdd(b.CreateMul(r, e.i32(x_.n)), b.CreateAdd(my_col, e.i32(8 * s))), 2, 2);
  };
  LlvmValues acc;
  for (unsigned s = 0; s < strip_; ++s)
    for (unsigned half = 0; half < 2; ++half) {
      const Vec pair = e.pull(op_.getAcc(), place(s, half));
      acc.push_back(e.extract(pair, 0).re);
      acc.push_back(e.extract(pair, 1).re);
    }
  acc = emit_loop(b, e.i32(0), e.i32(x_.k), e.i32(16), acc,
                  [&](Value* k, const LlvmValues& carried) { return step(row, col, k, carried); });
  for (unsigned s = 0; s < strip_; ++s)
    for (unsigned half = 0; half < 2; ++half) {
      Vec pair = e.zero(DType::kFloat32, 2);
      pair = e.insert(pair, {acc[4 * s + 2 * half]}, 0);
      pair = e.insert(pair, {acc[4 * s + 2 * half + 1]}, 1);
      e.write(result_, place(s, half), pair);
    }
}

void MmaSync::emit() {
  const auto walk = e.prepare({op_.getAcc()}, false);
  result_ = e.result_buffer(op_.getResult());
  const std::int64_t strips = x_.m / 16 * (x_.n / (8 * strip_));
  e.versioned(walk.accesses, {}, [&] {
    e.if_then(b.CreateICmpULT(e.warp(), e.i32(strips)), [&] {
      auto loop = e.begin_loop(e.warp(), e.i32(strips), e.i32(e.threads() / 32));
      strip(loop.index);
      e.end_loop(loop);
    });
  });
  e.walked(walk);
  e.barrier();
}

}  // namespace

void GpuEmitter::emit_mma(tile::MmaOp op) {
  const auto a_shape = tile::shape_of(op.getA().getType());
  const Extents x{a_shape[0], tile::shape_of(op.getB().getType())[1], a_shape[1]};
  const Buffer a = materialise(op.getA());
  const Buffer b_tile = materialise(op.getB());
  barrier();
  if (fits_mma_sync(op, x))
    MmaSync(*this, op, x, a, b_tile).emit();
  else
    plain_mma(*this, op, x, a, b_tile);
}

}  // namespace epi::cuda
