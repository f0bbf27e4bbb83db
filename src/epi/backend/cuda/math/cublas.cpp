// cuBLAS, opened at run time, as the GPU's provider: one handle a device, its stream set for each call.
#include <dlfcn.h>

#include <array>
#include <map>
#include <mutex>

#include "epi/backend/cuda/driver/context.h"
#include "epi/backend/cuda/driver/device.h"
#include "epi/math/blas.h"

namespace epi::backend::cuda {
namespace {

using Handle = struct cublasContext*;
constexpr int kNoTrans = 0;
constexpr int kTrans = 1;
constexpr int kDefaultAlgorithm = -1;
// cudaDataType
constexpr int kR32 = 0, kR64 = 1, kR16 = 2, kC32 = 4, kC64 = 5, kRB16 = 14;
// cublasComputeType_t: no tf32 unless asked
constexpr int kCompute32 = 68, kCompute64 = 70;

struct Library {
  int (*create)(Handle*) = nullptr;
  int (*set_stream)(Handle, CUstream) = nullptr;
  int (*gemm)(Handle, int, int, std::int64_t, std::int64_t, std::int64_t, const void*, const void*, int, std::int64_t,
              std::int64_t, const void*, int, std::int64_t, std::int64_t, const void*, void*, int, std::int64_t,
              std::int64_t, std::int64_t, int, int) = nullptr;
};

/// cudaDataType of a float or complex dtype; -1 for the others.
int data_type(DType d) {
  const std::size_t bytes = size_bytes(d);
  if (is_complex(d)) return bytes == 8 ? kC32 : kC64;
  if (!is_float(d)) return -1;
  if (bytes == 2) return d == DType::kBFloat16 ? kRB16 : kR16;
  return bytes == 4 ? kR32 : kR64;
}

Status blas_error(int code, const char* doing) {
  return code == 0 ? ok_status() : device_error(std::string(doing) + ": cuBLAS error " + std::to_string(code));
}

class CuBlas final : public math::BlasProvider {
 public:
  [[nodiscard]] std::string_view kind() const override { return "cuda"; }

  void set_library(std::string path) override {
    std::lock_guard lock(mutex_);
    path_ = std::move(path);
  }

  Status gemm(device::Device& device, device::QueueHandle queue, const math::Gemm& g) override {
    const int type = data_type(g.dtype);
    if (type < 0)
      return unsupported("gemm on a GPU: dtype " + std::string(name(g.dtype)) + "; accepted are floats and complex");
    EPI_TRY(const Api* a, api());
    auto& gpu = static_cast<GpuDevice&>(device);
    ContextScope scope(*a, gpu.context());
    std::lock_guard lock(mutex_);
    EPI_TRY(Handle handle, handle_of(gpu));
    EPI_RETURN_IF_ERROR(blas_error(library_.set_stream(handle, gpu.stream(queue)), "gemm"));
    const bool wide = type == kR64 || type == kC64;
    const double one_wide[2] = {1, 0}, zero_wide[2] = {0, 0};
    const float one_narrow[2] = {1, 0}, zero_narrow[2] = {0, 0};
    const void* one = wide ? static_cast<const void*>(one_wide) : one_narrow;
    const void* zero = wide ? static_cast<const void*>(zero_wide) : zero_narrow;
    // Row-major c = a b is column-major c' = b' a'.
    return blas_error(library_.gemm(handle, g.b_transposed ? kTrans : kNoTrans, g.a_transposed ? kTrans : kNoTrans, g.n,
                                    g.m, g.k, one, g.b, type, g.ldb, g.stride_b, g.a, type, g.lda, g.stride_a, zero,
                                    g.c, type, g.ldc, g.stride_c, g.batch, wide ? kCompute64 : kCompute32,
                                    kDefaultAlgorithm),
                      "gemm");
  }

 private:
  Status open() {  // mutex_ held
    if (library_.gemm) return ok_status();
    const std::array<std::string, 3> names = {path_, "libcublas.so.13", "libcublas.so.12"};
    std::string tried;
    void* h = nullptr;
    for (const std::string& n : names) {
      if (n.empty() || h) continue;
      h = ::dlopen(n.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!h) tried += (tried.empty() ? "" : ", ") + n;
    }
    if (!h) return device_error("cuBLAS not found (tried " + tried + "); pip install nvidia-cublas");
    library_.create = reinterpret_cast<decltype(library_.create)>(::dlsym(h, "cublasCreate_v2"));
    library_.set_stream = reinterpret_cast<decltype(library_.set_stream)>(::dlsym(h, "cublasSetStream_v2"));
    auto* f = reinterpret_cast<decltype(library_.gemm)>(::dlsym(h, "cublasGemmStridedBatchedEx_64"));
    if (!library_.create || !library_.set_stream || !f)
      return device_error("this cuBLAS is too old: it lacks cublasGemmStridedBatchedEx_64 (need version 12)");
    library_.gemm = f;
    return ok_status();
  }

  Result<Handle> handle_of(const GpuDevice& gpu) {  // mutex_ held, the device's context current
    EPI_RETURN_IF_ERROR(open());
    Handle& handle = handles_[gpu.info().ordinal];
    if (!handle) EPI_RETURN_IF_ERROR(blas_error(library_.create(&handle), "starting cuBLAS"));
    return handle;
  }

  std::mutex mutex_;
  std::string path_;                ///< guarded by mutex_
  Library library_;                 ///< guarded by mutex_
  std::map<int, Handle> handles_;   ///< guarded by mutex_; by device ordinal, for the process's life
};

}  // namespace

math::BlasProvider& blas() {
  static auto* one = new CuBlas;
  return *one;
}

}  // namespace epi::backend::cuda
