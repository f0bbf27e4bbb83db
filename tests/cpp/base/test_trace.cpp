// The trace collector and its export.
#include <gtest/gtest.h>

#include <thread>

#include "epi/base/trace.h"

namespace epi::trace {
namespace {

class Trace : public testing::Test {
 protected:
  void TearDown() override {
    stop();
    (void)drain();
  }
};

TEST_F(Trace, NothingIsRecordedWhileOff) {
  span("run", "kernel", 1, 2);
  counter("bytes", 3);
  { const Scope scope("compile", "parse"); }
  EXPECT_TRUE(drain().empty());
}

TEST_F(Trace, EventsComeInOrderOfTheirStart) {
  start();
  span("run", "late", 200, 5);
  span("run", "early", 100, 7, {{"grid", 4}, {"name", "a\"b"}, {"share", 0.5}});
  const auto events = drain();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].name, "early");
  EXPECT_EQ(events[0].duration_ns, 7);
  EXPECT_EQ(events[0].args, R"("grid":4,"name":"a\"b","share":0.5)");
  EXPECT_EQ(events[1].name, "late");
  EXPECT_TRUE(drain().empty()) << "drained events are gone";
}

TEST_F(Trace, ThreadsHaveTheirOwnRowsAndOutliveThemselves) {
  start();
  std::thread([] {
    name_thread("helper");
    instant("queue", "there");
  }).join();
  instant("queue", "here");
  const auto events = drain();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_NE(events[0].track, events[1].track);
  EXPECT_NE(chrome_json(events).find(R"("name":"helper")"), std::string::npos);
}

TEST_F(Trace, FlushAsksThoseWhoMeasureLater) {
  start();
  on_flush([] { span("run", "measured later", 1, 2); });
  flush();
  const auto events = drain();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "measured later");
}

TEST_F(Trace, ManyThreadsLoseNothing) {
  start();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 5000; ++i) span("run", "k", i, 1);
    });
  }
  std::size_t count = 0;
  for (int i = 0; i < 10; ++i) count += drain().size();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count + drain().size(), 20000u);
  EXPECT_EQ(dropped(), 0u);
}

TEST_F(Trace, AScopeMeasuresItself) {
  start();
  {
    const Scope scope("compile", "parse");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const auto events = drain();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_GE(events[0].duration_ns, 2'000'000);
}

TEST_F(Trace, TheExportIsWhatViewersRead) {
  start();
  const std::uint32_t track = make_track("queue 0");
  span("run", "add\n", 1'234'567, 1'500, {{"grid", 16}}, track);
  const std::string row = "\"tid\":" + std::to_string(track);
  const std::string json = chrome_json(drain());
  EXPECT_NE(json.find("{\"ph\":\"X\",\"pid\":1," + row +
                      R"(,"ts":1234.567,"dur":1.500,"cat":"run","name":"add\n","args":{"grid":16}})"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("{\"ph\":\"M\",\"pid\":1," + row + R"(,"name":"thread_name","args":{"name":"queue 0"}})"),
            std::string::npos)
      << json;
}

TEST_F(Trace, CountersAndInstantsHaveTheirPhases) {
  start();
  counter("bytes", 1024);
  instant("queue", "doorbell");
  const std::string json = chrome_json(drain());
  EXPECT_NE(json.find(R"("ph":"C")"), std::string::npos);
  EXPECT_NE(json.find(R"("args":{"value":1024})"), std::string::npos);
  EXPECT_NE(json.find(R"("ph":"i")"), std::string::npos);
}

}  // namespace
}  // namespace epi::trace
