// Checked mode's happens-before between programs: what an acquire of one learns from the releases of others. Programs
// run one after another, so only the running one has knowledge; what the others published lies at their atomics'
// addresses. Counts the releases of each program: an access is known where the release after it is.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "epi/ir/interp_value.h"

namespace epi::ir::interp {

/// A program and how often it had released before an access.
struct Moment {
  std::int64_t program = -1;
  std::uint32_t epoch = 0;
  [[nodiscard]] bool exists() const { return program >= 0; }
};

class HappensBefore {
 public:
  using Addresses = std::span<std::byte* const>;

  /// The next program starts, knowing nothing.
  void start(std::int64_t program);
  [[nodiscard]] Moment now() const { return {program_, epoch_}; }
  /// Whether the running program may rely on what happened at `moment`.
  [[nodiscard]] bool knows(Moment moment) const;

  /// An atomic's part before its access: what was published at the addresses is learned now, or by a later fence.
  void acquire(Addresses addresses, bool at_once);
  /// An atomic's part after its access: publishes all so far (`at_once`), or what a fence before it released.
  void release(Addresses addresses, bool at_once);
  void fence(bool acquire, bool release);

 private:
  /// Of each program, the number of epochs that are known.
  struct Knowledge {
    std::int64_t owner = -1;  ///< whoever knows the owner's epochs knows all of this; -1 where that does not hold
    std::vector<std::uint32_t> epochs;
  };
  using Published = std::shared_ptr<const Knowledge>;
  void learn(const Published& published);
  Published publish();

  std::int64_t program_ = -1;
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> known_;
  std::vector<Published> unlearned_;  ///< seen by relaxed atomics; an acquire fence learns it
  Published fenced_;                  ///< by the last release fence; relaxed atomics publish it
  std::unordered_map<std::byte*, Published> at_;
};

}  // namespace epi::ir::interp
