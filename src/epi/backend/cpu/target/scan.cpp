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
  void put(const Pos& pos, const Tuple& t) {
    for (auto [b, v] : llvm::zip(results, t)) e.write(b, pos, v);
  }
  Tuple get(const Pos& pos) {
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
  void by_vectors(unsigned width);
  void side_by_side(std::int64_t segment, unsigned width);
};

Tuple CpuEmitter::Column::serial(llvm::Value* from, llvm::Value* to) {
  Tuple first;
  {
    Scope scope(e);
    const Pos pos = place(from);
    first = get(pos);
  }
  Loop loop = e.begin_loop(e.b_.CreateAdd(from, e.constant_index(1)), to, e.constant_index(1), flat(first), false);
  const Pos pos = place(loop.index);
  const Tuple next = combine(like(first, loop.carried), get(pos));
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
  auto take = [&](llvm::ArrayRef<Buffer> from, llvm::Value* s) {
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
    set(totals, i, combine(take(totals, b.CreateSub(i, index(d))), take(totals, i)));
    e.end_loop(up);
  }
  llvm::Value* later = b.CreateICmpSGT(base, index(0));
  auto add_to = [&](llvm::Value* s, llvm::function_ref<Tuple()> prefix) {
    llvm::Value* begin = b.CreateMul(b.CreateAdd(base, s), index(segment));
    Loop each = e.begin_loop(begin, least(b.CreateAdd(begin, index(segment)), index(n)), index(1), {}, false);
    const Pos pos = place(each.index);
    const Tuple x = get(pos);
    put(pos, combine(prefix(), x));
    e.end_loop(each);
  };
  e.if_then(later, [&] { add_to(index(0), [&] { return take(before, index(0)); }); });
  Loop spread = e.begin_loop(index(1), count, index(1), {}, false);
  llvm::Value* s = spread.index;
  for (auto [x, y] : llvm::zip(prefixes, totals)) e.write(x, spot(index(0)), e.read(y, spot(b.CreateSub(s, index(1)))));
  e.if_then(later, [&] { set(prefixes, index(0), combine(take(before, index(0)), take(prefixes, index(0)))); });
  add_to(s, [&] { return take(prefixes, index(0)); });
  e.end_loop(spread);
  llvm::Value* last = b.CreateSub(count, index(1));
  e.if_then(later, [&] { set(totals, last, combine(take(before, index(0)), take(totals, last))); });
  set(before, index(0), take(totals, last));
  e.end_loop(groups);
}

/// Where any association will do: a vector is scanned by shuffles, and takes the last element of the one before.
void CpuEmitter::Column::by_vectors(unsigned width) {
  const std::int64_t whole = n / width * width;
  Tuple carry;
  for (DType d : dtypes) carry.push_back(e.identity(kind, d, width));
  const Tuple none = carry;
  Loop loop = e.begin_loop(e.constant_index(0), e.constant_index(whole), e.constant_index(width), flat(carry));
  carry = like(carry, loop.carried);
  llvm::Value* first = at(loop.index).index;
  const Pos pos = e.Emitter::at(first, width, n % width == 0 ? width : 1);
  Tuple x = get(pos);
  for (unsigned d = 1; d < width; d *= 2) {
    llvm::SmallVector<int, 32> mask;
    for (unsigned l = 0; l < width; ++l) mask.push_back(static_cast<int>(l < d ? width + l : l - d));
    Tuple moved;
    for (auto [v, z] : llvm::zip(x, none)) moved.push_back(e.shuffle(v, z, mask));
    x = combine(moved, x);
  }
  x = combine(carry, x);
  put(pos, x);
  Tuple last;
  for (const Vec& v : x) last.push_back(e.shuffle(v, v, llvm::SmallVector<int, 32>(width, static_cast<int>(width) - 1)));
  e.end_loop(loop, flat(last));
  if (whole == n) return;
  Tuple one;
  for (const Vec& v : like(carry, loop.results)) one.push_back(e.extract(v, 0));
  Loop rest = e.begin_loop(e.constant_index(whole), e.constant_index(n), e.constant_index(1), flat(one));
  const Pos spot = at(rest.index);
  const Tuple next = combine(like(one, rest.carried), get(spot));
  put(spot, next);
  e.end_loop(rest, flat(next));
}

