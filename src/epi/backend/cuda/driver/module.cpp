// Code on a GPU: PTX to a cubin through the driver's linker, loading, kernels, tensor maps.
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "epi/backend/cuda/driver/context.h"
#include "epi/backend/cuda/driver/device.h"

namespace epi::backend::cuda {
namespace {

constexpr std::size_t kLogBytes = 16 * 1024;

/// CUtensorMapDataType of a dtype of this size and kind; -1 where the hardware has none.
int tensor_map_type(DType dtype) {
  if (dtype == DType::kBFloat16) return 9;
  const std::size_t bytes = size_bytes(dtype);
  if (is_float(dtype)) return bytes == 2 ? 6 : bytes == 4 ? 7 : 8;
  if (is_complex(dtype)) return -1;
  const bool is_signed = kind(dtype) == 'i';
  if (bytes == 1) return 0;
  if (bytes == 2) return 1;
  return bytes == 4 ? (is_signed ? 3 : 2) : (is_signed ? 5 : 4);
}

/// A module and the kernels looked up in it, which end with it.
struct LoadedModule {
  CUmodule module = nullptr;
  std::shared_ptr<const void> keep;
  std::mutex mutex;
  std::vector<std::unique_ptr<LoadedKernel>> kernels;  ///< guarded by mutex
};

int swizzle_code(std::uint32_t bytes) { return bytes == 32 ? 1 : bytes == 64 ? 2 : bytes == 128 ? 3 : 0; }

}  // namespace

Result<std::string> GpuDevice::assemble(std::string_view text) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  std::vector<char> errors(kLogBytes, '\0');
  std::string source(text);  // the linker reads a terminated string
  int options[] = {kJitErrorLog, kJitErrorLogBytes};
  void* values[] = {errors.data(), reinterpret_cast<void*>(kLogBytes)};
  CUlinkState link = nullptr;
  EPI_RETURN_IF_ERROR(check(api_.LinkCreate(2, options, values, &link), "starting the PTX linker"));
  void* cubin = nullptr;
  std::size_t size = 0;
  CUresult r = api_.LinkAddData(link, kInputPtx, source.data(), source.size() + 1, "kernel.ptx", 0, nullptr, nullptr);
  if (r == kSuccess) r = api_.LinkComplete(link, &cubin, &size);
  std::string bytes = r == kSuccess ? std::string(static_cast<const char*>(cubin), size) : std::string();
  api_.LinkDestroy(link);
  if (r != kSuccess)
    return compile_error("assembling PTX for " + info_.arch + " failed: " + check(r, "the driver's linker").message() +
                         "\n" + errors.data());
  return bytes;
}

Result<device::ModuleHandle> GpuDevice::load_module(const device::ModuleImage& image) {
  if (image.bytes.empty() || image.host)
    return invalid_argument("load_module: a GPU module is bytes (a cubin); got host code or nothing");
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  auto module = std::make_unique<LoadedModule>();
  EPI_RETURN_IF_ERROR(
      check(api_.ModuleLoadDataEx(&module->module, image.bytes.data(), 0, nullptr, nullptr), "loading a GPU module"));
  module->keep = image.keep;
  return device::ModuleHandle{module.release()};
}

Status GpuDevice::unload_module(device::ModuleHandle module) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  std::unique_ptr<LoadedModule> loaded(static_cast<LoadedModule*>(module.ptr));
  const Status idle = check(api_.CtxSynchronize(), "unloading a GPU module");  // its kernels may still run
  const Status unloaded = check(api_.ModuleUnload(loaded->module), "unloading a GPU module");
  return idle.ok() ? unloaded : idle;
}

Result<device::KernelHandle> GpuDevice::get_kernel(device::ModuleHandle module, std::shared_ptr<const KernelInfo> info) {
  EPI_RETURN_IF_ERROR(check_process());
  ContextScope scope(api_, context_);
  auto& loaded = *static_cast<LoadedModule*>(module.ptr);
  auto kernel = std::make_unique<LoadedKernel>();
  EPI_RETURN_IF_ERROR(check(api_.ModuleGetFunction(&kernel->function, loaded.module, info->name.c_str()),
                            ("finding kernel " + info->name).c_str()));
  if (info->shared_bytes > 48 * 1024) {
    if (info->shared_bytes > info_.shared_bytes)
      return device_error("kernel " + info->name + " needs " + std::to_string(info->shared_bytes) +
                          " bytes of shared memory a block; this GPU has " + std::to_string(info_.shared_bytes));
    EPI_RETURN_IF_ERROR(check(api_.FuncSetAttribute(kernel->function, kFuncMaxDynamicShared,
                                                    static_cast<int>(info->shared_bytes)),
                              "raising a kernel's shared memory"));
  }
  kernel->info = std::move(info);
  std::lock_guard lock(loaded.mutex);
  return device::KernelHandle{loaded.kernels.emplace_back(std::move(kernel)).get()};
}

Status GpuDevice::encode_tensor_map(const device::TensorMapSpec& spec, device::TensorMap* out) {
  const int type = tensor_map_type(spec.dtype);
  if (type < 0 || spec.rank < 1 || spec.rank > 5)
    return unsupported("tensor map: dtype " + std::string(name(spec.dtype)) + " with rank " + std::to_string(spec.rank));
  ContextScope scope(api_, context_);
  const std::uint32_t steps[5] = {1, 1, 1, 1, 1};
  return check(api_.TensorMapEncodeTiled(out, type, static_cast<unsigned>(spec.rank), const_cast<void*>(spec.base),
                                         spec.extents, spec.strides_bytes + 1, spec.box, steps, 0,
                                         swizzle_code(spec.swizzle_bytes), 2, 0),
               "making a tensor map (base and strides must be multiples of 16 bytes)");
}

}  // namespace epi::backend::cuda
