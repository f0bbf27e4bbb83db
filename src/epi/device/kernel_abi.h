// The binary contract between compiled kernels (compiler, backend/*/target), the launcher (jit) and the drivers.
// A kernel's arguments are 8-byte slots in order: KernelInfo says what each holds. Host kernels get a HostLaunch; GPU
// kernels get each slot as one parameter of 8 bytes (a tensor map as one of 128 bytes, aligned to 64).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace epi {

/// Where a slot's value comes from. The launcher fills slots from the caller's arguments.
enum class SlotKind : std::uint8_t {
  kPointer,    ///< base address of view argument `arg`
  kExtent,     ///< extent `axis` of view argument `arg`, int64
  kStride,     ///< stride `axis` of view argument `arg`, int64, in elements
  kScalar,     ///< scalar argument `arg`, its bits zero-extended to 8 bytes (16-byte scalars take two slots, axis 0 and 1)
  kErrors,     ///< address of the launch's ErrorRecord, in memory that the kernel can write
  kTicket,     ///< address of a zeroed u32 counter: ascending program order on devices that start programs in any order
  kTensorMap,  ///< a tensor map of view argument `arg`, made at launch from `box` and `swizzle_bytes`
  kGrid,       ///< programs along `axis`: kernels whose blocks are not programs need it
};

/// One slot of a kernel's argument list.
struct Slot {
  SlotKind kind = SlotKind::kPointer;
  std::uint16_t arg = 0;
  std::uint8_t axis = 0;
  std::uint8_t swizzle_bytes = 0;      ///< kTensorMap: 0, 32, 64 or 128
  std::vector<std::uint32_t> box;      ///< kTensorMap: box extents, innermost first
  bool operator==(const Slot&) const = default;
};

/// First error of a launch. Kernels write it once (compare-and-swap of `site` from 0), then go on; wait() raises it.
struct ErrorRecord {
  std::uint32_t site = 0;     ///< 1 + index into KernelInfo::sites; 0 = no error
  std::uint32_t program = 0;  ///< linear program index
  std::uint64_t item = 0;     ///< element index within the tile
};
static_assert(sizeof(ErrorRecord) == 16);

/// What compiled code needs beside its bytes; stored with the artefact.
struct KernelInfo {
  std::string name;                 ///< symbol of the entry point
  std::vector<Slot> slots;
  std::vector<std::string> sites;   ///< messages of assertions and checks ("file:line: message")
  std::uint32_t block_threads = 0;  ///< GPU: threads a block
  std::uint32_t shared_bytes = 0;   ///< GPU: dynamic shared memory a block
  std::uint32_t cluster = 1;        ///< GPU: blocks a cluster
  std::uint32_t persistent = 0;     ///< GPU: 0 = one block a program; else blocks a multiprocessor of a persistent grid
  std::uint64_t arena_bytes = 0;    ///< host: scratch a worker must give (64-byte aligned)
  std::uint64_t written = 0;        ///< bit i: view argument i is stored to (of the first 64 arguments)
  bool ascending = false;           ///< programs start in ascending linear order
  bool operator==(const KernelInfo&) const = default;
};

/// What a host kernel is called with; one a dispatch, shared by its workers.
struct HostLaunch {
  const std::uint64_t* slots;  ///< the argument slots
  std::uint32_t grid[3];       ///< programs along each axis
  std::uint32_t reserved;
};
static_assert(sizeof(HostLaunch) == 24);

/// Runs programs [begin, end) of the linear grid (axis 0 fastest) with `arena` (KernelInfo::arena_bytes) as scratch.
using HostKernel = void (*)(const HostLaunch* launch, std::uint64_t begin, std::uint64_t end, void* arena);

}  // namespace epi
