// Folds along an axis, in the association that tile.td describes: L strided lanes, then halving. Lanes are vectors of
// neighbours along the last axis (then a vector holds several lanes), or of neighbours beside the axis (then a vector
// holds one lane of several folds). Up to kRegisters accumulators are registers, more are scratch.
#include <bit>

#include "epi/backend/cpu/target/cpu_emitter.h"

namespace epi::cpu {
namespace {

constexpr std::int64_t kRegisters = 8;

/// Folding into this value gives the other operand, bit for bit; nothing where no such value exists.
bool has_exact_identity(ir::Combine kind, DType dtype) {
  return kind != ir::Combine::k_region && !(kind == ir::Combine::k_mul && is_complex(dtype));
}

}  // namespace

/// One fold (of all sources at once) at one place: `steps` vectors, step s folds into accumulator s mod `width`.
struct CpuEmitter::Fold {
  CpuEmitter& e;
  tile::ReduceOp op;
  ir::Combine kind;
  llvm::SmallVector<DType, 2> dtypes;
  const Walk& walk;
  unsigned lanes;
  std::int64_t width;
  std::int64_t steps;
  unsigned partial = 0;                      ///< lanes of one more step that is not full
  llvm::function_ref<Pos(llvm::Value*)> at;  ///< of a full step
  llvm::function_ref<Pos()> at_partial;

