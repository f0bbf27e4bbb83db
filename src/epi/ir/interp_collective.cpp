// Reductions, scans, look-back, permutation by index, ranks and mma. The association orders are the records' of
// ops/tile.td, word for word. Folds work on tiles turned so that the folded axis comes first: n rows of `width`.
#include "epi/ir/interp_elementwise.h"
#include "epi/ir/interp_machine.h"
#include "epi/ir/lookback.h"

namespace epi::ir::interp {
namespace {

/// Rows of a tuple of tiles, and how to combine them.
struct Folder {
  Machine& machine;
  tile::CombineKind kind;
  mlir::Region& region;
  std::int64_t width;  ///< elements a row

  /// left op right, row by row.
  Status fold(const Data& left, const Data& right, Data& results) const {
    return machine.fold(kind, region, left, right, results);
  }
  /// `count` rows: row, row + step, row + 2 step, ... (the same row again with step 0).
  [[nodiscard]] Data rows(const Data& data, std::int64_t row, std::int64_t count, std::int64_t step = 1) const {
    Data out;
    for (const Datum& d : data) {
      if (step == 1) {
        out.push_back(part(d, row * width, count * width));
        continue;
      }
      Datum picked(d.dtype(), count * width);
      for (std::int64_t i = 0; i < count; ++i) overwrite(picked, i * width, part(d, (row + i * step) * width, width));
      out.push_back(std::move(picked));
    }
    return out;
  }
  /// Writes rows over row, row + step, ...
  void put(Data& target, std::int64_t row, const Data& source, std::int64_t step = 1) const {
    for (std::size_t k = 0; k < target.size(); ++k)
      for (std::int64_t i = 0; i * width < source[k].count(); ++i)
        overwrite(target[k], (row + i * step) * width, part(source[k], i * width, width));
  }
};

/// Extents before the axis, along it, and after it.
struct Cut {
  std::int64_t outer, n, inner;
  Cut(llvm::ArrayRef<std::int64_t> shape, std::size_t axis)
      : outer(product(shape.take_front(axis))), n(shape[axis]), inner(product(shape.drop_front(axis + 1))) {}
  [[nodiscard]] std::int64_t width() const { return outer * inner; }
};

/// Moves the axis to the front, or back from there; `reverse` also turns it round.
Datum turn(const Datum& source, const Cut& cut, bool to_front, bool reverse) {
  Datum out(source.dtype(), source.count());
  const auto size = static_cast<std::int64_t>(size_bytes(source.dtype())) * cut.inner;
  for (std::int64_t o = 0; o < cut.outer; ++o)
    for (std::int64_t i = 0; i < cut.n; ++i) {
      const std::int64_t in_place = o * cut.n + i;
      const std::int64_t in_front = (reverse ? cut.n - 1 - i : i) * cut.outer + o;
      const std::int64_t to = to_front ? in_front : in_place;
      const std::int64_t from = to_front ? in_place : in_front;
      std::memcpy(out.data() + to * size, source.data() + from * size, static_cast<std::size_t>(size));
    }
  return out;
}

/// Lane l folds elements l, l + L, ... in order; then lane l with lane l + h for h = P/2, ..., 1.
Status reduce_rows(const Folder& f, const Data& x, std::int64_t n, std::int64_t lanes, Data& result) {
  Data acc = f.rows(x, 0, lanes);
  Data folded;
  for (std::int64_t first = lanes; first < n; first += lanes) {
    const std::int64_t count = std::min(lanes, n - first);
    EPI_RETURN_IF_ERROR(f.fold(f.rows(acc, 0, count), f.rows(x, first, count), folded));
    f.put(acc, 0, folded);
  }
  std::int64_t half = 1;
  while (half < lanes) half *= 2;
  std::int64_t present = lanes;
  for (half /= 2; half >= 1; half /= 2) {
    const std::int64_t count = present - half;  // lanes that have a partner
    if (count <= 0) continue;
    EPI_RETURN_IF_ERROR(f.fold(f.rows(acc, 0, count), f.rows(acc, half, count), folded));
    f.put(acc, 0, folded);
    present = half;
  }
  result = f.rows(acc, 0, 1);
  return {};
}

/// `before` becomes, for each segment but the first, the fold of all segments before it: their totals scanned by
/// doubling within groups of 32, and the groups' totals folded from left to right.
Status scan_totals(const Folder& f, const Data& totals, std::int64_t segments, Data& before) {
  constexpr std::int64_t kGroup = 32;
  before = f.rows(totals, 0, segments);  // row 0 keeps a value without meaning
  Data groups_before;
  Data folded;
  for (std::int64_t first = 0; first < segments; first += kGroup) {
    const std::int64_t count = std::min(kGroup, segments - first);
    Data t = f.rows(totals, first, count);
    for (std::int64_t d = 1; d < count; d *= 2) {
      EPI_RETURN_IF_ERROR(f.fold(f.rows(t, 0, count - d), f.rows(t, d, count - d), folded));
      f.put(t, d, folded);
    }
    if (first == 0) {
      groups_before = f.rows(t, count - 1, 1);
      f.put(before, 1, f.rows(t, 0, count - 1));
      continue;
    }
    f.put(before, first, groups_before);
    EPI_RETURN_IF_ERROR(f.fold(f.rows(groups_before, 0, count, 0), t, folded));
    f.put(before, first + 1, f.rows(folded, 0, count - 1));
    groups_before = f.rows(folded, count - 1, 1);
  }
  return {};
}

Status scan_rows(const Folder& f, Data& x, std::int64_t n, std::int64_t segment) {
  const std::int64_t segments = (n + segment - 1) / segment;
  Data folded;
  for (std::int64_t j = 1; j < std::min(segment, n); ++j) {  // element j of every segment that has one
    const std::int64_t count = (n - j + segment - 1) / segment;
    EPI_RETURN_IF_ERROR(f.fold(f.rows(x, j - 1, count, segment), f.rows(x, j, count, segment), folded));
    f.put(x, j, folded, segment);
  }
  Data totals = f.rows(x, 0, segments);
  f.put(totals, 0, f.rows(x, segment - 1, n / segment, segment));
  if (n % segment) f.put(totals, segments - 1, f.rows(x, n - 1, 1));
  Data before;
  EPI_RETURN_IF_ERROR(scan_totals(f, totals, segments, before));
  const std::int64_t rest = n - std::min(segment, n);
  if (rest == 0) return {};
  Data repeated = f.rows(x, 0, rest);  // for each row after the first segment, what comes before its segment
  for (std::int64_t i = 0; i < rest; ++i) f.put(repeated, i, f.rows(before, 1 + i / segment, 1));
  EPI_RETURN_IF_ERROR(f.fold(repeated, f.rows(x, segment, rest), folded));
  f.put(x, segment, folded);
  return {};
}

}  // namespace

template <>
Status execute(Machine& m, tile::ReduceOp op) {
  const Cut cut(tile::shape_of(op.getSources()[0].getType()), op.getAxis());
  if (cut.n == 0) {
    const Datum one = identity(static_cast<Combine>(op.getKind()), tile::dtype_of(op.getResult(0).getType()));
    m.set(op.getResult(0), repeat(one, cut.width()));
    return {};
  }
  Data x;
  for (mlir::Value source : op.getSources()) x.push_back(turn(m.get(source), cut, true, false));
  const std::int64_t lanes =
      op.getLanes() ? std::min<std::int64_t>(static_cast<std::int64_t>(*op.getLanes()), cut.n) : cut.n;
  Data results;
  EPI_RETURN_IF_ERROR(reduce_rows(Folder{m, op.getKind(), op.getCombine(), cut.width()}, x, cut.n, lanes, results));
  m.set(op.getResults(), results);
  return {};
}

template <>
Status execute(Machine& m, tile::ScanOp op) {
  const Cut cut(tile::shape_of(op.getSources()[0].getType()), op.getAxis());
  Data x;
  for (mlir::Value source : op.getSources()) x.push_back(turn(m.get(source), cut, true, op.getReverse()));
  const std::int64_t segment = op.getSegment() ? static_cast<std::int64_t>(*op.getSegment()) : 1;
  if (cut.n) EPI_RETURN_IF_ERROR(scan_rows(Folder{m, op.getKind(), op.getCombine(), cut.width()}, x, cut.n, segment));
  for (Datum& d : x) d = turn(d, cut, false, op.getReverse());
  m.set(op.getResults(), x);
  return {};
}

namespace {

std::byte* word_of(const View& state, std::int64_t i) {
  return state.base + i * state.strides[0] * static_cast<std::int64_t>(sizeof(std::uint64_t));
}

/// Checked mode's look at a chain's state before the first program uses it.
Status check_state(Machine& m, tile::LookbackOp op, const View& state) {
  std::vector<DType> dtypes;
  for (mlir::Value v : op.getAggregates()) dtypes.push_back(tile::dtype_of(v.getType()));
  const auto items = static_cast<std::uint64_t>(tile::size_of(op.getAggregates()[0].getType()));
  const auto words = static_cast<std::int64_t>(lookback_words(dtypes, items, m.programs(0)));
  if (state.extents[0] < words)
    return m.error(Code::kIndex, op,
                   "the state has " + std::to_string(state.extents[0]) + " words; " + std::to_string(m.programs(0)) +
                       " programs need " + std::to_string(words));
  for (std::int64_t i = 0; i < words; ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, word_of(state, i), sizeof word);
    if (word) return m.error(Code::kDevice, op, "word " + std::to_string(i) + " of the state is not 0");
  }
  return {};
}

}  // namespace

