// The artefact format and the disk cache: damage, sharing, bounds, privacy.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "epi/base/hash.h"
#include "epi/jit/artefact.h"
#include "epi/jit/disk_cache.h"

namespace fs = std::filesystem;
namespace epi::jit {
namespace {

Artefact sample(std::size_t code_bytes = 1000) {
  Artefact a;
  a.info.name = "kernel";
  a.info.slots = {{SlotKind::kPointer, 0, 0, 0, {}}, {SlotKind::kTensorMap, 1, 0, 128, {64, 128}}};
  a.info.sites = {"f.py:3: out of range", ""};
  a.info.block_threads = 256;
  a.info.arena_bytes = 1ULL << 40;
  a.info.ascending = true;
  a.code = std::string(code_bytes, '\0') + "end";
  return a;
}

struct Folder {
  Folder() {
    char name[] = "/tmp/epitaxy-test-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string path;
};

TEST(Sha256Test, AgreesWithTheStandardsExamples) {
  EXPECT_EQ(Sha256().update("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256().hex(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256().update(std::string(1000000, 'a')).hex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(ArtefactTest, ComesBackAsItWas) {
  const auto back = decode(encode(sample()));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(*back, sample());
}

TEST(ArtefactTest, EveryFlippedByteAndEveryCutIsRefused) {
  const std::string good = encode(sample(40));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    EXPECT_FALSE(decode(bad).ok()) << "byte " << i;
    EXPECT_FALSE(decode(good.substr(0, i)).ok()) << "cut at " << i;
  }
}

TEST(DiskCacheTest, ReadsWhatWasWrittenAndMissesTheRest) {
  Folder f;
  DiskCache cache(f.path + "/new", 1 << 20);
  ASSERT_TRUE(cache.write("key", sample()).ok());
  EXPECT_EQ(cache.read("key")->value(), sample());
  EXPECT_FALSE(cache.read("other")->has_value());
}

TEST(DiskCacheTest, ADamagedFileIsAMissAndGoes) {
  Folder f;
  DiskCache cache(f.path, 1 << 20);
  ASSERT_TRUE(cache.write("key", sample()).ok());
  const std::string file = f.path + "/key.epi";
  { std::fstream(file, std::ios::in | std::ios::out).seekp(100).put('x'); }
  EXPECT_FALSE(cache.read("key")->has_value());
  EXPECT_FALSE(fs::exists(file));
  ASSERT_TRUE(cache.write("key", sample()).ok());
  EXPECT_TRUE(cache.read("key")->has_value());
}

TEST(DiskCacheTest, AFolderThatOthersMayWriteIsRefused) {
  Folder f;
  ::chmod(f.path.c_str(), 0777);
  DiskCache cache(f.path, 1 << 20);
  const auto read = cache.read("key");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("chmod"), std::string::npos) << read.status().message();
  EXPECT_FALSE(cache.write("key", sample()).ok());
}

TEST(DiskCacheTest, AnUnwritablePlaceIsAnErrorThatNamesIt) {
  DiskCache cache("/proc/none/epitaxy", 1 << 20);
  const auto read = cache.read("key");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.status().message().find("/proc/none/epitaxy"), std::string::npos);
}

TEST(DiskCacheTest, StaysUnderItsBoundByDroppingTheLeastRecentlyUsed) {
  Folder f;
  DiskCache cache(f.path, 5000);
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(cache.write("key" + std::to_string(i), sample()).ok());
    const timespec t[2] = {{1000 + i, 0}, {1000 + i, 0}};
    ::utimensat(AT_FDCWD, (f.path + "/key" + std::to_string(i) + ".epi").c_str(), t, 0);
  }
  std::uint64_t total = 0;
  for (const auto& e : fs::directory_iterator(f.path)) total += e.file_size();
  EXPECT_LE(total, 5000U + 1300U);
  EXPECT_FALSE(cache.read("key0")->has_value());
  EXPECT_TRUE(cache.read("key7")->has_value());
}

TEST(DiskCacheTest, ManyFilesStayNearTheBoundThoughFewWritesCountTheFolder) {
  Folder f;
  DiskCache cache(f.path, 100'000);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(cache.write("key" + std::to_string(i), sample(1000 + i % 97)).ok());
  std::uint64_t total = 0;
  for (const auto& e : fs::directory_iterator(f.path)) total += e.file_size();
  EXPECT_LE(total, 150'000U);
  EXPECT_GE(total, 50'000U);
}

TEST(DiskCacheTest, ManyProcessesOnOneFolderNeverFail) {
  Folder f;
  std::vector<pid_t> children;
  for (int p = 0; p < 6; ++p) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      DiskCache cache(f.path + "/shared", 20000);
      bool good = true;
      for (int i = 0; i < 60; ++i) {
        const std::string key = "key" + std::to_string(i % 20);
        good &= cache.write(key, sample()).ok();
        const auto read = cache.read(key);
        good &= read.ok() && (!read->has_value() || **read == sample());
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = -1;
    ::waitpid(pid, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

}  // namespace
}  // namespace epi::jit
