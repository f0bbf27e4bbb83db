// The Device of one GPU; see device/device.h for the laws. Uses the primary context, as the CUDA runtime, PyTorch and
// CuPy do, so that pointers and streams can be shared with them.
#pragma once
#include <memory>
#include <string>

#include "epi/backend/cuda/driver/queue.h"
#include "epi/device/device.h"

namespace epi::backend::cuda {

class GpuDevice final : public device::Device {
 public:
  static Result<std::unique_ptr<GpuDevice>> create(const Api& api, int ordinal);
  ~GpuDevice() override;

  [[nodiscard]] const device::DeviceInfo& info() const override { return info_; }
  Result<device::MemoryInfo> memory_info() override;
  Result<void*> allocate(device::MemoryKind kind, std::size_t size_bytes, device::QueueHandle queue) override;
  Status deallocate(device::MemoryKind kind, void* ptr, std::size_t size_bytes, device::QueueHandle queue) override;
  Status copy(device::QueueHandle queue, void* dst, const void* src, std::size_t size_bytes,
              device::CopyKind kind) override;
  Status fill(device::QueueHandle queue, void* dst, const void* pattern, std::size_t pattern_bytes,
              std::size_t count) override;
  Result<std::string> assemble(std::string_view text) override;
  Result<device::ModuleHandle> load_module(const device::ModuleImage& image) override;
  Status unload_module(device::ModuleHandle module) override;
  Result<device::KernelHandle> get_kernel(device::ModuleHandle module,
                                          std::shared_ptr<const KernelInfo> info) override;
  Status encode_tensor_map(const device::TensorMapSpec& spec, device::TensorMap* out) override;
  Result<device::QueueHandle> create_queue(const device::QueueOptions& options) override;
  Status destroy_queue(device::QueueHandle queue) override;
  Status submit(device::QueueHandle queue, const device::Dispatch& dispatch) override;
  Status host_call(device::QueueHandle queue, device::HostFunction function, void* argument) override;
  Status wait_events(device::QueueHandle queue, std::span<const device::EventHandle> events,
                     device::WaitMode mode) override;
  Status synchronise(device::QueueHandle queue) override;
  Result<bool> is_idle(device::QueueHandle queue) override;
  Result<device::EventHandle> create_event(const device::EventOptions& options) override;
  Status destroy_event(device::EventHandle event) override;
  Status record(device::EventHandle event, device::QueueHandle queue) override;
  Status wait(device::EventHandle event) override;
  Result<bool> is_done(device::EventHandle event) override;
  Result<double> elapsed_ns(device::EventHandle begin, device::EventHandle end) override;
  // -- for libraries of this wing
  [[nodiscard]] CUcontext context() const { return context_; }
  [[nodiscard]] static CUstream stream(device::QueueHandle queue) {
    return static_cast<QueueBox*>(queue.ptr)->queue->stream();
  }

 private:
  GpuDevice(const Api& api, CUdevice device, CUcontext context) : api_(api), device_(device), context_(context) {}
  Status read_info(int ordinal);
  CUstream stream_or_internal(device::QueueHandle queue) const;
  Status fill_wide(CUstream stream, CUdeviceptr dst, const void* pattern, std::size_t pattern_bytes, std::size_t count);

  const Api& api_;
  CUdevice device_;
  CUcontext context_;
  CUstream internal_ = nullptr;  ///< orders calls that name no queue
  device::DeviceInfo info_;
};

}  // namespace epi::backend::cuda
