// Races and uninitialised reads.
#include "epi/ir/interp_shadow.h"

#include <numeric>

namespace epi::ir::interp {

void Shadow::add(const View& view) {
  const std::uintptr_t step = std::gcd(reinterpret_cast<std::uintptr_t>(view.base), size_bytes(view.dtype));
  granule_ = std::gcd(granule_, step);
}

Conflict Shadow::check(const Touch& t, std::int64_t who, Access access, bool was_initialised) {
  auto other = [&](std::int64_t last, std::int64_t first) { return last >= 0 && last != who ? last : first != who ? first : -1; };
  if (access != Access::kWrite && !was_initialised && !t.written) return {Conflict::kUninitialised, -1, access};
  if (t.writer >= 0 && t.writer != who) return {Conflict::kRace, t.writer, Access::kWrite};
  if (access != Access::kAtomic)
    if (const auto p = other(t.atomic, t.first_atomic); p >= 0) return {Conflict::kRace, p, Access::kAtomic};
  if (access != Access::kRead)
    if (const auto p = other(t.reader, t.first_reader); p >= 0) return {Conflict::kRace, p, Access::kRead};
  return {};
}

Conflict Shadow::touch(const std::byte* address, std::size_t size, std::int64_t who, Access access,
                       bool was_initialised) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (std::uintptr_t at = begin; at < begin + size; at += granule_) {
    Touch& t = touches_[at / granule_];
    if (const Conflict c = check(t, who, access, was_initialised); c.kind != Conflict::kNone) return c;
    if (access == Access::kRead) {
      t.reader = who;
      if (t.first_reader < 0) t.first_reader = who;
    } else if (access == Access::kWrite) {
      t.writer = who;
    } else {
      t.atomic = who;
      if (t.first_atomic < 0) t.first_atomic = who;
    }
    t.written = t.written || access != Access::kRead;
  }
  return {};
}

}  // namespace epi::ir::interp