template <>
Status execute(Machine& m, tile::LookbackOp op) {
  const View& state = m.get(op.getState()).view();
  const Data aggregates = m.get(op.getAggregates());
  Chain& chain = m.chain(state);
  const std::int64_t mine = m.program(0);
  if (mine == 0) {
    if (m.checked()) EPI_RETURN_IF_ERROR(check_state(m, op, state));
    chain = {};
    for (auto [identity, aggregate] : llvm::zip(op.getIdentities(), op.getAggregates()))
      chain.prefix.push_back(
          repeat(datum_of(identity, tile::element_of(aggregate.getType())), tile::size_of(aggregate.getType())));
  }
  if (chain.next != mine)
    return m.error(Code::kDevice, op,
                   "program " + std::to_string(chain.next) +
                       " along axis 0 has not been here; every program must look back once a state");
  m.set(op.getResults(), chain.prefix);
  if (m.checked()) {  // a program's look-back happens after its predecessors'
    std::byte* const address[] = {state.base};
    if (mine > 0) m.order().acquire(address, true);
    m.order().release(address, true);
  }
  const std::uint64_t used = 1;  // as on a device, a state serves once: the next chain there needs it cleared
  if (mine < state.extents[0]) std::memcpy(word_of(state, mine), &used, sizeof used);
  // The fold starts with the first aggregate itself: the identity is only what program 0 gets.
  Data next = aggregates;
  if (mine > 0) EPI_RETURN_IF_ERROR(m.fold(op.getKind(), op.getCombine(), chain.prefix, aggregates, next));
  chain.prefix = std::move(next);
  chain.next = mine + 1;
  return {};
}

