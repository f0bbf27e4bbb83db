// Matrix products by the device's own library, in the order of a queue. What we promise is here; who computes is a wing's
// provider (backend/*/math). Libraries are opened at run time: none is needed to build.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "epi/base/dtype.h"
#include "epi/base/status.h"
#include "epi/device/device.h"

namespace epi::math {

/// c = a @ b for `batch` pairs of row-major matrices: a is m x k, b is k x n, c is m x n, each stored with `ld*` elements
/// from row to row, or transposed (then from column to column). float32, float64, complex64 and complex128; a GPU also
/// float16 and bfloat16 (sums in float32).
struct Gemm {
  DType dtype = DType::kFloat32;
  std::int64_t m = 0, n = 0, k = 0;
  const void* a = nullptr;
  std::int64_t lda = 0;
  bool a_transposed = false;
  const void* b = nullptr;
  std::int64_t ldb = 0;
  bool b_transposed = false;
  void* c = nullptr;
  std::int64_t ldc = 0;
  std::int64_t batch = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  ///< elements from one matrix of the batch to the next
};

class BlasProvider {
 public:
  virtual ~BlasProvider() = default;
  /// The device kind it serves: "cpu", ...
  [[nodiscard]] virtual std::string_view kind() const = 0;
  /// The library to open, if the default names do not find it. Before the first call of gemm.
  virtual void set_library(std::string path) = 0;
  /// Queues the product. kUnsupported for a dtype the library lacks; kDevice where the library is not found (says what was tried).
  virtual Status gemm(device::Device& device, device::QueueHandle queue, const Gemm& gemm) = 0;
};

/// The provider of a device kind; kUnsupported where there is none.
Result<BlasProvider*> blas_provider(std::string_view kind);

/// One row of the table that the build generates from the folders backend/*/math.
using BlasProviderFunction = BlasProvider& (*)();

}  // namespace epi::math
