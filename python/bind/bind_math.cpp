// math/blas.h: matrix products by the device's library.
#include <nanobind/stl/string.h>

#include "bind.h"
#include "epi/base/trace.h"
#include "epi/jit/measured_run.h"
#include "epi/math/blas.h"
#include "epi/runtime/queue.h"
#include "traced_call.h"

namespace epi::bind {
namespace {

Status gemm_traced(math::BlasProvider& provider, const runtime::Queue& queue, const math::Gemm& g) {
  const std::string what = "gemm " + std::string(epi::name(g.dtype)) + " " + std::to_string(g.m) + " x " +
                           std::to_string(g.n) + " x " + std::to_string(g.k);
  device::Device& device = queue.device().driver();
  const jit::MeasuredRun run(device, queue.handle(), what);
  const std::int64_t start_ns = trace::now_ns();
  Status status = provider.gemm(device, queue.handle(), g);
  trace::span("library", what, start_ns, trace::now_ns() - start_ns,
              {{"device", queue.device().label()},
               {"library", device.info().has(device::Cap::kHostKernels) ? "OpenBLAS" : "the device's BLAS"},
               {"batch", g.batch}});
  return status;
}

void gemm(const runtime::Queue& queue, int dtype, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
          const nb::tuple& a, const nb::tuple& b, const nb::tuple& c) {
  const TracedCall call("library gemm");
  math::Gemm g;
  g.dtype = static_cast<DType>(dtype);
  g.batch = batch;
  g.m = m;
  g.n = n;
  g.k = k;
  g.a = reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(a[0]));
  g.lda = nb::cast<std::int64_t>(a[1]);
  g.a_transposed = nb::cast<bool>(a[2]);
  g.stride_a = nb::cast<std::int64_t>(a[3]);
  g.b = reinterpret_cast<const void*>(nb::cast<std::uintptr_t>(b[0]));
  g.ldb = nb::cast<std::int64_t>(b[1]);
  g.b_transposed = nb::cast<bool>(b[2]);
  g.stride_b = nb::cast<std::int64_t>(b[3]);
  g.c = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(c[0]));
  g.ldc = nb::cast<std::int64_t>(c[1]);
  g.stride_c = nb::cast<std::int64_t>(c[3]);
  math::BlasProvider* provider = take(math::blas_provider(queue.device().info().kind));
  check(trace::enabled() ? gemm_traced(*provider, queue, g)
                         : provider->gemm(queue.device().driver(), queue.handle(), g));
}

}  // namespace

void bind_math(nb::module_& m) {
  m.def("gemm", &gemm,
        "queue, dtype, batch, m, n, k, and for a, b, c: (address, leading dimension, transposed, stride)");
  m.def("set_blas_library", [](const std::string& kind, std::string path) {
    take(math::blas_provider(kind))->set_library(std::move(path));
  });
}

}  // namespace epi::bind
