// jit/: kernels from a front end's build function, their launch, and how they came to be. The build function runs with
// the GIL; compiling runs without it.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>

#include "arguments.h"
#include "bind.h"
#include "epi/jit/jit.h"
#include "epi/runtime/queue.h"
#include "load_kernel.h"

namespace epi::bind {
namespace {

/// An argument given by its parts rather than by an array object.
struct RawArg {
  jit::Arg arg;
};

RawArg raw_view(std::uintptr_t address, int dtype, const std::vector<std::int64_t>& shape,
                const std::vector<std::int64_t>& strides, bool readonly) {
  if (shape.size() != strides.size() || shape.size() > static_cast<std::size_t>(jit::kMaxRank))
    check(invalid_argument("a view needs one stride an axis and at most " + std::to_string(jit::kMaxRank) +
                           " axes; got " + std::to_string(shape.size()) + " extents and " +
                           std::to_string(strides.size()) + " strides"));
  RawArg out;
  out.arg.is_view = true;
  out.arg.readonly = readonly;
  out.arg.dtype = static_cast<DType>(dtype);
  out.arg.rank = static_cast<std::uint8_t>(shape.size());
  out.arg.base = reinterpret_cast<void*>(address);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    out.arg.extents[i] = shape[i];
    out.arg.strides[i] = strides[i];
  }
  return out;
}

RawArg raw_scalar(int dtype, const nb::bytes& bits) {
  RawArg out;
  out.arg.dtype = static_cast<DType>(dtype);
  std::memcpy(out.arg.bits.data(), bits.c_str(), std::min<std::size_t>(bits.size(), sizeof out.arg.bits));
  return out;
}

void collect(const nb::object& objects, Arguments& out) {
  if (nb::isinstance<Arguments>(objects)) {
    out.args = nb::cast<const Arguments&>(objects).args;
    return;
  }
  for (nb::handle o : objects) {
    if (nb::isinstance<RawArg>(o))
      out.args.push_back(nb::cast<const RawArg&>(o).arg);
    else
      check(extract(o.ptr(), "argument", out));
  }
}

std::shared_ptr<const jit::Kernel> load(const runtime::Device& device, std::string name, std::string key,
                                        std::vector<std::string> arg_names, const nb::object& args,
                                        const nb::callable& build) {
  Arguments arguments;
  collect(args, arguments);
  return load_kernel(device.driver(), {std::move(name), std::move(key), std::move(arg_names), {}}, build,
                     arguments.args);
}

void launch(const jit::Kernel& kernel, const runtime::Queue& queue, std::uint32_t x, std::uint32_t y, std::uint32_t z,
            const nb::object& args) {
  Arguments arguments;
  collect(args, arguments);
  const std::uint32_t grid[3] = {x, y, z};
  check(kernel.launch(queue.handle(), grid, arguments.args));
}

nb::dict facts(const KernelInfo& i) {
  nb::dict out;
  out["symbol"] = i.name;
  out["slots"] = i.slots.size();
  out["block_threads"] = i.block_threads;
  out["shared_bytes"] = i.shared_bytes;
  out["arena_bytes"] = i.arena_bytes;
  out["ascending"] = i.ascending;
  return out;
}

nb::dict statistics_dict() {
  const jit::Statistics s = jit::statistics();
  nb::dict out;
  out["memory_hits"] = s.memory_hits;
  out["disk_hits"] = s.disk_hits;
  out["compiled"] = s.compiled;
  out["cache_errors"] = s.cache_errors;
  return out;
}

/// (code, facts of the kernel, [(stage, text)]) for a processor that need not be here.
nb::tuple compile_only(const std::string& target, const std::string& arch, const ir::Module& module) {
  KernelInfo info;
  std::vector<std::pair<std::string, std::string>> texts;
  const std::string bytes = take(without_gil([&] { return jit::compile_only(target, arch, module, &info, &texts); }));
  return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), facts(info), texts);
}

}  // namespace

void bind_jit(nb::module_& m) {
  nb::class_<RawArg>(m, "RawArg").def_static("view", &raw_view).def_static("scalar", &raw_scalar);
  nb::class_<jit::Kernel>(m, "Kernel")
      .def_prop_ro("name", &jit::Kernel::name)
      .def_prop_ro("id", [](const jit::Kernel& k) { return reinterpret_cast<std::uintptr_t>(&k); })
      .def_prop_ro("info", [](const jit::Kernel& k) { return facts(k.info()); })
      .def_prop_ro("code", [](const jit::Kernel& k) { return nb::bytes(k.code().data(), k.code().size()); })
      .def_prop_ro("stages", [](const jit::Kernel& k) { return k.provenance().stage_us; })
      .def_prop_ro("texts", [](const jit::Kernel& k) { return k.provenance().texts; })
      .def_prop_ro("from_disk",
                   [](const jit::Kernel& k) { return k.provenance().from == jit::Provenance::From::kDisk; })
      .def_prop_ro("device_kind", [](const jit::Kernel& k) { return k.device().info().kind; })
      .def("launch", &launch);
  m.def("load_kernel", &load);
  m.def("compile_only", &compile_only, nb::arg("target"), nb::arg("arch"), nb::arg("module"));
  m.def("jit_statistics", &statistics_dict);
  m.def("loaded_kernels", &jit::loaded_kernels);
  m.def("clear_memory_cache", &jit::clear_memory_cache);
}

}  // namespace epi::bind
