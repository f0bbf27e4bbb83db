// ir/interp.h: runs a Module on extracted arguments, on the calling thread.
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include <exception>

#include "arguments.h"
#include "epi/ir/interp.h"

namespace epi::bind {
namespace {

ir::InterpArg interp_arg(const jit::Arg& a) {
  ir::InterpArg out;
  out.is_view = a.is_view;
  out.base = a.base;
  out.extents.assign(a.extents.begin(), a.extents.begin() + a.rank);
  out.strides.assign(a.strides.begin(), a.strides.begin() + a.rank);
  out.bits[0] = a.bits[0];
  out.bits[1] = a.bits[1];
  return out;
}

void run(const ir::Module& module, const Arguments& arguments, std::array<std::uint32_t, 3> grid, bool checked,
         const nb::object& print) {
  if (arguments.place.kind == Place::kCuda)
    check(invalid_argument("the interpreter runs on host memory; argument " + std::to_string(arguments.placed_by) +
                           " is on a GPU"));
  std::vector<ir::InterpArg> args;
  for (const jit::Arg& a : arguments.args) args.push_back(interp_arg(a));
  ir::InterpOptions options;
  options.checked = checked;
  std::exception_ptr failure;  // of the print callback, carried over the engine
  if (!print.is_none())
    options.print = [&](const std::string& text) {
      nb::gil_scoped_acquire gil;
      try {
        if (!failure) print(text);
      } catch (...) {
        failure = std::current_exception();
      }
    };
  const Status s = without_gil([&] { return ir::interpret(module, args, grid.data(), options); });
  if (failure) std::rethrow_exception(failure);
  check(s);
}

}  // namespace

void bind_interp(nb::module_& m) {
  m.def("interpret", &run, nb::arg("module"), nb::arg("arguments"), nb::arg("grid"), nb::arg("checked") = false,
        nb::arg("print").none() = nb::none());
}

}  // namespace epi::bind
