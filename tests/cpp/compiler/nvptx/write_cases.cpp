// write_cases FOLDER [ARCH]: compiles every case to PTX and writes, beside it, inputs, the interpreter's results and a
// JSON file that says how to launch. run_cases.py does the rest on a machine with a GPU.
#include <chrono>
#include <cstdio>
#include <fstream>

#include "cases.h"
#include "epi/compiler/compiler.h"

namespace epi::nvptx_test {
namespace {

using namespace epi::ir;

ArgSpec spec_of(const Tensor& t) {
  ArgSpec s;
  s.is_view = true;
  s.view.dtype = t.dtype;
  s.view.extents = Shape(t.shape.size(), kDynamic);
  s.view.strides = Shape(t.shape.size(), kDynamic);
  s.view.strides.back() = 1;
  s.view.divisors = Shape(t.shape.size(), 1);
  std::int64_t pitch = 1;
  for (std::size_t a = t.shape.size(); a-- > 0;) {
    s.view.divisors[a] = pitch & -pitch ? std::min<std::int64_t>(16, pitch & -pitch) : 16;
    pitch *= t.shape[a];
  }
  s.view.align = 16;
  s.view.alias = t.alias;
  s.name = "x";
  return s;
}

std::string list(const auto& values) {
  std::string out = "[";
  for (const auto& v : values) out += (out.size() > 1 ? "," : "") + std::to_string(v);
  return out + "]";
}

std::string slots_json(const KernelInfo& info) {
  std::string out = "[";
  for (const Slot& s : info.slots)
    out += std::string(out.size() > 1 ? "," : "") + "[" + std::to_string(static_cast<int>(s.kind)) + "," +
           std::to_string(s.arg) + "," + std::to_string(s.axis) + "," + std::to_string(s.swizzle_bytes) + "," +
           list(s.box) + "]";
  return out + "]";
}

void save(const std::string& path, const std::vector<unsigned char>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

Status run_oracle(const Module& module, Case& c) {
  std::vector<InterpArg> args;
  for (Tensor& t : c.tensors) {
    InterpArg a;
    a.is_view = true;
    a.base = t.bytes.data();
    a.extents = t.shape;
    a.strides = Shape(t.shape.size(), 1);
    for (std::size_t i = t.shape.size(); i-- > 1;) a.strides[i - 1] = a.strides[i] * t.shape[i];
    args.push_back(a);
  }
  return interpret(module, args, c.grid);
}

Status write_case(Case c, const std::string& folder, const std::string& arch) {
  std::vector<ArgSpec> specs;
  for (const Tensor& t : c.tensors) specs.push_back(spec_of(t));
  Builder builder(c.name, specs, c.ascending);
  c.build(builder);
  EPI_TRY(const Module module, builder.finish());
  compiler::CompileOptions options;
  options.target = "cuda";
  options.arch = arch;
  const char* wanted = getenv("EPI_DUMP");  // a stage's name; verifies all code too
  if (wanted != nullptr)
    options.dump = [=](std::string_view stage, std::string_view text) {
      if (stage == wanted) std::printf("; %s\n%s\n", std::string(stage).c_str(), std::string(text).c_str());
    };
  const auto begin = std::chrono::steady_clock::now();
  EPI_TRY(const compiler::Compiled compiled, compiler::compile(module, options));
  const double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const std::string base = folder + "/" + c.name;
  std::ofstream(base + ".ptx") << compiled.bytes;
  std::string tensors;
  for (std::size_t i = 0; i < c.tensors.size(); ++i) {
    const Tensor& t = c.tensors[i];
    if (!c.timed_only) save(base + ".in" + std::to_string(i), t.bytes);
    tensors += (i ? "," : "") + std::string("{\"dtype\":\"") + std::string(name(t.dtype)) +
               "\",\"shape\":" + list(t.shape) + ",\"written\":" + (t.written ? "true" : "false") + "}";
  }
  std::ofstream(base + ".json") << "{\"name\":\"" << compiled.info.name
                                << "\",\"threads\":" << compiled.info.block_threads
                                << ",\"shared\":" << compiled.info.shared_bytes << ",\"grid\":" << list(c.grid)
                                << ",\"slots\":" << slots_json(compiled.info) << ",\"tensors\":[" << tensors
                                << "],\"tolerance\":" << c.tolerance
                                << ",\"timed\":" << (c.timed_only ? "true" : "false") << "}\n";
  std::printf("%-28s %4u threads %6u shared %6.1f ms %zu bytes\n", c.name.c_str(), compiled.info.block_threads,
              compiled.info.shared_bytes, ms, compiled.bytes.size());
  if (c.timed_only) return {};
  EPI_RETURN_IF_ERROR(run_oracle(module, c));
  for (std::size_t i = 0; i < c.tensors.size(); ++i)
    if (c.tensors[i].written) save(base + ".out" + std::to_string(i), c.tensors[i].bytes);
  return {};
}

}  // namespace

int main_of(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const std::string arch = argc > 2 ? argv[2] : "";
  const std::string only = argc > 3 ? argv[3] : "";
  int failures = 0;
  for (auto* group : {&elementwise_cases, &fold_cases, &chain_cases, &contraction_cases, &timed_cases})
    for (Case& c : group()) {
      if (c.name.find(only) == std::string::npos) continue;
      const std::string what = c.name;
      if (const Status s = write_case(std::move(c), folder, arch); !s.ok()) {
        std::printf("%s FAILED: %s\n", what.c_str(), s.message().c_str());
        ++failures;
      }
    }
  return failures != 0;
}

}  // namespace epi::nvptx_test

int main(int argc, char** argv) { return epi::nvptx_test::main_of(argc, argv); }