template <>
Status execute(Machine& m, tile::TakeOp op) {
  const Datum& source = m.get(op.getSource());
  const Extents indices = to_int64(m.get(op.getIndices()));
  const Cut from(tile::shape_of(op.getSource().getType()), op.getAxis());
  const Cut to(tile::shape_of(op.getIndices().getType()), op.getAxis());
  Datum out(source.dtype(), static_cast<std::int64_t>(indices.size()));
  for (std::int64_t i = 0; i < out.count(); ++i) {
    const std::int64_t index = indices[static_cast<std::size_t>(i)];
    const std::int64_t outer = i / (to.n * to.inner);
    if (index >= 0 && index < from.n)
      overwrite(out, i, part(source, (outer * from.n + index) * from.inner + i % to.inner, 1));
  }
  m.set(op.getResult(), std::move(out));
  return {};
}

template <>
Status execute(Machine& m, tile::RankOp op) {
  const Extents digits = to_int64(m.get(op.getDigits()));
  const std::int64_t bins = tile::size_of(op.getCounts().getType());
  Datum counts(DType::kInt32, bins);
  auto counted = counts.as<std::int32_t>();
  auto is_digit = [&](std::int64_t d) { return d >= 0 && d < bins; };
  for (std::int64_t d : digits)
    if (is_digit(d)) ++counted[static_cast<std::size_t>(d)];
  std::vector<std::int32_t> next(static_cast<std::size_t>(bins) + 1, 0);  // the last: digits outside
  for (std::size_t b = 0; b < counted.size(); ++b) next[b + 1] = next[b] + counted[b];
  Datum ranks(DType::kInt32, static_cast<std::int64_t>(digits.size()));
  for (std::size_t i = 0; i < digits.size(); ++i)
    ranks.as<std::int32_t>()[i] = next[static_cast<std::size_t>(is_digit(digits[i]) ? digits[i] : bins)]++;
  m.set(op.getRanks(), std::move(ranks));
  m.set(op.getCounts(), std::move(counts));
  return {};
}

template <>
Status execute(Machine& m, tile::MmaOp op) {
  const DType dtype = m.get(op.getAcc()).dtype();
  const auto a_shape = tile::shape_of(op.getA().getType());
  const std::int64_t rows = a_shape[0];
  const std::int64_t depth = a_shape[1];
  const std::int64_t columns = tile::shape_of(op.getB().getType())[1];
  const Datum a = cast(Cast::k_wrap, m.get(op.getA()), dtype);
  const Datum b = cast(Cast::k_wrap, m.get(op.getB()), dtype);
  Datum out = m.get(op.getAcc());
  for (std::int64_t k = 0; k < depth; ++k) {  // every element's sum ascends in k
    Datum left(dtype, rows * columns);
    Datum right(dtype, rows * columns);
    for (std::int64_t i = 0; i < rows; ++i) {
      overwrite(left, i * columns, repeat(part(a, i * depth + k, 1), columns));
      overwrite(right, i * columns, part(b, k * columns, columns));
    }
    out = binary(Binary::k_add, out, binary(Binary::k_mul, left, right));
  }
  m.set(op.getResult(), std::move(out));
  return {};
}

}  // namespace epi::ir::interp
