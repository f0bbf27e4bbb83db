// The launch path of tile kernels. A Launcher remembers, for one kernel, what was compiled for which arguments; a
// launch reads its arguments, finds the kernel by its key, checks that nothing the kernel captured has changed, and
// submits. Python is called on a miss only.
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <map>
#include <optional>
#include <unordered_map>

#include "arguments.h"
#include "epi/jit/jit.h"
#include "epi/runtime/queue.h"
#include "epi/runtime/registry.h"
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

/// Something a kernel captured: namespace[name], or owner.name, which must still be `value`.
struct Guard {
  nb::object owner, name, value;
};

/// One compiled specialisation.
struct Entry {
  std::shared_ptr<const jit::Kernel> kernel;
  std::vector<Guard> globals, attributes;
  nb::object current;  ///< asks in full where a guard differs; may be asked always
  bool ask_always = false;
};

/// Extents and strides of a view argument that are compile-time constants.
struct StaticAxes {
  int argument;
  std::vector<int> extents, strides;
};

struct Launcher {
  std::string name;
  std::vector<std::string> names;  ///< of all parameters
  std::vector<bool> constant;
  nb::tuple defaults;  ///< one a parameter; the `missing` object where there is none
  nb::object missing;
  std::vector<StaticAxes> static_axes;
  std::unordered_map<Words, Entry, WordsHash> entries;
  nb::dict interned;  ///< constants that are not numbers, by Python's key
};

/// What one launch works with; kept by its thread so that a hit allocates nothing.
struct Scratch {
  Arguments arguments;
  Words key;
  std::vector<nb::handle> constants;
  bool busy = false;
};

thread_local int t_mode = -1;  ///< 0 devices, 1 interpreter, 2 its checked mode; -1 the process's default
int g_mode = 0;

Status too_few(const Launcher& l, std::size_t given, std::size_t at) {
  if (given > l.names.size())
    return type_error("kernel " + l.name + " takes " + std::to_string(l.names.size()) + " arguments, got " +
                      std::to_string(given));
  return type_error("kernel " + l.name + ": no value for '" + l.names[at] + "' (" + std::to_string(given) +
                    " arguments were given)");
}

/// The key's words of a constant: a tag and its bits; other objects are numbered by Python's equality of their key.
void append_constant(Launcher& l, nb::handle self, nb::handle value, Words& key) {
  PyObject* o = value.ptr();
  if (PyBool_Check(o)) {
    key.insert(key.end(), {1, o == Py_True});
    return;
  }
  int overflow = 0;
  if (const long long v = PyLong_CheckExact(o) ? PyLong_AsLongLongAndOverflow(o, &overflow) : 0;
      PyLong_CheckExact(o) && overflow == 0) {
    key.insert(key.end(), {2, static_cast<std::uint64_t>(v)});
    return;
  }
  if (PyFloat_CheckExact(o)) {
    key.insert(key.end(), {3, std::bit_cast<std::uint64_t>(PyFloat_AsDouble(o))});
    return;
  }
  const nb::object python_key = self.attr("_constant_key")(value);
  if (!l.interned.contains(python_key)) l.interned[python_key] = nb::int_(l.interned.size());
  key.insert(key.end(), {4, nb::cast<std::uint64_t>(l.interned[python_key])});
}

