// Memory pools and buffers.
#include <thread>

#include "conformance.h"
#include "epi/backend/null/driver/null.h"
#include "epi/runtime/memory.h"

namespace epi::test {
namespace {

using device::MemoryKind;
using runtime::Buffer;
using runtime::Queue;

/// The template driver lets a test say how much room there is. Its pools are empty between tests.
class Pool : public testing::Test {
 protected:
  Pool() : device_(*runtime::device("null:0")), pool_(device_.pool()), queue_(*Queue::create(device_)) {}
  void SetUp() override { expect_empty(); }
  void TearDown() override {
    EXPECT_OK(pool_.set_limit(0));
    EXPECT_OK(pool_.trim());
    room(std::uint64_t{1} << 40);
    expect_empty();
  }
  void expect_empty() {
    EXPECT_EQ(pool_.statistics().used_bytes, 0u);
    EXPECT_EQ(pool_.statistics().cached_bytes, 0u);
    EXPECT_EQ(backend::null::counts().live_blocks.load(), 0);
  }
  static void room(std::uint64_t bytes) { backend::null::counts().room_bytes.store(bytes); }

  runtime::Device device_;
  runtime::MemoryPool& pool_;
  Queue queue_;
};

constexpr std::size_t kMiB = std::size_t{1} << 20;

TEST_F(Pool, ABlockOfTheSameQueueIsReused) {
  void* first = Buffer::allocate(1000, queue_)->data();
  EXPECT_EQ(pool_.statistics().cached_blocks, 1u);
  const auto again = Buffer::allocate(1001, queue_);
  EXPECT_EQ(again->data(), first);
  EXPECT_EQ(pool_.statistics().reuses, 1u);
  EXPECT_EQ(pool_.statistics().live_blocks, 1u);
}

TEST_F(Pool, SizeZeroIsABufferWithoutMemory) {
  const auto buffer = Buffer::allocate(0, queue_);
  ASSERT_TRUE(buffer.ok());
  EXPECT_EQ(buffer->data(), nullptr);
  EXPECT_TRUE(buffer->empty());
  EXPECT_EQ(pool_.statistics().live_blocks, 0u);
}

TEST_F(Pool, BlocksAreAtMostAnEighthLargerThanAsked) {
  for (std::size_t size = 1; size < (std::size_t{1} << 34); size += size / 3 + 1) {
    const std::size_t block = runtime::block_size(size);
    EXPECT_GE(block, size);
    if (size >= 4096) {
      EXPECT_LE(block, size + size / 8 + 1) << size;
    }
    EXPECT_EQ(runtime::block_size(block), block);
  }
  EXPECT_GE(runtime::block_size(SIZE_MAX), SIZE_MAX);
}

TEST_F(Pool, CopiesShareOneBlock) {
  auto buffer = *Buffer::allocate(kMiB, queue_);
  {
    const Buffer copy = buffer;
    EXPECT_EQ(copy.data(), buffer.data());
  }
  EXPECT_EQ(pool_.statistics().live_blocks, 1u);
}

TEST_F(Pool, OutOfMemoryGivesTheCacheBackAndTriesAgain) {
  room(10 * kMiB);
  { const auto freed = Buffer::allocate(6 * kMiB, queue_); }
  EXPECT_EQ(pool_.statistics().cached_bytes, 6 * kMiB);
  const auto buffer = Buffer::allocate(8 * kMiB, queue_);
  ASSERT_TRUE(buffer.ok()) << buffer.status().message();
  EXPECT_EQ(pool_.statistics().cached_bytes, 0u);
}

TEST_F(Pool, OutOfMemoryTellsTheSizesAndWhatIsHeld) {
  room(10 * kMiB);
  const auto held = Buffer::allocate(6 * kMiB, queue_);
  const auto buffer = Buffer::allocate(8 * kMiB, queue_);
  ASSERT_EQ(buffer.status().code(), Code::kOutOfMemory);
  const std::string& text = buffer.status().message();
  for (const char* part : {"null:0", "8.00 MiB (8388608 bytes)", "6.00 MiB (6291456 bytes) in 1 live", "limit: none",
                           "4.00 MiB (4194304 bytes) free of 10.00 MiB"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
  EXPECT_EQ(pool_.statistics().live_blocks, 1u) << "the failed call holds nothing";
  EXPECT_TRUE(Buffer::allocate(3 * kMiB, queue_).ok());
}

TEST_F(Pool, TheLimitCountsLiveBytesAndMakesRoomFromTheCache) {
  EXPECT_OK(pool_.set_limit(10 * kMiB));
  { const auto freed = Buffer::allocate(5 * kMiB, queue_); }
  {
    const auto buffer = Buffer::allocate(8 * kMiB, queue_);
    ASSERT_TRUE(buffer.ok()) << buffer.status().message();
    const auto more = Buffer::allocate(3 * kMiB, queue_);
    EXPECT_EQ(more.status().code(), Code::kOutOfMemory);
    EXPECT_NE(more.status().message().find("limit: 10.00 MiB"), std::string::npos) << more.status().message();
    EXPECT_EQ(pool_.set_limit(kMiB).code(), Code::kInvalidArgument);
  }
}

TEST_F(Pool, TrimKeepsWhatItIsTold) {
  {
    std::vector<Buffer> buffers;
    for (int i = 0; i < 8; ++i) buffers.push_back(*Buffer::allocate(kMiB, queue_));
  }
  EXPECT_OK(pool_.trim(3 * kMiB));
  EXPECT_EQ(pool_.statistics().cached_bytes, 3 * kMiB);
  EXPECT_EQ(backend::null::counts().live_blocks.load(), 3);
}

TEST_F(Pool, AQueueWithCachedBlocksStillEnds) {
  const auto before = backend::null::counts().live_queues.load();
  {
    const auto queue = Queue::create(device_);
    const auto buffer = Buffer::allocate(kMiB, *queue);
  }
  EXPECT_EQ(backend::null::counts().live_queues.load(), before);
  const auto reused = Buffer::allocate(kMiB, queue_);
  EXPECT_EQ(pool_.statistics().cached_blocks, 0u) << "the block is anybody's now";
}

TEST_F(Pool, PeakIsKeptUntilReset) {
  { const auto buffer = Buffer::allocate(4 * kMiB, queue_); }
  EXPECT_GE(pool_.statistics().peak_used_bytes, 4 * kMiB);
  pool_.reset_peak();
  EXPECT_EQ(pool_.statistics().peak_used_bytes, 0u);
}

TEST_F(Pool, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const auto queue = Queue::create(device_);
      for (int i = 0; i < 2000; ++i) {
        const auto buffer = Buffer::allocate(static_cast<std::size_t>(1 + i * 37 % 5000), t % 2 == 0 ? *queue : queue_);
        EXPECT_TRUE(buffer.ok());
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

// -- on the host's device, where work is pending ---------------------------------------

class PendingPool : public Conformance {};
INSTANTIATE_TEST_SUITE_P(Host, PendingPool, testing::Values("cpu"));

TEST_P(PendingPool, ABlockOfABusyQueueIsNotGivenToAnother) {
  const runtime::Device device(*device_);
  const auto busy = Queue::create(device);
  const auto other = Queue::create(device);
  Gate gate(*device_, busy->handle(), false);
  void* first = Buffer::allocate(12345, *busy)->data();
  const auto elsewhere = Buffer::allocate(12345, *other);
  EXPECT_NE(elsewhere->data(), first);
  const auto same = Buffer::allocate(12345, *busy);
  EXPECT_EQ(same->data(), first);
}

TEST_P(PendingPool, ABufferUsedOnAnotherQueueIsReleasedBehindIt) {
  const runtime::Device device(*device_);
  const auto home = Queue::create(device);
  const auto guest = Queue::create(device);
  auto* word = new_words(1);
  Gate gate(*device_, guest->handle(), false);
  {
    auto buffer = *Buffer::allocate(8, *home);
    EXPECT_OK(home->fill(buffer.data(), "\1\0\0\0\0\0\0", 8, 1));
    EXPECT_OK(home->synchronise());
    EXPECT_OK(guest->copy(word, buffer.data(), 8, device::CopyKind::kDeviceToHost));
    buffer.used_on(*guest);
  }
  const auto reused = *Buffer::allocate(8, *home);
  EXPECT_OK(home->fill(reused.data(), "\2\0\0\0\0\0\0", 8, 1));  // must come after the guest's copy
  EXPECT_FALSE(*home->is_idle());
  gate.open();
  EXPECT_OK(guest->synchronise());
  EXPECT_OK(home->synchronise());
  EXPECT_EQ(*word, 1u);
}

}  // namespace
}  // namespace epi::test
