// Races and uninitialised reads.
#include "epi/ir/interp_shadow.h"

#include <numeric>

namespace epi::ir::interp {

void Shadow::add(const View& view) {
  const std::uintptr_t step = std::gcd(reinterpret_cast<std::uintptr_t>(view.base), size_bytes(view.dtype));
  granule_ = std::gcd(granule_, step);
}

Conflict Shadow::check(const Touch& t, const HappensBefore& order, Access access, bool was_initialised) {
  if (access != Access::kWrite && !was_initialised && !t.written) return {Conflict::kUninitialised, -1, access};
  auto races = [&](Moment m) { return m.exists() && !order.knows(m); };
  if (races(t.writer)) return {Conflict::kRace, t.writer.program, Access::kWrite};
  if (access != Access::kAtomic)
    for (Moment m : {t.last_atomic, t.first_atomic})
      if (races(m)) return {Conflict::kRace, m.program, Access::kAtomic};
  if (access != Access::kRead)
    for (Moment m : {t.last_reader, t.first_reader})
      if (races(m)) return {Conflict::kRace, m.program, Access::kRead};
  return {};
}

Conflict Shadow::touch(const std::byte* address, std::size_t size, const HappensBefore& order, Access access,
                       bool was_initialised) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  for (std::uintptr_t at = begin; at < begin + size; at += granule_) {
    Touch& t = touches_[at / granule_];
    if (const Conflict c = check(t, order, access, was_initialised); c.kind != Conflict::kNone) return c;
    if (access == Access::kRead) {
      if (!t.first_reader.exists()) t.first_reader = order.now();
      t.last_reader = order.now();
    } else if (access == Access::kAtomic) {
      if (!t.first_atomic.exists()) t.first_atomic = order.now();
      t.last_atomic = order.now();
    } else {
      t = {};  // whoever knows this write knows what it knew
      t.writer = order.now();
    }
    t.written = t.written || access != Access::kRead;
  }
  return {};
}

}  // namespace epi::ir::interp
