// What every driver promises, part one: facts, memory, code, order.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "conformance.h"

namespace epi::test {
namespace {

using device::CopyKind;
using device::MemoryKind;

std::vector<std::string> devices_of_this_machine() {
  std::vector<std::string> out;
  for (const runtime::DriverFunction function : runtime::backend_drivers()) {
    if (const auto count = function().count(); count.ok() && *count > 0) out.emplace_back(function().name());
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Drivers, Conformance, testing::ValuesIn(devices_of_this_machine()),
                         [](const auto& info) { return info.param; });

TEST(Drivers, OneWithoutDevicesSaysWhatItTried) {
  for (const runtime::DriverFunction function : runtime::backend_drivers()) {
    const auto count = function().count();
    if (count.ok()) {
      EXPECT_GT(*count, 0) << function().name() << ": no devices is an error with a reason";
    } else {
      EXPECT_GT(count.status().message().size(), 10u) << function().name();
    }
  }
}

TEST_P(Conformance, TheTableOfWhatIsLackingNamesKnownPointsWithReasons) {
  for (const device::Unsupported& row : driver_->conformance()) {
    EXPECT_NE(std::find(std::begin(kPoints), std::end(kPoints), row.point), std::end(kPoints)) << row.point;
    EXPECT_GT(row.reason.size(), 10u) << row.point;
  }
}

TEST_P(Conformance, CapabilitiesAgreeWithTheTable) {
  const device::DeviceInfo& info = device_->info();
  EXPECT_NE(info.has(device::Cap::kHostKernels), lacks("host_kernels"));
  EXPECT_NE(info.has(device::Cap::kBinaryModules), lacks("binary_modules"));
  EXPECT_NE(info.has(device::Cap::kAssembles), lacks("assemble"));
  EXPECT_NE(info.has(device::Cap::kTensorMaps), lacks("tensor_maps"));
  EXPECT_NE(info.has(device::Cap::kWaitAny), lacks("wait_any"));
  EXPECT_NE(info.has(device::Cap::kComputes), lacks("kernels_run"));
  EXPECT_NE(info.has(device::Cap::kSurvivesFork), lacks("survives_fork"));
}

TEST_P(Conformance, FactsAreFilledIn) {
  const device::DeviceInfo& info = device_->info();
  EXPECT_EQ(info.kind, driver_->name());
  EXPECT_FALSE(info.name.empty());
  EXPECT_FALSE(info.arch.empty());
  EXPECT_GE(info.processors, 1);
  const auto memory = device_->memory_info();
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  EXPECT_GT(memory->total_bytes, 0u);
  EXPECT_LE(memory->free_bytes, memory->total_bytes);
}

TEST_P(Conformance, AnOrdinalOutOfRangeIsRefused) {
  EXPECT_EQ(driver_->open(1000).status().code(), Code::kDevice);
  EXPECT_EQ(driver_->open(-1).status().code(), Code::kDevice);
}

TEST_P(Conformance, OpenGivesTheSameDevice) { EXPECT_EQ(*driver_->open(0), *driver_->open(0)); }

// -- memory --------------------------------------------------------------------------

TEST_P(Conformance, EveryKindOfMemoryIsAligned) {
  for (const MemoryKind kind : {MemoryKind::kDevice, MemoryKind::kPinned, MemoryKind::kHost}) {
    for (const std::size_t size : {1, 100, 4096, 10'000'000}) {
      const auto memory = device_->allocate(kind, size, queue_);
      ASSERT_TRUE(memory.ok()) << memory.status().message();
      EXPECT_EQ(address(*memory) % (kind == MemoryKind::kHost ? 64 : 256), 0u);
      EXPECT_OK(device_->deallocate(kind, *memory, size, queue_));
    }
  }
}

TEST_P(Conformance, TooMuchMemoryIsOutOfMemoryAndLeavesTheDeviceUsable) {
  const auto memory = device_->allocate(MemoryKind::kDevice, std::size_t{1} << 60, queue_);
  ASSERT_FALSE(memory.ok());
  EXPECT_EQ(memory.status().code(), Code::kOutOfMemory) << memory.status().message();
  auto* words = new_words(1);
  EXPECT_OK(launch(queue_, "store_index", {address(words), 5}));
  EXPECT_OK(device_->synchronise(queue_));
}

TEST_P(Conformance, AllocationOfNothingIsTheCallersError) {
  EXPECT_EQ(device_->allocate(MemoryKind::kDevice, 0, queue_).status().code(), Code::kInvalidArgument);
}

TEST_P(Conformance, CopyGoesThereAndBack) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{3'000'001}}) {
    std::vector<std::uint32_t> in(count);
    for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<std::uint32_t>(i * 2654435761u);
    std::vector<std::uint32_t> out(count);
    const std::size_t bytes = count * 4;
    const auto a = device_->allocate(MemoryKind::kDevice, bytes, queue_);
    const auto b = device_->allocate(MemoryKind::kDevice, bytes, queue_);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_OK(device_->copy(queue_, *a, in.data(), bytes, CopyKind::kHostToDevice));
    EXPECT_OK(device_->copy(queue_, *b, *a, bytes, CopyKind::kDeviceToDevice));
    EXPECT_OK(device_->copy(queue_, out.data(), *b, bytes, CopyKind::kDeviceToHost));
    EXPECT_OK(device_->synchronise(queue_));
    EXPECT_EQ(in, out);
    EXPECT_OK(device_->deallocate(MemoryKind::kDevice, *a, bytes, queue_));
    EXPECT_OK(device_->deallocate(MemoryKind::kDevice, *b, bytes, queue_));
  }
}