  Tuple pull(const Pos& pos) {
    e.write_walked(walk, pos);
    Tuple out;
    for (mlir::Value v : op.getSources()) out.push_back(e.pull(v, pos));
    return out;
  }
  Tuple combine(const Tuple& a, const Tuple& b) {
    llvm::SmallVector<Vec, 2> r = e.combine(kind, op.getCombine(), a, b, dtypes, op);
    return {r.begin(), r.end()};
  }
  Tuple select(llvm::Value* mask, const Tuple& a, const Tuple& b) {
    Tuple out;
    for (auto [x, y] : llvm::zip(a, b)) out.push_back(e.select(mask, x, y));
    return out;
  }
  [[nodiscard]] bool exact() const { return has_exact_identity(kind, dtypes[0]); }
  Tuple start() {
    Tuple out;
    for (DType d : dtypes) {
      Vec v = exact() ? e.identity(kind, d, lanes) : e.zero(d, lanes);
      if (exact() && kind == ir::Combine::k_add && !is_integer(d)) v = e.unary(ir::Unary::k_neg, v, d, op);  // -0 + x is x
      out.push_back(v);
    }
    return out;
  }
  llvm::Value* lane_below(unsigned n) {
    llvm::Value* l = e.lane_positions(e.Emitter::at(std::int64_t{0}, lanes));
    return e.b_.CreateICmpULT(l, llvm::ConstantInt::get(l->getType(), n));
  }
  Tuple run() { return std::min(width, steps + (partial ? 1 : 0)) <= kRegisters ? in_registers() : in_memory(); }
  Tuple in_registers();
  Tuple in_memory();
  Tuple halve(Tuple v);
};

static llvm::SmallVector<llvm::Value*, 8> flat(llvm::ArrayRef<Tuple> tuples) {
  llvm::SmallVector<llvm::Value*, 8> out;
  for (const Tuple& t : tuples)
    for (const Vec& v : t) {
      out.push_back(v.re);
      if (v.im) out.push_back(v.im);
    }
  return out;
}
template <class Values>
static void unflat(llvm::MutableArrayRef<Tuple> tuples, const Values& values) {
  std::size_t next = 0;
  for (Tuple& t : tuples)
    for (Vec& v : t) {
      v.re = values[next++];
      if (v.im) v.im = values[next++];
    }
}

Tuple CpuEmitter::Fold::in_registers() {
  llvm::SmallVector<Tuple, 8> acc;
  const std::int64_t rounds = steps / width;
  std::int64_t next = 0;
  // A heavy body is emitted once: a round's values pass through scratch.
  const bool strip = e.heavy_ && std::min(width, steps) > 1;
  llvm::SmallVector<Buffer, 2> scratch;
  if (strip)
    for (DType d : dtypes) scratch.push_back(e.make_buffer(d, std::min(width, steps) * lanes));
  auto round = [&](llvm::Value* first, std::int64_t count, llvm::function_ref<void(std::size_t, const Tuple&)> use) {
    auto step = [&](llvm::Value* a) { return pull(at(e.b_.CreateAdd(first, a, "", true, true))); };
    if (strip)
      e.for_range(0, count, 1, [&](llvm::Value* a) {
        for (auto [b, v] : llvm::zip(scratch, step(a)))
          e.write(b, e.Emitter::at(e.b_.CreateMul(a, e.constant_index(lanes)), lanes, lanes), v);
      });
    for (std::int64_t a = 0; a < count; ++a) {
      Scope scope(e);
      Tuple x;
      if (strip)
        for (const Buffer& b : scratch) x.push_back(e.read(b, e.Emitter::at(a * lanes, lanes)));
      else
        x = step(e.constant_index(a));
      use(static_cast<std::size_t>(a), x);
    }
  };
  if (rounds < 2) {
    next = std::min(width, steps);
    round(e.constant_index(0), next, [&](std::size_t, const Tuple& x) { acc.push_back(x); });
  } else {
    for (std::int64_t a = 0; a < width; ++a) acc.push_back(start());
    Loop loop = e.begin_loop(e.constant_index(0), e.constant_index(rounds * width), e.constant_index(width), flat(acc));
    unflat(llvm::MutableArrayRef<Tuple>(acc), loop.carried);
    llvm::Value* first = e.b_.CreateICmpEQ(loop.index, e.constant_index(0));
    round(loop.index, width, [&](std::size_t a, const Tuple& x) {
      const Tuple folded = combine(acc[a], x);
      acc[a] = exact() ? folded : select(first, x, folded);
    });
    e.end_loop(loop, flat(acc));
    unflat(llvm::MutableArrayRef<Tuple>(acc), loop.results);
    next = rounds * width;
  }
  for (std::size_t a = 0; next < steps; ++next, ++a) {
    Scope scope(e);
    acc[a] = combine(acc[a], pull(at(e.constant_index(next))));
  }
  bool ragged = false;
  if (partial) {
    Scope scope(e);
    const auto a = static_cast<std::size_t>(next % width);
    const Tuple x = pull(at_partial());
    if (a < acc.size()) acc[a] = select(lane_below(partial), combine(acc[a], x), acc[a]);
    else acc.push_back(x), ragged = true;
  }
  for (std::size_t h = std::bit_ceil(acc.size()) / 2; h > 0; h /= 2)
    for (std::size_t a = 0; a < h && a + h < acc.size(); ++a) {
      const Tuple folded = combine(acc[a], acc[a + h]);
      acc[a] = ragged && a + h == acc.size() - 1 && acc.size() > 1 ? select(lane_below(partial), folded, acc[a]) : folded;
    }
  return acc[0];
}

Tuple CpuEmitter::Fold::in_memory() {
  const std::int64_t present = std::min(width, steps + (partial ? 1 : 0));
  const std::int64_t n = lanes;
  llvm::SmallVector<Buffer, 2> buffers;
  for (DType d : dtypes) buffers.push_back(e.make_buffer(d, present * n));
  auto place = [&](llvm::Value* a) { return e.Emitter::at(e.b_.CreateMul(a, e.constant_index(n)), lanes, n); };
  auto get = [&](llvm::Value* a) {
    Tuple t;
    for (const Buffer& b : buffers) t.push_back(e.read(b, place(a)));
    return t;
  };
  auto put = [&](llvm::Value* a, const Tuple& t) {
    for (auto [b, v] : llvm::zip(buffers, t)) e.write(b, place(a), v);
  };
  const std::int64_t first = std::min(width, steps);
  e.for_range(0, first, 1, [&](llvm::Value* a) { put(a, pull(at(a))); });
  const std::int64_t rounds = steps / width;
  if (rounds > 1)
    e.for_range(1, rounds, 1, [&](llvm::Value* t) {
      llvm::Value* base = e.b_.CreateMul(t, e.constant_index(width));
      e.for_range(0, width, 1, [&](llvm::Value* a) { put(a, combine(get(a), pull(at(e.b_.CreateAdd(base, a))))); });
    });
  const std::int64_t tail = steps > width ? steps - rounds * width : 0;
  if (tail)
    e.for_range(0, tail, 1, [&](llvm::Value* a) {
      put(a, combine(get(a), pull(at(e.b_.CreateAdd(a, e.constant_index(rounds * width))))));
    });
  bool ragged = false;
  if (partial) {
    Scope scope(e);
    llvm::Value* a = e.constant_index(steps % width);
    const Tuple x = pull(at_partial());
    ragged = steps < width;
    put(a, ragged ? x : select(lane_below(partial), combine(get(a), x), get(a)));
  }
  for (std::int64_t h = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(present))) / 2; h > 0; h /= 2) {
    const bool last_is_ragged = ragged && present - 1 >= h && present - 1 < 2 * h;
    const std::int64_t both = std::min(h, present - h);
    e.for_range(0, both - (last_is_ragged ? 1 : 0), 1,
                [&](llvm::Value* a) { put(a, combine(get(a), get(e.b_.CreateAdd(a, e.constant_index(h))))); });
    if (!last_is_ragged) continue;
    llvm::Value* a = e.constant_index(both - 1);
    put(a, select(lane_below(partial), combine(get(a), get(e.constant_index(both - 1 + h))), get(a)));
  }
  return get(e.constant_index(0));
}

/// Within a vector: lane l with lane l + h.
Tuple CpuEmitter::Fold::halve(Tuple v) {
  for (unsigned h = lanes / 2; h > 0; h /= 2) {
    llvm::SmallVector<int, 16> mask;
    for (unsigned l = 0; l < lanes; ++l) mask.push_back(static_cast<int>((l + h) % lanes));
    Tuple upper;
    for (const Vec& x : v) upper.push_back(e.shuffle(x, x, mask));
    v = combine(v, upper);
  }
  Tuple out;
  for (const Vec& x : v) out.push_back(e.extract(x, 0));
  return out;
}

