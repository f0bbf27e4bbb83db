// The device's clock is tied to the host's once a queue: an event that was waited for, and the host's time right after.
#include "epi/jit/measured_run.h"

#include <map>
#include <mutex>
#include <vector>

#include "epi/base/trace.h"

namespace epi::jit {
namespace {

struct Pending {
  std::string name;
  device::EventHandle begin, end;
};

/// What is known of one queue.
struct Row {
  device::Device* device;
  std::uint32_t track;
  device::EventHandle base;
  std::int64_t base_ns;  ///< the host's time of `base`
  std::vector<Pending> pending;
};

constexpr std::size_t kMostPending = 1024;  ///< beyond, they are read at once

std::mutex& mutex() {
  static auto* one = new std::mutex;
  return *one;
}
std::map<void*, Row>& rows() {  // by queue; the mutex is held
  static auto* one = new std::map<void*, Row>;
  return *one;
}

Result<device::EventHandle> record(device::Device& device, device::QueueHandle queue) {
  EPI_TRY(const device::EventHandle event, device.create_event({}));
  if (Status s = device.record(event, queue); !s.ok()) {
    (void)device.destroy_event(event);
    return s;
  }
  return event;
}

void read(Row& row) {
  for (const Pending& p : row.pending) {
    (void)row.device->wait(p.end);  // an error of the work surfaces where the program waits
    const Result<double> begin = row.device->elapsed_ns(row.base, p.begin);
    const Result<double> took = row.device->elapsed_ns(p.begin, p.end);
    if (begin.ok() && took.ok())
      trace::span("run", p.name, row.base_ns + static_cast<std::int64_t>(*begin), static_cast<std::int64_t>(*took), {},
                  row.track);
    (void)row.device->destroy_event(p.begin);
    (void)row.device->destroy_event(p.end);
  }
  row.pending.clear();
}

/// Called when a trace is flushed: reads all, and forgets the queues, which may end before the next trace.
void read_all() {
  std::lock_guard lock(mutex());
  for (auto& [queue, row] : rows()) {
    read(row);
    (void)row.device->destroy_event(row.base);
  }
  rows().clear();
}

Result<Row*> row_of(device::Device& device, device::QueueHandle queue) {  // the mutex is held
  static const bool registered = (trace::on_flush(&read_all), true);
  (void)registered;
  if (const auto it = rows().find(queue.ptr); it != rows().end()) return &it->second;
  EPI_TRY(const device::EventHandle base, record(device, queue));
  (void)device.wait(base);
  const std::int64_t base_ns = trace::now_ns();
  static std::map<std::string, std::uint32_t>& tracks = *new std::map<std::string, std::uint32_t>;
  const std::string name = device.info().kind + ":" + std::to_string(device.info().ordinal) + " queue " +
                           std::to_string(rows().size());
  auto [track, fresh] = tracks.try_emplace(name, 0);
  if (fresh) track->second = trace::make_track(name);
  return &rows().emplace(queue.ptr, Row{&device, track->second, base, base_ns, {}}).first->second;
}

}  // namespace

MeasuredRun::MeasuredRun(device::Device& device, device::QueueHandle queue, std::string_view name)
    : device_(device), queue_(queue) {
  if (!trace::enabled() || device.info().has(device::Cap::kHostKernels)) return;
  std::lock_guard lock(mutex());
  if (!row_of(device, queue).ok()) return;
  Result<device::EventHandle> begin = record(device, queue);
  if (!begin.ok()) return;
  name_ = name;
  begin_ = *begin;
}

MeasuredRun::~MeasuredRun() {
  if (!begin_) return;
  std::lock_guard lock(mutex());
  const auto row = rows().find(queue_.ptr);  // gone where the trace was flushed meanwhile
  Result<device::EventHandle> end = device::EventHandle{};
  if (row != rows().end()) end = record(device_, queue_);
  if (!end.ok() || !*end) {
    (void)device_.destroy_event(begin_);
    return;
  }
  row->second.pending.push_back({std::move(name_), begin_, *end});
  if (row->second.pending.size() >= kMostPending) read(row->second);
}

}  // namespace epi::jit