/// Reads the arguments into the scratch and makes the key.
Status read_arguments(Launcher& l, nb::handle self, nb::handle args, Scratch& s) {
  const auto given = static_cast<std::size_t>(PyTuple_Size(args.ptr()));
  if (given > l.names.size()) return too_few(l, given, 0);
  s.key.clear();
  for (std::size_t i = 0; i < l.names.size(); ++i) {
    nb::handle value = PyTuple_GetItem(i < given ? args.ptr() : l.defaults.ptr(), static_cast<Py_ssize_t>(i));
    if (value.is(l.missing)) return too_few(l, given, i);
    if (l.constant[i]) {
      s.constants.push_back(value);
      append_constant(l, self, value, s.key);
    } else {
      EPI_RETURN_IF_ERROR(extract(value.ptr(), l.names[i].c_str(), s.arguments));
    }
  }
  for (const StaticAxes& a : l.static_axes) {
    const jit::Arg& arg = s.arguments.args[static_cast<std::size_t>(a.argument)];
    for (int d : a.extents) s.key.push_back(static_cast<std::uint64_t>(arg.extents[static_cast<std::size_t>(d)]));
    for (int d : a.strides) s.key.push_back(static_cast<std::uint64_t>(arg.strides[static_cast<std::size_t>(d)]));
  }
  jit::append_key(s.arguments.args, s.key);
  s.key.push_back(s.arguments.wide ? 1 : 0);
  return {};
}

// -- where it runs
/// A device with its default queue, looked up once.
struct Target {
  runtime::Device device;
  runtime::Queue queue;
  std::uint64_t word;  ///< tells devices apart in keys
};

const Target& target_of(const runtime::Device& device) {
  static auto& known = *new std::map<std::string, Target>;
  const auto it = known.find(device.label());
  if (it != known.end()) return it->second;
  return known.emplace(device.label(), Target{device, take(device.default_queue()), known.size()}).first->second;
}

const Target& target_of(const Place& place) {
  static auto& known = *new std::map<int, const Target*>;
  if (place.kind == Place::kNone) {
    const nb::object current = nb::module_::import_("epitaxy._device").attr("current_device")();
    return target_of(nb::cast<const runtime::Device&>(current));
  }
  const int slot = place.kind * 1024 + place.ordinal;
  if (const auto it = known.find(slot); it != known.end()) return *it->second;
  const std::string name = place.kind == Place::kHost ? "cpu" : "cuda:" + std::to_string(place.ordinal);
  const Target& found = target_of(take(runtime::device(name)));
  known.emplace(slot, &found);
  return found;
}

// -- the cache
bool same_guards(const Entry& e) {
  for (const Guard& g : e.globals)
    if (PyDict_GetItem(g.owner.ptr(), g.name.ptr()) != g.value.ptr()) return false;
  for (const Guard& g : e.attributes) {
    PyObject* now = PyObject_GetAttr(g.owner.ptr(), g.name.ptr());
    if (!now) PyErr_Clear();
    Py_XDECREF(now);
    if (now != g.value.ptr()) return false;
  }
  return !e.ask_always;
}

std::vector<Guard> guards_of(nb::handle rows) {
  std::vector<Guard> out;
  for (nb::handle row : rows) out.push_back({nb::object(row[0]), nb::object(row[1]), nb::object(row[2])});
  return out;
}

/// Asks Python to compile; `self._miss(constants, arguments, device)` gives (kernel, globals, attributes, current,
/// always).
Entry& compile(Launcher& l, nb::handle self, Scratch& s, const Target& target) {
  nb::list constants;
  for (nb::handle c : s.constants) constants.append(c);
  const nb::object made =
      self.attr("_miss")(constants, nb::cast(s.arguments, nb::rv_policy::copy), nb::cast(target.device));
  Entry e;
  e.kernel = nb::cast<std::shared_ptr<const jit::Kernel>>(made[0]);
  e.globals = guards_of(made[1]);
  e.attributes = guards_of(made[2]);
  e.current = made[3];
  e.ask_always = nb::cast<bool>(made[4]);
  return l.entries.insert_or_assign(s.key, std::move(e)).first->second;
}

/// The kernel for the scratch's arguments. Shared, so that a recompilation meanwhile cannot take it away.
std::shared_ptr<const jit::Kernel> find(Launcher& l, nb::handle self, Scratch& s, const Target& target) {
  s.key.push_back(target.word);
  const auto it = l.entries.find(s.key);
  if (it == l.entries.end() || it->second.kernel->is_untraced()) return compile(l, self, s, target).kernel;
  if (same_guards(it->second)) return it->second.kernel;
  const nb::object current = it->second.current;
  if (nb::cast<bool>(current())) {
    const auto again = l.entries.find(s.key);
    if (again != l.entries.end()) return again->second.kernel;
  }
  return compile(l, self, s, target).kernel;
}

