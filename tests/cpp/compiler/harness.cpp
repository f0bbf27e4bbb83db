#include "harness.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

#include "epi/backend/cpu/target/link.h"
#include "epi/ir/interp.h"

namespace epi::test {

Arg zeros(DType dtype, std::vector<std::int64_t> extents) {
  Arg a;
  a.dtype = dtype;
  a.extents = extents;
  std::int64_t n = 1;
  a.strides.resize(extents.size());
  for (std::size_t i = extents.size(); i-- > 0;) {
    a.strides[i] = n;
    n *= extents[i];
  }
  a.memory.resize(static_cast<std::size_t>(n) * size_bytes(dtype));
  return a;
}

namespace {

constexpr std::size_t kOddCount = 15;

/// Values at which arithmetic goes wrong.
constexpr double kOddReals[kOddCount] = {0.0,   -0.0, 1.0,  -1.0, INFINITY, -INFINITY, NAN, 1e-40,
                                         65504, 1e30, -2.5, 0.5,  255.5,    3e9,       -3e9};
template <class T>
T odd_integer(std::size_t i) {
  constexpr T kLeast = std::numeric_limits<T>::min();
  constexpr T kMost = std::numeric_limits<T>::max();
  constexpr int kWidth = static_cast<int>(sizeof(T)) * 8;
  const T values[kOddCount] = {0, 1, static_cast<T>(-1), 2, static_cast<T>(-2), kLeast, kMost, static_cast<T>(kLeast + 1),
                               static_cast<T>(kMost - 1), static_cast<T>(kWidth - 1), static_cast<T>(kWidth),
                               static_cast<T>(kWidth + 1), 7, static_cast<T>(-7), 3};
  return values[i];
}

}  // namespace

Arg random_array(DType dtype, std::vector<std::int64_t> extents, unsigned seed, bool specials) {
  Arg a = zeros(dtype, std::move(extents));
  std::mt19937_64 rng(seed);
  visit_dtype(dtype, [&]<class T>() {
    T* p = reinterpret_cast<T*>(a.memory.data());
    const std::size_t n = a.memory.size() / sizeof(T);
    auto real = [&](bool odd, std::size_t at) {
      return odd ? kOddReals[at] : std::uniform_real_distribution<double>(-4, 4)(rng);
    };
    for (std::size_t i = 0; i < n; ++i) {
      const bool odd = specials && i < kOddCount * kOddCount;  // an array of an odd and one of an even seed: all pairs
      const std::size_t at = seed % 2 ? i % kOddCount : i / kOddCount % kOddCount;
      if constexpr (std::is_same_v<T, bool>) p[i] = rng() & 1;
      else if constexpr (std::is_integral_v<T>) p[i] = odd ? odd_integer<T>(at) : static_cast<T>(specials ? rng() % 9 - (rng() & 3) : rng() % 100);
      else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) p[i] = T(static_cast<float>(real(odd, at)));
      else if constexpr (std::is_floating_point_v<T>) p[i] = static_cast<T>(real(odd, at));
      else p[i] = T(static_cast<typename T::value_type>(real(odd, at)), static_cast<typename T::value_type>(real(odd && i % 2, (at + 4) % kOddCount)));
    }
  });
  return a;
}

ir::ArgSpec spec(const Arg& arg, std::int64_t alias) {
  ir::ArgSpec s;
  s.is_view = arg.is_view;
  s.dtype = arg.dtype;
  s.view.dtype = arg.dtype;
  s.view.extents.assign(arg.extents.size(), ir::kDynamic);
  s.view.strides.assign(arg.extents.size(), ir::kDynamic);
  if (!arg.strides.empty() && arg.strides.back() == 1) s.view.strides.back() = 1;
  s.view.align = static_cast<std::int64_t>(std::min<std::size_t>(size_bytes(arg.dtype), 8));
  s.view.alias = alias;
  return s;
}

