#include "epi/base/log.h"

#include <atomic>
#include <cstdlib>

namespace epi {
namespace {
std::atomic<ReportSink> g_sink{nullptr};
}  // namespace

ReportSink set_report_sink(ReportSink sink) { return g_sink.exchange(sink); }

void report(const Status& status, std::string_view where) {
  if (status.ok()) return;
  const std::string text = std::string(where) + ": " + status.message();
  if (const ReportSink sink = g_sink.load()) {
    sink(text);
  } else {
    std::fprintf(stderr, "epitaxy: %s\n", text.c_str());
  }
}

int debug_level() {
  static const int level = [] {
    const char* text = std::getenv("EPI_DEBUG");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return level;
}

void debug(int level, std::string_view line) {
  if (debug_level() >= level) {
    std::fprintf(stderr, "epitaxy: %.*s\n", static_cast<int>(line.size()), line.data());
  }
}

}  // namespace epi
