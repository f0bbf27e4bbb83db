// Checked mode's memory of who touched what. Keyed by address in granules that divide every element of the launch's
// views, so overlapping views of different dtypes meet.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "epi/ir/interp_value.h"

namespace epi::ir::interp {

enum class Access : std::uint8_t { kRead, kWrite, kAtomic };

/// What is wrong with an access.
struct Conflict {
  enum Kind : std::uint8_t { kNone, kRace, kUninitialised } kind = kNone;
  std::int64_t other = -1;       ///< the program that it races with
  Access other_access = Access::kRead;
};

class Shadow {
 public:
  /// Learns the launch's views, to choose the granule.
  void add(const View& view);
  /// Notes that program `who` touches the `size` bytes at `address`, and says what is wrong with that.
  Conflict touch(const std::byte* address, std::size_t size, std::int64_t who, Access access, bool was_initialised);

 private:
  struct Touch {
    std::int64_t reader = -1;
    std::int64_t writer = -1;
    std::int64_t atomic = -1;
    std::int64_t first_reader = -1;
    std::int64_t first_atomic = -1;
    bool written = false;
  };
  static Conflict check(const Touch& touch, std::int64_t who, Access access, bool was_initialised);

  std::uintptr_t granule_ = 0;
  std::unordered_map<std::uintptr_t, Touch> touches_;
};

}  // namespace epi::ir::interp