ir::Module finished(ir::Builder& b) {
  Result<ir::Module> m = b.finish();
  EXPECT_TRUE(m.ok()) << m.status().message();
  if (!m.ok()) std::abort();
  return std::move(m).value();
}

namespace {

/// A copy of a view's memory between two fences, which no kernel may touch.
class Fenced {
 public:
  explicit Fenced(const Arg& a) : bytes_(a.memory.size() + 2 * kFence, kPattern) {
    std::copy(a.memory.begin(), a.memory.end(), bytes_.begin() + kFence);
  }
  std::byte* data() { return bytes_.data() + kFence; }
  /// Puts the memory back into `a`; false where a fence has changed.
  bool leave(Arg& a) const {
    const auto end = bytes_.end() - kFence;
    std::copy(bytes_.begin() + kFence, end, a.memory.begin());
    auto whole = [](std::byte b) { return b == kPattern; };
    return std::all_of(bytes_.begin(), bytes_.begin() + kFence, whole) && std::all_of(end, bytes_.end(), whole);
  }

 private:
  static constexpr std::ptrdiff_t kFence = 256;
  static constexpr std::byte kPattern{0xa5};
  std::vector<std::byte> bytes_;
};

}  // namespace

static std::vector<std::uint64_t> slots_of(const KernelInfo& info, const std::vector<Arg>& args, std::vector<Fenced>& memory,
                                           ErrorRecord& errors) {
  std::vector<std::uint64_t> out;
  for (const Slot& s : info.slots) {
    const Arg* a = s.kind == SlotKind::kErrors ? nullptr : &args[s.arg];
    switch (s.kind) {
      case SlotKind::kPointer:
        out.push_back(reinterpret_cast<std::uint64_t>(memory[s.arg].data() + a->offset * static_cast<std::int64_t>(size_bytes(a->dtype))));
        break;
      case SlotKind::kExtent: out.push_back(static_cast<std::uint64_t>(a->extents[s.axis])); break;
      case SlotKind::kStride: out.push_back(static_cast<std::uint64_t>(a->strides[s.axis])); break;
      case SlotKind::kScalar: out.push_back(a->bits[s.axis]); break;
      case SlotKind::kErrors: out.push_back(reinterpret_cast<std::uint64_t>(&errors)); break;
      default: ADD_FAILURE() << "a slot that host kernels do not have"; out.push_back(0);
    }
  }
  return out;
}

std::string run_compiled(const ir::Module& module, std::vector<Arg>& args, Grid grid, const std::string& arch, unsigned workers) {
  compiler::CompileOptions options;
  options.target = "cpu";
  options.arch = arch;
  std::string text;
  options.dump = [&](std::string_view stage, std::string_view t) {
    if (std::getenv("EPI_TEST_DUMP")) fprintf(stderr, "==== %s\n%s\n", std::string(stage).c_str(), std::string(t).c_str());
  };
  Result<compiler::Compiled> compiled = compiler::compile(module, options);
  if (!compiled.ok()) return compiled.status().message();
  auto code = cpu::link_object(compiled->bytes, compiled->info.name);
  if (!code.ok()) return code.status().message();
  ErrorRecord errors;
  std::vector<Fenced> memory(args.begin(), args.end());
  const std::vector<std::uint64_t> slots = slots_of(compiled->info, args, memory, errors);
  const HostLaunch launch{slots.data(), {grid.x, grid.y, grid.z}, 0};
  auto kernel = reinterpret_cast<HostKernel>((*code)->entry());
  const std::uint64_t programs = std::uint64_t{grid.x} * grid.y * grid.z;
  std::atomic<std::uint64_t> next{0};
  auto work = [&] {
    void* arena = std::aligned_alloc(64, (compiled->info.arena_bytes + 64) / 64 * 64 + 64);
    const std::uint64_t step = workers > 1 ? 1 : std::max<std::uint64_t>(programs / 2, 1);
    for (std::uint64_t p; (p = next.fetch_add(step)) < programs;) kernel(&launch, p, std::min(p + step, programs), arena);
    std::free(arena);
  };
  std::vector<std::thread> threads;
  for (unsigned w = 1; w < workers; ++w) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  for (std::size_t i = 0; i < args.size(); ++i)
    if (!memory[i].leave(args[i])) return "the kernel wrote outside argument " + std::to_string(i);
  return errors.site ? compiled->info.sites[errors.site - 1] : "";
}

