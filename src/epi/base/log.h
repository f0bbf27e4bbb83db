// Where errors go that have no caller to return to: destructors and callbacks report() here. Python installs a sink that
// raises a warning; without one the text goes to stderr. Debug lines follow the one knob, EPI_DEBUG=1..5.
#pragma once
#include <string_view>

#include "epi/base/status.h"

namespace epi {

/// Takes a warning. Called on any thread, with no lock held; must not throw.
using ReportSink = void (*)(std::string_view message);

/// Replaces the sink; null = stderr. Returns the former one.
ReportSink set_report_sink(ReportSink sink);

/// Tells of an error that nobody can return. An ok status says nothing.
void report(const Status& status, std::string_view where);

/// EPI_DEBUG: 0 off, 1 devices, 2 cache, 3 launches and times, 4 IR, 5 every pass. Read once.
int debug_level();
/// One line to stderr when debug_level() >= level.
void debug(int level, std::string_view line);

}  // namespace epi
