// OpenBLAS (the scipy-openblas64 package's library) as the host's provider. The product runs on the queue's thread as a
// host call; OpenBLAS brings its own threads.
#include <dlfcn.h>

#include <array>
#include <complex>
#include <mutex>

#include "epi/base/log.h"
#include "epi/math/blas.h"

namespace epi::backend::cpu {
namespace {

constexpr int kRowMajor = 101;
constexpr int kNoTrans = 111;
constexpr int kTrans = 112;

template <class T>
using RealGemm = void (*)(int, int, int, std::int64_t, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*,
                          std::int64_t, T, T*, std::int64_t);
using ComplexGemm = void (*)(int, int, int, std::int64_t, std::int64_t, std::int64_t, const void*, const void*,
                             std::int64_t, const void*, std::int64_t, const void*, void*, std::int64_t);

struct Library {
  RealGemm<float> sgemm = nullptr;
  RealGemm<double> dgemm = nullptr;
  ComplexGemm cgemm = nullptr;
  ComplexGemm zgemm = nullptr;
};

/// A queued product; the host call owns it.
struct Call {
  const Library* library;
  math::Gemm gemm;
};

template <class T>
void run_real(RealGemm<T> f, const math::Gemm& g, std::int64_t i) {
  f(kRowMajor, g.a_transposed ? kTrans : kNoTrans, g.b_transposed ? kTrans : kNoTrans, g.m, g.n, g.k, T(1),
    static_cast<const T*>(g.a) + i * g.stride_a, g.lda, static_cast<const T*>(g.b) + i * g.stride_b, g.ldb, T(0),
    static_cast<T*>(g.c) + i * g.stride_c, g.ldc);
}

template <class T>
void run_complex(ComplexGemm f, const math::Gemm& g, std::int64_t i) {
  const std::complex<T> one(1);
  const std::complex<T> zero(0);
  f(kRowMajor, g.a_transposed ? kTrans : kNoTrans, g.b_transposed ? kTrans : kNoTrans, g.m, g.n, g.k, &one,
    static_cast<const std::complex<T>*>(g.a) + i * g.stride_a, g.lda,
    static_cast<const std::complex<T>*>(g.b) + i * g.stride_b, g.ldb, &zero,
    static_cast<std::complex<T>*>(g.c) + i * g.stride_c, g.ldc);
}

void run(void* argument) {
  const std::unique_ptr<Call> call(static_cast<Call*>(argument));
  const math::Gemm& g = call->gemm;
  const bool wide = size_bytes(g.dtype) == (is_complex(g.dtype) ? 16 : 8);
  for (std::int64_t i = 0; i < g.batch; ++i) {
    if (is_complex(g.dtype))
      wide ? run_complex<double>(call->library->zgemm, g, i) : run_complex<float>(call->library->cgemm, g, i);
    else
      wide ? run_real<double>(call->library->dgemm, g, i) : run_real<float>(call->library->sgemm, g, i);
  }
}

class OpenBlas final : public math::BlasProvider {
 public:
  [[nodiscard]] std::string_view kind() const override { return "cpu"; }

  void set_library(std::string path) override {
    std::lock_guard lock(mutex_);
    path_ = std::move(path);
  }

  Status gemm(device::Device& device, device::QueueHandle queue, const math::Gemm& gemm) override {
    if (size_bytes(gemm.dtype) < 4 || !(is_float(gemm.dtype) || is_complex(gemm.dtype)))
      return unsupported("gemm on the cpu: dtype " + std::string(name(gemm.dtype)) +
                         "; accepted are float32, float64, complex64, complex128");
    EPI_RETURN_IF_ERROR(open());
    auto call = std::make_unique<Call>(Call{&library_, gemm});
    EPI_RETURN_IF_ERROR(device.host_call(queue, &run, call.get()));
    call.release();
    return ok_status();
  }

 private:
  Status open() {
    std::lock_guard lock(mutex_);
    if (library_.sgemm) return ok_status();
    const std::array<std::string, 2> names = {path_, "libscipy_openblas64_.so"};
    std::string tried;
    void* handle = nullptr;
    for (const std::string& n : names) {
      if (n.empty() || handle) continue;
      handle = ::dlopen(n.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle) tried += (tried.empty() ? "" : ", ") + n;
    }
    if (!handle) return device_error("OpenBLAS not found (tried " + tried + "); pip install scipy-openblas64");
    library_.dgemm = reinterpret_cast<RealGemm<double>>(::dlsym(handle, "scipy_cblas_dgemm64_"));
    library_.cgemm = reinterpret_cast<ComplexGemm>(::dlsym(handle, "scipy_cblas_cgemm64_"));
    library_.zgemm = reinterpret_cast<ComplexGemm>(::dlsym(handle, "scipy_cblas_zgemm64_"));
    auto* single = reinterpret_cast<RealGemm<float>>(::dlsym(handle, "scipy_cblas_sgemm64_"));
    if (!single || !library_.dgemm || !library_.cgemm || !library_.zgemm)
      return device_error("OpenBLAS lacks the 64-bit CBLAS functions of scipy-openblas64");
    library_.sgemm = single;
    return ok_status();
  }

  std::mutex mutex_;
  std::string path_;   ///< guarded by mutex_
  Library library_;    ///< written once under mutex_
};

}  // namespace

math::BlasProvider& blas() {
  static auto* one = new OpenBlas;  // calls may still run at exit
  return *one;
}

}  // namespace epi::backend::cpu