TEST_P(Conformance, FillRepeatsPatternsOfEverySize) {
  constexpr std::size_t kBytes = 1'000'000 * 16;
  const auto memory = device_->allocate(MemoryKind::kDevice, kBytes, queue_);
  ASSERT_TRUE(memory.ok());
  std::vector<char> out(kBytes);
  const char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const std::size_t size : {1, 2, 4, 8, 16}) {
    EXPECT_OK(device_->fill(queue_, *memory, pattern, size, kBytes / size));
    EXPECT_OK(device_->copy(queue_, out.data(), *memory, kBytes, CopyKind::kDeviceToHost));
    EXPECT_OK(device_->synchronise(queue_));
    for (std::size_t i = 0; i < kBytes; ++i) ASSERT_EQ(out[i], pattern[i % size]) << size << " at " << i;
  }
  EXPECT_FALSE(device_->fill(queue_, *memory, pattern, 3, 1).ok());
  EXPECT_OK(device_->deallocate(MemoryKind::kDevice, *memory, kBytes, queue_));
}

TEST_P(Conformance, NothingCopiedOrFilledIsNoError) {
  EXPECT_OK(device_->copy(queue_, nullptr, nullptr, 0, CopyKind::kDeviceToDevice));
  const std::uint32_t zero = 0;
  EXPECT_OK(device_->fill(queue_, nullptr, &zero, 4, 0));
  EXPECT_OK(device_->synchronise(queue_));
}

TEST_P(Conformance, MemoryFreedInOrderIsStillReadByEarlierWork) {
  constexpr std::size_t kBytes = 1 << 20;
  const auto memory = device_->allocate(MemoryKind::kDevice, kBytes, queue_);
  ASSERT_TRUE(memory.ok());
  std::vector<unsigned char> out(kBytes);
  Gate gate(*device_, queue_, lacks("asynchronous"));
  const unsigned char seven = 7;
  EXPECT_OK(device_->fill(queue_, *memory, &seven, 1, kBytes));
  if (device_->info().has(device::Cap::kHostAddressable) || lacks("asynchronous")) {
    EXPECT_OK(device_->copy(queue_, out.data(), *memory, kBytes, CopyKind::kDeviceToHost));
    EXPECT_OK(device_->deallocate(MemoryKind::kDevice, *memory, kBytes, queue_));
    gate.open();
  } else {  // a copy to pageable memory may wait for the queue
    gate.open();
    EXPECT_OK(device_->copy(queue_, out.data(), *memory, kBytes, CopyKind::kDeviceToHost));
    EXPECT_OK(device_->deallocate(MemoryKind::kDevice, *memory, kBytes, queue_));
  }
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_EQ(std::count(out.begin(), out.end(), 7), static_cast<std::ptrdiff_t>(kBytes));
}

// -- code ----------------------------------------------------------------------------