// -- the call
Status grid_axis(PyObject* o, std::uint32_t& out) {
  if (PyBool_Check(o) || !PyIndex_Check(o)) return type_error("the grid's sizes must be integers");
  const Py_ssize_t v = PyNumber_AsSsize_t(o, nullptr);
  if (v < 0 || v > INT32_MAX) return invalid_argument("the grid's sizes must be between 0 and 2^31 - 1");
  out = static_cast<std::uint32_t>(v);
  return {};
}

Status read_grid(nb::handle grid, std::uint32_t out[3]) {
  out[0] = out[1] = out[2] = 1;
  if (PyIndex_Check(grid.ptr())) return grid_axis(grid.ptr(), out[0]);
  if (!PyTuple_Check(grid.ptr()) && !PyList_Check(grid.ptr()))
    return type_error("the grid must be an integer or a tuple of 1 to 3 integers");
  const Py_ssize_t n = PySequence_Size(grid.ptr());
  if (n < 1 || n > 3) return invalid_argument("the grid has 1 to 3 axes, got " + std::to_string(n));
  for (Py_ssize_t i = 0; i < n; ++i) {
    const nb::object axis = nb::steal(PySequence_GetItem(grid.ptr(), i));
    EPI_RETURN_IF_ERROR(grid_axis(axis.ptr(), out[i]));
  }
  return {};
}

/// A stream of another library: its work so far is waited for, and ours is done when the launch returns.
bool wait_for_foreign(nb::handle stream) {
  for (const char* name : {"synchronize", "synchronise"})
    if (nb::hasattr(stream, name)) {
      stream.attr(name)();
      return true;
    }
  check(type_error("stream must be None, an epitaxy queue, or a stream with synchronize(), got " +
                   nb::cast<std::string>(nb::str(stream.type().attr("__qualname__")))));
  return false;
}

void wait(const runtime::Queue& queue) { check(without_gil([&] { return queue.synchronise(); })); }

void run(Launcher& l, nb::handle self, nb::handle stream, const std::uint32_t grid[3], nb::handle args, Scratch& s) {
  const TracedCall call("tile.launch");
  check(read_arguments(l, self, args, s));
  const Target& target = target_of(s.arguments.place);
  const auto kernel = find(l, self, s, target);
  runtime::Queue* given = nullptr;
  bool synchronous = s.arguments.place.kind != Place::kCuda;
  nb::object theirs;
  if (stream.is_none() && !synchronous && s.arguments.foreign) {  // None means the stream that made the arrays
    theirs = self.attr("_foreign_stream")(args);
    stream = theirs;
  }
  if (!stream.is_none()) {
    if (nb::try_cast<runtime::Queue*>(stream, given) && given) {
      if (!(given->device() == target.device))
        check(invalid_argument("the queue is of " + given->device().label() + ", the arrays are on " +
                               target.device.label()));
      synchronous = false;
    } else {
      synchronous = wait_for_foreign(stream) || synchronous;
    }
  }
  const runtime::Queue& queue = given ? *given : target.queue;
  check(kernel->launch(queue.handle(), grid, s.arguments.args));
  if (synchronous) wait(queue);
}

