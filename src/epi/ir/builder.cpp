// The builder: start, finish, errors, and what its other files (builder_*.cpp) share.
#include "epi/ir/builder.h"

#include <mlir/IR/Diagnostics.h>
#include <mlir/IR/Verifier.h>

#include "epi/ir/builder_impl.h"

namespace epi::ir {
namespace {

llvm::SmallVector<std::int64_t> sizes_of(const Shape& shape, std::size_t rank, std::int64_t missing) {
  llvm::SmallVector<std::int64_t> out(shape.begin(), shape.end());
  if (out.empty()) out.resize(rank, missing);
  return out;
}

mlir::Type type_of(Builder::Impl& impl, const ArgSpec& arg) {
  if (!arg.is_view) return impl.element(arg.dtype);
  const ViewSpec& v = arg.view;
  const std::size_t rank = v.extents.size();
  const auto strides = sizes_of(v.strides, rank, kDynamic);
  const auto divisors = sizes_of(v.divisors, rank, 1);
  return tile::ViewType::getChecked([&] { return impl.error("argument") << arg.name << ": "; }, impl.context,
                                    impl.element(v.dtype), tile::Sizes(v.extents), tile::Sizes(strides),
                                    tile::Sizes(divisors), v.align, v.alias);
}

}  // namespace

std::vector<mlir::Value> unwrap(std::span<const Value> values) {
  std::vector<mlir::Value> out;
  out.reserve(values.size());
  for (Value v : values) out.push_back(unwrap(v));
  return out;
}

Values wrap(mlir::ValueRange values) {
  Values out;
  out.reserve(values.size());
  for (mlir::Value v : values) out.push_back(wrap(v));
  return out;
}

Builder::Impl::Impl() : context(module.impl().context.get()), b(context), loc(mlir::UnknownLoc::get(context)) {
  handler = context->getDiagEngine().registerHandler([this](mlir::Diagnostic& d) {
    if (status.ok() && d.getSeverity() == mlir::DiagnosticSeverity::Error) status = compile_error(render(d));
    return mlir::success();
  });
}

Builder::Impl::~Impl() {
  if (handler) context->getDiagEngine().eraseHandler(handler);
}

bool Builder::Impl::ready(const char* op, std::initializer_list<Value> operands, std::span<const Value> more) {
  if (failed()) return false;
  auto present = [](Value v) { return static_cast<bool>(v); };
  if (std::all_of(operands.begin(), operands.end(), present) && std::all_of(more.begin(), more.end(), present))
    return true;
  error(op) << "an operand is null";
  return false;
}

tile::ViewType Builder::Impl::view_of(const char* op, Value v) {
  auto view = mlir::dyn_cast<tile::ViewType>(unwrap(v).getType());
  if (!view) error(op) << "got " << tile::describe(unwrap(v).getType()) << "; it takes a view";
  return view;
}

mlir::Value Builder::Impl::offset(const char* op, Value v) {
  mlir::Value value = unwrap(v);
  if (value.getType().isSignlessInteger(64)) return value;
  if (!mlir::isa<mlir::IntegerType>(value.getType()) || tile::is_bool(value.getType())) {
    error(op) << "offset is " << tile::describe(value.getType()) << "; it must be an integer scalar";
    return nullptr;
  }
  return make<tile::CastOp>(b.getI64Type(), tile::CastMode::k_wrap, value);
}

mlir::Value Builder::Impl::broadcast(const char* op, mlir::Value v, tile::Sizes shape) {
  mlir::Type type = v.getType();
  const bool is_tile = mlir::isa<mlir::RankedTensorType>(type);
  const tile::Sizes from = tile::shape_of(type);
  if (from == shape && (is_tile || shape.empty())) return v;
  if (is_tile && from.size() < shape.size()) {
    Shape grown(shape.size() - from.size(), 1);
    grown.insert(grown.end(), from.begin(), from.end());
    v = make<tile::ReshapeOp>(tile::tile_or_scalar(grown, tile::element_of(type)), v);
    if (tile::Sizes(grown) == shape) return v;
  }
  tile::MaybeType wanted = tile::infer_broadcast(v.getType(), shape, [&] { return error(op); });
  if (mlir::failed(wanted)) return nullptr;
  return make<tile::BroadcastOp>(*wanted, v);
}

std::optional<Shape> Builder::Impl::common_shape(const char* op, std::span<const mlir::Value> values) {
  Shape out;
  for (mlir::Value v : values) {
    const tile::Sizes shape = tile::shape_of(v.getType());
    if (shape.size() > out.size()) out.insert(out.begin(), shape.size() - out.size(), 1);
    const std::size_t lead = out.size() - shape.size();
    for (std::size_t i = 0; i < shape.size(); ++i) {
      std::int64_t& e = out[lead + i];
      if (e == 1) e = shape[i];
      if (shape[i] == e || shape[i] == 1) continue;
      auto d = error(op) << "shapes";
      for (mlir::Value w : values) d << ' ' << tile::describe(tile::shape_of(w.getType()));
      d << " do not broadcast together; extents must be equal or 1";
      return std::nullopt;
    }
  }
  return out;
}

Builder::Builder(std::string name, std::vector<ArgSpec> args, bool ascending) : impl_(std::make_unique<Impl>()) {
  Impl& i = *impl_;
  llvm::SmallVector<mlir::Type> types;
  for (const ArgSpec& arg : args) {
    types.push_back(type_of(i, arg));
    if (!types.back()) types.back() = i.b.getI32Type();  // the error is recorded; nothing more is built
  }
  i.b.setInsertionPointToEnd(i.module.impl().module->getBody());
  i.function = i.b.create<mlir::func::FuncOp>(i.loc, name, i.b.getFunctionType(types, {}));
  i.function->setAttr(tile::kKernelAttr, i.b.getUnitAttr());
  if (ascending) i.function->setAttr(tile::kAscendingAttr, i.b.getUnitAttr());
  for (std::size_t n = 0; n < args.size(); ++n)
    if (!args[n].name.empty())
      i.function.setArgAttr(static_cast<unsigned>(n), "tile.name", i.b.getStringAttr(args[n].name));
  mlir::Block* entry = i.function.addEntryBlock();
  i.args = wrap(mlir::ValueRange(entry->getArguments()));
  i.b.setInsertionPointToEnd(entry);
}

Builder::~Builder() = default;

void Builder::set_location(const SourceLocation& location) {
  impl_->loc = mlir::FileLineColLoc::get(impl_->context, location.file, static_cast<unsigned>(location.line),
                                         static_cast<unsigned>(location.column));
}

const Values& Builder::args() const { return impl_->args; }
const Status& Builder::status() const { return impl_->status; }

TypeInfo Builder::type(Value v) const {
  TypeInfo out;
  if (!v) return out;
  mlir::Type type = unwrap(v).getType();
  out.dtype = tile::dtype_of(type);
  if (auto view = mlir::dyn_cast<tile::ViewType>(type)) {
    out.kind = TypeInfo::kView;
    out.shape.assign(view.getExtents().begin(), view.getExtents().end());
  } else if (auto t = mlir::dyn_cast<mlir::RankedTensorType>(type)) {
    out.kind = TypeInfo::kTile;
    out.shape.assign(t.getShape().begin(), t.getShape().end());
  }
  return out;
}

Result<Module> Builder::finish() {
  Impl& i = *impl_;
  if (i.failed()) return i.status;
  if (!i.frames.empty()) {
    i.error("finish") << i.frames.size() << " loops or ifs are still open; each begin needs its end";
    return i.status;
  }
  i.b.create<mlir::func::ReturnOp>(i.loc);
  i.status = i.module.verify();
  if (i.failed()) return i.status;
  i.context->getDiagEngine().eraseHandler(i.handler);
  i.handler = 0;
  i.status = compile_error("the builder is spent: finish() has given its program up");
  return std::move(i.module);
}

}  // namespace epi::ir
