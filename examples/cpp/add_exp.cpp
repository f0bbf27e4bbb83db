// out = x + exp(y), built as a tile program, compiled for the device that the command line names, launched and checked.
//   add_exp [cpu|cuda[:N]] [elements]
#include <epi/epi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace epi;

constexpr std::int64_t kTile = 1024;
constexpr double kTolerance = 3e-7;  // relative: two roundings of float32 and exp's own error

/// Program p computes elements [p * kTile, (p + 1) * kTile); what lies past the end is neither read nor written.
Result<ir::Module> build(const std::vector<ir::ArgSpec>& arguments) {
  ir::Builder b("add_exp", arguments);
  const ir::Value x = b.args()[0];
  const ir::Value y = b.args()[1];
  const ir::Value out = b.args()[2];
  const ir::Value program = b.cast(b.program_id(0), DType::kInt64, ir::Cast::k_wrap);
  const ir::Value at[] = {b.binary(ir::Binary::k_mul, program, b.constant(ir::Scalar::of_int(DType::kInt64, kTile)))};
  const std::int64_t shape[] = {kTile};
  const ir::Value e = b.unary(ir::Unary::k_exp, b.load(y, at, shape));
  b.store(out, at, b.binary(ir::Binary::k_add, b.load(x, at, shape), e));
  return b.finish();
}

/// Runs the program on `device`; `out` gets its result.
Status compute(const runtime::Device& device, const std::vector<float>& x, const std::vector<float>& y,
               std::vector<float>& out) {
  const std::size_t bytes = x.size() * sizeof(float);
  const auto n = static_cast<std::int64_t>(x.size());
  EPI_TRY(const runtime::Queue queue, device.default_queue());
  EPI_TRY(const runtime::Buffer dx, runtime::Buffer::allocate(bytes, queue));
  EPI_TRY(const runtime::Buffer dy, runtime::Buffer::allocate(bytes, queue));
  EPI_TRY(const runtime::Buffer dout, runtime::Buffer::allocate(bytes, queue));
  EPI_RETURN_IF_ERROR(queue.copy(dx.data(), x.data(), bytes, device::CopyKind::kHostToDevice));
  EPI_RETURN_IF_ERROR(queue.copy(dy.data(), y.data(), bytes, device::CopyKind::kHostToDevice));

  const jit::Arg arguments[] = {array_argument(dx.data(), DType::kFloat32, {n}),
                                array_argument(dy.data(), DType::kFloat32, {n}),
                                array_argument(dout.data(), DType::kFloat32, {n})};
  const jit::Source source{"add_exp", "tile=" + std::to_string(kTile), {"x", "y", "out"}, &build};
  EPI_TRY(const auto kernel, jit::load(device.driver(), source, arguments));
  const std::uint32_t grid[3] = {static_cast<std::uint32_t>((n + kTile - 1) / kTile), 1, 1};
  EPI_RETURN_IF_ERROR(kernel->launch(queue.handle(), grid, arguments));

  EPI_RETURN_IF_ERROR(queue.copy(out.data(), dout.data(), bytes, device::CopyKind::kDeviceToHost));
  return queue.synchronise();
}

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "cpu";
  const std::size_t n = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100'003;
  std::vector<float> x(n);
  std::vector<float> y(n);
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 1000) * 0.01F;
    y[i] = static_cast<float>(i % 777) * 0.02F - 8.0F;
  }
  const Result<runtime::Device> device = runtime::device(name);
  const Status done = device.ok() ? compute(*device, x, y, out) : device.status();
  if (!done.ok()) {
    std::fprintf(stderr, "%s\n", done.message().c_str());
    return 1;
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double exact = static_cast<double>(x[i]) + std::exp(static_cast<double>(y[i]));
    if (!(std::abs(static_cast<double>(out[i]) - exact) <= kTolerance * exact)) ++wrong;
  }
  std::printf("%s: %zu elements, %zu wrong\n", device->label().c_str(), n, wrong);
  return wrong == 0 ? 0 : 1;
}