void launch(nb::handle stream, nb::handle grid, nb::handle self, nb::handle args) {
  Launcher* l = nullptr;
  if (!nb::try_cast<Launcher*>(self, l) || !l)
    check(type_error("launch starts a function decorated with @kernel, got " +
                     nb::cast<std::string>(nb::str(self.type().attr("__qualname__")))));
  nb::object held;
  if (!PyTuple_Check(args.ptr())) {
    held = nb::steal(PySequence_Tuple(args.ptr()));
    if (!held.is_valid()) throw nb::python_error();
    args = held;
  }
  std::uint32_t sizes[3];
  check(read_grid(grid, sizes));
  const int mode = t_mode >= 0 ? t_mode : g_mode;
  if (mode != 0) {
    self.attr("_interpret")(grid, args, mode == 2);
    return;
  }
  thread_local Scratch kept;
  std::optional<Scratch> fresh;  // a launch within a launch (an argument's __dlpack__ may do anything)
  if (kept.busy) fresh.emplace();
  Scratch& s = fresh ? *fresh : kept;
  struct Release {
    Scratch& s;
    ~Release() {
      s.arguments = {std::move(s.arguments.args), {}, -1, false, false, {}};
      s.arguments.args.clear();
      s.constants.clear();
      s.busy = false;
    }
  } release{s};
  s.busy = true;
  run(*l, self, stream, sizes, args, s);
}

int set_mode(int mode) {
  const int before = t_mode;
  t_mode = mode;
  return before;
}

// -- the garbage collector's view: kernels, the globals they captured and their functions refer to each other
int visit_all(const std::vector<Guard>& guards, visitproc visit, void* arg) {
  for (const Guard& g : guards) {
    Py_VISIT(g.owner.ptr());
    Py_VISIT(g.name.ptr());
    Py_VISIT(g.value.ptr());
  }
  return 0;
}

int launcher_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Launcher* l = nb::inst_ptr<Launcher>(self);
  Py_VISIT(l->defaults.ptr());
  Py_VISIT(l->missing.ptr());
  Py_VISIT(l->interned.ptr());
  for (const auto& [key, e] : l->entries) {
    if (int r = visit_all(e.globals, visit, arg)) return r;
    if (int r = visit_all(e.attributes, visit, arg)) return r;
    Py_VISIT(e.current.ptr());
  }
  return 0;
}

int launcher_clear(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;
  auto* l = nb::inst_ptr<Launcher>(self);
  const auto entries = std::move(l->entries);  // released after the launcher is in order
  l->entries.clear();
  l->defaults = nb::steal<nb::tuple>(nb::handle());
  l->missing = nb::object();
  l->interned = nb::steal<nb::dict>(nb::handle());
  return 0;
}

PyType_Slot launcher_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(launcher_traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(launcher_clear)},
                                {0, nullptr}};

std::vector<StaticAxes> static_axes_of(const nb::list& rows) {
  std::vector<StaticAxes> out;
  for (nb::handle r : rows)
    out.push_back({nb::cast<int>(r[0]), nb::cast<std::vector<int>>(r[1]), nb::cast<std::vector<int>>(r[2])});
  return out;
}

}  // namespace

void bind_launch(nb::module_& m) {
  nb::class_<Launcher>(m, "Launcher", nb::type_slots(launcher_slots))
      .def(nb::init<>())
      .def("setup",
           [](Launcher& l, std::string name, std::vector<std::string> names, std::vector<bool> constant,
              nb::tuple defaults, nb::object missing, const nb::list& static_axes) {
             l.name = std::move(name);
             l.names = std::move(names);
             l.constant = std::move(constant);
             l.defaults = std::move(defaults);
             l.missing = std::move(missing);
             l.static_axes = static_axes_of(static_axes);
             l.entries.clear();
           })
      .def_prop_ro("entries", [](const Launcher& l) { return l.entries.size(); })
      .def("forget", [](Launcher& l) { l.entries.clear(); });
  m.def("launch", &launch, nb::arg("stream").none(), nb::arg("grid"), nb::arg("kernel"), nb::arg("args"));
  m.def("set_mode", &set_mode,
        "This thread's launches: 0 devices, 1 interpreter, 2 checked, -1 the default. Gives the old.");
  m.def("set_default_mode", [](int mode) { g_mode = mode; });
}

}  // namespace epi::bind
