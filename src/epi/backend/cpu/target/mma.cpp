// acc + a @ b by register blocks: a block of the result stays in registers while K runs, one broadcast of `a` against
// vectors of `b` a step. Operands are packed into scratch in the accumulator's type, row-major, when they are made.
#include "epi/backend/cpu/target/cpu_emitter.h"

namespace epi::cpu {

/// One mma's buffers (all in the accumulator's dtype) and sizes.
struct CpuEmitter::Contraction {
  CpuEmitter& e;
  DType dtype;
  Buffer a, b, acc, out;
  std::int64_t m, n, k;

  Vec multiply_add(Vec x, Vec y, Vec z) {
    if (dtype == DType::kFloat32 || dtype == DType::kFloat64) return e.fma(x, y, z, dtype);
    return e.binary(ir::Binary::k_add, e.binary(ir::Binary::k_mul, x, y, dtype, nullptr), z, dtype, nullptr);
  }
  /// Rows [i, i + rows) by `vectors` vectors of `lanes` from column j.
  void block(llvm::Value* i, llvm::Value* j, std::int64_t rows, std::int64_t vectors, unsigned lanes);
  void columns(llvm::Value* j, std::int64_t vectors, unsigned lanes, std::int64_t rows);
};

void CpuEmitter::Contraction::block(llvm::Value* i, llvm::Value* j, std::int64_t rows, std::int64_t vectors, unsigned lanes) {
  auto& ir = e.b_;
  auto index = [&](std::int64_t v) { return e.constant_index(v); };
  auto spot = [&](std::int64_t r, std::int64_t v) {
    llvm::Value* row = ir.CreateMul(ir.CreateAdd(i, index(r)), index(n));
    return e.Emitter::at(ir.CreateAdd(row, ir.CreateAdd(j, index(v * lanes))), lanes, n % lanes == 0 ? lanes : 1);
  };
  llvm::SmallVector<llvm::Value*, 24> sums;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t v = 0; v < vectors; ++v) sums.push_back(e.read(acc, spot(r, v)).re);
  if (k > 0) {
    Loop loop = e.begin_loop(index(0), index(k), index(1), sums);
    llvm::SmallVector<Vec, 4> right;
    llvm::Value* row = ir.CreateAdd(ir.CreateMul(loop.index, index(n)), j);
    for (std::int64_t v = 0; v < vectors; ++v)
      right.push_back(e.read(b, e.Emitter::at(ir.CreateAdd(row, index(v * lanes)), lanes, n % lanes == 0 ? lanes : 1)));
    for (std::int64_t r = 0; r < rows; ++r) {
      llvm::Value* at_a = ir.CreateAdd(ir.CreateMul(ir.CreateAdd(i, index(r)), index(k)), loop.index);
      const Vec left = e.splat(e.read(a, e.Emitter::at(at_a)), lanes);
      for (std::int64_t v = 0; v < vectors; ++v) {
        const auto at = static_cast<std::size_t>(r * vectors + v);
        sums[at] = multiply_add(left, right[static_cast<std::size_t>(v)], {loop.carried[at]}).re;
      }
    }
    e.end_loop(loop, sums);
    sums.assign(loop.results.begin(), loop.results.end());
  }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t v = 0; v < vectors; ++v) e.write(out, spot(r, v), {sums[static_cast<std::size_t>(r * vectors + v)]});
}

void CpuEmitter::Contraction::columns(llvm::Value* j, std::int64_t vectors, unsigned lanes, std::int64_t rows) {
  const std::int64_t whole = m / rows * rows;
  auto run = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
    if (from >= to) return;
    Loop loop = e.begin_loop(e.constant_index(from), e.constant_index(to), e.constant_index(step));
    block(loop.index, j, step, vectors, lanes);
    e.end_loop(loop);
  };
  run(0, whole, rows);
  run(whole, m, 1);
}

void CpuEmitter::emit_mma(tile::MmaOp op) {
  const DType dtype = tile::dtype_of(op.getAcc().getType());
  const llvm::ArrayRef<std::int64_t> a_shape = tile::shape_of(op.getA().getType());
  const std::int64_t m = a_shape[0];
  const std::int64_t k = a_shape[1];
  const std::int64_t n = tile::shape_of(op.getB().getType())[1];
  auto packed = [&](mlir::Value v) {
    const DType from = tile::dtype_of(v.getType());
    if (from == dtype) return materialise(v);
    const Buffer to = make_buffer(dtype, tile::size_of(v.getType()));
    for_each({v}, tile::shape_of(v.getType()),
             [&](const Pos& pos) { write(to, pos, cast(pull(v, pos), from, dtype, ir::Cast::k_wrap, op)); });
    return to;
  };
  const Buffer a = packed(op.getA());
  const Buffer b = packed(op.getB());
  const Buffer acc = materialise(op.getAcc());
  // A loop's accumulator that nothing else reads is updated in place.
  const bool in_place = mlir::isa<mlir::BlockArgument>(op.getAcc()) && op.getAcc().hasOneUse();
  if (in_place) bind_buffer(op.getResult(), acc);
  const Buffer out = in_place ? acc : result_buffer(op.getResult());
  if (m * n == 0) return;
  Contraction c{*this, dtype, a, b, acc, out, m, n, k};
  const auto size = static_cast<unsigned>(size_bytes(dtype));
  const std::int64_t rows = level_.vector_bytes == 64 ? 8 : m % 6 == 0 ? 6 : 4;
  std::int64_t j = 0;
  auto sweep = [&](std::int64_t vectors, unsigned lanes) {
    const std::int64_t step = vectors * lanes;
    const std::int64_t to = j + (n - j) / step * step;
    if (to == j) return;
    Loop loop = begin_loop(constant_index(j), constant_index(to), constant_index(step));
    c.columns(loop.index, vectors, lanes, rows);
    end_loop(loop);
    j = to;
  };
  const unsigned native = level_.vector_bytes / std::max(4U, size);
  sweep(2, native);
  sweep(1, native);
  for (unsigned lanes = native / 2; lanes >= 1; lanes /= 2) sweep(1, lanes);
}

}  // namespace epi::cpu
