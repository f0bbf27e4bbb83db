// Reductions. The association is the record's in ops/tile.td: lane l folds elements l, l + L, ..., then lanes are
// folded by halving. Three shapes of it: a whole tile by the block, rows by groups of a warp, and anything else through
// shared memory.
#include <llvm/ADT/bit.h>

#include "epi/backend/cuda/target/fold.h"

namespace epi::cuda {
namespace {

using llvm::Value;

std::int64_t ceil_power(std::int64_t n) {
  return static_cast<std::int64_t>(llvm::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, n))));
}

/// Elements first, first + L, ... of one line of n that starts at `line`, folded into `acc`: a thread holds v
/// neighbouring lanes from `own`, of L.
struct LineFold {
  Fold& f;
  const compiler::Emitter::Walk& walk;
  std::int64_t n;
  std::int64_t lanes;
  unsigned v;
  Value* own;
  Value* line;

  void run(const GpuEmitter::Registers& acc, bool all_threads_have_lanes);

 private:
  Tuple take(Value* index, unsigned count) {
    const Pos pos = f.e.at(index, count, count);
    Tuple x = f.pull(pos);
    f.e.write_walked(walk, pos);
    return x;
  }
  void tail(const GpuEmitter::Registers& acc, std::int64_t from, std::int64_t count);
};

void LineFold::run(const GpuEmitter::Registers& acc, bool all_threads_have_lanes) {
  GpuEmitter& e = f.e;
  auto& b = f.b;
  const auto whole = [&] {
    const auto round = [&](Value* base) {
      Value* index = e.chunk_index(b.CreateAdd(line, base), own);
      if (auto* fixed = llvm::dyn_cast<llvm::ConstantInt>(base)) e.name_chunk(index, fixed->getSExtValue() / lanes);
      return index;
    };
    {
      compiler::Emitter::Scope scope(e);
      e.put(acc, take(round(e.i32(0)), v));
    }
    e.for_rounds(lanes, n / lanes - 1, lanes, [&](Value* base) {
      Tuple x = take(round(base), v);
      e.put(acc, f.combine(e.get(acc), x));
    });
  };
  if (n < lanes) {  // v is 1
    e.if_then(b.CreateICmpULT(own, e.i32(n)), [&] {
      Value* index = e.chunk_index(line, own);
      e.name_chunk(index, 0);
      e.put(acc, take(index, 1));
    });
    return;
  }
  if (all_threads_have_lanes)
    whole();
  else
    e.if_then(b.CreateICmpULT(own, e.i32(lanes)), whole);
  if (n % lanes != 0) tail(acc, n / lanes * lanes, n % lanes);
}

void LineFold::tail(const GpuEmitter::Registers& acc, std::int64_t from, std::int64_t count) {
  GpuEmitter& e = f.e;
  auto& b = f.b;
  Value* start = b.CreateAdd(b.CreateAdd(line, own), e.i32(from));
  if (count % v == 0 && n % v == 0) {
    e.if_then(b.CreateICmpULT(own, e.i32(count)), [&] {
      Value* index = e.chunk_index(b.CreateAdd(line, e.i32(from)), own);
      e.name_chunk(index, from / lanes);
      Tuple x = take(index, v);
      e.put(acc, f.combine(e.get(acc), x));
    });
    return;
  }
  for (unsigned j = 0; j < v; ++j)
    e.if_then(b.CreateICmpULT(b.CreateAdd(own, e.i32(j)), e.i32(count)), [&] {
      Tuple x = take(b.CreateAdd(start, e.i32(j)), 1);
      Tuple wide = e.get(acc);
      Tuple mine;
      for (const Vec& w : wide) mine.push_back(v == 1 ? w : e.extract(w, j));
      const Tuple folded = f.combine(mine, x);
      for (std::size_t k = 0; k < wide.size(); ++k) wide[k] = v == 1 ? folded[k] : e.insert(wide[k], folded[k], j);
      e.put(acc, wide);
    });
}

/// Folds the lanes of a group: thread distances first, then the v lanes within a thread.
Tuple halve_group(Fold& f, Tuple x, Value* member, std::int64_t group, unsigned v, std::int64_t present) {
  x = f.halve_in_warp(x, member, group / 2, v == 1 ? present : group);
  for (unsigned h = v / 2; h >= 1; h /= 2) {
    Tuple low;
    Tuple high;
    llvm::SmallVector<int> first;
    llvm::SmallVector<int> second;
    for (unsigned j = 0; j < h; ++j) {
      first.push_back(static_cast<int>(j));
      second.push_back(static_cast<int>(j + h));
    }
    for (const Vec& w : x) {
      low.push_back(h == 1 ? f.e.extract(w, 0) : f.e.shuffle(w, w, first));
      high.push_back(h == 1 ? f.e.extract(w, 1) : f.e.shuffle(w, w, second));
    }
    x = f.combine(low, high);
  }
  return x;
}

