#include "epi/backend/cpu/driver/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "epi/backend/cpu/driver/futex.h"
#include "epi/backend/cpu/driver/soft_queue.h"
#include "epi/backend/cpu/driver/thread_state.h"
#include "epi/base/log.h"
#include "epi/base/trace.h"

namespace epi::backend::cpu {
namespace {

constexpr std::int64_t kSpinNs = 20'000;
constexpr std::int64_t kDozeNs = 500'000;       ///< how late small work that nobody waits for may start
constexpr int kDozes = 40;                      ///< then worker 0 sleeps too, and every submission wakes
constexpr std::int64_t kDeepNs = 250'000'000;   ///< worker 0's longest sleep: what a lost wake costs at most
constexpr long kMostThreads = 1024;

std::uint32_t cores_of_this_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
  return static_cast<std::uint32_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::uint32_t wanted_threads() {
  const char* text = std::getenv("EPITAXY_CPU_THREADS");
  if (text == nullptr || *text == '\0') return cores_of_this_process();
  char* end = nullptr;
  const long wanted = std::strtol(text, &end, 10);
  if (*end == '\0' && wanted >= 1 && wanted <= kMostThreads) return static_cast<std::uint32_t>(wanted);
  report(invalid_argument(std::string("EPITAXY_CPU_THREADS is '") + text + "'; it takes a number from 1 to " +
                          std::to_string(kMostThreads) + ". Using the available cores"),
         "cpu device");
  return cores_of_this_process();
}

}  // namespace

struct Workers::View {
  std::uint64_t version = 0;
  std::vector<std::shared_ptr<SoftQueue>> queues;

  bool work() {
    bool worked = false;
    for (const auto& queue : queues) worked |= queue->work();
    return worked;
  }
  [[nodiscard]] bool has_work() const {
    return std::any_of(queues.begin(), queues.end(), [](const auto& queue) { return queue->has_work(); });
  }
};

Workers& Workers::get() {
  static Workers* instance = [] {
    auto* made = new Workers;
    at_fork_child([] { get().reset_after_fork(); });
    return made;
  }();
  return *instance;
}

Workers::Workers() : threads_(wanted_threads()) {}

void Workers::add(std::shared_ptr<SoftQueue> queue) {
  {
    std::lock_guard lock(mutex_);
    queues_.push_back(std::move(queue));
    version_.fetch_add(1, std::memory_order_release);
  }
  start();
}

void Workers::remove(const SoftQueue* queue) {
  std::shared_ptr<SoftQueue> last;  // ends after the lock
  std::lock_guard lock(mutex_);
  const auto it = std::find_if(queues_.begin(), queues_.end(), [&](const auto& q) { return q.get() == queue; });
  if (it == queues_.end()) return;
  last = std::move(*it);
  queues_.erase(it);
  version_.fetch_add(1, std::memory_order_release);
}

std::vector<std::shared_ptr<SoftQueue>> Workers::queues() {
  std::lock_guard lock(mutex_);
  return queues_;
}

void Workers::start() {
  if (started_.exchange(true)) return;
  // Workers take no signals: they are the application's.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const std::uint32_t count = std::max(1u, threads_ - 1);  // the thread that waits is the last one
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  int error = 0;
  for (std::uint32_t i = 0; i < count && error == 0; ++i) {
    pthread_t thread;
    error = pthread_create(&thread, &attributes, &Workers::entry, this);
  }
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    report(device_error("only some of " + std::to_string(count) + " worker threads could be started (error " +
                        std::to_string(error) + "); waiting threads do the work of the rest"),
           "cpu device");
  }
}

void* Workers::entry(void* self) {
  auto* workers = static_cast<Workers*>(self);
  workers->loop(workers->next_id_.fetch_add(1));
  return nullptr;
}

void Workers::refresh(View& view) {
  const std::uint64_t version = version_.load(std::memory_order_acquire);  // before the copy: may repeat, never misses
  if (view.version == version) return;
  view.queues = queues();
  view.version = version;
}

void Workers::loop(std::uint32_t id) {
  const FloatEnvironment floats;
  trace::name_thread("cpu worker " + std::to_string(id));
  View view;
  for (;;) {
    refresh(view);
    if (view.work() || spin(view)) continue;
    sleep(view, id);
  }
}

/// True when work turned up. A spinner only looks; it stops counting as one before it works.
bool Workers::spin(View& view) {
  spinners_.fetch_add(1, std::memory_order_seq_cst);
  bool found = false;
  for (const std::int64_t end_ns = trace::now_ns() + kSpinNs; !found && trace::now_ns() < end_ns;) {
    for (int i = 0; i < 16; ++i) pause();
    refresh(view);
    found = view.has_work();
  }
  spinners_.fetch_sub(1, std::memory_order_seq_cst);
  // A producer that still counted on us has published before: look once more.
  return found || view.has_work();
}

void Workers::sleep(View& view, std::uint32_t id) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  const bool watches = id == 0;
  for (int dozes = 0;; ++dozes) {
    const bool doze = watches && (dozes < kDozes || blocked_.load(std::memory_order_seq_cst) > 0);
    if (watches) dozing_.store(doze, std::memory_order_seq_cst);
    const std::uint32_t epoch = epoch_.load(std::memory_order_seq_cst);
    wake_pending_.store(0, std::memory_order_seq_cst);
    refresh(view);
    if (view.has_work()) break;
    futex_wait(&epoch_, epoch, doze ? kDozeNs : watches ? kDeepNs : -1);
    if (epoch_.load(std::memory_order_seq_cst) != epoch) break;
  }
  if (watches) dozing_.store(false, std::memory_order_seq_cst);
  wake_pending_.store(0, std::memory_order_seq_cst);
  sleepers_.fetch_sub(1, std::memory_order_seq_cst);
}

void Workers::notify(bool eager) {
  if (!started_.load(std::memory_order_relaxed)) start();  // a forked child's first work
  if (spinners_.load(std::memory_order_seq_cst) != 0) return;
  if (!eager && dozing_.load(std::memory_order_seq_cst)) return;
  if (wake_pending_.load(std::memory_order_relaxed) != 0) return;
  wake(1);
}

void Workers::wake(std::uint32_t count) {
  if (count == 0 || sleepers_.load(std::memory_order_seq_cst) == 0) return;
  if (lose_wakes_.load(std::memory_order_relaxed)) return;
  wake_pending_.store(1, std::memory_order_seq_cst);
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(&epoch_, static_cast<int>(count));
}

bool Workers::work_anywhere() {
  View view{0, queues()};
  return view.work();
}

void Workers::signal_reached() {
  signal_epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (blocked_.load(std::memory_order_seq_cst) > 0) notify(true);
}

void Workers::reset_after_fork() {
  for (const auto& queue : queues()) queue->reset_after_fork();
  next_id_.store(0);
  sleepers_.store(0);
  spinners_.store(0);
  wake_pending_.store(0);
  dozing_.store(false);
  blocked_.store(0);
  started_.store(false);  // the child's first work starts them
}

}  // namespace epi::backend::cpu
