#include "conformance.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <sstream>
#include <thread>

namespace epi::test {
namespace {

std::uint64_t* words(std::uint64_t slot) { return reinterpret_cast<std::uint64_t*>(slot); }

void store_index(const HostLaunch* l, std::uint64_t begin, std::uint64_t end, void*) {
  for (std::uint64_t p = begin; p < end; ++p) words(l->slots[0])[p] = l->slots[1] + p;
}
void increment(const HostLaunch* l, std::uint64_t begin, std::uint64_t end, void*) {
  std::atomic_ref<std::uint64_t>(*words(l->slots[0])).fetch_add(end - begin);
}
void fail_at(const HostLaunch* l, std::uint64_t begin, std::uint64_t end, void*) {
  if (l->slots[1] < begin || l->slots[1] >= end) return;
  auto* record = reinterpret_cast<ErrorRecord*>(l->slots[0]);
  std::uint32_t none = 0;
  if (!std::atomic_ref<std::uint32_t>(record->site).compare_exchange_strong(none, 1)) return;
  record->program = static_cast<std::uint32_t>(l->slots[1]);
  record->item = 7;
}
void sum_slots(const HostLaunch* l, std::uint64_t, std::uint64_t, void*) {
  std::uint64_t sum = 0;
  for (int i = 1; i < 40; ++i) sum += l->slots[i];
  *words(l->slots[0]) = sum;
}
void spin(const HostLaunch* l, std::uint64_t, std::uint64_t, void*) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(l->slots[0]);
  while (std::chrono::steady_clock::now() < end) {
  }
}

struct Row {
  std::string_view name;
  HostKernel host;
  std::size_t slots;
};
constexpr Row kRows[] = {{"store_index", &store_index, 2},
                         {"increment", &increment, 1},
                         {"fail_at", &fail_at, 2},
                         {"sum_slots", &sum_slots, 40},
                         {"spin", &spin, 1}};

const Row& row(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.name == name) return r;
  }
  std::abort();
}

}  // namespace

std::shared_ptr<const KernelInfo> kernel_info(std::string_view name) {
  auto info = std::make_shared<KernelInfo>();
  info->name = name;
  info->slots.assign(row(name).slots, Slot{.kind = SlotKind::kScalar, .box = {}});
  info->block_threads = 1;
  if (name == "fail_at") {
    info->slots[0].kind = SlotKind::kErrors;
    info->sites = {"kernel.py:12: the index is out of range"};
  }
  return info;
}

HostKernel host_kernel(std::string_view name) { return row(name).host; }

Result<device::ModuleImage> module_image(device::Device& device, std::string_view name, std::string* bytes) {
  if (device.info().has(device::Cap::kHostKernels)) {
    return device::ModuleImage{.bytes = {}, .host = host_kernel(name), .keep = nullptr};
  }
  const char* folder = std::getenv("EPI_TEST_KERNELS");
  const std::string path =
      std::string(folder != nullptr ? folder : EPI_TEST_KERNELS) + "/" + device.info().kind + "/" + std::string(name) + ".txt";
  std::ifstream file(path);
  if (!file) return io_error(path + ": cannot be read; EPI_TEST_KERNELS names the folder");
  std::ostringstream text;
  text << file.rdbuf();
  EPI_TRY(*bytes, device.assemble(text.str()));
  return device::ModuleImage{.bytes = *bytes, .host = nullptr, .keep = nullptr};
}

void Conformance::SetUp() {
  auto found = runtime::device(GetParam());
  ASSERT_TRUE(found.ok()) << found.status().message();
  device_ = &found->driver();
  for (const runtime::DriverFunction function : runtime::backend_drivers()) {
    if (function().name() == device_->info().kind) driver_ = &function();
  }
  ASSERT_NE(driver_, nullptr);
  queue_ = new_queue();
}

void Conformance::TearDown() {
  for (const auto queue : queues_) EXPECT_OK(device_->destroy_queue(queue));
  for (const auto event : events_) EXPECT_OK(device_->destroy_event(event));
  for (const auto& entry : kernels_) EXPECT_OK(device_->unload_module(entry.second.first));
  for (const auto& [ptr, bytes] : words_) {
    EXPECT_OK(device_->deallocate(device::MemoryKind::kPinned, ptr, bytes, {}));
  }
}

bool Conformance::lacks(std::string_view point) const {
  for (const device::Unsupported& row : driver_->conformance()) {
    if (row.point == point) return true;
  }
  return false;
}

device::KernelHandle Conformance::kernel(std::string_view name) {
  if (const auto it = kernels_.find(name); it != kernels_.end()) return it->second.second;
  std::string bytes;
  auto image = module_image(*device_, name, &bytes);
  EXPECT_TRUE(image.ok()) << image.status().message();
  if (!image.ok()) return {};
  auto module = device_->load_module(*image);
  EXPECT_TRUE(module.ok()) << module.status().message();
  if (!module.ok()) return {};
  auto made = device_->get_kernel(*module, kernel_info(name));
  EXPECT_TRUE(made.ok()) << made.status().message();
  if (!made.ok()) return {};
  kernels_.emplace(name, std::pair{*module, *made});
  return *made;
}

device::QueueHandle Conformance::new_queue(std::uint32_t capacity) {
  auto queue = device_->create_queue({.capacity = capacity, .high_priority = false});
  EXPECT_TRUE(queue.ok()) << queue.status().message();
  if (!queue.ok()) return {};
  queues_.push_back(*queue);
  return *queue;
}

device::EventHandle Conformance::new_event(bool timed) {
  auto event = device_->create_event({.timed = timed});
  EXPECT_TRUE(event.ok()) << event.status().message();
  if (!event.ok()) return {};
  events_.push_back(*event);
  return *event;
}

std::uint64_t* Conformance::new_words(std::size_t count, std::uint64_t value) {
  auto memory = device_->allocate(device::MemoryKind::kPinned, count * 8, {});
  EXPECT_TRUE(memory.ok()) << memory.status().message();
  if (!memory.ok()) return nullptr;
  words_.emplace_back(*memory, count * 8);
  auto* out = static_cast<std::uint64_t*>(*memory);
  std::fill_n(out, count, value);
  return out;
}

Status Conformance::launch(device::QueueHandle queue, std::string_view name,
                           std::initializer_list<std::uint64_t> slots, std::uint32_t programs) {
  device::Dispatch d;
  d.kernel = kernel(name);
  d.slots = slots.begin();
  d.slot_count = static_cast<std::uint32_t>(slots.size());
  d.grid[0] = programs;
  return device_->submit(queue, d);
}

/// Shared with the host call, which may run after the Gate has gone.
struct Gate::State {
  std::binary_semaphore semaphore{0};
  bool is_open = false;
  std::shared_ptr<State> self;
};

Gate::Gate(device::Device& device, device::QueueHandle queue, bool opened) : state_(std::make_shared<State>()) {
  if (opened) open();
  state_->self = state_;
  const auto pass = [](void* argument) {
    const std::shared_ptr<State> state = std::move(static_cast<State*>(argument)->self);
    state->semaphore.acquire();
  };
  EXPECT_OK(device.host_call(queue, pass, state_.get()));
}

void Gate::open() {
  if (state_->is_open) return;
  state_->is_open = true;
  state_->semaphore.release();
}

}  // namespace epi::test
