// SHA-256 (FIPS 180-4): names of cache artefacts and their checksums. Not for secrets.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace epi {

/// Feeds bytes in pieces; digest() ends it.
class Sha256 {
 public:
  Sha256& update(std::string_view bytes);
  /// Length-prefixed: update_field("ab"), update_field("c") differs from update_field("a"), update_field("bc").
  Sha256& update_field(std::string_view bytes);
  std::array<std::uint8_t, 32> digest();
  std::string hex();

 private:
  void block(const std::uint8_t* p);
  std::array<std::uint32_t, 8> h_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> buffer_{};
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace epi
