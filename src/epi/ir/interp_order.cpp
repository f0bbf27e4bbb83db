// Vector clocks of programs that run one after another.
#include "epi/ir/interp_order.h"

#include <algorithm>

namespace epi::ir::interp {
namespace {

void raise_to(std::vector<std::uint32_t>& known, const std::vector<std::uint32_t>& other) {
  if (known.size() < other.size()) known.resize(other.size(), 0);
  for (std::size_t i = 0; i < other.size(); ++i) known[i] = std::max(known[i], other[i]);
}

}  // namespace

void HappensBefore::start(std::int64_t program) {
  program_ = program;
  epoch_ = 0;
  known_.clear();
  unlearned_.clear();
  fenced_.reset();
}

bool HappensBefore::knows(Moment moment) const {
  if (moment.program == program_) return true;
  const auto p = static_cast<std::size_t>(moment.program);
  return p < known_.size() && moment.epoch < known_[p];
}

void HappensBefore::learn(const Published& published) {
  if (published->owner >= 0) {
    const auto owner = static_cast<std::size_t>(published->owner);
    if (owner < known_.size() && known_[owner] >= published->epochs[owner]) return;
  }
  raise_to(known_, published->epochs);
}

HappensBefore::Published HappensBefore::publish() {
  auto all = std::make_shared<Knowledge>(Knowledge{program_, known_});
  all->epochs.resize(std::max(all->epochs.size(), static_cast<std::size_t>(program_) + 1), 0);
  all->epochs[static_cast<std::size_t>(program_)] = ++epoch_;
  return all;
}

void HappensBefore::acquire(Addresses addresses, bool at_once) {
  std::vector<Published> seen;
  for (std::byte* address : addresses)
    if (const auto found = at_.find(address); found != at_.end()) seen.push_back(found->second);
  // The latest owner first: it mostly knows what the others published, which then costs nothing.
  std::sort(seen.begin(), seen.end(), [](const Published& a, const Published& b) {
    return std::pair(a->owner, a.get()) > std::pair(b->owner, b.get());
  });
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  if (!at_once)
    unlearned_.insert(unlearned_.end(), seen.begin(), seen.end());
  else
    for (const Published& p : seen) learn(p);
}

void HappensBefore::release(Addresses addresses, bool at_once) {
  const Published mine = at_once ? publish() : fenced_;
  if (!mine) return;
  for (std::byte* address : addresses) {
    Published& here = at_[address];
    const bool learned = !here || (here->owner >= 0 && static_cast<std::size_t>(here->owner) < mine->epochs.size() &&
                                   mine->epochs[static_cast<std::size_t>(here->owner)] >=
                                       here->epochs[static_cast<std::size_t>(here->owner)]);
    if (learned) {
      here = mine;
      continue;
    }
    // A read-modify-write carries on what was published before it, whether or not this program learned it.
    auto both = std::make_shared<Knowledge>(Knowledge{-1, here->epochs});
    raise_to(both->epochs, mine->epochs);
    here = std::move(both);
  }
}

void HappensBefore::fence(bool acquire, bool release) {
  if (acquire)
    for (const Published& p : std::exchange(unlearned_, {})) learn(p);
  if (release) fenced_ = publish();
}

}  // namespace epi::ir::interp
