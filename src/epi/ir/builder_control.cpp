// The builder's loops and ifs: scf ops whose bodies are open while the caller builds in them.
#include "epi/ir/builder_impl.h"

namespace epi::ir {
namespace {

const char* name_of(Frame::Kind kind) {
  switch (kind) {
    case Frame::kFor:
      return "for";
    case Frame::kWhileCondition:
      return "while's condition";
    case Frame::kWhileBody:
      return "while";
    case Frame::kThen:
      return "if";
    case Frame::kElse:
      return "else";
  }
  return "";
}

void no_body(mlir::OpBuilder&, mlir::Location, mlir::ValueRange) {}

}  // namespace

Frame Builder::Impl::pop(const char* op, std::initializer_list<Frame::Kind> kinds) {
  if (frames.empty()) {
    if (!failed()) error(op) << "no body is open";
    return {*kinds.begin(), nullptr, 0};
  }
  const Frame top = frames.back();
  frames.pop_back();
  if (!failed() && std::find(kinds.begin(), kinds.end(), top.kind) == kinds.end())
    error(op) << "the open body is " << name_of(top.kind) << "'s";
  return top;
}

bool Builder::Impl::same_types(const char* op, std::span<const Value> got, mlir::TypeRange wanted) {
  if (got.size() != wanted.size()) {
    error(op) << got.size() << " values at the end of the body; there are " << wanted.size() << " at its start";
    return false;
  }
  for (std::size_t k = 0; k < got.size(); ++k) {
    mlir::Type type = unwrap(got[k]).getType();
    if (type == wanted[k]) continue;
    error(op) << "carried value " << k << " is " << tile::describe(wanted[k]) << " at the start and "
              << tile::describe(type) << " at the end of the body; it must keep its type";
    return false;
  }
  return true;
}

Builder::Loop Builder::begin_for(Value start, Value stop, Value step, std::span<const Value> initial) {
  Impl& i = *impl_;
  const Loop dead{{}, Values(initial.size())};
  i.push(Frame::kFor, nullptr, initial.size());
  if (!i.ready("for", {start, stop, step}, initial)) return dead;
  mlir::Type type = unwrap(start).getType();
  if (unwrap(stop).getType() != type || unwrap(step).getType() != type ||
      !(type.isSignlessInteger(32) || type.isSignlessInteger(64))) {
    i.error("for") << "bounds are " << tile::describe(type) << ", " << tile::describe(unwrap(stop).getType()) << " and "
                   << tile::describe(unwrap(step).getType()) << "; they must be scalars, all int32 or all int64";
    return dead;
  }
  auto op = i.b.create<mlir::scf::ForOp>(i.loc, unwrap(start), unwrap(stop), unwrap(step), unwrap(initial),
                                         [](mlir::OpBuilder&, mlir::Location, mlir::Value, mlir::ValueRange) {});
  i.frames.back().op = op;
  i.b.setInsertionPointToEnd(op.getBody());
  return {wrap(op.getInductionVar()), wrap(mlir::ValueRange(op.getRegionIterArgs()))};
}

Values Builder::end_for(std::span<const Value> carried) {
  Impl& i = *impl_;
  const Frame frame = i.pop("end_for", {Frame::kFor});
  if (!i.ready("for", {}, carried)) return Values(carried.size());
  auto op = mlir::cast<mlir::scf::ForOp>(frame.op);
  if (!i.same_types("for", carried, op.getResultTypes())) return Values(carried.size());
  i.b.create<mlir::scf::YieldOp>(i.loc, unwrap(carried));
  i.b.setInsertionPointAfter(op);
  return wrap(mlir::ValueRange(op.getResults()));
}

Values Builder::begin_while(std::span<const Value> initial) {
  Impl& i = *impl_;
  i.push(Frame::kWhileCondition, nullptr, initial.size());
  if (!i.ready("while", {}, initial)) return Values(initial.size());
  const std::vector<mlir::Value> v = unwrap(initial);
  auto op = i.b.create<mlir::scf::WhileOp>(i.loc, mlir::ValueRange(v).getTypes(), v, no_body, no_body);
  i.frames.back().op = op;
  i.b.setInsertionPointToEnd(op.getBeforeBody());
  return wrap(mlir::ValueRange(op.getBeforeArguments()));
}

Values Builder::while_body(Value condition) {
  Impl& i = *impl_;
  const Frame frame = i.pop("while_body", {Frame::kWhileCondition});
  i.push(Frame::kWhileBody, frame.op, frame.carried);
  if (!i.ready("while", {condition})) return Values(frame.carried);
  if (!unwrap(condition).getType().isInteger(1)) {
    i.error("while") << "condition is " << tile::describe(unwrap(condition).getType()) << "; it must be a bool scalar";
    return Values(frame.carried);
  }
  auto op = mlir::cast<mlir::scf::WhileOp>(frame.op);
  i.b.create<mlir::scf::ConditionOp>(i.loc, unwrap(condition), op.getBeforeArguments());
  i.b.setInsertionPointToEnd(op.getAfterBody());
  return wrap(mlir::ValueRange(op.getAfterArguments()));
}

Values Builder::end_while(std::span<const Value> carried) {
  Impl& i = *impl_;
  const Frame frame = i.pop("end_while", {Frame::kWhileBody});
  if (!i.ready("while", {}, carried)) return Values(carried.size());
  auto op = mlir::cast<mlir::scf::WhileOp>(frame.op);
  if (!i.same_types("while", carried, op.getResultTypes())) return Values(carried.size());
  i.b.create<mlir::scf::YieldOp>(i.loc, unwrap(carried));
  i.b.setInsertionPointAfter(op);
  return wrap(mlir::ValueRange(op.getResults()));
}

void Builder::begin_if(Value condition) {
  Impl& i = *impl_;
  i.push(Frame::kThen, nullptr, 0);
  if (!i.ready("if", {condition})) return;
  if (!unwrap(condition).getType().isInteger(1)) {
    i.error("if") << "condition is " << tile::describe(unwrap(condition).getType()) << "; it must be a bool scalar";
    return;
  }
  // The results are known at the end only: end_if moves these bodies to an op that has them.
  auto op = i.b.create<mlir::scf::IfOp>(i.loc, mlir::TypeRange(), unwrap(condition), /*addThenBlock=*/true,
                                        /*addElseBlock=*/true);
  i.frames.back().op = op;
  i.b.setInsertionPointToEnd(op.thenBlock());
}

void Builder::begin_else() {
  Impl& i = *impl_;
  const Frame frame = i.pop("begin_else", {Frame::kThen});
  i.push(Frame::kElse, frame.op, 0);
  if (i.failed()) return;
  i.b.setInsertionPointToEnd(mlir::cast<mlir::scf::IfOp>(frame.op).elseBlock());
}

Values Builder::end_if(std::span<const Value> then_results, std::span<const Value> else_results) {
  Impl& i = *impl_;
  const std::size_t n = then_results.size();
  const Frame frame = i.pop("end_if", {Frame::kThen, Frame::kElse});
  if (!i.ready("if", {}, then_results) || !i.ready("if", {}, else_results)) return Values(n);
  if (n != else_results.size()) {
    i.error("if") << n << " results of the then part and " << else_results.size() << " of the else part";
    return Values(n);
  }
  const std::vector<mlir::Value> a = unwrap(then_results);
  const std::vector<mlir::Value> b = unwrap(else_results);
  for (std::size_t k = 0; k < n; ++k)
    if (a[k].getType() != b[k].getType()) {
      i.error("if") << "result " << k << " is " << tile::describe(a[k].getType()) << " in the then part and "
                    << tile::describe(b[k].getType()) << " in the else part; both must have one type";
      return Values(n);
    }
  auto open = mlir::cast<mlir::scf::IfOp>(frame.op);
  i.b.setInsertionPointToEnd(open.thenBlock());
  i.b.create<mlir::scf::YieldOp>(i.loc, a);
  i.b.setInsertionPointToEnd(open.elseBlock());
  i.b.create<mlir::scf::YieldOp>(i.loc, b);
  i.b.setInsertionPointAfter(open);
  if (n == 0) {
    if (frame.kind == Frame::kThen) open.elseBlock()->erase();
    return {};
  }
  auto op = i.b.create<mlir::scf::IfOp>(open.getLoc(), mlir::ValueRange(a).getTypes(), open.getCondition(),
                                        /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(open.getThenRegion());
  op.getElseRegion().takeBody(open.getElseRegion());
  open.erase();
  return wrap(mlir::ValueRange(op.getResults()));
}

}  // namespace epi::ir