TEST_P(Conformance, EveryProgramOfAGridRunsOnce) {
  constexpr std::uint32_t kPrograms = 10'000;
  auto* words = new_words(kPrograms);
  EXPECT_OK(launch(queue_, "store_index", {address(words), 1000}, kPrograms));
  EXPECT_OK(device_->synchronise(queue_));
  for (std::uint32_t i = 0; i < kPrograms; ++i) {
    ASSERT_EQ(words[i], lacks("kernels_run") ? 0 : 1000 + i) << i;
  }
}

TEST_P(Conformance, ManyArgumentsArrive) {
  auto* word = new_words(1);
  std::uint64_t slots[40] = {address(word)};
  for (std::uint64_t i = 1; i < 40; ++i) slots[i] = i << 32;
  device::Dispatch d;
  d.kernel = kernel("sum_slots");
  d.slots = slots;
  d.slot_count = 40;
  EXPECT_OK(device_->submit(queue_, d));
  std::fill(std::begin(slots), std::end(slots), 0);  // the launch took them by value
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_EQ(*word, lacks("kernels_run") ? 0 : (std::uint64_t{39 * 40 / 2} << 32));
}

TEST_P(Conformance, AWrongNumberOfArgumentsIsRefusedWithBothNumbers) {
  const Status status = launch(queue_, "store_index", {1, 2, 3});
  ASSERT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("store_index"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find('3'), std::string::npos) << status.message();
  EXPECT_NE(status.message().find('2'), std::string::npos) << status.message();
  EXPECT_OK(device_->synchronise(queue_));
}

TEST_P(Conformance, AnEmptyGridRunsNothingAndLeavesNoErrorBehind) {
  auto* word = new_words(1);
  for (int axis = 0; axis < 3; ++axis) {
    device::Dispatch d;
    d.kernel = kernel("increment");
    const std::uint64_t slot = address(word);
    d.slots = &slot;
    d.slot_count = 1;
    d.grid[axis] = 0;
    EXPECT_OK(device_->submit(queue_, d));
  }
  EXPECT_OK(launch(queue_, "increment", {address(word)}));
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_EQ(*word, lacks("kernels_run") ? 0u : 1u);
}

TEST_P(Conformance, AModuleOfTheOtherKindIsRefused) {
  if (lacks("binary_modules")) {
    EXPECT_FALSE(device_->load_module({.bytes = std::string_view("bytes"), .host = nullptr, .keep = nullptr}).ok());
  }
  if (lacks("host_kernels")) {
    EXPECT_FALSE(device_->load_module({.bytes = {}, .host = host_kernel("spin"), .keep = nullptr}).ok());
  }
  EXPECT_FALSE(device_->load_module({}).ok());
  EXPECT_EQ(device_->assemble("not assembly").ok(), lacks("kernels_run") && !lacks("assemble"));
  device::TensorMap map;
  if (lacks("tensor_maps")) {
    EXPECT_EQ(device_->encode_tensor_map({}, &map).code(), Code::kUnsupported);
  }
}

TEST_P(Conformance, CodeIsKeptUntilItsWorkIsDone) {
  std::string bytes;
  auto image = module_image(*device_, "store_index", &bytes);
  ASSERT_TRUE(image.ok()) << image.status().message();
  auto code = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = code;
  image->keep = std::move(code);
  const auto module = device_->load_module(*image);
  ASSERT_TRUE(module.ok()) << module.status().message();
  image->keep.reset();
  EXPECT_FALSE(watch.expired());
  const auto made = device_->get_kernel(*module, kernel_info("store_index"));
  ASSERT_TRUE(made.ok()) << made.status().message();

  auto* word = new_words(1);
  const bool at_once = lacks("asynchronous") || !device_->info().has(device::Cap::kHostKernels);
  Gate gate(*device_, queue_, at_once);  // a driver that waits inside unload must not be held
  const std::uint64_t slots[] = {address(word), 9};
  device::Dispatch d;
  d.kernel = *made;
  d.slots = slots;
  d.slot_count = 2;
  EXPECT_OK(device_->submit(queue_, d));
  EXPECT_OK(device_->unload_module(*module));
  if (!at_once) {
    EXPECT_FALSE(watch.expired());
  }
  gate.open();
  EXPECT_OK(device_->synchronise(queue_));
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(*word, lacks("kernels_run") ? 0u : 9u);
}

}  // namespace
}  // namespace epi::test
