#include "epi/backend/cpu/driver/memory_kernels.h"

#include <algorithm>
#include <cstring>

namespace epi::backend::cpu {
namespace {

void run_copy(const HostLaunch* launch, std::uint64_t begin, std::uint64_t end, void*) {
  auto* dst = reinterpret_cast<char*>(launch->slots[0]);
  const auto* src = reinterpret_cast<const char*>(launch->slots[1]);
  const std::uint64_t first = begin * kMoveBytes;
  std::memcpy(dst + first, src + first, std::min(end * kMoveBytes, launch->slots[2]) - first);
}

void run_fill(const HostLaunch* launch, std::uint64_t begin, std::uint64_t end, void*) {
  auto* dst = reinterpret_cast<char*>(launch->slots[0]);
  const std::uint64_t pattern_bytes = launch->slots[3];
  const std::uint64_t first = begin * kMoveBytes;
  const std::uint64_t last = std::min(end * kMoveBytes, launch->slots[4]);
  // kMoveBytes and the block are multiples of every pattern, so each program starts at a pattern's first byte.
  char block[256];
  for (std::uint64_t i = 0; i < sizeof(block); i += pattern_bytes) {
    std::memcpy(block + i, &launch->slots[1], pattern_bytes);
  }
  if (std::all_of(block, block + sizeof(block), [&](char c) { return c == block[0]; })) {
    std::memset(dst + first, block[0], last - first);
    return;
  }
  for (std::uint64_t at = first; at < last; at += sizeof(block)) {
    std::memcpy(dst + at, block, std::min<std::uint64_t>(sizeof(block), last - at));
  }
}

Kernel* make(const char* name, HostKernel entry, std::size_t slots) {
  auto info = std::make_shared<KernelInfo>();
  info->name = name;
  info->slots.assign(slots, Slot{.kind = SlotKind::kScalar, .box = {}});
  auto* kernel = new Kernel;
  kernel->entry = entry;
  kernel->info = std::move(info);
  return kernel;
}

}  // namespace

const Kernel& copy_kernel() {
  static const Kernel* kernel = make("copy", &run_copy, 3);
  return *kernel;
}

const Kernel& fill_kernel() {
  static const Kernel* kernel = make("fill", &run_fill, 5);
  return *kernel;
}

}  // namespace epi::backend::cpu
