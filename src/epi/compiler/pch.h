// Precompiled for every unit of the compiler and its targets: LLVM's and the dialect's headers cost 20 s a unit without.
#pragma once
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "epi/ir/dialect.h"
