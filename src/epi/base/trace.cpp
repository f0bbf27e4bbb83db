// Collector: each thread owns a buffer behind its own lock, which only drain() ever contends for.
#include "epi/base/trace.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "epi/base/fork.h"

namespace epi::trace {
namespace {

constexpr std::size_t kMaxEventsPerThread = 1u << 20;

struct Buffer {
  ForkSafeMutex mutex;
  std::vector<Event> events;
  std::uint32_t track = 0;
};

/// Threads' buffers and the tracks' names. Leaked: threads may record while the process ends.
struct Collector {
  ForkSafeMutex mutex;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<std::string> track_names{""};  ///< index = track; 0 means "the calling thread"
  std::vector<void (*)()> flushers;
  std::string file;         ///< EPI_TRACE; empty = not asked for, or written
  int process = 0;          ///< the one that writes it: a forked child does not
  std::vector<Event> kept;  ///< for the file: what was drained so far
  std::atomic<std::uint64_t> dropped{0};
};

Collector& collector() {
  static auto* instance = new Collector;
  return *instance;
}

Buffer& thread_buffer() {
  thread_local std::shared_ptr<Buffer> buffer = [] {
    auto made = std::make_shared<Buffer>();
    Collector& all = collector();
    std::lock_guard lock(all.mutex);
    made->track = static_cast<std::uint32_t>(all.track_names.size());
    all.track_names.push_back("thread " + std::to_string(made->track));
    all.buffers.push_back(made);
    return made;
  }();
  return *buffer;
}

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (u < 0x20) {
      out += "\\u00";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string number(double value) {
  if (!std::isfinite(value)) return quoted(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
  char text[40];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return {text, end};
}

/// Microseconds with three decimals, exactly.
std::string microseconds(std::int64_t ns) {
  std::string fraction = std::to_string(std::abs(ns % 1000));
  fraction.insert(0, 3 - fraction.size(), '0');
  return (ns < 0 && ns > -1000 ? "-" : "") + std::to_string(ns / 1000) + "." + fraction;
}

void record(Event event) {
  Buffer& buffer = thread_buffer();
  if (event.track == 0) event.track = buffer.track;
  std::lock_guard lock(buffer.mutex);
  if (buffer.events.size() >= kMaxEventsPerThread) {
    collector().dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  buffer.events.push_back(std::move(event));
}

std::string joined(Args args) {
  std::string out;
  for (const Arg& arg : args) {
    if (!out.empty()) out += ',';
    out += arg.json();
  }
  return out;
}

void append_json(std::string& out, const Event& e) {
  static constexpr std::string_view kPhase[] = {"X", "i", "C"};
  out += "{\"ph\":\"";
  out += kPhase[static_cast<int>(e.kind)];
  out += "\",\"pid\":1,\"tid\":" + std::to_string(e.track) + ",\"ts\":" + microseconds(e.start_ns);
  if (e.kind == EventKind::kSpan) out += ",\"dur\":" + microseconds(e.duration_ns);
  if (e.kind == EventKind::kInstant) out += ",\"s\":\"t\"";
  out += ",\"cat\":" + quoted(e.category) + ",\"name\":" + quoted(e.name) + ",\"args\":{" + e.args + "}}";
}

/// At the end of a program that EPI_TRACE asks to be recorded.
void write_file() {
  Collector& all = collector();
  if (all.file.empty() || all.process != ::getpid()) return;
  flush();
  (void)drain();
  const std::string text = chrome_json(all.kept);
  std::FILE* out = std::fopen(all.file.c_str(), "w");
  const bool written = out != nullptr && std::fwrite(text.data(), 1, text.size(), out) == text.size();
  if ((out != nullptr && std::fclose(out) != 0) || !written)
    std::fprintf(stderr, "epitaxy: EPI_TRACE: cannot write %s\n", all.file.c_str());
  all.file.clear();
}

/// Recording begins with the program where EPI_TRACE names a file.
const bool g_from_environment = [] {
  const char* file = std::getenv("EPI_TRACE");
  if (file == nullptr || *file == 0) return false;
  collector().file = file;
  collector().process = ::getpid();
  name_thread("main");
  start();
  std::atexit(&write_file);
  return true;
}();

}  // namespace

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Arg::Arg(std::string_view key, std::string_view value) : json_(quoted(key) + ":" + quoted(value)) {}
Arg::Arg(std::string_view key, double value) : json_(quoted(key) + ":" + number(value)) {}
Arg::Arg(std::string_view key, std::int64_t value) : json_(quoted(key) + ":" + std::to_string(value)) {}
Arg::Arg(std::string_view key, std::uint64_t value) : json_(quoted(key) + ":" + std::to_string(value)) {}

void start() {
  (void)drain();
  collector().dropped.store(0, std::memory_order_relaxed);
  detail::g_enabled.store(true, std::memory_order_relaxed);
}

void stop() { detail::g_enabled.store(!collector().file.empty(), std::memory_order_relaxed); }

void on_flush(void (*function)()) {
  Collector& all = collector();
  std::lock_guard lock(all.mutex);
  all.flushers.push_back(function);
  if (!all.file.empty()) std::atexit(&write_file);  // runs before what the function calls has ended
}

void flush() {
  std::vector<void (*)()> flushers;
  {
    Collector& all = collector();
    std::lock_guard lock(all.mutex);
    flushers = all.flushers;
  }
  for (auto function : flushers) function();
}

std::vector<Event> drain() {
  std::vector<std::shared_ptr<Buffer>> buffers;
  {
    Collector& all = collector();
    std::lock_guard lock(all.mutex);
    buffers = all.buffers;
    // A buffer that only the collector (and this copy) holds belongs to a thread that has ended: taken a last time.
    std::erase_if(all.buffers, [](const auto& buffer) { return buffer.use_count() == 2; });
  }
  std::vector<Event> out;
  for (const auto& buffer : buffers) {
    std::lock_guard lock(buffer->mutex);
    std::move(buffer->events.begin(), buffer->events.end(), std::back_inserter(out));
    buffer->events.clear();
  }
  std::stable_sort(out.begin(), out.end(), [](const Event& a, const Event& b) { return a.start_ns < b.start_ns; });
  Collector& all = collector();
  std::lock_guard lock(all.mutex);
  if (!all.file.empty()) all.kept.insert(all.kept.end(), out.begin(), out.end());
  return out;
}

std::uint64_t dropped() { return collector().dropped.load(std::memory_order_relaxed); }

std::uint32_t make_track(std::string_view name) {
  Collector& all = collector();
  std::lock_guard lock(all.mutex);
  all.track_names.emplace_back(name);
  return static_cast<std::uint32_t>(all.track_names.size() - 1);
}

void name_thread(std::string_view name) {
  const std::uint32_t track = thread_buffer().track;
  Collector& all = collector();
  std::lock_guard lock(all.mutex);
  all.track_names[track] = name;
}

std::uint32_t thread_track() { return thread_buffer().track; }

void span(std::string_view category, std::string_view name, std::int64_t start_ns, std::int64_t duration_ns, Args args,
          std::uint32_t track) {
  if (!enabled()) return;
  record({EventKind::kSpan, track, start_ns, duration_ns, std::string(category), std::string(name), joined(args)});
}

void instant(std::string_view category, std::string_view name, Args args, std::uint32_t track) {
  if (!enabled()) return;
  record({EventKind::kInstant, track, now_ns(), 0, std::string(category), std::string(name), joined(args)});
}

void counter(std::string_view name, double value) {
  if (!enabled()) return;
  record({EventKind::kCounter, 0, now_ns(), 0, "counter", std::string(name), Arg("value", value).json()});
}

std::string chrome_json(const std::vector<Event>& events) {
  std::vector<std::string> names;
  {
    Collector& all = collector();
    std::lock_guard lock(all.mutex);
    names = all.track_names;
  }
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  out += R"({"ph":"M","pid":1,"name":"process_name","args":{"name":"epitaxy"}})";
  std::vector<bool> used(names.size());
  for (const Event& e : events) {
    if (e.track < used.size()) used[e.track] = true;
  }
  for (std::size_t track = 0; track < names.size(); ++track) {
    if (!used[track]) continue;
    out += ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":" + std::to_string(track) +
           ",\"name\":\"thread_name\",\"args\":{\"name\":" + quoted(names[track]) + "}}";
  }
  for (const Event& e : events) {
    out += ",\n";
    append_json(out, e);
  }
  return out += "\n]}\n";
}

}  // namespace epi::trace
