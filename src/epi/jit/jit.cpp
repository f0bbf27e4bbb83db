// The memory cache and the way to a kernel: disk, compile, assemble, load.
#include "epi/jit/jit.h"

#include <mutex>
#include <unordered_map>

#include "epi/base/hash.h"
#include "epi/base/log.h"
#include "epi/base/trace.h"
#include "epi/compiler/compiler.h"
#include "epi/jit/build_id.h"
#include "epi/jit/disk_cache.h"

namespace epi::jit {
namespace {

/// A stopwatch of stages that also records them as spans.
class Stages {
 public:
  explicit Stages(Provenance& provenance) : provenance_(provenance), start_(trace::now_ns()) {}
  void done(const std::string& stage, const std::string& kernel) {
    const std::int64_t now = trace::now_ns();
    provenance_.stage_us.emplace_back(stage, static_cast<double>(now - start_) * 1e-3);
    trace::span("jit", stage, start_, now - start_, {{"kernel", kernel}});
    start_ = now;
  }
  void skip() { start_ = trace::now_ns(); }

 private:
  Provenance& provenance_;
  std::int64_t start_;
};

std::mutex& compile_mutex() {
  static auto* m = new std::mutex;  // one compilation at a time: targets are stateful inside
  return *m;
}

compiler::CompileOptions options_for(const std::string& target, const std::string& arch, Provenance* keep_texts) {
  compiler::CompileOptions o;
  o.target = target;
  o.arch = arch;
  if (keep_texts)
    o.dump = [keep_texts](std::string_view stage, std::string_view text) {
      keep_texts->texts.emplace_back(std::string(stage), std::string(text));
    };
  return o;
}

/// Everything that decides the code, in one name: engine build, processor, front end's key, specialisation.
std::string artefact_key(const std::string& target, const std::string& arch, const Source& source, const SpecKey& spec) {
  Sha256 h;
  h.update_field(build_id()).update_field(target).update_field(arch).update_field(source.name).update_field(source.key);
  h.update_field({reinterpret_cast<const char*>(spec.data()), spec.size() * sizeof(spec[0])});
  return h.hex();
}

}  // namespace

/// Makes kernels and remembers them. One a process.
class Loader {
 public:
  static Loader& instance() {
    static auto* one = new Loader;  // never destroyed: kernels may be released at exit
    return *one;
  }

  Result<std::shared_ptr<const Kernel>> load(device::Device& device, const Source& source, std::span<const Arg> args) {
    const compiler::Target* target = compiler::find_target(device.info().kind);
    if (!target)
      return unsupported("device " + device.info().kind + " has no compiler target; run the kernel on another device");
    SpecKey spec;
    append_key(args, spec);
    const std::string arch = target->resolve_arch(device.info().arch);
    const std::string key = artefact_key(device.info().kind, arch, source, spec);
    const std::string memory_key = key + ":" + std::to_string(device.info().ordinal);
    {
      std::lock_guard lock(mutex_);
      if (auto it = kernels_.find(memory_key); it != kernels_.end() && !it->second->is_untraced()) {
        ++statistics_.memory_hits;
        return it->second;
      }
    }
    EPI_TRY(std::shared_ptr<const Kernel> kernel, make(device, *target, arch, key, source, args));
    std::lock_guard lock(mutex_);
    std::shared_ptr<const Kernel>& known = kernels_[memory_key];
    if (known && !known->is_untraced()) return known;
    std::erase(order_, known);
    known = kernel;
    order_.push_back(kernel);
    return kernel;
  }

  Statistics statistics() {
    std::lock_guard lock(mutex_);
    return statistics_;
  }
  std::vector<std::shared_ptr<const Kernel>> loaded() {
    std::lock_guard lock(mutex_);
    return order_;
  }
  void clear() {
    std::lock_guard lock(mutex_);
    kernels_.clear();
    order_.clear();
  }

