// What the builder's files share: the growing function, the first error, the stack of open bodies.
#pragma once
#include "epi/ir/builder.h"
#include "epi/ir/constants.h"
#include "epi/ir/infer.h"
#include "epi/ir/module_impl.h"

namespace epi::ir {

inline mlir::Value unwrap(Value v) { return mlir::Value::getFromOpaquePointer(v.impl); }
inline Value wrap(mlir::Value v) { return {v.getAsOpaquePointer()}; }
/// The text of a diagnostic behind its place: "file:line:col: message".
std::string render(mlir::Diagnostic& diagnostic);

/// An open body. `op` is null where an earlier error keeps it from being built; begin and end still pair up.
struct Frame {
  enum Kind : std::uint8_t { kFor, kWhileCondition, kWhileBody, kThen, kElse } kind;
  mlir::Operation* op = nullptr;
  std::size_t carried = 0;
};

struct Builder::Impl {
  Module module;
  mlir::MLIRContext* context;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::func::FuncOp function;
  Values args;
  Status status;
  std::vector<Frame> frames;
  mlir::DiagnosticEngine::HandlerID handler = 0;

  Impl();
  ~Impl();

  [[nodiscard]] bool failed() const { return !status.ok(); }
  /// Whether a call on these operands is to be built: no error so far and no null operand (which is one).
  bool ready(const char* op, std::initializer_list<Value> operands = {}, std::span<const Value> more = {});
  /// An error of `op` at the current location; what the typing rules report through.
  mlir::InFlightDiagnostic error(const char* op) { return mlir::emitError(loc) << op << ": "; }

  /// Creates an op and runs its verifier; null where it is wrong.
  template <class Op, class... Args>
  Op make(Args&&... args) {
    auto op = b.create<Op>(loc, std::forward<Args>(args)...);
    if (mlir::failed(op->getName().verifyInvariants(op))) return nullptr;
    return op;
  }
  template <class Op, class... Args>
  Value result(Args&&... args) {
    Op op = make<Op>(std::forward<Args>(args)...);
    return op ? wrap(op->getResult(0)) : Value{};
  }

  mlir::Type element(DType dtype) { return tile::element_type(context, dtype); }
  /// The view type of `v`, or an error.
  tile::ViewType view_of(const char* op, Value v);
  /// An integer scalar as i64.
  mlir::Value offset(const char* op, Value v);
  /// `v` in `shape` by NumPy's rules.
  mlir::Value broadcast(const char* op, mlir::Value v, tile::Sizes shape);
  /// The common shape of values by NumPy's rules; nothing (and an error) where there is none.
  std::optional<Shape> common_shape(const char* op, std::span<const mlir::Value> values);
  /// Axis counted from the end where negative; range errors are the typing rules' business.
  static std::int64_t wrap_axis(int axis, std::size_t rank) { return axis < 0 ? axis + static_cast<int>(rank) : axis; }
  mlir::Attribute padding(const char* op, tile::ViewType view, const Scalar* value);

  /// A fold's op with its region built by the user's callback.
  Values finish_fold(Builder& self, mlir::Operation* op, mlir::Region& region, Combine kind, mlir::TypeRange sources,
                     const Region& build);
  Frame pop(const char* op, std::initializer_list<Frame::Kind> kinds);
  void push(Frame::Kind kind, mlir::Operation* op, std::size_t carried) { frames.push_back({kind, op, carried}); }
  /// Whether the values at a body's end have the types that they had at its start.
  bool same_types(const char* op, std::span<const Value> got, mlir::TypeRange wanted);
};

std::vector<mlir::Value> unwrap(std::span<const Value> values);
Values wrap(mlir::ValueRange values);

}  // namespace epi::ir
