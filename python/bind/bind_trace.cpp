// base/trace.h: recording, the events as tuples, and the tuples as a Chrome trace.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bind.h"
#include "epi/base/trace.h"
#include "traced_call.h"

namespace epi::bind {
namespace {

/// (kind, track, start_ns, duration_ns, category, name, arguments as a JSON object)
using Row = std::tuple<int, std::uint32_t, std::int64_t, std::int64_t, std::string, std::string, std::string>;

/// Python's function () -> (file, line, function) of the user's frame. Leaked: calls may be traced while the process ends.
nb::object& origin() {
  static auto* one = new nb::object;
  return *one;
}

std::vector<Row> events() {
  std::vector<trace::Event> drained;
  {
    nb::gil_scoped_release release;
    trace::flush();
    drained = trace::drain();
  }
  std::vector<Row> out;
  for (trace::Event& e : drained)
    out.emplace_back(static_cast<int>(e.kind), e.track, e.start_ns, e.duration_ns, std::move(e.category),
                     std::move(e.name), "{" + e.args + "}");
  return out;
}

std::string chrome_json(const std::vector<Row>& rows) {
  std::vector<trace::Event> events;
  for (const auto& [kind, track, start_ns, duration_ns, category, name, args] : rows)
    events.push_back({static_cast<trace::EventKind>(kind), track, start_ns, duration_ns, category, name,
                      args.substr(1, args.size() - 2)});
  return trace::chrome_json(events);
}

}  // namespace

TracedCall::TracedCall(const char* what) : what_(what) {
  if (!trace::enabled()) return;
  if (origin().is_valid()) {
    const nb::object where = origin()();
    file_ = nb::cast<std::string>(where[0]);
    line_ = nb::cast<int>(where[1]);
    function_ = nb::cast<std::string>(where[2]);
  }
  start_ns_ = trace::now_ns();
}

TracedCall::~TracedCall() {
  if (start_ns_ < 0) return;
  trace::span("python", what_, start_ns_, trace::now_ns() - start_ns_,
              {{"file", file_}, {"line", line_}, {"function", function_}});
}

void bind_trace(nb::module_& m) {
  m.def("trace_start", [] {
    trace::start();
    trace::name_thread("python");
  });
  m.def("trace_stop", &trace::stop);
  m.def("trace_enabled", &trace::enabled);
  m.def("trace_now_ns", &trace::now_ns);
  m.def("trace_span", [](const std::string& category, const std::string& name, std::int64_t start_ns,
                         std::int64_t duration_ns) { trace::span(category, name, start_ns, duration_ns); });
  m.def("trace_events", &events, "What was recorded since the last call, in order of start. Waits for GPUs.");
  m.def("trace_chrome_json", &chrome_json, "Such events as a text that Perfetto and chrome://tracing open.");
  m.def("set_trace_origin", [](nb::object function) { origin() = std::move(function); });
}

}  // namespace epi::bind
