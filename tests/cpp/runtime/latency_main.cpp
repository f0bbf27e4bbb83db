// Prints what a launch costs: submit alone, submit and wait, a flood. Not a test; `latency [device]`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "epi/runtime/memory.h"
#include "epi/runtime/registry.h"

namespace {

using Clock = std::chrono::steady_clock;
double since_ns(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

void nothing(const epi::HostLaunch*, std::uint64_t, std::uint64_t, void*) {}

void print_quantiles(const char* what, std::vector<double>& ns) {
  std::sort(ns.begin(), ns.end());
  const auto at = [&](double q) { return ns[static_cast<std::size_t>(q * static_cast<double>(ns.size() - 1))]; };
  std::printf("%-34s median %8.0f ns   p10 %8.0f   p90 %8.0f   p99 %9.0f\n", what, at(0.5), at(0.1), at(0.9), at(0.99));
}

epi::Status run(const char* name) {
  using namespace epi;
  EPI_TRY(runtime::Device device, runtime::device(name));
  EPI_TRY(runtime::Queue queue, runtime::Queue::create(device));
  EPI_TRY(runtime::Module module, runtime::Module::load(device, {.bytes = {}, .host = &nothing, .keep = nullptr}));
  auto info = std::make_shared<KernelInfo>();
  info->name = "nothing";
  info->slots.resize(3);
  EPI_TRY(runtime::Kernel kernel, runtime::Kernel::get(module, info));
  const std::uint64_t slots[3] = {};
  const std::uint32_t one[3] = {1, 1, 1};
  const std::uint32_t many[3] = {64, 1, 1};

  for (const auto& [label, grid] : {std::pair{"1 program", &one}, std::pair{"64 programs", &many}}) {
    std::vector<double> submit;
    std::vector<double> complete;
    for (int i = 0; i < 20000; ++i) {
      const auto start = Clock::now();
      EPI_RETURN_IF_ERROR(queue.launch(kernel, *grid, {.slots = slots}));
      submit.push_back(since_ns(start));
      EPI_RETURN_IF_ERROR(queue.synchronise());
      complete.push_back(since_ns(start));
    }
    std::printf("%s\n", label);
    print_quantiles("  submit", submit);
    print_quantiles("  submit and wait", complete);
  }
  constexpr int kFlood = 1'000'000;
  const auto start = Clock::now();
  for (int i = 0; i < kFlood; ++i) EPI_RETURN_IF_ERROR(queue.launch(kernel, one, {.slots = slots}));
  const double submitted_ns = since_ns(start);
  EPI_RETURN_IF_ERROR(queue.synchronise());
  std::printf("flood of %d: submit %.0f ns each, complete %.0f ns each\n", kFlood, submitted_ns / kFlood,
              since_ns(start) / kFlood);

  const std::size_t size_bytes = std::size_t{256} << 20;
  EPI_TRY(runtime::Buffer a, runtime::Buffer::allocate(size_bytes, queue));
  EPI_TRY(runtime::Buffer b, runtime::Buffer::allocate(size_bytes, queue));
  for (int i = 0; i < 3; ++i) {
    const auto copy_start = Clock::now();
    EPI_RETURN_IF_ERROR(queue.copy(b.data(), a.data(), size_bytes, device::CopyKind::kDeviceToDevice));
    EPI_RETURN_IF_ERROR(queue.synchronise());
    std::printf("copy of 256 MiB: %.1f GB/s\n", static_cast<double>(size_bytes) / since_ns(copy_start));
  }
  return ok_status();
}

}  // namespace

int main(int argc, char** argv) {
  const epi::Status status = run(argc > 1 ? argv[1] : "cpu");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}
