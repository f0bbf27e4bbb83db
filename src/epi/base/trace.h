// Trace hooks: spans and counters that any floor may record. Off, a hook costs one relaxed load. On, an event goes to the
// recording thread's own buffer; drain() collects them all. chrome_json() writes what chrome://tracing and Perfetto open.
// With EPI_TRACE=file in the environment a program records from its start, and writes that file at its end.
#pragma once
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace epi::trace {

namespace detail {
inline std::atomic<bool> g_enabled{false};
}  // namespace detail

/// The hot path's question. Hooks ask before they build anything.
[[nodiscard]] inline bool enabled() { return detail::g_enabled.load(std::memory_order_relaxed); }

/// Nanoseconds of the steady clock; the time base of every event.
[[nodiscard]] std::int64_t now_ns();

/// One key and its value in an event; becomes JSON text when recorded.
class Arg {
 public:
  Arg(std::string_view key, std::string_view value);
  Arg(std::string_view key, const char* value) : Arg(key, std::string_view(value)) {}
  Arg(std::string_view key, double value);
  Arg(std::string_view key, std::int64_t value);
  Arg(std::string_view key, std::uint64_t value);
  Arg(std::string_view key, int value) : Arg(key, std::int64_t{value}) {}
  Arg(std::string_view key, unsigned value) : Arg(key, std::uint64_t{value}) {}
  [[nodiscard]] const std::string& json() const { return json_; }

 private:
  std::string json_;  ///< "key":value
};
using Args = std::initializer_list<Arg>;

enum class EventKind : std::uint8_t { kSpan, kInstant, kCounter };

/// What was recorded. Plain data.
struct Event {
  EventKind kind = EventKind::kSpan;
  std::uint32_t track = 0;        ///< a thread, or a track made with make_track()
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;   ///< spans only
  std::string category;           ///< "compile", "queue", "run"...
  std::string name;
  std::string args;               ///< inside of a JSON object: "grid":16,"kernel":"add"
};

/// Begins recording; what an earlier recording left undrained is dropped.
void start();
/// Ends recording (not that of EPI_TRACE); the events stay until drained.
void stop();
/// Takes all events of all threads, in order of their start.
[[nodiscard]] std::vector<Event> drain();
/// Has those that measure later than the work happens (GPUs) record what they know so far. Waits for their work.
void flush();
/// Adds a function that flush() calls. It may record, wait and call drivers.
void on_flush(void (*function)());
/// Events that were not kept because a thread's buffer was full (a million events) since start().
[[nodiscard]] std::uint64_t dropped();

/// A row of the picture that is no thread: a GPU's queue. Lives for ever; call once per thing, not per event.
[[nodiscard]] std::uint32_t make_track(std::string_view name);
/// Names the calling thread's row.
void name_thread(std::string_view name);
/// The calling thread's row.
[[nodiscard]] std::uint32_t thread_track();

/// Record when enabled(), else return at once. `track` 0 = the calling thread's.
void span(std::string_view category, std::string_view name, std::int64_t start_ns, std::int64_t duration_ns,
          Args args = {}, std::uint32_t track = 0);
void instant(std::string_view category, std::string_view name, Args args = {}, std::uint32_t track = 0);
void counter(std::string_view name, double value);

/// A span from construction to destruction. `category` and `name` outlive it.
class Scope {
 public:
  Scope(std::string_view category, std::string_view name)
      : category_(category), name_(name), start_ns_(enabled() ? now_ns() : -1) {}
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    if (start_ns_ >= 0) span(category_, name_, start_ns_, now_ns() - start_ns_);
  }

 private:
  std::string_view category_, name_;
  std::int64_t start_ns_;
};

/// The events as a JSON text that trace viewers open.
[[nodiscard]] std::string chrome_json(const std::vector<Event>& events);

}  // namespace epi::trace
