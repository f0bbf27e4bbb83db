// Opening a GPU, its facts and its memory.
#include "epi/backend/cuda/driver/device.h"

#include <algorithm>
#include <cstring>

#include "epi/backend/cuda/driver/context.h"

namespace epi::backend::cuda {
namespace {

CUdeviceptr address(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }
void* pointer(CUdeviceptr p) { return reinterpret_cast<void*>(p); }
CUstream stream_of(device::QueueHandle q) { return static_cast<QueueBox*>(q.ptr)->queue->stream(); }

}  // namespace

Result<std::unique_ptr<GpuDevice>> GpuDevice::create(const Api& api, int ordinal) {
  CUdevice handle = 0;
  CUcontext context = nullptr;
  EPI_RETURN_IF_ERROR(check(api.DeviceGet(&handle, ordinal), "finding the GPU"));
  EPI_RETURN_IF_ERROR(check(api.DevicePrimaryCtxRetain(&context, handle), "making the GPU's context"));
  std::unique_ptr<GpuDevice> out(new GpuDevice(api, handle, context));
  EPI_RETURN_IF_ERROR(out->read_info(ordinal));
  ContextScope scope(api, context);
  EPI_RETURN_IF_ERROR(check(api.StreamCreateWithPriority(&out->internal_, kStreamNonBlocking, 0), "making a stream"));
  return out;
}

GpuDevice::~GpuDevice() {
  // At process end the driver may be gone already; its answer then is "deinitialized" and nothing is lost.
  if (internal_) api_.StreamDestroy(internal_);
  api_.DevicePrimaryCtxRelease(device_);
}

Status GpuDevice::read_info(int ordinal) {
  char name[256] = {};
  int values[5] = {};
  const int attributes[5] = {kAttrMajor, kAttrMinor, kAttrMultiprocessors, kAttrMaxSharedPerBlockOptin, kAttrL2Bytes};
  EPI_RETURN_IF_ERROR(check(api_.DeviceGetName(name, sizeof name - 1, device_), "reading the GPU's name"));
  EPI_RETURN_IF_ERROR(check(api_.DeviceTotalMem(&info_.total_bytes, device_), "reading the GPU's memory size"));
  for (int i = 0; i < 5; ++i)
    EPI_RETURN_IF_ERROR(check(api_.DeviceGetAttribute(&values[i], attributes[i], device_), "reading the GPU's facts"));
  EPI_RETURN_IF_ERROR(check(api_.DriverGetVersion(&info_.driver_version), "reading the driver's version"));
  info_.name = name;
  info_.kind = "cuda";
  info_.arch = "sm_" + std::to_string(values[0]) + std::to_string(values[1]) + (values[0] == 9 ? "a" : "");
  info_.ordinal = ordinal;
  info_.processors = values[2];
  info_.warp_size = 32;
  info_.shared_bytes = static_cast<std::size_t>(values[3]);
  info_.cache_bytes = static_cast<std::size_t>(values[4]);
  info_.caps = device::Cap::kBinaryModules | device::Cap::kAssembles | device::Cap::kComputes;
  if (values[0] >= 9) info_.caps = info_.caps | device::Cap::kTensorMaps;
  return ok_status();
}

Result<device::MemoryInfo> GpuDevice::memory_info() {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  device::MemoryInfo m;
  EPI_RETURN_IF_ERROR(check(api_.MemGetInfo(&m.free_bytes, &m.total_bytes), "reading the GPU's free memory"));
  return m;
}

CUstream GpuDevice::stream_or_internal(device::QueueHandle queue) const { return queue ? stream_of(queue) : internal_; }

Result<void*> GpuDevice::allocate(device::MemoryKind kind, std::size_t size_bytes, device::QueueHandle queue) {
  if (size_bytes == 0) return invalid_argument("allocate: 0 bytes; a block has at least 1");
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  if (kind != device::MemoryKind::kDevice) {
    void* p = nullptr;
    EPI_RETURN_IF_ERROR(check(api_.MemHostAlloc(&p, size_bytes, kHostPortable | kHostMapped), "allocating pinned memory"));
    return p;
  }
  CUdeviceptr p = 0;
  EPI_RETURN_IF_ERROR(check(api_.MemAllocAsync(&p, size_bytes, stream_or_internal(queue)), "allocating GPU memory"));
  if (!queue) EPI_RETURN_IF_ERROR(check(api_.StreamSynchronize(internal_), "allocating GPU memory"));
  return pointer(p);
}

Status GpuDevice::deallocate(device::MemoryKind kind, void* ptr, std::size_t, device::QueueHandle queue) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  if (kind == device::MemoryKind::kDevice)
    return check(api_.MemFreeAsync(address(ptr), stream_or_internal(queue)), "freeing GPU memory");
  if (queue) EPI_RETURN_IF_ERROR(check(api_.StreamSynchronize(stream_of(queue)), "freeing pinned memory"));
  return check(api_.MemFreeHost(ptr), "freeing pinned memory");
}

