// Compiles tile IR and prints one stage of it, for tests and for looking inside.
//   epi-compile [FILE|-] [--target=cpu] [--arch=x86-64-v3] [--stage=tile|llvm|llvm-opt|asm|info] [--times]
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include "epi/compiler/compiler.h"

namespace {

std::string contents(const std::string& file) {
  std::ostringstream out;
  if (file == "-") out << std::cin.rdbuf();
  else out << std::ifstream(file).rdbuf();
  return out.str();
}

void print_info(const epi::KernelInfo& info) {
  static constexpr const char* kKinds[] = {"pointer", "extent", "stride", "scalar", "errors", "ticket", "tensor_map"};
  std::cout << "kernel " << info.name << (info.ascending ? " ascending" : "") << "\n";
  for (const epi::Slot& s : info.slots)
    std::cout << "slot " << kKinds[static_cast<unsigned>(s.kind)] << " arg " << s.arg << " axis " << int{s.axis} << "\n";
  for (const std::string& s : info.sites) std::cout << "site " << s << "\n";
  std::cout << "arena " << info.arena_bytes << "\nthreads " << info.block_threads << "\nshared " << info.shared_bytes << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  epi::compiler::CompileOptions options;
  options.target = "cpu";
  std::string file = "-";
  std::string stage = "llvm";
  bool times = false;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    auto value = [&](const char* name) { return a.substr(std::string(name).size()); };
    if (a.starts_with("--target=")) options.target = value("--target=");
    else if (a.starts_with("--arch=")) options.arch = value("--arch=");
    else if (a.starts_with("--stage=")) stage = value("--stage=");
    else if (a == "--times") times = true;
    else file = a;
  }
  epi::Result<epi::ir::Module> module = epi::ir::Module::parse(contents(file));
  if (!module.ok()) {
    std::cerr << "error: " << module.status().message() << "\n";
    return 1;
  }
  options.dump = [&](std::string_view name, std::string_view text) {
    if (name == stage) std::cout << text;
  };
  const epi::Result<epi::compiler::Compiled> compiled = epi::compiler::compile(*module, options);
  if (!compiled.ok()) {
    std::cerr << "error: " << compiled.status().message() << "\n";
    return 1;
  }
  if (stage == "info") print_info(compiled->info);
  if (times)
    for (const auto& t : compiled->times) std::cout << t.stage << " " << t.us << " us\n";
  return 0;
}