 private:
  Result<std::shared_ptr<const Kernel>> make(device::Device& device, const compiler::Target& target,
                                             const std::string& arch, const std::string& key, const Source& source,
                                             std::span<const Arg> args) {
    std::shared_ptr<Kernel> kernel(new Kernel);
    kernel->name_ = source.name;
    kernel->arg_names_ = source.arg_names;
    kernel->device_ = &device;
    Stages stages(kernel->provenance_);
    const DiskCache disk = DiskCache::from_environment();
    std::optional<Artefact> artefact;
    if (!trace::enabled()) {  // a trace shows every stage, so it compiles
      EPI_TRY(artefact, disk.read(key));
    }
    if (artefact) {
      stages.done("disk", source.name);
      kernel->provenance_.from = Provenance::From::kDisk;
    } else {
      EPI_TRY(artefact, compile(device, target, arch, source, args, *kernel, stages));
      const Status written = disk.write(key, *artefact);
      if (!written.ok()) epi::report(written, "kernel cache");
      stages.done("store", source.name);
      count(&Statistics::cache_errors, written.ok() ? 0 : 1);
    }
    count(kernel->provenance_.from == Provenance::From::kDisk ? &Statistics::disk_hits : &Statistics::compiled, 1);
    kernel->info_ = std::make_shared<const KernelInfo>(std::move(artefact->info));
    kernel->code_ = std::move(artefact->code);
    EPI_RETURN_IF_ERROR(attach(device, target, *kernel).with_context(source.name));
    stages.done("load", source.name);
    return std::shared_ptr<const Kernel>(std::move(kernel));
  }

  static Result<std::optional<Artefact>> compile(device::Device& device, const compiler::Target& target,
                                                 const std::string& arch, const Source& source,
                                                 std::span<const Arg> args, Kernel& kernel, Stages& stages) {
    Provenance& provenance = kernel.provenance_;
    EPI_TRY(ir::Module module, source.build(arg_specs(args, source.arg_names)));
    stages.done("build", source.name);
    const bool keep = trace::enabled();
    if (keep) provenance.texts.emplace_back("tile", module.print());
    Artefact out;
    {
      std::lock_guard lock(compile_mutex());
      stages.skip();
      Result<compiler::Compiled> compiled =
          compiler::compile(module, options_for(std::string(target.name()), arch, keep ? &provenance : nullptr));
      if (!compiled.ok()) return compiled.status().with_context(source.name);
      for (const compiler::StageTime& t : compiled->times) provenance.stage_us.emplace_back(t.stage, t.us);
      out.info = std::move(compiled->info);
      out.code = std::move(compiled->bytes);
    }
    stages.done("compile", source.name);
    if (device.info().has(device::Cap::kAssembles)) {
      EPI_TRY(out.code, device.assemble(out.code));
      stages.done("assemble", source.name);
    }
    return std::optional<Artefact>(std::move(out));
  }

  static Status attach(device::Device& device, const compiler::Target& target, Kernel& kernel) {
    device::ModuleImage image;
    if (device.info().has(device::Cap::kHostKernels)) {
      EPI_TRY(compiler::HostCode code, target.link(kernel.code_, kernel.info_->name));
      image.host = code.entry;
      image.keep = std::move(code.keep);
    } else {
      image.bytes = {kernel.code_.data(), kernel.code_.size()};
    }
    EPI_TRY(kernel.module_, device.load_module(image));
    EPI_TRY(kernel.kernel_, device.get_kernel(kernel.module_, kernel.info_));
    return ok_status();
  }

  void count(std::uint64_t Statistics::*what, std::uint64_t by) {
    std::lock_guard lock(mutex_);
    statistics_.*what += by;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const Kernel>> kernels_;  ///< guarded by mutex_
  std::vector<std::shared_ptr<const Kernel>> order_;                        ///< guarded by mutex_
  Statistics statistics_;                                                   ///< guarded by mutex_
};

Result<std::shared_ptr<const Kernel>> load(device::Device& device, const Source& source, std::span<const Arg> args) {
  return Loader::instance().load(device, source, args);
}

Result<std::string> compile_only(const std::string& target, const std::string& arch, const ir::Module& module,
                                 KernelInfo* info, std::vector<std::pair<std::string, std::string>>* texts) {
  Provenance provenance;
  std::lock_guard lock(compile_mutex());
  EPI_TRY(compiler::Compiled compiled, compiler::compile(module, options_for(target, arch, texts ? &provenance : nullptr)));
  if (texts) *texts = std::move(provenance.texts);
  if (info) *info = std::move(compiled.info);
  return std::move(compiled.bytes);
}

Statistics statistics() { return Loader::instance().statistics(); }
std::vector<std::shared_ptr<const Kernel>> loaded_kernels() { return Loader::instance().loaded(); }
void clear_memory_cache() { Loader::instance().clear(); }

}  // namespace epi::jit
