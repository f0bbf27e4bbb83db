// The contract between the math functions and whoever runs them: the interpreter (scalar.h), the compiler's vectors and
// the compiler's GPU threads. A function is a template over a policy B and touches numbers only through the primitives
// below; each is one correctly rounded IEEE operation or an integer operation, so the bits agree everywhere.
#pragma once

#include <concepts>
#include <cstdint>
#include <tuple>

namespace epi::ir::math {

/// A constant table of 64-bit words. `name` is unique and a valid symbol; the compiler emits one private constant array
/// per table and module, `words` long.
struct Table {
  const char* name;
  const std::uint64_t* words;
  std::uint32_t count;
};

/// Shapes for the concept's check of if_any and while_any; never run.
template <class B>
struct Probe {
  using State = std::tuple<typename B::F64, typename B::I64>;
  static State state();
  static typename B::M cond(State);
  static State body(State);
};

/// What a policy provides. F32, F64, I32, I64 and M (a mask, one bit a lane) may all be the same C++ type (a compiler
/// uses llvm::Value*), so nothing here is chosen by the type of a value: a primitive that takes "a float" must work for
/// both widths, and one that takes "an integer" for both. All values in one function have the same number of lanes.
///
/// Rules for every policy
/// - Round to nearest, ties to even; subnormals are kept (no FTZ, no DAZ); no fast-math flag; no contraction: fmul then
///   fadd stays two roundings, fma is one. Some assemblers fuse a product and a sum unless each names its rounding;
///   docs/design/math.md says what to check for each back end.
/// - A NaN result may have any sign and payload; the functions never depend on them.
/// - fcmp_lt, fcmp_le, fcmp_eq are ordered (false on NaN); fcmp_ne is unordered (true on NaN).
/// - frint rounds ties to even and, like ffloor, fceil and ftrunc, keeps the sign of zero.
/// - fneg, fabs act on the sign bit only, NaN included.
/// - Integer arithmetic wraps (no nsw/nuw); shift counts are values in [0, width); ashr copies the sign.
/// - Integers made from lanes that a later select throws away hold garbage; that must be harmless. No primitive below
///   is undefined on any input except a shift count or a lookup index out of range, and the functions mask those.
/// - bits/from_bits reinterpret: F32 <-> I32, F64 <-> I64. widen is F32 -> F64 (exact), narrow F64 -> F32 (rounded);
///   zext I32 -> I64 (zeros), low I64 -> I32 (wraps).
/// - select(m, a, c) is a where m, else c; a and c are both already computed; NaN or garbage in the other arm is
/// dropped.
/// - lookup(table, i) is table.words[i] for an I64 index in [0, table.count).
///
/// Control, for the rare paths only
/// - if_any(m, otherwise, then): a tuple whose lane is lane m ? then() : otherwise. `then` takes nothing and returns a
///   tuple of the same shape. A policy may skip `then` when no lane of m is set, must SELECT PER LANE when some are
///   (or bits would depend on the neighbours), and may always run it. A vector policy: branch on "any lane", select in
///   the branch, phi with `otherwise`. `then` has no effect but its values.
/// - while_any(state, cond, body): repeats, while some lane of cond(state) is set, state = select per lane(cond(state),
///   body(state), state). `cond` takes the tuple and gives M, `body` takes and returns the tuple. Terminates always.
template <class B>
concept Policy = requires(B b, typename B::F32 f, typename B::F64 d, typename B::I32 i, typename B::I64 l,
                          typename B::M m, const Table& table, Probe<B> probe) {
  // -- constants ----------------------------------------------------------------------------
  { b.f32(1.0f) } -> std::same_as<typename B::F32>;
  { b.f64(1.0) } -> std::same_as<typename B::F64>;
  { b.i32(std::int32_t{1}) } -> std::same_as<typename B::I32>;
  { b.i64(std::int64_t{1}) } -> std::same_as<typename B::I64>;
  // -- a float of either width ---------------------------------------------------------------
  { b.fadd(f, f) } -> std::same_as<typename B::F32>;
  { b.fsub(d, d) } -> std::same_as<typename B::F64>;
  { b.fmul(d, d) } -> std::same_as<typename B::F64>;
  { b.fdiv(d, d) } -> std::same_as<typename B::F64>;
  { b.fma(d, d, d) } -> std::same_as<typename B::F64>;  ///< a * b + c with one rounding
  { b.fsqrt(d) } -> std::same_as<typename B::F64>;
  { b.fneg(d) } -> std::same_as<typename B::F64>;
  { b.fabs(d) } -> std::same_as<typename B::F64>;
  { b.frint(d) } -> std::same_as<typename B::F64>;
  { b.ffloor(d) } -> std::same_as<typename B::F64>;
  { b.fceil(d) } -> std::same_as<typename B::F64>;
  { b.ftrunc(d) } -> std::same_as<typename B::F64>;
  { b.fcmp_lt(f, f) } -> std::same_as<typename B::M>;
  { b.fcmp_le(d, d) } -> std::same_as<typename B::M>;
  { b.fcmp_eq(d, d) } -> std::same_as<typename B::M>;
  { b.fcmp_ne(d, d) } -> std::same_as<typename B::M>;
  // -- an integer of either width --------------------------------------------------------------
  { b.iadd(l, l) } -> std::same_as<typename B::I64>;
  { b.isub(i, i) } -> std::same_as<typename B::I32>;
  { b.imul(l, l) } -> std::same_as<typename B::I64>;
  { b.iand(i, i) } -> std::same_as<typename B::I32>;
  { b.ior(i, i) } -> std::same_as<typename B::I32>;
  { b.ixor(i, i) } -> std::same_as<typename B::I32>;
  { b.shl(l, l) } -> std::same_as<typename B::I64>;
  { b.lshr(l, l) } -> std::same_as<typename B::I64>;
  { b.ashr(l, l) } -> std::same_as<typename B::I64>;
  { b.icmp_eq(l, l) } -> std::same_as<typename B::M>;
  { b.icmp_slt(l, l) } -> std::same_as<typename B::M>;
  // -- between kinds -----------------------------------------------------------------------------
  { b.bits(f) } -> std::same_as<typename B::I32>;
  { b.bits(d) } -> std::same_as<typename B::I64>;
  { b.from_bits(i) } -> std::same_as<typename B::F32>;
  { b.from_bits(l) } -> std::same_as<typename B::F64>;
  { b.widen(f) } -> std::same_as<typename B::F64>;
  { b.narrow(d) } -> std::same_as<typename B::F32>;
  { b.zext(i) } -> std::same_as<typename B::I64>;
  { b.low(l) } -> std::same_as<typename B::I32>;
  { b.lookup(table, l) } -> std::same_as<typename B::I64>;
  // -- masks, and select on all five kinds -------------------------------------------------------
  { b.mand(m, m) } -> std::same_as<typename B::M>;
  { b.mor(m, m) } -> std::same_as<typename B::M>;
  { b.mnot(m) } -> std::same_as<typename B::M>;
  { b.select(m, f, f) } -> std::same_as<typename B::F32>;
  { b.select(m, d, d) } -> std::same_as<typename B::F64>;
  { b.select(m, i, i) } -> std::same_as<typename B::I32>;
  { b.select(m, l, l) } -> std::same_as<typename B::I64>;
  // -- control -----------------------------------------------------------------------------------
  {
    b.if_any(m, probe.state(), [] { return Probe<B>::state(); })
  } -> std::same_as<typename Probe<B>::State>;
  { b.while_any(probe.state(), &Probe<B>::cond, &Probe<B>::body) } -> std::same_as<typename Probe<B>::State>;
};

}  // namespace epi::ir::math
