// Structured control for LLVM IR: loops and branches as calls with lambdas, so that emitters read top to bottom.
#pragma once
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <functional>

namespace epi::cuda {

using LlvmValues = llvm::SmallVector<llvm::Value*, 0>;

/// for (i = begin; i < end; i += step), carrying values; the body returns the next ones. Signed, tested at the top.
LlvmValues emit_loop(llvm::IRBuilder<>& b, llvm::Value* begin, llvm::Value* end, llvm::Value* step,
                     const LlvmValues& initial,
                     const std::function<LlvmValues(llvm::Value* index, const LlvmValues& carried)>& body);

/// if (condition) then(); else otherwise(); the results of both, which have the same types, joined.
LlvmValues emit_if(llvm::IRBuilder<>& b, llvm::Value* condition, const std::function<LlvmValues()>& then,
                   const std::function<LlvmValues()>& otherwise = {});

/// do { again = body(); } while (again);
void emit_while(llvm::IRBuilder<>& b, const std::function<llvm::Value*()>& body);

}  // namespace epi::cuda