// -- a whole tile by the block -------------------------------------------------------------------------------------
bool block_fits(const Cut& cut, std::int64_t lanes, unsigned threads) {
  if (cut.results() != 1 || cut.n == 0 || !llvm::has_single_bit(static_cast<std::uint64_t>(lanes))) return false;
  const std::int64_t v = std::max<std::int64_t>(1, lanes / threads);
  return v <= 16 && (v == 1 || cut.n >= lanes) && llvm::has_single_bit(threads);
}

void block_reduce(Fold& f, tile::ReduceOp op, std::int64_t n, std::int64_t lanes) {
  GpuEmitter& e = f.e;
  auto& b = f.b;
  const auto threads = static_cast<std::int64_t>(e.threads());
  const auto v = static_cast<unsigned>(std::max<std::int64_t>(1, lanes / threads));
  const std::int64_t present = std::min(n, lanes);
  std::int64_t power = ceil_power(present);
  Value* own = b.CreateMul(e.tid(), e.i32(v));
  const auto acc = e.make_registers(f.dtypes, v);
  const auto walk = e.prepare(f.sources(), true);
  e.versioned(walk.accesses, {}, [&] { LineFold{f, walk, n, lanes, v, own, e.i32(0)}.run(acc, lanes >= threads); });
  e.walked(walk);
  Tuple value = e.get(acc);
  if (threads == 32) {
    value = e.shuffle_from(halve_group(f, value, e.lane(), 32, v, present), e.i32(0));
    for (std::size_t k = 0; k < value.size(); ++k) e.set_single(op.getResult(static_cast<unsigned>(k)), value[k]);
    return;
  }
  if (power > 32 || v > 1) {
    auto shelf = e.make_shelf(f.dtypes, std::max<std::int64_t>(power, 32));
    const auto keep = [&] { e.write(shelf, own, value, v); };
    if (present < threads * v)
      e.if_then(b.CreateICmpULT(own, e.i32(present)), keep);
    else
      keep();
    e.barrier();
    std::int64_t limit = present;
    if (power > 8 * 32 && power > threads) {  // all threads fold down to one lane each
      value = f.halve_in_thread(shelf, e.tid(), threads, power / threads, present);
      shelf = e.make_shelf(f.dtypes, threads);
      e.write(shelf, e.tid(), value);
      e.barrier();
      power = limit = threads;
    }
    const auto last = e.make_registers(f.dtypes, 1);
    e.if_then(b.CreateICmpULT(e.tid(), e.i32(32)), [&] {
      Tuple x = f.halve_in_thread(shelf, e.tid(), 32, std::max<std::int64_t>(1, power / 32), limit);
      e.put(last, f.halve_in_warp(x, e.tid(), std::min<std::int64_t>(16, power / 2), limit));
    });
    value = e.get(last);
  } else {
    value = f.halve_in_warp(value, e.lane(), power / 2, present);
  }
  value = e.broadcast(value, f.dtypes, power <= 32 && v == 1);
  for (std::size_t k = 0; k < value.size(); ++k) e.set_single(op.getResult(static_cast<unsigned>(k)), value[k]);
}

// -- rows by groups of a warp --------------------------------------------------------------------------------------
bool rows_fit(const Cut& cut, std::int64_t lanes) {
  if (cut.inner != 1 || cut.n == 0 || !llvm::has_single_bit(static_cast<std::uint64_t>(lanes))) return false;
  const std::int64_t v = std::max<std::int64_t>(1, lanes / 32);
  return v == 1 || (v <= 16 && cut.n >= lanes && cut.n % v == 0);
}

void row_reduce(Fold& f, tile::ReduceOp op, const Cut& cut, std::int64_t lanes) {
  GpuEmitter& e = f.e;
  auto& b = f.b;
  const std::int64_t group = std::min<std::int64_t>(32, lanes);
  const auto v = static_cast<unsigned>(lanes / group);
  const std::int64_t rows = e.threads() / group;  // at a time
  Value* member = b.CreateAnd(e.tid(), e.i32(group - 1));
  Value* mine = b.CreateUDiv(e.tid(), e.i32(group));
  const auto acc = e.make_registers(f.dtypes, v);
  const auto walk = e.prepare(f.sources(), true);
  llvm::SmallVector<Buffer, 2> results;
  for (mlir::Value r : op.getResults()) results.push_back(e.result_buffer(r));
  e.versioned(walk.accesses, {}, [&] {
    e.for_rounds(0, (cut.outer + rows - 1) / rows, rows, [&](Value* base) {
      Value* row = b.CreateAdd(base, mine);
      Value* exists = b.CreateICmpULT(row, e.i32(cut.outer));
      row = b.CreateSelect(exists, row, e.i32(cut.outer - 1));  // all threads take part in the shuffles
      Value* line = b.CreateMul(row, e.i32(cut.n));
      LineFold{f, walk, cut.n, lanes, v, b.CreateMul(member, e.i32(v)), line}.run(acc, true);
      const Tuple x = halve_group(f, e.get(acc), member, group, v, std::min(cut.n, lanes));
      e.if_then(b.CreateAnd(exists, b.CreateICmpEQ(member, e.i32(0))), [&] {
        for (std::size_t k = 0; k < x.size(); ++k) e.write(results[k], e.at(row), x[k]);
      });
    });
  });
  e.walked(walk);
  e.barrier();
}

