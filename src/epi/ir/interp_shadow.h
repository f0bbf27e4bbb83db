// Checked mode's memory of who touched what. Keyed by address in granules that divide every element of the launch's
// views, so overlapping views of different dtypes meet.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "epi/ir/interp_order.h"

namespace epi::ir::interp {

enum class Access : std::uint8_t { kRead, kWrite, kAtomic };

/// What is wrong with an access.
struct Conflict {
  enum Kind : std::uint8_t { kNone, kRace, kUninitialised } kind = kNone;
  std::int64_t other = -1;  ///< the program that it races with
  Access other_access = Access::kRead;
};

class Shadow {
 public:
  /// Learns the launch's views, to choose the granule.
  void add(const View& view);
  /// Notes that the program running in `order` touches the `size` bytes at `address`, and says what is wrong with
  /// that. Two accesses race where one writes, not both are atomic, and the later program does not know the earlier's.
  Conflict touch(const std::byte* address, std::size_t size, const HappensBefore& order, Access access,
                 bool was_initialised);

 private:
  /// Of several readers (or atomics) since the last write, the first and the last are kept: with more than two
  /// programs and partial synchronisation a race may be missed, but none is invented.
  struct Touch {
    Moment writer;
    Moment first_reader, last_reader;
    Moment first_atomic, last_atomic;
    bool written = false;
  };
  static Conflict check(const Touch& touch, const HappensBefore& order, Access access, bool was_initialised);

  std::uintptr_t granule_ = 0;
  std::unordered_map<std::uintptr_t, Touch> touches_;
};

}  // namespace epi::ir::interp
