// Where the interpreter gets functions that are not one IEEE operation: the library that all devices share.
#pragma once
#include "epi/ir/kinds.h"

namespace epi::ir::interp {

/// exp to erf of kinds.def.
float math_unary(Unary kind, float x);
double math_unary(Unary kind, double x);
/// pow, atan2, hypot and logaddexp.
float math_binary(Binary kind, float a, float b);
double math_binary(Binary kind, double a, double b);

}  // namespace epi::ir::interp
