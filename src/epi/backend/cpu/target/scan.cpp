// Inclusive prefix folds in the association of tile.td: segments from left to right, groups of 32 segments by doubling,
// groups from left to right. Neighbours beside the axis go side by side in a vector.
#include "epi/backend/cpu/target/cpu_emitter.h"

namespace epi::cpu {
namespace {

constexpr std::int64_t kGroup = 32;

/// Any association gives the same bits.
bool associates(ir::Combine kind, llvm::ArrayRef<DType> dtypes) {
  if (kind == ir::Combine::k_region) return false;
  if (kind == ir::Combine::k_minimum || kind == ir::Combine::k_maximum) return true;
  return is_integer(dtypes[0]) || dtypes[0] == DType::kBool;
}

}  // namespace

/// One column (or `lanes` neighbouring ones) of a scan.
struct CpuEmitter::Column {
  CpuEmitter& e;
  tile::ScanOp op;
  ir::Combine kind;
  llvm::SmallVector<DType, 2> dtypes;
  llvm::SmallVector<Buffer, 2> results;
  const Walk& walk;
  unsigned lanes;
  std::int64_t n;
  bool reverse;
  llvm::function_ref<Pos(llvm::Value*)> at;  ///< of element k along the axis
  llvm::SmallVector<Buffer, 2> prefixes;      ///< what comes before a segment

  Tuple combine(const Tuple& a, const Tuple& b) {
    llvm::SmallVector<Vec, 2> r = e.combine(kind, op.getCombine(), a, b, dtypes, op);
    return {r.begin(), r.end()};
  }
  /// Element i in scan order.
  Pos place(llvm::Value* i) { return at(reverse ? e.b_.CreateSub(e.constant_index(n - 1), i) : i); }
  Tuple pull(const Pos& pos) {
    e.write_walked(walk, pos);
    Tuple out;
    for (mlir::Value v : op.getSources()) out.push_back(e.pull(v, pos));
    return out;
  }
  void put(const Pos& pos, const Tuple& t) {
    for (auto [b, v] : llvm::zip(results, t)) e.write(b, pos, v);
  }
  Tuple done(const Pos& pos) {
    Tuple t;
    for (const Buffer& b : results) t.push_back(e.read(b, pos));
    return t;
  }
  llvm::SmallVector<llvm::Value*, 4> flat(const Tuple& t) {
    llvm::SmallVector<llvm::Value*, 4> out;
    for (const Vec& v : t) {
      out.push_back(v.re);
      if (v.im) out.push_back(v.im);
    }
    return out;
  }
  template <class Values>
  Tuple like(Tuple t, const Values& values) {
    std::size_t next = 0;
    for (Vec& v : t) {
      v.re = values[next++];
      if (v.im) v.im = values[next++];
    }
    return t;
  }
  /// Elements [from, to) from left to right; gives the last.
  Tuple serial(llvm::Value* from, llvm::Value* to);
  void grouped(std::int64_t segment);
};

Tuple CpuEmitter::Column::serial(llvm::Value* from, llvm::Value* to) {
  Tuple first;
  {
    Scope scope(e);
    const Pos pos = place(from);
    first = pull(pos);
    put(pos, first);
  }
  Loop loop = e.begin_loop(e.b_.CreateAdd(from, e.constant_index(1)), to, e.constant_index(1), flat(first), false);
  const Pos pos = place(loop.index);
  const Tuple next = combine(like(first, loop.carried), pull(pos));
  put(pos, next);
  e.end_loop(loop, flat(next));
  return like(first, loop.results);
}

void CpuEmitter::Column::grouped(std::int64_t segment) {
  auto index = [&](std::int64_t v) { return e.constant_index(v); };
  auto& b = e.b_;
  const std::int64_t segments = (n + segment - 1) / segment;
  llvm::SmallVector<Buffer, 2> totals;
  llvm::SmallVector<Buffer, 2> before;  // the groups before
  for (DType d : dtypes) {
    totals.push_back(e.make_buffer(d, kGroup * lanes));
    before.push_back(e.make_buffer(d, lanes));
  }
  auto spot = [&](llvm::Value* s) { return e.Emitter::at(b.CreateMul(s, index(lanes)), lanes, lanes); };
  auto get = [&](llvm::ArrayRef<Buffer> from, llvm::Value* s) {
    Tuple t;
    for (const Buffer& x : from) t.push_back(e.read(x, spot(s)));
    return t;
  };
  auto set = [&](llvm::ArrayRef<Buffer> to, llvm::Value* s, const Tuple& t) {
    for (auto [x, v] : llvm::zip(to, t)) e.write(x, spot(s), v);
  };
  auto least = [&](llvm::Value* x, llvm::Value* y) { return b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, y); };
  Loop groups = e.begin_loop(index(0), index(segments), index(kGroup));
  llvm::Value* base = groups.index;
  llvm::Value* count = least(b.CreateSub(index(segments), base), index(kGroup));
  Loop local = e.begin_loop(index(0), count, index(1), {}, false);
  llvm::Value* from = b.CreateMul(b.CreateAdd(base, local.index), index(segment));
  set(totals, local.index, serial(from, least(b.CreateAdd(from, index(segment)), index(n))));
  e.end_loop(local);
  for (std::int64_t d = 1; d < kGroup; d *= 2) {  // doubling, from the end so that old values are read
    Loop up = e.begin_loop(index(0), b.CreateSub(count, index(d)), index(1), {}, false);
    llvm::Value* i = b.CreateSub(b.CreateSub(count, index(1)), up.index);
    set(totals, i, combine(get(totals, b.CreateSub(i, index(d))), get(totals, i)));
    e.end_loop(up);
  }
  llvm::Value* later = b.CreateICmpSGT(base, index(0));
  auto add_to = [&](llvm::Value* s, llvm::function_ref<Tuple()> prefix) {
    llvm::Value* begin = b.CreateMul(b.CreateAdd(base, s), index(segment));
    Loop each = e.begin_loop(begin, least(b.CreateAdd(begin, index(segment)), index(n)), index(1), {}, false);
    const Pos pos = place(each.index);
    const Tuple x = done(pos);
    put(pos, combine(prefix(), x));
    e.end_loop(each);
  };
  e.if_then(later, [&] { add_to(index(0), [&] { return get(before, index(0)); }); });
  Loop spread = e.begin_loop(index(1), count, index(1), {}, false);
  llvm::Value* s = spread.index;
  for (auto [x, y] : llvm::zip(prefixes, totals)) e.write(x, spot(index(0)), e.read(y, spot(b.CreateSub(s, index(1)))));
  e.if_then(later, [&] { set(prefixes, index(0), combine(get(before, index(0)), get(prefixes, index(0)))); });
  add_to(s, [&] { return get(prefixes, index(0)); });
  e.end_loop(spread);
  llvm::Value* last = b.CreateSub(count, index(1));
  e.if_then(later, [&] { set(totals, last, combine(get(before, index(0)), get(totals, last))); });
  set(before, index(0), get(totals, last));
  e.end_loop(groups);
}

