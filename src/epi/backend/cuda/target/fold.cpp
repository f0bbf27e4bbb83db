#include "epi/backend/cuda/target/fold.h"

namespace epi::cuda {

using llvm::Value;

Fold::Fold(GpuEmitter& emitter, mlir::Operation* op, tile::CombineKind kind, mlir::Region& region,
           mlir::ValueRange sources)
    : e(emitter),
      b(emitter.builder()),
      op_(op),
      kind_(static_cast<ir::Combine>(kind)),
      region_(region),
      sources_(sources.begin(), sources.end()) {
  for (mlir::Value v : sources) dtypes.push_back(tile::dtype_of(v.getType()));
}

Tuple Fold::combine(const Tuple& left, const Tuple& right) {
  return e.combine(kind_, region_, left, right, dtypes, op_);
}

Tuple Fold::combine_if(Value* present, const Tuple& left, const Tuple& right) {
  if (present == nullptr) return combine(left, right);
  return e.select_tuple(present, combine(left, right), left);
}

Tuple Fold::pull(const Pos& pos) {
  Tuple out;
  for (mlir::Value v : sources_) out.push_back(e.pull(v, pos));
  return out;
}

Value* Fold::below(Value* lane, std::int64_t offset, std::int64_t count, std::int64_t limit) {
  if (count + offset <= limit) return nullptr;
  return b.CreateICmpULT(b.CreateAdd(lane, e.i32(offset)), e.i32(limit));
}

Tuple Fold::halve_in_warp(Tuple v, Value* lane, std::int64_t first, std::int64_t lanes) {
  for (std::int64_t h = first; h >= 1; h /= 2)
    v = combine_if(below(lane, h, h, lanes), v, e.shuffle_down(v, static_cast<unsigned>(h)));
  return v;
}

Tuple Fold::halve_in_thread(const GpuEmitter::Shelf& shelf, Value* l, std::int64_t stride, std::int64_t count,
                            std::int64_t limit) {
  llvm::SmallVector<Tuple> x;
  for (std::int64_t j = 0; j < count; ++j) x.push_back(e.read(shelf, b.CreateAdd(l, e.i32(stride * j))));
  for (std::int64_t half = count / 2; half >= 1; half /= 2)
    for (std::int64_t j = 0; j < half; ++j)
      x[static_cast<std::size_t>(j)] =
          combine_if(below(l, stride * (j + half), stride, limit), x[static_cast<std::size_t>(j)],
                     x[static_cast<std::size_t>(j + half)]);
  return x[0];
}

Tuple Fold::fold_any_order(const GpuEmitter::Shelf& shelf, Value* first, Value* last, std::int64_t count) {
  Tuple neutral;
  for (DType d : dtypes) neutral.push_back(e.identity(kind_, d, 1));
  Tuple sum = neutral;
  for (std::int64_t j = 0; j < (count + 31) / 32; ++j) {
    Value* at = b.CreateAdd(b.CreateAdd(first, e.lane()), e.i32(32 * j));
    Value* counts = b.CreateICmpSLE(at, last);
    const Tuple x = e.read(shelf, b.CreateSelect(counts, at, first));
    sum = combine(sum, e.select_tuple(counts, x, neutral));
  }
  for (unsigned d = 16; d >= 1; d /= 2) sum = combine(sum, e.shuffle_down(sum, d));
  return e.shuffle_from(sum, e.i32(0));
}

Tuple Fold::fold_in_order(const GpuEmitter::Shelf& shelf, Value* first, Value* last) {
  constexpr std::int64_t kAhead = 8;
  const auto acc = e.make_registers(dtypes, 1);
  e.put(acc, e.read(shelf, first));
  e.if_then(b.CreateICmpSLT(first, last), [&] {
    auto loop = e.begin_loop(b.CreateAdd(first, e.i32(1)), b.CreateAdd(last, e.i32(1)), e.i32(kAhead));
    llvm::SmallVector<Tuple> next;
    llvm::SmallVector<Value*> present;
    for (std::int64_t i = 0; i < kAhead; ++i) {
      Value* at = b.CreateAdd(loop.index, e.i32(i));
      present.push_back(b.CreateICmpSLE(at, last));
      next.push_back(e.read(shelf, b.CreateSelect(present.back(), at, last)));
    }
    Tuple sum = e.get(acc);
    for (std::size_t i = 0; i < kAhead; ++i) sum = combine_if(present[i], sum, next[i]);
    e.put(acc, sum);
    e.end_loop(loop);
  });
  return e.get(acc);
}

bool Fold::exact() const {
  if (kind_ == ir::Combine::k_region) return false;
  for (DType d : dtypes)
    if (!is_integer(d) && d != DType::kBool) return false;
  return true;
}

}  // namespace epi::cuda