Status GpuDevice::copy(device::QueueHandle queue, void* dst, const void* src, std::size_t size_bytes,
                       device::CopyKind kind) {
  if (!queue) return invalid_argument("copy: needs a queue; got none");
  if (size_bytes == 0) return ok_status();
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  const CUstream stream = stream_of(queue);
  switch (kind) {
    case device::CopyKind::kHostToDevice:
      return check(api_.MemcpyHtoDAsync(address(dst), src, size_bytes, stream), "copying to the GPU");
    case device::CopyKind::kDeviceToHost:
      return check(api_.MemcpyDtoHAsync(dst, address(src), size_bytes, stream), "copying from the GPU");
    case device::CopyKind::kDeviceToDevice:
      return check(api_.MemcpyDtoDAsync(address(dst), address(src), size_bytes, stream), "copying on the GPU");
    case device::CopyKind::kHostToHost:
      return check(api_.MemcpyAsync(address(dst), address(src), size_bytes, stream), "copying host memory");
  }
  return internal_error("unknown kind of copy");
}

Status GpuDevice::fill(device::QueueHandle queue, void* dst, const void* pattern, std::size_t pattern_bytes,
                       std::size_t count) {
  if (!queue) return invalid_argument("fill: needs a queue; got none");
  if (count == 0) return ok_status();
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  const CUstream stream = stream_of(queue);
  std::uint32_t words[4] = {};
  std::memcpy(words, pattern, std::min<std::size_t>(pattern_bytes, sizeof words));
  const bool even = std::all_of(words, words + pattern_bytes / 4, [&](std::uint32_t w) { return w == words[0]; });
  if (pattern_bytes == 1)
    return check(api_.MemsetD8Async(address(dst), static_cast<unsigned char>(words[0]), count, stream), "filling");
  if (pattern_bytes == 2)
    return check(api_.MemsetD16Async(address(dst), static_cast<unsigned short>(words[0]), count, stream), "filling");
  if ((pattern_bytes == 4 || pattern_bytes == 8 || pattern_bytes == 16) && even)
    return check(api_.MemsetD32Async(address(dst), words[0], count * pattern_bytes / 4, stream), "filling");
  if (pattern_bytes == 8 || pattern_bytes == 16) return fill_wide(stream, address(dst), pattern, pattern_bytes, count);
  return invalid_argument("fill: pattern of " + std::to_string(pattern_bytes) + " bytes; accepted are 1, 2, 4, 8 and 16");
}

/// Writes the pattern once, then doubles what is there.
Status GpuDevice::fill_wide(CUstream stream, CUdeviceptr dst, const void* pattern, std::size_t pattern_bytes,
                            std::size_t count) {
  EPI_RETURN_IF_ERROR(check(api_.MemcpyHtoDAsync(dst, pattern, pattern_bytes, stream), "filling"));
  const std::size_t total = pattern_bytes * count;
  for (std::size_t done = pattern_bytes; done < total;) {
    const std::size_t n = std::min(done, total - done);
    EPI_RETURN_IF_ERROR(check(api_.MemcpyDtoDAsync(dst + done, dst, n, stream), "filling"));
    done += n;
  }
  return ok_status();
}

}  // namespace epi::backend::cuda