// -- anything else -------------------------------------------------------------------------------------------------
void general_reduce(Fold& f, tile::ReduceOp op, const Cut& cut, std::int64_t lanes) {
  GpuEmitter& e = f.e;
  auto& b = f.b;
  const std::int64_t width = cut.results();
  const std::int64_t present = std::min(cut.n, lanes);
  const auto walk = e.prepare(f.sources(), false);
  GpuEmitter::Shelf shelf;  // [present][width]; its first row becomes the result
  for (mlir::Value r : op.getResults()) {
    Buffer buffer = e.make_buffer(tile::dtype_of(r.getType()), present * width);
    shelf.tiles.push_back(buffer);
  }
  const auto acc = e.make_registers(f.dtypes, 1);
  e.versioned(walk.accesses, {}, [&] {
    e.for_chunks({present, width}, 1, [&](const Pos& item) {
      const auto [first, column] = e.divmod(item.index, width);
      const auto [o, i] = e.divmod(column, cut.inner);
      Value* line = b.CreateAdd(b.CreateMul(o, e.i32(cut.n * cut.inner)), i);
      const auto at_row = [&](Value* r) { return e.at(b.CreateAdd(line, b.CreateMul(r, e.i32(cut.inner)))); };
      e.put(acc, f.pull(at_row(first)));
      Value* start = b.CreateAdd(first, e.i32(lanes));
      e.if_then(b.CreateICmpULT(start, e.i32(cut.n)), [&] {
        auto loop = e.begin_loop(start, e.i32(cut.n), e.i32(lanes));
        Tuple x = f.pull(at_row(loop.index));
        e.put(acc, f.combine(e.get(acc), x));
        e.end_loop(loop);
      });
      e.write(shelf, item.index, e.get(acc));
    });
  });
  e.walked(walk);
  e.barrier();
  for (std::int64_t half = ceil_power(present) / 2, left = present; half >= 1; half /= 2) {
    const std::int64_t pairs = left - half;
    if (pairs <= 0) continue;
    e.for_chunks({pairs * width}, 1, [&](const Pos& item) {
      Tuple x = e.read(shelf, item.index);
      Tuple y = e.read(shelf, b.CreateAdd(item.index, e.i32(half * width)));
      e.write(shelf, item.index, f.combine(x, y));
    });
    e.barrier();
    left = half;
  }
  for (std::size_t k = 0; k < shelf.tiles.size(); ++k) {
    mlir::Value r = op.getResult(static_cast<unsigned>(k));
    Buffer buffer = shelf.tiles[k];
    buffer.count = width;
    if (mlir::isa<mlir::RankedTensorType>(r.getType()))
      e.bind_buffer(r, buffer);
    else
      e.set_scalar(r, e.read(buffer, e.at(std::int64_t{0})));
  }
  if (width == 1) e.barrier();
}

}  // namespace

void GpuEmitter::emit_reduce(tile::ReduceOp op) {
  Fold f(*this, op, op.getKind(), op.getCombine(), op.getSources());
  const Cut cut(tile::shape_of(op.getSources()[0].getType()), op.getAxis());
  if (cut.n == 0) {
    for (auto [k, r] : llvm::enumerate(op.getResults())) {
      const DType d = f.dtypes[k];
      const Vec one = identity(static_cast<ir::Combine>(op.getKind()), d, 1);
      if (!mlir::isa<mlir::RankedTensorType>(r.getType())) {
        set_scalar(r, one);
        continue;
      }
      const Buffer buffer = result_buffer(r);
      for_chunks({cut.results()}, 1, [&](const Pos& pos) { write(buffer, pos, one); });
      barrier();
    }
    return;
  }
  const std::int64_t lanes = op.getLanes() ? static_cast<std::int64_t>(*op.getLanes()) : cut.n;
  if (block_fits(cut, lanes, threads())) return block_reduce(f, op, cut.n, lanes);
  if (rows_fit(cut, lanes)) return row_reduce(f, op, cut, lanes);
  general_reduce(f, op, cut, std::min(lanes, cut.n));
}

}  // namespace epi::cuda
