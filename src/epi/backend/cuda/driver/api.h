// libcuda, opened at run time: handles, the few constants we use, and the table of functions. The only place that
// knows the driver's ABI. Process-wide and immutable once loaded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "epi/base/status.h"

namespace epi::backend::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = std::uint64_t;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUmemoryPool = struct CUmemPoolHandle_st*;
using CUlinkState = struct CUlinkState_st*;

inline constexpr CUresult kSuccess = 0;
inline constexpr CUresult kErrorOutOfMemory = 2;
inline constexpr CUresult kErrorDeinitialized = 4;
inline constexpr CUresult kErrorNotReady = 600;

/// One launch attribute; only the cluster size is used. 4-byte id, padding to 8, 64-byte value.
struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
static_assert(sizeof(CUlaunchAttribute) == 72);
inline constexpr int kLaunchAttributeCluster = 4;

struct CUlaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  CUstream stream;
  CUlaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(CUlaunchConfig) == 56);

// Device attributes (CUdevice_attribute)
inline constexpr int kAttrMaxSharedPerBlockOptin = 97;
inline constexpr int kAttrMultiprocessors = 16;
inline constexpr int kAttrMajor = 75;
inline constexpr int kAttrMinor = 76;
inline constexpr int kAttrClockKhz = 13;
inline constexpr int kAttrL2Bytes = 38;
inline constexpr int kAttrMemoryClockKhz = 36;
inline constexpr int kAttrMemoryBusBits = 37;
// Function attributes (CUfunction_attribute)
inline constexpr int kFuncLocalBytes = 3;
inline constexpr int kFuncRegisters = 4;
inline constexpr int kFuncMaxDynamicShared = 8;
// Memory pool attributes
inline constexpr int kPoolReleaseThreshold = 4;
inline constexpr int kPoolReservedCurrent = 5;
inline constexpr int kPoolUsedCurrent = 7;
// JIT and link options, input kinds
inline constexpr int kJitInfoLog = 3;
inline constexpr int kJitInfoLogBytes = 4;
inline constexpr int kJitErrorLog = 5;
inline constexpr int kJitErrorLogBytes = 6;
inline constexpr int kJitLineInfo = 13;
inline constexpr int kInputPtx = 1;
inline constexpr unsigned kStreamNonBlocking = 1;
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostPortable = 1;
inline constexpr unsigned kHostMapped = 2;

/// The loaded functions. Null pointers never escape: load fails if one is missing.
struct Api {
#define EPI_CU(name, symbol, ...) CUresult (*name)(__VA_ARGS__) = nullptr;
#include "epi/backend/cuda/driver/functions.def"
#undef EPI_CU
};

/// Opens libcuda and initialises it once. The error says what was tried.
Result<const Api*> api();

/// kDevice in a child that was forked after the driver had started: its contexts are lost there. Costs a load.
Status check_process();

/// ok() for kSuccess; else kDevice (kOutOfMemory for the driver's out of memory) with the driver's name and text of the
/// error and what was being done.
Status check(CUresult result, const char* doing);

}  // namespace epi::backend::cuda
