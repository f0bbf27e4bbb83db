// runtime/: devices, queues, buffers, events. Calls that may wait release the GIL. Handles share; Python's last
// reference is one holder among others.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bind.h"
#include "epi/runtime/memory.h"
#include "epi/runtime/queue.h"
#include "epi/runtime/registry.h"

namespace epi::bind {
namespace {

using runtime::Buffer;
using runtime::Device;
using runtime::Event;
using runtime::Queue;

nb::dict info_dict(const Device& d) {
  const device::DeviceInfo& i = d.info();
  nb::dict out;
  out["name"] = i.name;
  out["kind"] = i.kind;
  out["arch"] = i.arch;
  out["ordinal"] = i.ordinal;
  out["processors"] = i.processors;
  out["total_bytes"] = i.total_bytes;
  out["shared_bytes"] = i.shared_bytes;
  out["cache_bytes"] = i.cache_bytes;
  out["host_addressable"] = i.has(device::Cap::kHostAddressable);
  return out;
}

nb::dict pool_dict(const Device& d) {
  const runtime::PoolStatistics s = d.pool().statistics();
  nb::dict out;
  out["used_bytes"] = s.used_bytes;
  out["cached_bytes"] = s.cached_bytes;
  out["peak_used_bytes"] = s.peak_used_bytes;
  out["limit_bytes"] = s.limit_bytes;
  out["live_blocks"] = s.live_blocks;
  out["allocations"] = s.allocations;
  out["reuses"] = s.reuses;
  return out;
}

void bind_device(nb::module_& m) {
  nb::class_<Device>(m, "Device")
      .def_prop_ro("label", [](const Device& d) { return d.label(); })
      .def_prop_ro("info", &info_dict)
      .def_prop_ro("kind", [](const Device& d) { return d.info().kind; })
      .def_prop_ro("processors", [](const Device& d) { return d.info().processors; })
      .def_prop_ro("memory", &pool_dict)
      .def("default_queue", [](const Device& d) { return take(d.default_queue()); })
      .def("create_queue", [](const Device& d) { return take(Queue::create(d)); })
      .def("trim", [](const Device& d) { check(d.pool().trim()); })
      .def("set_memory_limit", [](const Device& d, std::size_t bytes) { check(d.pool().set_limit(bytes)); })
      .def("__eq__", [](const Device& a,
                        const nb::object& b) { return nb::isinstance<Device>(b) && a == nb::cast<const Device&>(b); })
      .def("__hash__", [](const Device& d) { return std::hash<std::string>()(d.label()); })
      .def("__repr__", [](const Device& d) { return "<epitaxy device " + d.label() + ": " + d.info().name + ">"; });
  m.def("devices", &runtime::devices);
  m.def("device", [](const std::string& name) { return take(runtime::device(name)); });
}

void bind_queue(nb::module_& m) {
  nb::class_<Event>(m, "Event")
      .def("wait", [](const Event& e) { check(without_gil([&] { return e.wait(); })); })
      .def("is_done", [](const Event& e) { return take(e.is_done()); })
      .def("elapsed_ns", [](const Event& a, const Event& b) { return take(a.elapsed_ns(b)); });
  nb::class_<Queue>(m, "Queue")
      .def_prop_ro("device", &Queue::device)
      .def("synchronise", [](const Queue& q) { check(without_gil([&] { return q.synchronise(); })); })
      .def("record", [](const Queue& q) { return take(q.record()); })
      .def("wait", [](const Queue& q, const Event& e) { check(q.wait(e)); })
      .def("is_idle", [](const Queue& q) { return take(q.is_idle()); })
      .def(
          "copy",
          [](const Queue& q, std::uintptr_t dst, std::uintptr_t src, std::size_t bytes, int kind) {
            check(without_gil([&] {
              return q.copy(reinterpret_cast<void*>(dst), reinterpret_cast<const void*>(src), bytes,
                            static_cast<device::CopyKind>(kind));
            }));
          },
          "kind: 0 host to device, 1 device to host, 2 device to device, 3 host to host")
      .def("fill", [](const Queue& q, std::uintptr_t dst, const nb::bytes& pattern, std::size_t count) {
        check(q.fill(reinterpret_cast<void*>(dst), pattern.c_str(), pattern.size(), count));
      });
}

}  // namespace

void bind_runtime(nb::module_& m) {
  bind_device(m);
  bind_queue(m);
  nb::class_<Buffer>(m, "Buffer")
      .def_static(
          "allocate", [](std::size_t bytes, const Queue& q) { return take(Buffer::allocate(bytes, q)); },
          "Memory of the queue's device; size 0 has address 0.")
      .def_prop_ro("address", [](const Buffer& b) { return reinterpret_cast<std::uintptr_t>(b.data()); })
      .def_prop_ro("nbytes", &Buffer::size_bytes);
}

}  // namespace epi::bind
