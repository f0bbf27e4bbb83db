// The interpreter's elementwise operations on Datums of equal counts. Each gives a new Datum; verified programs only.
#pragma once
#include "epi/ir/interp_value.h"
#include "epi/ir/kinds.h"

namespace epi::ir::interp {

Datum unary(Unary kind, const Datum& x);
Datum binary(Binary kind, const Datum& a, const Datum& b);
Datum compare(Compare kind, const Datum& a, const Datum& b);
Datum fused_multiply_add(const Datum& a, const Datum& b, const Datum& c);
Datum select(const Datum& condition, const Datum& on_true, const Datum& on_false);
Datum cast(Cast mode, const Datum& x, DType to);
Datum bitcast(const Datum& x, DType to);
/// The integer elements as int64 (unsigned 64-bit ones wrap).
Extents to_int64(const Datum& x);
/// The first element that is an integer zero, or -1.
std::int64_t first_zero(const Datum& x);
/// combine(left, right) of a reduce, scan or lookback; not for regions.
Datum combine(Combine kind, const Datum& left, const Datum& right);
/// What combine leaves its other operand alone with; not for regions.
Datum identity(Combine kind, DType dtype);

}  // namespace epi::ir::interp