void CpuEmitter::emit_reduce(tile::ReduceOp op) {
  const llvm::ArrayRef<std::int64_t> shape = tile::shape_of(op.getSources()[0].getType());
  const auto axis = static_cast<std::size_t>(op.getAxis());
  const auto kind = static_cast<ir::Combine>(op.getKind());
  const std::int64_t n = shape[axis];
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t a = 0; a < shape.size(); ++a) (a < axis ? outer : inner) *= a == axis ? 1 : shape[a];
  const auto all = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(n, 1))));
  const std::int64_t fold_lanes = std::min(op.getLanes() ? static_cast<std::int64_t>(*op.getLanes()) : all, all);
  llvm::SmallVector<DType, 2> dtypes;
  llvm::SmallVector<Buffer, 2> results;
  for (mlir::Value r : op.getResults()) {
    dtypes.push_back(tile::dtype_of(r.getType()));
    results.push_back(mlir::isa<mlir::RankedTensorType>(r.getType()) ? result_buffer(r) : make_buffer(dtypes.back(), 1));
  }
  auto put = [&](const Pos& pos, const Tuple& t) {
    for (auto [b, v] : llvm::zip(results, t)) write(b, pos, v);
  };
  if (n == 0) {
    if (outer * inner)
      for_chunks({outer * inner}, 1, [&](const Pos& pos) {
        Tuple t;
        for (DType d : dtypes) t.push_back(identity(kind, d, 1));
        put(pos, t);
      });
  } else if (outer * inner) {
    const llvm::SmallVector<mlir::Value, 2> sources(op.getSources());
    const Walk walk = prepare(sources, true);
    const unsigned native = lanes_for(walk.widest, inner == 1 ? n : inner);
    run_versions(walk, {}, {}, [&] {
      if (inner == 1) {
        const auto lanes = static_cast<unsigned>(std::min<std::int64_t>(native, fold_lanes));
        for_range(0, outer, 1, [&](llvm::Value* r) {
          llvm::Value* row = b_.CreateMul(r, constant_index(n));
          auto at_step = [&](llvm::Value* s) {
            llvm::Value* c = b_.CreateMul(s, constant_index(lanes), "", true, true);
            llvm::Value* i = outer == 1 ? c : b_.CreateAdd(row, c, "", true, true);
            Pos p = at(i, lanes, n % lanes == 0 || outer == 1 ? lanes : 1);
            p.within = n;
            if (outer > 1) seed_divmod(i, n, r, c);
            return p;
          };
          auto at_partial = [&] {  // the lanes past the end read the last element again
            llvm::Value* l = lane_positions(at(std::int64_t{n / lanes * lanes}, lanes));
            l = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, l, llvm::ConstantInt::get(l->getType(), static_cast<std::uint64_t>(n - 1)));
            llvm::Value* base = b_.CreateTrunc(row, b_.getInt32Ty());
            return at_lanes(b_.CreateAdd(l, lanes == 1 ? base : b_.CreateVectorSplat(lanes, base)));
          };
          Fold fold{*this, op, kind, dtypes, walk, lanes, fold_lanes / lanes, n / lanes, static_cast<unsigned>(n % lanes), at_step, at_partial};
          put(at(r), fold.halve(fold.run()));
        });
      } else {
        for_range(0, outer, 1, [&](llvm::Value* o) {
          for_chunks({inner}, native, [&](const Pos& column) {
            auto at_step = [&](llvm::Value* s) {
              llvm::Value* k = outer == 1 ? s : b_.CreateAdd(b_.CreateMul(o, constant_index(n)), s);
              llvm::Value* i = b_.CreateAdd(b_.CreateMul(k, constant_index(inner)), column.index);
              Pos p = at(i, column.lanes, inner % column.lanes == 0 ? column.lanes : 1);
              p.within = inner;
              seed_divmod(i, inner, k, column.index);
              if (outer > 1) seed_divmod(k, n, o, s);
              return p;
            };
            auto never = [&] { return at(std::int64_t{0}, column.lanes); };
            Fold fold{*this, op, kind, dtypes, walk, column.lanes, fold_lanes, n, 0, at_step, never};
            llvm::Value* i = outer == 1 ? column.index : b_.CreateAdd(b_.CreateMul(o, constant_index(inner)), column.index);
            put(at(i, column.lanes, inner % column.lanes == 0 ? column.lanes : 1), fold.run());
          });
        });
      }
    });
    walked(walk);
  }
  for (auto [r, b] : llvm::zip(op.getResults(), results))
    if (!mlir::isa<mlir::RankedTensorType>(r.getType())) set_scalar(r, read(b, at(std::int64_t{0})));
}

}  // namespace epi::cpu