/// One group of 32 whole segments: eight are scanned side by side, so that their chains of additions overlap; then each
/// takes what comes before it, a vector at a time.
void CpuEmitter::Column::side_by_side(std::int64_t segment, unsigned width) {
  constexpr std::int64_t kTogether = 8;
  auto& b = e.b_;
  auto index = [&](std::int64_t v) { return e.constant_index(v); };
  Loop bundles = e.begin_loop(index(0), index(n), index(kTogether * segment));
  llvm::SmallVector<Tuple, 8> running;
  llvm::SmallVector<llvm::Value*, 8> values;
  for (std::int64_t s = 0; s < kTogether; ++s) {
    running.push_back(get(at(b.CreateAdd(bundles.index, index(s * segment)))));
    values.append(flat(running.back()));
  }
  Loop step = e.begin_loop(index(1), index(segment), index(1), values, false);
  llvm::SmallVector<llvm::Value*, 8> next;
  std::size_t at_value = 0;
  for (std::int64_t s = 0; s < kTogether; ++s) {
    const std::size_t size = flat(running[static_cast<std::size_t>(s)]).size();
    const llvm::ArrayRef<llvm::PHINode*> mine = llvm::ArrayRef(step.carried).slice(at_value, size);
    at_value += size;
    const Pos pos = at(b.CreateAdd(b.CreateAdd(bundles.index, index(s * segment)), step.index));
    const Tuple sum = combine(like(running[static_cast<std::size_t>(s)], mine), get(pos));
    put(pos, sum);
    next.append(flat(sum));
  }
  e.end_loop(step, next);
  e.end_loop(bundles);
  llvm::SmallVector<Tuple, 32> totals;  // scanned by doubling, in registers
  for (std::int64_t s = 0; s < kGroup; ++s) totals.push_back(get(at(index((s + 1) * segment - 1))));
  for (std::size_t d = 1; d < static_cast<std::size_t>(kGroup); d *= 2)
    for (std::size_t s = static_cast<std::size_t>(kGroup); s-- > d;) totals[s] = combine(totals[s - d], totals[s]);
  llvm::SmallVector<Buffer, 2> befores;
  for (DType d : dtypes) befores.push_back(e.make_buffer(d, kGroup));
  for (std::int64_t s = 0; s < kGroup; ++s)
    for (auto [buffer, v] : llvm::zip(befores, totals[static_cast<std::size_t>(s)])) e.write(buffer, e.Emitter::at(s), v);
  Loop spread = e.begin_loop(index(1), index(kGroup), index(1));
  auto before_of = [&](unsigned lanes_wide) {
    Tuple t;
    for (const Buffer& x : befores) t.push_back(e.splat(e.read(x, e.Emitter::at(b.CreateSub(spread.index, index(1)))), lanes_wide));
    return t;
  };
  const Tuple before = before_of(width);
  Loop each = e.begin_loop(index(0), index(segment), index(width));
  llvm::Value* start = at(b.CreateAdd(b.CreateMul(spread.index, index(segment)), each.index)).index;
  const Pos pos = e.Emitter::at(start, width, 1);
  put(pos, combine(before, get(pos)));
  e.end_loop(each);
  e.end_loop(spread);
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
  for_each(sources, shape, [&](const Pos& pos) {  // the results start as the sources, then are scanned in place
    Tuple chunk;
    for (mlir::Value v : sources) chunk.push_back(pull(v, pos));
    for (auto [b, v] : llvm::zip(results, chunk)) write(b, pos, v);
  });
  unsigned widest = 1;
  for (DType d : dtypes) widest = std::max(widest, static_cast<unsigned>(size_bytes(d)));
  const bool forward = inner == 1 && !op.getReverse();
  const unsigned native = inner == 1 ? 1 : lanes_for(widest, inner);
  const unsigned along = lanes_for(widest, n);
  for_range(0, outer, 1, [&](llvm::Value* o) {
    for_chunks({inner}, native, [&](const Pos& beside) {
      auto at_element = [&](llvm::Value* k) {
        llvm::Value* row = outer == 1 ? k : b_.CreateAdd(b_.CreateMul(o, constant_index(n)), k);
        llvm::Value* i = inner == 1 ? row : b_.CreateAdd(b_.CreateMul(row, constant_index(inner)), beside.index);
        return at(i, beside.lanes, inner % beside.lanes == 0 ? beside.lanes : 1);
      };
      Column column{*this, op, kind, dtypes, results, beside.lanes, n, op.getReverse(), at_element, {}};
      for (DType d : dtypes) column.prefixes.push_back(make_buffer(d, beside.lanes));
      if (forward && associates(kind, dtypes) && along > 1) column.by_vectors(along);
      else if (forward && n == kGroup * segment && segment % along == 0) column.side_by_side(segment, along);
      else if (segment >= n) column.serial(constant_index(0), constant_index(n));
      else column.grouped(segment);
    });
  });
}

}  // namespace epi::cpu