void CpuEmitter::emit_scan(tile::ScanOp op) {
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(op.getSources()[0].getType());
  const auto axis = static_cast<std::size_t>(op.getAxis());
  const auto kind = static_cast<ir::Combine>(op.getKind());
  const std::int64_t n = shape[axis];
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t a = 0; a < shape.size(); ++a) (a < axis ? outer : inner) *= a == axis ? 1 : shape[a];
  llvm::SmallVector<DType, 2> dtypes;
  llvm::SmallVector<Buffer, 2> results;
  for (mlir::Value r : op.getResults()) {
    dtypes.push_back(tile::dtype_of(r.getType()));
    results.push_back(result_buffer(r));
  }
  if (n * outer * inner == 0) return;
  std::int64_t segment = op.getSegment() ? static_cast<std::int64_t>(*op.getSegment()) : 1;
  if (associates(kind, dtypes)) segment = n;
  const llvm::SmallVector<mlir::Value, 2> sources(op.getSources());
  const Walk walk = prepare(sources, true);
  const unsigned native = inner == 1 ? 1 : lanes_for(walk.widest, inner);
  run_versions(walk, {}, {}, [&] {
    for_range(0, outer, 1, [&](llvm::Value* o) {
      for_chunks({inner}, native, [&](const Pos& beside) {
        auto at_element = [&](llvm::Value* k) {
          llvm::Value* row = outer == 1 ? k : b_.CreateAdd(b_.CreateMul(o, constant_index(n)), k);
          llvm::Value* i = inner == 1 ? row : b_.CreateAdd(b_.CreateMul(row, constant_index(inner)), beside.index);
          Pos p = at(i, beside.lanes, inner % beside.lanes == 0 ? beside.lanes : 1);
          p.within = inner == 1 ? 0 : inner;
          if (inner > 1) seed_divmod(i, inner, row, beside.index);
          if (outer > 1) seed_divmod(row, n, o, k);
          return p;
        };
        Column column{*this, op, kind, dtypes, results, walk, beside.lanes, n, op.getReverse(), at_element, {}};
        for (DType d : dtypes) column.prefixes.push_back(make_buffer(d, beside.lanes));
        if (segment >= n) column.serial(constant_index(0), constant_index(n));
        else column.grouped(segment);
      });
    });
  });
  walked(walk);
}

}  // namespace epi::cpu
