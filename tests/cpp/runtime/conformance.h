// The conformance suite's frame: one run of every test for each driver of the build that has a device. A test of a point
// that a driver may lack asks lacks(point); the driver's table then holds a reason, and the test checks the refusal.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>

#include "epi/device/device.h"
#include "epi/runtime/registry.h"

namespace epi::test {

/// Everything that a driver may lack, with what the suite then checks instead.
inline constexpr std::string_view kPoints[] = {
    "kernels_run",     // launches are accepted and leave memory alone
    "kernel_errors",   // a kernel that fails reports nothing
    "asynchronous",    // work is done when the submitting call returns
    "host_call_submits",  // (not tried: what such a driver does is undefined)
    "wait_any",        // WaitMode::kAny is refused
    "host_kernels",    // the address of a function is refused
    "binary_modules",  // bytes are refused
    "assemble",        // assemble() is refused
    "tensor_maps",     // encode_tensor_map() is refused
    "survives_fork",   // a forked child gets an error, not a hang
};

/// The kernels that the tests launch, on any device. Host devices get functions; others assemble the text
/// kernels/<kind>/<name>.txt next to this file (EPI_TEST_KERNELS names another folder).
///   store_index(dst, value)   dst[program] = value + program, u64
///   increment(dst)            atomically adds 1 to dst[0]
///   fail_at(errors, n)        program n reports site 1, element 7
///   sum_slots(dst, 39 more)   dst[0] = sum of the others
///   spin(ns)                  runs for that long
[[nodiscard]] std::shared_ptr<const KernelInfo> kernel_info(std::string_view name);
[[nodiscard]] HostKernel host_kernel(std::string_view name);
[[nodiscard]] Result<device::ModuleImage> module_image(device::Device& device, std::string_view name,
                                                       std::string* bytes);

class Conformance : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// The reason, if the driver's table lists the point.
  [[nodiscard]] bool lacks(std::string_view point) const;
  device::KernelHandle kernel(std::string_view name);
  /// Loading code may wait for a device's running work: tests that hold a queue back load first.
  void load_all_kernels() {
    for (const char* name : {"store_index", "increment", "fail_at", "spin"}) kernel(name);
  }
  device::QueueHandle new_queue(std::uint32_t capacity = 0);
  device::EventHandle new_event(bool timed = true);
  /// Memory that host and device both see.
  std::uint64_t* new_words(std::size_t count, std::uint64_t value = 0);
  Status launch(device::QueueHandle queue, std::string_view name, std::initializer_list<std::uint64_t> slots,
                std::uint32_t programs = 1);

  device::Device* device_ = nullptr;
  device::Driver* driver_ = nullptr;
  device::QueueHandle queue_;

 private:
  std::map<std::string, std::pair<device::ModuleHandle, device::KernelHandle>, std::less<>> kernels_;
  std::vector<device::QueueHandle> queues_;
  std::vector<device::EventHandle> events_;
  std::vector<std::pair<void*, std::size_t>> words_;
};

/// Holds a queue: work behind it waits until open().
class Gate {
 public:
  /// A driver that works at once cannot be held; `opened` then lets the call pass.
  Gate(device::Device& device, device::QueueHandle queue, bool opened);
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void open();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// EXPECTs an ok status and prints its message otherwise.
#define EXPECT_OK(expr)                                            \
  do {                                                             \
    const ::epi::Status epi_status = (expr);                       \
    EXPECT_TRUE(epi_status.ok()) << #expr << ": " << epi_status.message(); \
  } while (false)
#define ASSERT_OK(expr)                                            \
  do {                                                             \
    const ::epi::Status epi_status = (expr);                       \
    ASSERT_TRUE(epi_status.ok()) << #expr << ": " << epi_status.message(); \
  } while (false)

inline std::uint64_t address(const void* ptr) { return reinterpret_cast<std::uint64_t>(ptr); }

}  // namespace epi::test
