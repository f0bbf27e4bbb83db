// Inclusive scans in the record's association: segments of c neighbours, groups of 32 segments scanned by doubling,
// groups folded from left to right. A whole tile is scanned by the block, a group at a time in each warp, its elements
// in registers; lines of a tile by one warp each.
#include <llvm/ADT/bit.h>

#include "epi/backend/cuda/target/fold.h"

namespace epi::cuda {
namespace {

using llvm::Value;

constexpr std::int64_t kMaxHeld = 64;  ///< 32-bit registers a thread may hold between the phases

/// One group of 32 segments in a warp: each thread has the c elements of its segment.
class GroupScan {
 public:
  GroupScan(Fold& fold, std::int64_t c, bool reverse) : f(fold), c_(static_cast<unsigned>(c)), reverse_(reverse) {}

  /// The thread's elements, in scan order: one tuple each.
  llvm::SmallVector<Tuple> load(const Pos& pos) {
    llvm::SmallVector<Tuple> out;
    Tuple wide = f.pull(pos);
    for (unsigned j = 0; j < c_; ++j) {
      Tuple one;
      for (const Vec& w : wide) one.push_back(c_ == 1 ? w : f.e.extract(w, reverse_ ? c_ - 1 - j : j));
      out.push_back(one);
    }
    return out;
  }
  /// Scans the segments; `before` becomes the fold of the group's segments before this one (lane 0: nothing of
  /// meaning); gives the group's total, right in lane 31.
  Tuple scan(llvm::SmallVector<Tuple>& x, Tuple& before) {
    for (unsigned j = 1; j < c_; ++j) x[j] = f.combine(x[j - 1], x[j]);
    Tuple t = x[c_ - 1];
    auto& b = f.b;
    for (unsigned d = 1; d < 32; d *= 2) {
      const Tuple left = f.e.shuffle_up(t, d);
      t = f.e.select_tuple(b.CreateICmpUGE(f.e.lane(), f.e.i32(d)), f.combine(left, t), t);
    }
    before = f.e.shuffle_up(t, 1);
    return t;
  }
  Tuple join(const llvm::SmallVector<Tuple>& x) {
    if (c_ == 1) return x[0];
    Tuple out;
    for (std::size_t k = 0; k < f.dtypes.size(); ++k) {
      Vec wide = f.e.zero(f.dtypes[k], c_);
      for (unsigned j = 0; j < c_; ++j) wide = f.e.insert(wide, x[j][k], reverse_ ? c_ - 1 - j : j);
      out.push_back(wide);
    }
    return out;
  }

 private:
  Fold& f;
  unsigned c_;
  bool reverse_;
};

/// What comes before a segment: the groups before, then the segments before in its group; at most one may be missing.
Tuple segments_before(Fold& f, Value* later_group, const Tuple& groups, const Tuple& segments) {
  Value* first_lane = f.b.CreateICmpEQ(f.e.lane(), f.e.i32(0));
  const Tuple both = f.e.select_tuple(first_lane, groups, f.combine(groups, segments));
  return f.e.select_tuple(later_group, both, segments);
}

/// First element in memory of segment `s` of a line of n.
Value* segment_start(Fold& f, Value* s, std::int64_t n, std::int64_t c, bool reverse) {
  Value* first = f.b.CreateMul(s, f.e.i32(c));
  return reverse ? f.b.CreateSub(f.e.i32(n - c), first) : first;
}

// -- a whole tile by the block -------------------------------------------------------------------------------------
struct BlockScan {
  Fold& f;
  tile::ScanOp op;
  std::int64_t n;
  std::int64_t c;
  std::int64_t groups = (n / c + 31) / 32;
  std::int64_t rounds;  ///< groups a warp: warp w has groups w * rounds, ...
  llvm::SmallVector<llvm::SmallVector<GpuEmitter::Registers>> held = {};  ///< [round][element]
  llvm::SmallVector<GpuEmitter::Registers> before = {};                   ///< [round]: segments before in the group

