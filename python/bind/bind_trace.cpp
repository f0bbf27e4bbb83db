// base/trace.h: recording, and the events as tuples or as a Chrome trace.
#include <nanobind/stl/string.h>

#include "bind.h"
#include "epi/base/trace.h"

namespace epi::bind {

void bind_trace(nb::module_& m) {
  static std::vector<trace::Event> drained;  // the last drain, for both forms; the GIL guards it
  m.def("trace_start", &trace::start);
  m.def("trace_stop", [] {
    trace::stop();
    drained = trace::drain();
  });
  m.def("trace_enabled", &trace::enabled);
  m.def("trace_now_ns", &trace::now_ns);
  m.def("trace_span", [](const std::string& category, const std::string& name, std::int64_t start_ns,
                         std::int64_t duration_ns) { trace::span(category, name, start_ns, duration_ns); });
  m.def("trace_events", [] {
    nb::list out;
    for (const trace::Event& e : drained)
      out.append(nb::make_tuple(static_cast<int>(e.kind), e.track, e.start_ns, e.duration_ns, e.category, e.name,
                                "{" + e.args + "}"));
    return out;
  });
  m.def("trace_chrome_json", [] { return trace::chrome_json(drained); });
}

}  // namespace epi::bind
