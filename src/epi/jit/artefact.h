// A compiled kernel as bytes: what the disk cache keeps and what travels between processes. Self-checking: decode()
// refuses anything that is not exactly what encode() wrote (magic, version, length, SHA-256).
#pragma once
#include <string>
#include <string_view>

#include "epi/base/status.h"
#include "epi/device/kernel_abi.h"

namespace epi::jit {

struct Artefact {
  KernelInfo info;
  std::string code;  ///< host object code or GPU binary, as the device's driver loads it
  bool operator==(const Artefact&) const = default;
};

std::string encode(const Artefact& artefact);
/// kIo with what is wrong where the bytes are damaged or of another version.
Result<Artefact> decode(std::string_view bytes);

}  // namespace epi::jit
