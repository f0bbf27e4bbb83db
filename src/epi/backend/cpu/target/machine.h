// The host's processors as LLVM sees them: two feature levels, one cached machine each.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <mutex>
#include <string>
#include <string_view>

#include "epi/base/status.h"

namespace epi::cpu {

/// A level of x86-64 that code is made for.
struct Level {
  std::string arch;           ///< "x86-64-v3" or "x86-64-v4"
  unsigned vector_bytes = 32; ///< of a native register
  unsigned registers = 16;
};

/// The level of `arch`; "" asks EPITAXY_CPU_ARCH, then the processor. Refuses what this processor cannot run only when
/// the choice was left to us: code may be compiled for another machine.
Result<Level> level_of(std::string_view arch);

/// A target machine of the level; the lock is held while it is used (LLVM's machines are not for two threads).
struct Machine {
  llvm::TargetMachine* machine;
  std::unique_lock<std::mutex> lock;
};
Result<Machine> machine_of(const Level& level);

/// Object code of the module.
Result<std::string> object_code(llvm::Module& module, llvm::TargetMachine& machine);
/// Assembly text of a copy of the module.
std::string assembly(const llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace epi::cpu
