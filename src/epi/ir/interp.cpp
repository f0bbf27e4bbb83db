// Launch: arguments against the kernel's types, the loop over programs, errors with their place.
#include "epi/ir/interp.h"

#include <cstdio>

#include "epi/ir/interp_machine.h"
#include "epi/ir/module_impl.h"

namespace epi::ir {
namespace interp {
namespace {

/// The first source position in a location.
mlir::FileLineColLoc find_position(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location part) {
    found = mlir::dyn_cast<mlir::FileLineColLoc>(part);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

std::string place_of(mlir::Operation* op) {
  const mlir::FileLineColLoc at = find_position(op->getLoc());
  if (!at) return "unknown location (" + op->getName().getStringRef().str() + ")";
  return at.getFilename().str() + ":" + std::to_string(at.getLine()) + ":" + std::to_string(at.getColumn());
}

/// The bytes [first, last] that a view's elements cover, or nothing where it is empty.
std::optional<std::pair<std::uintptr_t, std::uintptr_t>> range_of(const View& view) {
  auto low = reinterpret_cast<std::uintptr_t>(view.base);
  auto high = low;
  for (std::size_t i = 0; i < view.extents.size(); ++i) {
    if (view.extents[i] <= 0) return std::nullopt;
    const auto reach = (view.extents[i] - 1) * view.strides[i] * static_cast<std::int64_t>(size_bytes(view.dtype));
    (reach < 0 ? low : high) += static_cast<std::uintptr_t>(reach);
  }
  return std::pair{low, high + size_bytes(view.dtype) - 1};
}

Status check_size(const std::string& what, std::int64_t got, std::int64_t wanted) {
  if (mlir::ShapedType::isDynamic(wanted) || got == wanted) return {};
  return invalid_argument(what + " is " + std::to_string(got) + "; the kernel was specialised for " +
                          std::to_string(wanted));
}

}  // namespace

std::string describe(std::span<const std::int64_t> numbers) {
  std::string out = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) out += (i ? ", " : "") + std::to_string(numbers[i]);
  return out + "]";
}

Status Machine::bind_view(unsigned i, const InterpArg& arg, tile::ViewType type) {
  const std::string name = "argument " + std::to_string(i);
  const std::size_t rank = type.getRank();
  if (arg.extents.size() != rank || arg.strides.size() != rank)
    return invalid_argument(name + " has " + std::to_string(arg.extents.size()) + " extents and " +
                            std::to_string(arg.strides.size()) + " strides; the kernel takes " + std::to_string(rank));
  for (std::size_t a = 0; a < rank; ++a) {
    const std::string axis = " on axis " + std::to_string(a);
    if (arg.extents[a] < 0) return invalid_argument(name + "'s extent" + axis + " is negative");
    EPI_RETURN_IF_ERROR(check_size(name + "'s extent" + axis, arg.extents[a], type.getExtents()[a]));
    if (arg.extents[a] > 1)  // the stride of a single element is nobody's business
      EPI_RETURN_IF_ERROR(check_size(name + "'s stride" + axis, arg.strides[a], type.getStrides()[a]));
    if (arg.extents[a] > 1 && type.getDivisors()[a] > 1 && arg.strides[a] % type.getDivisors()[a] != 0)
      return invalid_argument(name + "'s stride" + axis + " is " + std::to_string(arg.strides[a]) +
                              "; the kernel was specialised for multiples of " + std::to_string(type.getDivisors()[a]));
  }
  View view{tile::dtype_of(type), static_cast<std::byte*>(arg.base), arg.extents, arg.strides, static_cast<int>(i)};
  if (!range_of(view)) return arguments_.emplace_back(std::move(view)), Status();
  if (!arg.base) return invalid_argument(name + " has elements but no address");
  if (reinterpret_cast<std::uintptr_t>(arg.base) % static_cast<std::uintptr_t>(type.getAlign()) != 0)
    return invalid_argument(name + "'s address is not a multiple of " + std::to_string(type.getAlign()) +
                            " bytes, which the kernel was specialised for");
  shadow_.add(view);
  arguments_.emplace_back(std::move(view));
  return {};
}

Status Machine::check_overlaps(std::size_t count) {
  for (unsigned i = 0; i < count; ++i)
    for (unsigned j = 0; j < i; ++j) {
      auto a = mlir::dyn_cast<tile::ViewType>(kernel_.getArgumentTypes()[i]);
      auto b = mlir::dyn_cast<tile::ViewType>(kernel_.getArgumentTypes()[j]);
      if (!a || !b || a.getAlias() == b.getAlias()) continue;
      const auto x = range_of(arguments_[i].view());
      const auto y = range_of(arguments_[j].view());
      if (x && y && x->first <= y->second && y->first <= x->second)
        return invalid_argument("arguments " + std::to_string(j) + " and " + std::to_string(i) +
                                " overlap; the kernel was specialised for views that do not");
    }
  return {};
}

Status Machine::bind(std::span<const InterpArg> args) {
  const auto types = kernel_.getArgumentTypes();
  if (args.size() != types.size())
    return invalid_argument("kernel " + kernel_.getName().str() + " takes " + std::to_string(types.size()) +
                            " arguments, got " + std::to_string(args.size()));
  for (unsigned i = 0; i < args.size(); ++i) {
    auto view = mlir::dyn_cast<tile::ViewType>(types[i]);
    if (static_cast<bool>(view) != args[i].is_view)
      return invalid_argument("argument " + std::to_string(i) + " must be a " + (view ? "view" : "scalar"));
    initialised_.push_back(!args[i].uninitialised);
    if (view) {
      EPI_RETURN_IF_ERROR(bind_view(i, args[i], view));
      continue;
    }
    Datum scalar(tile::dtype_of(types[i]), 1);
    std::memcpy(scalar.data(), args[i].bits, scalar.bytes());
    arguments_.push_back(std::move(scalar));
  }
  return check_overlaps(args.size());
}

Status Machine::run() {
  Data none;
  for (program_[2] = 0; program_[2] < grid_[2]; ++program_[2])
    for (program_[1] = 0; program_[1] < grid_[1]; ++program_[1])
      for (program_[0] = 0; program_[0] < grid_[0]; ++program_[0]) {
        order_.start(linear_program());
        EPI_RETURN_IF_ERROR(call(kernel_, arguments_, none));
      }
  return flagged_;
}

std::int64_t Machine::linear_program() const {
  return (static_cast<std::int64_t>(program_[2]) * grid_[1] + program_[1]) * grid_[0] + program_[0];
}

Status Machine::error(Code code, mlir::Operation* op, const std::string& message) const {
  return {code, place_of(op) + ": " + message + " (program " +
                    describe(std::array<std::int64_t, 3>{program_[0], program_[1], program_[2]}) + ")"};
}

Status Machine::flag(Status error) {
  if (flagged_.ok()) flagged_ = error;
  return checked() ? error : Status();
}

Status Machine::note(mlir::Operation* op, const View& view, std::span<const std::int64_t> at, const std::byte* address,
                     Access access) {
  if (!checked()) return {};
  const bool initialised = initialised_[static_cast<std::size_t>(view.argument)];
  const Conflict c = shadow_.touch(address, size_bytes(view.dtype), order_, access, initialised);
  if (c.kind == Conflict::kNone) return {};
  const std::string element = "element " + describe(at) + " of argument " + std::to_string(view.argument);
  if (c.kind == Conflict::kUninitialised) return error(Code::kDevice, op, "reads " + element + ", which nobody wrote");
  const char* how = c.other_access == Access::kRead    ? "reads"
                    : c.other_access == Access::kWrite ? "writes"
                                                       : "updates atomically";
  const char* verb = access == Access::kRead ? "reads " : access == Access::kWrite ? "writes " : "updates atomically ";
  const std::int64_t x = c.other % grid_[0];
  const std::int64_t y = c.other / grid_[0] % grid_[1];
  return error(Code::kDevice, op,
               "race: " + std::string(verb) + element + ", which program " +
                   describe(std::array<std::int64_t, 3>{x, y, c.other / grid_[0] / grid_[1]}) + " " + how);
}

void Machine::print(const std::string& text) const {
  if (options_.print)
    options_.print(text);
  else
    std::fputs(text.c_str(), stdout);
}

}  // namespace interp

Status interpret(const Module& module, std::span<const InterpArg> args, const std::uint32_t grid[3],
                 const InterpOptions& options) {
  mlir::func::FuncOp kernel = module.impl().kernel();
  if (!kernel) return invalid_argument("the module has no kernel (a function with tile.kernel)");
  interp::Machine machine(kernel, grid, options);
  EPI_RETURN_IF_ERROR(machine.bind(args));
  return machine.run();
}

}  // namespace epi::ir
