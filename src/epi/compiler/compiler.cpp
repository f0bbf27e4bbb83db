// Finds the target and hands the work over.
#include "epi/compiler/compiler.h"

#include <chrono>

#include "epi/ir/effects.h"
#include "epi/ir/passes/passes.h"

namespace epi::compiler {
namespace {

const std::vector<std::unique_ptr<Target>>& targets() {
  static const auto* all = [] {
    auto* made = new std::vector<std::unique_ptr<Target>>;  // never destroyed: kernels may compile until the end
    for (TargetFunction make : backend_targets()) made->push_back(make());
    return made;
  }();
  return *all;
}

Result<const Target*> target_of(const CompileOptions& options) {
  if (const Target* t = find_target(options.target)) return t;
  std::string known;
  for (const std::string& name : target_names()) known += (known.empty() ? "" : ", ") + name;
  return invalid_argument("no compiler target '" + options.target + "'; this build has: " + (known.empty() ? "none" : known));
}

}  // namespace

const Target* find_target(std::string_view name) {
  for (const auto& t : targets())
    if (t->name() == name) return t.get();
  return nullptr;
}

std::vector<std::string> target_names() {
  std::vector<std::string> out;
  for (const auto& t : targets()) out.emplace_back(t->name());
  return out;
}

Result<Compiled> compile(const ir::Module& module, const CompileOptions& options) {
  EPI_TRY(const Target* target, target_of(options));
  const auto start = std::chrono::steady_clock::now();
  if (mlir::failed(ir::canonicalize(*module.impl().module)))
    return compile_error("the tile passes failed: a helper function that calls itself cannot be inlined");
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  EPI_TRY(Compiled compiled, target->compile(module, options));
  compiled.info.written = ir::written_views(module);
  compiled.times.insert(compiled.times.begin(), StageTime{"canonicalize", took.count()});
  return compiled;
}

Status assign_association(const ir::Module& module, const CompileOptions& options) {
  EPI_TRY(const Target* target, target_of(options));
  return target->assign_association(module, options);
}

}  // namespace epi::compiler
