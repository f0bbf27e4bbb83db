// Runs measured by events, on a device of the test's own whose clock the test sets.
#include <gtest/gtest.h>

#include "epi/base/trace.h"
#include "epi/jit/measured_run.h"

namespace epi::jit {
namespace {

/// Answers only what a measurement asks. An event's time is the clock's when it was recorded.
class Clockwork final : public device::Device {
 public:
  Clockwork() {
    info_.kind = "clockwork";
    info_.caps = static_cast<std::uint32_t>(device::Cap::kBinaryModules);
  }
  double clock_ns = 0;
  int events = 0;        ///< made and not destroyed
  bool records = true;   ///< false: record() fails

  const device::DeviceInfo& info() const override { return info_; }
  Result<device::EventHandle> create_event(const device::EventOptions&) override {
    ++events;
    return device::EventHandle{new double(0)};
  }
  Status destroy_event(device::EventHandle e) override {
    --events;
    delete static_cast<double*>(e.ptr);
    return ok_status();
  }
  Status record(device::EventHandle e, device::QueueHandle) override {
    *static_cast<double*>(e.ptr) = clock_ns;
    return records ? ok_status() : device_error("no");
  }
  Status wait(device::EventHandle) override { return ok_status(); }
  Result<double> elapsed_ns(device::EventHandle a, device::EventHandle b) override {
    return *static_cast<double*>(b.ptr) - *static_cast<double*>(a.ptr);
  }

  Result<device::MemoryInfo> memory_info() override { return no(); }
  Result<void*> allocate(device::MemoryKind, std::size_t, device::QueueHandle) override { return no(); }
  Status deallocate(device::MemoryKind, void*, std::size_t, device::QueueHandle) override { return no(); }
  Status copy(device::QueueHandle, void*, const void*, std::size_t, device::CopyKind) override { return no(); }
  Status fill(device::QueueHandle, void*, const void*, std::size_t, std::size_t) override { return no(); }
  Result<device::ModuleHandle> load_module(const device::ModuleImage&) override { return no(); }
  Status unload_module(device::ModuleHandle) override { return no(); }
  Result<device::KernelHandle> get_kernel(device::ModuleHandle, std::shared_ptr<const KernelInfo>) override {
    return no();
  }
  Result<device::QueueHandle> create_queue(const device::QueueOptions&) override { return no(); }
  Status destroy_queue(device::QueueHandle) override { return no(); }
  Status submit(device::QueueHandle, const device::Dispatch&) override { return no(); }
  Status host_call(device::QueueHandle, device::HostFunction, void*) override { return no(); }
  Status wait_events(device::QueueHandle, std::span<const device::EventHandle>, device::WaitMode) override {
    return no();
  }
  Status synchronise(device::QueueHandle) override { return no(); }
  Result<bool> is_idle(device::QueueHandle) override { return true; }
  Result<bool> is_done(device::EventHandle) override { return true; }

 private:
  static Status no() { return unsupported("clockwork"); }
  device::DeviceInfo info_;
};

class MeasuredRunTest : public testing::Test {
 protected:
  void measure(const char* name, double from_ns, double to_ns) {
    gpu.clock_ns = from_ns;
    const MeasuredRun run(gpu, queue, name);
    gpu.clock_ns = to_ns;
  }
  std::vector<trace::Event> finish() {
    trace::flush();
    trace::stop();
    return trace::drain();
  }
  Clockwork gpu;
  device::QueueHandle queue{this};
};

TEST_F(MeasuredRunTest, BecomesASpanOnTheQueuesTrackWhenTheTraceIsFlushed) {
  trace::start();
  measure("first", 100, 350);  // ties the clocks at 100
  measure("second", 1000, 1700);
  const auto events = finish();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "first");
  EXPECT_EQ(events[0].category, "run");
  EXPECT_EQ(events[0].duration_ns, 250);
  EXPECT_EQ(events[1].duration_ns, 700);
  EXPECT_EQ(events[1].start_ns - events[0].start_ns, 900);
  EXPECT_NE(events[0].track, trace::thread_track());
  EXPECT_EQ(gpu.events, 0) << "every event is destroyed";
}

TEST_F(MeasuredRunTest, DoesNothingWhileNothingIsTraced) {
  measure("kernel", 0, 10);
  EXPECT_EQ(gpu.events, 0);
}

TEST_F(MeasuredRunTest, LosesTheMeasurementWhereTheDeviceFails) {
  trace::start();
  gpu.records = false;
  measure("lost", 0, 10);
  gpu.records = true;
  measure("kept", 20, 30);
  const auto events = finish();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "kept");
  EXPECT_EQ(gpu.events, 0);
}

TEST_F(MeasuredRunTest, ManyRunsAreReadBeforeTheTraceEnds) {
  trace::start();
  for (int i = 0; i < 5000; ++i) measure("kernel", i * 10, i * 10 + 5);
  EXPECT_LT(gpu.events, 3000);
  EXPECT_EQ(finish().size(), 5000u);
  EXPECT_EQ(gpu.events, 0);
}

}  // namespace
}  // namespace epi::jit
