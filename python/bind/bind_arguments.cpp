// jit/specialize.h: arguments as the compiler specialises for them. For the front end's compile path and for tests; a
// launch extracts its arguments by itself.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arguments.h"

namespace epi::bind {
namespace {

Arguments extract_all(const nb::tuple& objects, const std::vector<std::string>& names) {
  Arguments out;
  for (std::size_t i = 0; i < objects.size(); ++i)
    check(extract(nb::handle(objects[i]).ptr(), i < names.size() ? names[i].c_str() : "?", out));
  return out;
}

nb::tuple describe(const jit::Arg& a) {
  if (!a.is_view) return nb::make_tuple("scalar", static_cast<int>(a.dtype), a.bits[0], a.bits[1]);
  const std::vector<std::int64_t> extents(a.extents.begin(), a.extents.begin() + a.rank);
  const std::vector<std::int64_t> strides(a.strides.begin(), a.strides.begin() + a.rank);
  return nb::make_tuple("array", static_cast<int>(a.dtype), reinterpret_cast<std::uintptr_t>(a.base), extents, strides,
                        a.readonly);
}

}  // namespace

void bind_arguments(nb::module_& m) {
  nb::class_<Arguments>(m, "Arguments")
      .def("__len__", [](const Arguments& a) { return a.args.size(); })
      .def("describe", [](const Arguments& a, std::size_t i) { return describe(a.args.at(i)); })
      .def("readonly", [](const Arguments& a, std::size_t i) { return a.args.at(i).is_view && a.args.at(i).readonly; })
      .def_prop_ro("place",
                   [](const Arguments& a) { return nb::make_tuple(static_cast<int>(a.place.kind), a.place.ordinal); })
      .def_ro("wide", &Arguments::wide)
      .def("specs",
           [](const Arguments& a, const std::vector<std::string>& names) { return jit::arg_specs(a.args, names); })
      .def("key", [](const Arguments& a) {
        jit::SpecKey key;
        jit::append_key(a.args, key);
        return key;
      });
  m.def("extract_arguments", &extract_all, "Reads Python objects as launch arguments.");
}

}  // namespace epi::bind