/// Units in the last place between two floats; 0 for equal and for two NaNs.
template <class T>
static double distance(T a, T b) {
  if (a == b || (a != a && b != b)) return std::signbit(a) == std::signbit(b) || a != a ? 0 : 1e9;
  if (a != a || b != b || std::isinf(a) || std::isinf(b)) return 1e9;
  return std::abs(static_cast<double>(a) - static_cast<double>(b)) / static_cast<double>(std::nextafter(std::abs(a), INFINITY) - std::abs(a));
}

static void compare(const Arg& want, const Arg& got, double ulps, const std::string& what) {
  if (want.memory == got.memory) return;
  visit_dtype(want.dtype, [&]<class T>() {
    const auto w = values_of<std::conditional_t<std::is_same_v<T, bool>, char, T>>(want);
    const auto g = values_of<std::conditional_t<std::is_same_v<T, bool>, char, T>>(got);
    int shown = 0;
    for (std::size_t i = 0; i < w.size() && shown < 5; ++i) {
      double d = 0;
      double x = 0, y = 0;
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        x = static_cast<float>(w[i]), y = static_cast<float>(g[i]);
        d = w[i].bits == g[i].bits || (x != x && y != y) ? 0 : std::abs(w[i].bits - g[i].bits);
      } else if constexpr (std::is_floating_point_v<T>) {
        x = w[i], y = g[i];
        d = distance(w[i], g[i]);
      } else if constexpr (requires { w[i].real(); }) {
        x = w[i].real(), y = g[i].real();
        d = std::max(distance(w[i].real(), g[i].real()), distance(w[i].imag(), g[i].imag()));
      } else {
        x = static_cast<double>(w[i]), y = static_cast<double>(g[i]);
        d = w[i] == g[i] ? 0 : 1e9;
      }
      if (d <= ulps) continue;
      ++shown;
      ADD_FAILURE() << what << ", element " << i << ": interpreter " << x << ", compiled " << y << " (" << d << " ulp)";
    }
  });
}

void expect_same(const ir::Module& module, std::vector<Arg>& args, Grid grid, const Options& options) {
  const std::vector<Arg> before = args;
  compiler::CompileOptions o;
  o.target = "cpu";
  ASSERT_TRUE(compiler::assign_association(module, o).ok());
  std::vector<ir::InterpArg> interp;
  for (Arg& a : args) {
    ir::InterpArg i;
    i.is_view = a.is_view;
    i.base = a.memory.data() + a.offset * static_cast<std::int64_t>(size_bytes(a.dtype));
    i.extents = a.extents;
    i.strides = a.strides;
    i.bits[0] = a.bits[0];
    i.bits[1] = a.bits[1];
    interp.push_back(std::move(i));
  }
  const std::uint32_t size[3] = {grid.x, grid.y, grid.z};
  const Status status = ir::interpret(module, interp, size);
  ASSERT_TRUE(status.ok()) << status.message();
  for (const std::string& arch : options.archs) {
    std::vector<Arg> mine = before;
    const std::string error = run_compiled(module, mine, grid, arch, options.workers);
    ASSERT_EQ(error, "") << module.print();
    for (std::size_t i = 0; i < args.size(); ++i)
      if (args[i].is_view && args[i].compared) compare(args[i], mine[i], options.ulps, "argument " + std::to_string(i) + (arch.empty() ? "" : " on " + arch));
    if (testing::Test::HasFailure()) {
      printf("%s\n", module.print().c_str());
      return;
    }
  }
}

}  // namespace epi::test
