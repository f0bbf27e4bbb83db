// Programs of the array front end: one recorded expression on one device, its kernels by the layout of the arguments. A
// repeated launch looks one up by a few words and submits; Python builds IR on a miss only. Calls hold the GIL, but for
// the compiling.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cstring>
#include <unordered_map>

#include "bind.h"
#include "epi/jit/jit.h"
#include "epi/runtime/queue.h"
#include "load_kernel.h"
#include "traced_call.h"

namespace epi::bind {
namespace {

using Words = std::vector<std::uint64_t>;

struct WordsHash {
  std::size_t operator()(const Words& w) const {
    std::uint64_t h = 0x9e3779b97f4a7c15ULL;
    for (std::uint64_t x : w) h = (std::rotl(h, 5) ^ x) * 0x2545f4914f6cdd1dULL;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
};

/// What does not change from launch to launch.
struct Program {
  runtime::Queue queue;
  std::string name;          ///< for people
  std::string key;           ///< decides the program besides the arguments' layout
  std::vector<DType> views;  ///< dtypes of the view arguments, which come first
  std::size_t outputs;       ///< so many views at the end are written
  std::vector<DType> scalars;
  nb::callable build;  ///< list of ArgSpec -> Module
  std::unordered_map<Words, std::shared_ptr<const jit::Kernel>, WordsHash> kernels;
};

/// Buffers of one launch, kept by the thread; taken out while in use, so that a nested launch gets its own.
struct Scratch {
  std::vector<jit::Arg> args;
  Words words;
};
thread_local Scratch t_scratch;

void read_axes(PyObject* tuple, std::array<std::int64_t, jit::kMaxRank>& out) {
  const Py_ssize_t n = PyTuple_Size(tuple);
  for (Py_ssize_t i = 0; i < n; ++i) out[static_cast<std::size_t>(i)] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
}

/// A view is (address, extents, strides in elements).
void read_view(nb::handle view, DType dtype, bool readonly, jit::Arg& a) {
  PyObject* extents = PyTuple_GetItem(view.ptr(), 1);
  const Py_ssize_t rank = PyTuple_Size(extents);
  if (rank > jit::kMaxRank || rank != PyTuple_Size(PyTuple_GetItem(view.ptr(), 2)))
    check(invalid_argument("a view needs one stride an axis and at most " + std::to_string(jit::kMaxRank) + " axes"));
  a.is_view = true;
  a.readonly = readonly;
  a.dtype = dtype;
  a.rank = static_cast<std::uint8_t>(rank);
  a.base = PyLong_AsVoidPtr(PyTuple_GetItem(view.ptr(), 0));
  read_axes(extents, a.extents);
  read_axes(PyTuple_GetItem(view.ptr(), 2), a.strides);
}

/// A scalar is a number of Python's where the dtype is an integer, float32 or float64, else the bytes of the value.
void read_scalar(nb::handle value, DType dtype, jit::Arg& a) {
  a.is_view = false;
  a.dtype = dtype;
  a.rank = 0;
  a.bits = {};
  if (PyBytes_Check(value.ptr())) {
    const auto size = std::min<std::size_t>(static_cast<std::size_t>(PyBytes_Size(value.ptr())), sizeof a.bits);
    std::memcpy(a.bits.data(), PyBytes_AsString(value.ptr()), size);
  } else if (dtype == DType::kFloat64) {
    a.bits[0] = std::bit_cast<std::uint64_t>(PyFloat_AsDouble(value.ptr()));
  } else if (dtype == DType::kFloat32) {
    a.bits[0] = std::bit_cast<std::uint32_t>(static_cast<float>(PyFloat_AsDouble(value.ptr())));
  } else {
    const std::uint64_t all = PyLong_AsUnsignedLongLongMask(value.ptr());
    const std::size_t bits = size_bytes(dtype) * 8;
    a.bits[0] = bits == 64 ? all : all & ((std::uint64_t{1} << bits) - 1);
  }
}

void read_arguments(const Program& p, nb::handle views, nb::handle scalars, std::vector<jit::Arg>& out) {
  if (static_cast<std::size_t>(PyTuple_Size(views.ptr())) != p.views.size() ||
      static_cast<std::size_t>(PyTuple_Size(scalars.ptr())) != p.scalars.size())
    check(internal_error(p.name + ": a launch with other arguments than the program has"));
  out.resize(p.views.size() + p.scalars.size());
  for (std::size_t i = 0; i < p.views.size(); ++i)
    read_view(PyTuple_GetItem(views.ptr(), static_cast<Py_ssize_t>(i)), p.views[i], i + p.outputs < p.views.size(),
              out[i]);
  for (std::size_t i = 0; i < p.scalars.size(); ++i)
    read_scalar(PyTuple_GetItem(scalars.ptr(), static_cast<Py_ssize_t>(i)), p.scalars[i], out[p.views.size() + i]);
  if (PyErr_Occurred()) nb::raise_python_error();
}

std::shared_ptr<const jit::Kernel> compile(const Program& p, const std::vector<jit::Arg>& args) {
  return load_kernel(p.queue.device().driver(), {p.name, p.key, {}, {}}, p.build, args);
}

std::shared_ptr<const jit::Kernel> find(Program& p, Scratch& s) {
  s.words.clear();
  jit::append_key(s.args, s.words);
  if (const auto it = p.kernels.find(s.words); it != p.kernels.end() && !it->second->is_untraced()) return it->second;
  auto kernel = compile(p, s.args);
  p.kernels.insert_or_assign(s.words, kernel);
  return kernel;
}

void launch(Program& p, std::uint32_t programs, const nb::tuple& views, const nb::tuple& scalars) {
  const TracedCall call("numpy program");
  struct Borrow {
    Scratch s = std::move(t_scratch);
    ~Borrow() { t_scratch = std::move(s); }
  } borrow;
  read_arguments(p, views, scalars, borrow.s.args);
  const auto kernel = find(p, borrow.s);
  const std::uint32_t grid[3] = {programs, 1, 1};
  check(kernel->launch(p.queue.handle(), grid, borrow.s.args));
}

std::vector<DType> dtypes(const std::vector<int>& codes) {
  std::vector<DType> out;
  for (int c : codes) out.push_back(static_cast<DType>(c));
  return out;
}

}  // namespace

void bind_program(nb::module_& m) {
  nb::class_<Program>(m, "Program")
      .def("__init__",
           [](Program* p, const runtime::Queue& queue, std::string name, std::string key, const std::vector<int>& views,
              std::size_t outputs, const std::vector<int>& scalars, nb::callable build) {
             new (p) Program{queue,   std::move(name), std::move(key),   dtypes(views),
                             outputs, dtypes(scalars), std::move(build), {}};
           })
      .def("launch", &launch, nb::arg("programs"), nb::arg("views"), nb::arg("scalars"),
           "Queues so many programs on ((address, extents, strides), ...) and (number or bytes, ...).")
      .def_prop_ro("kernels", [](const Program& p) {
        std::vector<std::shared_ptr<const jit::Kernel>> out;
        for (const auto& [words, kernel] : p.kernels) out.push_back(kernel);
        return out;
      });
}

}  // namespace epi::bind
