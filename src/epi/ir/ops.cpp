// The ops' generated definitions. Verifiers are in verify.cpp, folders in fold.cpp, typing rules in infer*.cpp.
#include "epi/ir/dialect.h"

#define GET_OP_CLASSES
#include "epi/ir/ops.cpp.inc"
