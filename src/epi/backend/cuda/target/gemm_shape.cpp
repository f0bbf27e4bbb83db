#include "epi/backend/cuda/target/gemm_shape.h"

#include <algorithm>

#include "epi/backend/cuda/target/ptx_isa.h"

namespace epi::cuda {
namespace {

constexpr std::uint32_t kElementBytes = 2;

/// The widest swizzle row (64, 32 or 16 elements) that divides `n`; 0 if none does.
std::uint32_t panel_width(std::int64_t n) { return n % 64 == 0 ? 64 : n % 32 == 0 ? 32 : n % 16 == 0 ? 16 : 0; }

/// An operand of `rows` along M or N and `k` along K.
GemmOperand cut_operand(bool mn_major, std::uint32_t rows, std::uint32_t k) {
  GemmOperand o;
  o.mn_major = mn_major;
  o.inner = panel_width(mn_major ? rows : k);
  o.outer = mn_major ? k : rows;
  o.panels = (mn_major ? rows : k) / o.inner;
  o.swizzle = o.inner * kElementBytes;
  o.panel_bytes = o.outer * o.swizzle;
  o.descriptor = wgmma_descriptor(o.swizzle, mn_major ? o.panel_bytes : 16, 8 * o.swizzle);
  for (std::uint32_t at = 0; at < k; at += 16)
    o.k_step.push_back(mn_major ? at * o.swizzle : at / o.inner * o.panel_bytes + at % o.inner * kElementBytes);
  return o;
}

/// Sub-tile extents: as many columns as one instruction takes, rows so that accumulators fit the registers.
bool cut_tile(GemmShape& s) {
  const auto& p = s.problem;
  if (p.m % 64 != 0 || p.n % 8 != 0) return false;
  std::int64_t n = p.n;
  for (std::int64_t parts = 2; n > 256; ++parts)
    if (p.n % parts == 0 && p.n / parts % 8 == 0) n = p.n / parts;
  const std::int64_t groups = p.m / 64;
  s.consumers = groups % 2 == 0 ? 2 : groups % 3 == 0 ? 3 : 1;
  if (s.consumers == 3 && n > 192) s.consumers = 1;
  const std::int64_t per_consumer = groups / s.consumers;
  const std::int64_t limit = s.consumers == 3 ? 96 : 128;
  s.frags = 1;
  for (std::int64_t f = 1; f <= per_consumer; ++f)
    if (per_consumer % f == 0 && f * n / 2 <= limit) s.frags = static_cast<std::uint32_t>(f);
  s.sub_n = static_cast<std::uint32_t>(n);
  s.sub_m = s.consumers * s.frags * 64;
  s.subs_m = static_cast<std::uint32_t>(p.m / s.sub_m);
  s.subs_n = static_cast<std::uint32_t>(p.n / n);
  return true;
}

}  // namespace

std::optional<GemmShape> choose_gemm_shape(const GemmProblem& problem) {
  GemmShape s;
  s.problem = problem;
  if (problem.k % 16 != 0 || problem.k > 256 || !cut_tile(s)) return std::nullopt;
  if (problem.b_mn_major && panel_width(s.sub_n) == 0) return std::nullopt;
  const auto k = static_cast<std::uint32_t>(problem.k);
  s.a = cut_operand(problem.a_mn_major, s.sub_m, k);
  s.b = cut_operand(problem.b_mn_major, s.sub_n, k);
  if (s.a.outer > 256 || s.b.outer > 256) return std::nullopt;
  if (problem.a_mn_major && s.a.inner != 64) return std::nullopt;
  // Panels start at multiples of the swizzle's period of 8 rows.
  if (s.a.panel_bytes % 1024 != 0 || s.b.panel_bytes % 1024 != 0) return std::nullopt;
  constexpr std::uint32_t kReserve = 1024 + 256;  // alignment of the base, mbarriers
  s.stages = std::min<std::uint32_t>((problem.shared_limit - kReserve) / s.stage_bytes(), 6);
  if (s.stages < 2) return std::nullopt;
  s.bar_offset = s.stages * s.stage_bytes();
  s.shared_bytes = s.bar_offset + kReserve;
  return s;
}

}  // namespace epi::cuda