  BlockScan(Fold& fold, tile::ScanOp o, std::int64_t count, std::int64_t segment)
      : f(fold), op(o), n(count), c(segment), rounds((groups + warps(fold) - 1) / warps(fold)) {}
  static std::int64_t warps(const Fold& f) { return f.e.threads() / 32; }

  void emit();

 private:
  Value* group_of(std::int64_t round) {
    return f.b.CreateAdd(f.b.CreateMul(f.e.warp(), f.e.i32(rounds)), f.e.i32(round));
  }
  Value* segment_of(std::int64_t round) {
    return f.b.CreateAdd(f.b.CreateMul(group_of(round), f.e.i32(32)), f.e.lane());
  }
  Value* present(Value* segment) { return f.b.CreateICmpULT(segment, f.e.i32(n / c)); }
  [[nodiscard]] bool own_chunks() { return f.e.plan().by_warps(n) && !op.getReverse(); }
  /// Where segment `s` lies; as chunk `round` where loops over such tiles meet it as that.
  Pos place(Value* s, std::int64_t round);
  void scan_groups(const GpuEmitter::Shelf& totals, const compiler::Emitter::Walk& walk);
  Tuple groups_before(const GpuEmitter::Shelf& totals);
  void finish(const GpuEmitter::Shelf& totals);
  void hand_out();
};

bool block_scan_fits(const Fold& f, const Cut& cut, std::int64_t c) {
  if (cut.results() != 1 || cut.n == 0 || c > 16 || !llvm::has_single_bit(static_cast<std::uint64_t>(c)) ||
      cut.n % c != 0)
    return false;
  std::int64_t words = 0;
  for (DType d : f.dtypes) words += std::max<std::int64_t>(1, static_cast<std::int64_t>(size_bytes(d)) / 4);
  const std::int64_t groups = (cut.n / c + 31) / 32;
  const std::int64_t warps = f.e.threads() / 32;
  return (groups + warps - 1) / warps * c * words <= kMaxHeld;
}

Pos BlockScan::place(Value* s, std::int64_t round) {
  Value* start = segment_start(f, s, n, c, op.getReverse());
  if (own_chunks()) {
    start = f.e.chunk_index(f.e.i32(0), start);
    f.e.name_chunk(start, round);
  }
  return f.e.at(start, static_cast<unsigned>(c), c);
}

void BlockScan::scan_groups(const GpuEmitter::Shelf& totals, const compiler::Emitter::Walk& walk) {
  GroupScan group(f, c, op.getReverse());
  for (std::int64_t r = 0; r < rounds; ++r) {
    const compiler::Emitter::Scope scope(f.e);
    Value* s = segment_of(r);
    Value* safe = f.b.CreateSelect(present(s), s, f.e.i32(0));  // threads beyond the end scan along and are dropped
    const Pos pos = place(safe, r);
    llvm::SmallVector<Tuple> x = group.load(pos);
    f.e.write_walked(walk, pos);
    Tuple segments;
    const Tuple total = group.scan(x, segments);
    f.e.put(before[static_cast<std::size_t>(r)], segments);
    for (std::int64_t j = 0; j < c; ++j)
      f.e.put(held[static_cast<std::size_t>(r)][static_cast<std::size_t>(j)], x[static_cast<std::size_t>(j)]);
    f.e.if_then(f.b.CreateICmpEQ(f.e.lane(), f.e.i32(31)), [&] { f.e.write(totals, group_of(r), total); });
  }
}

/// The fold of the totals of all groups before this warp's first.
Tuple BlockScan::groups_before(const GpuEmitter::Shelf& totals) {
  auto& b = f.b;
  Value* first = b.CreateMul(f.e.warp(), f.e.i32(rounds));
  Value* last = b.CreateSub(first, f.e.i32(1));
  last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, last, f.e.i32(0));  // the first warp's is not used
  return f.exact() ? f.fold_any_order(totals, f.e.i32(0), last, groups) : f.fold_in_order(totals, f.e.i32(0), last);
}

void BlockScan::finish(const GpuEmitter::Shelf& totals) {
  auto& b = f.b;
  GroupScan group(f, c, op.getReverse());
  llvm::SmallVector<Buffer, 2> results;
  for (mlir::Value r : op.getResults()) {
    if (own_chunks() && f.e.is_private(r)) {
      results.push_back(f.e.make_storage(r));
      f.e.bind_buffer(r, results.back());
    } else {
      results.push_back(f.e.result_buffer(r));
    }
  }
  Tuple so_far = groups_before(totals);
  for (std::int64_t r = 0; r < rounds; ++r) {
    Value* g = group_of(r);
    Value* later_group = b.CreateICmpNE(g, f.e.i32(0));
    const Tuple all = segments_before(f, later_group, so_far, f.e.get(before[static_cast<std::size_t>(r)]));
    Value* any_before = b.CreateOr(later_group, b.CreateICmpNE(f.e.lane(), f.e.i32(0)));
    llvm::SmallVector<Tuple> x;
    for (std::int64_t j = 0; j < c; ++j) {
      const Tuple local = f.e.get(held[static_cast<std::size_t>(r)][static_cast<std::size_t>(j)]);
      x.push_back(f.e.select_tuple(any_before, f.combine(all, local), local));
    }
    const Tuple wide = group.join(x);
    Value* s = segment_of(r);
    f.e.if_then(present(s), [&] {
      const Pos pos = place(s, r);
      for (std::size_t k = 0; k < results.size(); ++k) f.e.write(results[k], pos, wide[k]);
    });
    if (r + 1 == rounds) break;
    Value* inside = b.CreateSelect(b.CreateICmpULT(g, f.e.i32(groups)), g, f.e.i32(0));
    const Tuple total = f.e.read(totals, inside);
    so_far = f.e.select_tuple(later_group, f.combine(so_far, total), total);
  }
}

/// Single elements that later code takes from a result in registers go through shared memory.
void BlockScan::hand_out() {
  for (mlir::Value result : op.getResults()) {
    if (!f.e.is_private(result)) continue;
    for (mlir::Operation* user : result.getUsers()) {
      auto part = mlir::dyn_cast<tile::ExtractOp>(user);
      if (!part) continue;
      const std::int64_t at = part.getOffsets()[0];
      const std::int64_t stride = 32 * c;  // a thread's chunk `r` starts at warp * n / warps + r * stride + lane * c
      const std::int64_t in_warp = at % (n / warps(f));
      const Buffer single = f.e.result_buffer(part.getResult());
      Value* holder = f.e.i32(at / (n / warps(f)) * 32 + in_warp % stride / c);
      f.e.if_then(f.b.CreateICmpEQ(f.e.tid(), holder), [&] {
        Value* index = f.e.chunk_index(f.e.i32(0), f.e.i32(at - at % c));
        f.e.name_chunk(index, in_warp / stride);
        const Vec chunk = f.e.pull(result, f.e.at(index, static_cast<unsigned>(c), c));
        f.e.write(single, f.e.at(std::int64_t{0}), c == 1 ? chunk : f.e.extract(chunk, static_cast<unsigned>(at % c)));
      });
    }
  }
}

void BlockScan::emit() {
  held.resize(static_cast<std::size_t>(rounds));
  for (auto& round : held)
    for (std::int64_t j = 0; j < c; ++j) round.push_back(f.e.make_registers(f.dtypes, 1));
  for (std::int64_t r = 0; r < rounds; ++r) before.push_back(f.e.make_registers(f.dtypes, 1));
  const auto walk = f.e.prepare(f.sources(), own_chunks());
  const GpuEmitter::Shelf totals = f.e.make_shelf(f.dtypes, rounds * warps(f));
  f.e.versioned(walk.accesses, {}, [&] { scan_groups(totals, walk); });
  f.e.walked(walk);
  f.e.barrier();
  finish(totals);
  hand_out();
  f.e.barrier();
}

// -- lines, a warp each --------------------------------------------------------------------------------------------
/// Lines one after another in a warp, groups one after another along the line. Elements one at a time: any axis.
void line_scan(Fold& f, tile::ScanOp op, const Cut& cut, std::int64_t c) {
  GpuEmitter& e = f.e;
  auto& b = f.b;
  const auto walk = e.prepare(f.sources(), false);
  GpuEmitter::Shelf out;
  for (mlir::Value r : op.getResults()) out.tiles.push_back(e.result_buffer(r));
  const auto carry = e.make_registers(f.dtypes, 1);
  const auto total = e.make_registers(f.dtypes, 1);
  const std::int64_t segments = (cut.n + c - 1) / c;
  e.versioned(walk.accesses, {}, [&] {
    Value* from = e.warp();
    e.if_then(b.CreateICmpULT(from, e.i32(cut.results())), [&] {
      auto lines = e.begin_loop(from, e.i32(cut.results()), e.i32(e.threads() / 32));
      const auto [o, i] = e.divmod(lines.index, cut.inner);
      Value* base = b.CreateAdd(b.CreateMul(o, e.i32(cut.n * cut.inner)), i);
      const auto place = [&](Value* k) {
        Value* physical = op.getReverse() ? b.CreateSub(e.i32(cut.n - 1), k) : k;
        return b.CreateAdd(base, b.CreateMul(physical, e.i32(cut.inner)));
      };
      auto loop = e.begin_loop(e.i32(0), e.i32(segments), e.i32(32));
      Value* s = b.CreateAdd(loop.index, e.lane());
      Value* first = b.CreateMul(s, e.i32(c));
      const auto inside = [&](std::int64_t j) { return b.CreateICmpULT(b.CreateAdd(first, e.i32(j)), e.i32(cut.n)); };
      for (std::int64_t j = 0; j < c; ++j)
        e.if_then(inside(j), [&] {
          const compiler::Emitter::Scope scope(e);
          Tuple x = f.pull(e.at(place(b.CreateAdd(first, e.i32(j)))));
          if (j != 0) x = f.combine(e.get(total), x);
          e.put(total, x);
          e.write(out, place(b.CreateAdd(first, e.i32(j))), x);
        });
      Tuple t = e.get(total);
      for (unsigned d = 1; d < 32; d *= 2) {
        const Tuple left = e.shuffle_up(t, d);
        t = e.select_tuple(b.CreateICmpUGE(e.lane(), e.i32(d)), f.combine(left, t), t);
      }
      const Tuple before = e.shuffle_up(t, 1);
      Value* later_group = b.CreateICmpNE(loop.index, e.i32(0));
      Value* any_before = b.CreateOr(later_group, b.CreateICmpNE(e.lane(), e.i32(0)));
      const Tuple earlier = segments_before(f, later_group, e.get(carry), before);
      for (std::int64_t j = 0; j < c; ++j)
        e.if_then(inside(j), [&] {
          Value* at = place(b.CreateAdd(first, e.i32(j)));
          const Tuple own = e.read(out, at);
          e.write(out, at, e.select_tuple(any_before, f.combine(earlier, own), own));
        });
      const Tuple all = e.shuffle_from(t, e.i32(31));
      e.put(carry, e.select_tuple(later_group, f.combine(e.get(carry), all), all));
      e.end_loop(loop);
      e.end_loop(lines);
    });
  });
  e.walked(walk);
  e.barrier();
}

}  // namespace

void GpuEmitter::emit_scan(tile::ScanOp op) {
  Fold f(*this, op, op.getKind(), op.getCombine(), op.getSources());
  const Cut cut(tile::shape_of(op.getSources()[0].getType()), op.getAxis());
  const std::int64_t c = op.getSegment() ? static_cast<std::int64_t>(*op.getSegment()) : 1;
  if (cut.n == 0 || cut.results() == 0) {
    for (mlir::Value r : op.getResults()) result_buffer(r);
    return;
  }
  if (block_scan_fits(f, cut, c))
    BlockScan(f, op, cut.n, c).emit();
  else
    line_scan(f, op, cut, c);
}

}  // namespace epi::cuda
