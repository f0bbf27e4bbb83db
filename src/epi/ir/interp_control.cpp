// Blocks, calls and the control flow of scf and func; the combiners of folds.
#include "epi/ir/interp_elementwise.h"
#include "epi/ir/interp_machine.h"

namespace epi::ir::interp {
namespace {

bool is_elementwise(mlir::Operation& op) {
  return mlir::isa<tile::ConstantOp, tile::UnaryOp, tile::BinaryOp, tile::FmaOp, tile::CompareOp, tile::SelectOp,
                   tile::CastOp, tile::BitcastOp, tile::YieldOp>(op);
}

}  // namespace

const Datum& Machine::get(mlir::Value v) const {
  const auto found = frame_->find(v);
  EPI_CHECK(found != frame_->end());
  return found->second;
}

Data Machine::get(mlir::ValueRange values) const {
  Data out;
  for (mlir::Value v : values) out.push_back(get(v));
  return out;
}

void Machine::set(mlir::ValueRange values, const Data& data) {
  EPI_CHECK(values.size() == data.size());
  for (auto [v, d] : llvm::zip(values, data)) set(v, d);
}

Data Machine::aligned(mlir::ValueRange values) const {
  Data out = get(values);
  std::int64_t count = 1;
  for (const Datum& d : out)
    if (d.count() != 1) count = d.count();
  for (Datum& d : out) d = repeat(d, count);
  return out;
}

Status Machine::run_block(mlir::Block& block) {
  for (mlir::Operation& op : block.without_terminator()) {
    const Handler handler = find_handler(op);
    if (!handler)
      return error(Code::kUnsupported, &op, "the interpreter does not know " + op.getName().getStringRef().str());
    EPI_RETURN_IF_ERROR(handler(*this, &op));
  }
  return {};
}

Status Machine::call(mlir::func::FuncOp callee, const Data& arguments, Data& results) {
  constexpr int kDeepest = 200;
  if (depth_ == kDeepest)
    return error(Code::kDevice, callee, "calls nest more than " + std::to_string(kDeepest) + " deep");
  Frame frame;
  Frame* const caller = std::exchange(frame_, &frame);
  ++depth_;
  mlir::Block& body = callee.getBody().front();
  set(body.getArguments(), arguments);
  Status status = run_block(body);
  if (status.ok()) results = get(body.getTerminator()->getOperands());
  --depth_;
  frame_ = caller;
  return status;
}

Status Machine::run_region(mlir::Region& region, const Data& arguments, Data& results) {
  mlir::Block& block = region.front();
  set(block.getArguments(), arguments);
  EPI_RETURN_IF_ERROR(run_block(block));
  results = get(block.getTerminator()->getOperands());
  return {};
}

Status Machine::fold(tile::CombineKind kind, mlir::Region& region, const Data& left, const Data& right, Data& results) {
  const std::int64_t count = left[0].count();
  if (kind != tile::CombineKind::k_region) {
    results = {combine(static_cast<Combine>(kind), left[0], right[0])};
    return {};
  }
  Data both = left;
  both.insert(both.end(), right.begin(), right.end());
  if (count == 0 || llvm::all_of(region.front(), is_elementwise)) {
    if (count == 0) return results = left, Status();
    EPI_RETURN_IF_ERROR(run_region(region, both, results));
    for (Datum& d : results) d = repeat(d, count);
    return {};
  }
  Data out;
  for (const Datum& d : left) out.emplace_back(d.dtype(), count);
  for (std::int64_t i = 0; i < count; ++i) {
    Data one;
    Data result;
    for (const Datum& d : both) one.push_back(part(d, i, 1));
    EPI_RETURN_IF_ERROR(run_region(region, one, result));
    for (std::size_t r = 0; r < result.size(); ++r) overwrite(out[r], i, result[r]);
  }
  results = std::move(out);
  return {};
}

// -- func and scf ----------------------------------------------------------------------------------------------------
template <>
Status execute(Machine& m, mlir::func::CallOp op) {
  auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(op, op.getCalleeAttr());
  EPI_CHECK(callee);
  Data results;
  EPI_RETURN_IF_ERROR(m.call(callee, m.get(op.getOperands()), results));
  m.set(op.getResults(), results);
  return {};
}

template <>
Status execute(Machine& m, mlir::scf::ForOp op) {
  const DType dtype = m.get(op.getLowerBound()).dtype();
  const auto start = static_cast<__int128>(to_int64(m.get(op.getLowerBound()))[0]);
  const std::int64_t stop = to_int64(m.get(op.getUpperBound()))[0];
  const std::int64_t step = to_int64(m.get(op.getStep()))[0];
  if (step <= 0)
    return m.error(Code::kDevice, op, "the loop's step is " + std::to_string(step) + "; it must be positive");
  Data carried = m.get(op.getInitArgs());
  for (__int128 i = start; i < stop; i += step) {
    m.set(op.getInductionVar(), cast(Cast::k_wrap, Datum::scalar(DType::kInt64, static_cast<std::int64_t>(i)), dtype));
    m.set(mlir::ValueRange(op.getRegionIterArgs()), carried);
    EPI_RETURN_IF_ERROR(m.run_block(*op.getBody()));
    carried = m.get(op.getBody()->getTerminator()->getOperands());
  }
  m.set(op.getResults(), carried);
  return {};
}

template <>
Status execute(Machine& m, mlir::scf::WhileOp op) {
  Data carried = m.get(op.getInits());
  while (true) {
    m.set(mlir::ValueRange(op.getBeforeArguments()), carried);
    EPI_RETURN_IF_ERROR(m.run_block(*op.getBeforeBody()));
    auto condition = op.getConditionOp();
    carried = m.get(condition.getArgs());
    if (!m.truth(condition.getCondition())) break;
    m.set(mlir::ValueRange(op.getAfterArguments()), carried);
    EPI_RETURN_IF_ERROR(m.run_block(*op.getAfterBody()));
    carried = m.get(op.getYieldOp().getOperands());
  }
  m.set(op.getResults(), carried);
  return {};
}

template <>
Status execute(Machine& m, mlir::scf::IfOp op) {
  mlir::Region& taken = m.truth(op.getCondition()) ? op.getThenRegion() : op.getElseRegion();
  if (taken.empty()) return {};
  EPI_RETURN_IF_ERROR(m.run_block(taken.front()));
  m.set(op.getResults(), m.get(taken.front().getTerminator()->getOperands()));
  return {};
}

template <>
Status execute(Machine& m, tile::YieldOp op) {
  return m.error(Code::kInternal, op, "a yield that ends no block");
}

}  // namespace epi::ir::interp
