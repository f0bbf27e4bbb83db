// Names of devices, and the handles: lifetime, reports, misuse.
#include <thread>

#include "conformance.h"
#include "epi/backend/null/driver/null.h"
#include "epi/base/log.h"
#include "epi/base/trace.h"
#include "epi/runtime/memory.h"

namespace epi::test {
namespace {

using runtime::Event;
using runtime::Kernel;
using runtime::Module;
using runtime::Queue;

TEST(Registry, TheHostIsThereAndFirst) {
  const auto devices = runtime::devices();
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(devices.front().label(), "cpu:0");
  for (const auto& device : devices) EXPECT_NE(device.info().kind, "null") << "it computes nothing";
}

TEST(Registry, ANameWithoutOrdinalIsTheFirst) {
  EXPECT_EQ(runtime::device("cpu")->label(), "cpu:0");
  EXPECT_EQ(runtime::device("null")->label(), "null:0");
  EXPECT_EQ(*runtime::device("cpu"), *runtime::device("cpu:0"));
}

TEST(Registry, AnUnknownNameIsAnErrorThatSaysWhatThereIs) {
  for (const char* name : {"tpu", "cpu:7", "CPU", "", "cpu0"}) {
    const auto device = runtime::device(name);
    ASSERT_EQ(device.status().code(), Code::kDevice) << name;
    EXPECT_NE(device.status().message().find("there are: cpu:0"), std::string::npos) << device.status().message();
  }
  for (const char* name : {"cpu:", "cpu:x", "cpu:-1", "cpu:0x", "cpu:99999999999"}) {
    EXPECT_EQ(runtime::device(name).status().code(), Code::kInvalidArgument) << name;
  }
}

TEST(Registry, ABackendWithoutDevicesSaysWhatWasTried) {
  for (const runtime::DriverFunction function : runtime::backend_drivers()) {
    const auto count = function().count();
    const auto device = runtime::device(function().name());
    EXPECT_EQ(device.ok(), count.ok()) << function().name();
    if (!count.ok()) {
      EXPECT_NE(device.status().message().find(count.status().message()), std::string::npos);
    }
  }
}

TEST(Device, TheDefaultQueueIsTheSameEveryTime) {
  const auto device = *runtime::device("cpu");
  EXPECT_EQ(*device.default_queue(), *device.default_queue());
}

// -- lifetime --------------------------------------------------------------------------

Result<Kernel> make_kernel(const runtime::Device& device, const char* name) {
  EPI_TRY(const Module module, Module::load(device, {.bytes = {}, .host = host_kernel(name), .keep = nullptr}));
  return Kernel::get(module, kernel_info(name));
}

TEST(Handles, AKernelHoldsItsModule) {
  const auto& live = backend::null::counts().live_modules;
  const auto before = live.load();
  {
    const auto kernel = make_kernel(*runtime::device("null"), "spin");
    ASSERT_TRUE(kernel.ok());
    EXPECT_EQ(live.load(), before + 1);
  }
  EXPECT_EQ(live.load(), before);
}

TEST(Handles, TheLastCopyEndsQueueAndEvent) {
  const auto& counts = backend::null::counts();
  const auto queues = counts.live_queues.load();
  const auto events = counts.live_events.load();
  {
    const auto queue = Queue::create(*runtime::device("null"));
    const Queue copy = *queue;
    const auto event = copy.record();
    EXPECT_EQ(counts.live_queues.load(), queues + 1);
    EXPECT_EQ(counts.live_events.load(), events + 1);
  }
  EXPECT_EQ(counts.live_queues.load(), queues);
  EXPECT_EQ(counts.live_events.load(), events);
}

TEST(Handles, EverythingMayBeDroppedRightAfterALaunch) {
  std::uint64_t word = 0;
  {
    const auto device = *runtime::device("cpu");
    const auto queue = Queue::create(device);
    const auto kernel = make_kernel(device, "increment");
    const std::uint64_t slots[] = {address(&word)};
    for (int i = 0; i < 50; ++i) EXPECT_OK(queue->launch(*kernel, {10, 1, 1}, {.slots = slots}));
  }
  EXPECT_EQ(word, 500u);
}

std::string g_reported;

TEST(Handles, AnErrorThatNobodyAskedForIsReportedAtTheEnd) {
  g_reported.clear();
  const ReportSink former = set_report_sink([](std::string_view text) { g_reported = text; });
  {
    const auto device = *runtime::device("cpu");
    const auto queue = Queue::create(device);
    const auto kernel = make_kernel(device, "fail_at");
    const std::uint64_t slots[] = {0, 0};
    EXPECT_OK(queue->launch(*kernel, {1, 1, 1}, {.slots = slots}));
  }
  set_report_sink(former);
  EXPECT_NE(g_reported.find("fail_at"), std::string::npos) << g_reported;
}

TEST(Handles, AKernelOfAnotherDeviceIsRefused) {
  const auto kernel = make_kernel(*runtime::device("null"), "spin");
  const auto queue = Queue::create(*runtime::device("cpu"));
  const std::uint64_t slots[] = {0};
  const Status status = queue->launch(*kernel, {1, 1, 1}, {.slots = slots});
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("null:0"), std::string::npos) << status.message();
}

TEST(Handles, AQueueWaitsForAnEventOfAnotherDevice) {
  const auto host = Queue::create(*runtime::device("cpu"));
  const auto other = Queue::create(*runtime::device("null"));
  const auto event = host->record();
  EXPECT_OK(other->wait(*event));
  EXPECT_TRUE(*event->is_done());
  EXPECT_EQ(other->record(*event).code(), Code::kInvalidArgument);
}

TEST(Handles, CreationThatFailsCreatesNothing) {
  const auto before = backend::null::counts().live_queues.load();
  EXPECT_FALSE(Queue::create(*runtime::device("null"), {.capacity = 3}).ok());
  EXPECT_FALSE(Queue::create(*runtime::device("cpu"), {.capacity = 3}).ok());
  EXPECT_EQ(backend::null::counts().live_queues.load(), before);
}

TEST(TraceHooks, ALaunchLeavesASubmitAndARunSpan) {
  const auto device = *runtime::device("cpu");
  const auto queue = Queue::create(device);
  const auto kernel = make_kernel(device, "spin");
  const std::uint64_t slots[] = {100'000};
  trace::start();
  EXPECT_OK(queue->launch(*kernel, {3, 2, 1}, {.slots = slots}));
  EXPECT_OK(queue->synchronise());
  trace::stop();
  bool submitted = false;
  bool ran = false;
  for (const trace::Event& event : trace::drain()) {
    if (event.name != "spin") continue;
    submitted |= event.category == "submit" && event.args.find("\"device\":\"cpu:0\"") != std::string::npos;
    ran |= event.category == "run" && event.duration_ns >= 100'000 && event.args.find("\"grid_y\":2") != std::string::npos;
  }
  EXPECT_TRUE(submitted);
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace epi::test
