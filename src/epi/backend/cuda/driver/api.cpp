// Loads libcuda.so.1 from the system's library path or the usual driver folders.
#include "epi/backend/cuda/driver/api.h"

#include <dlfcn.h>

#include <array>

#include "epi/base/fork.h"

namespace epi::backend::cuda {
namespace {

constexpr std::array kNames = {"libcuda.so.1", "libcuda.so", "/usr/lib/wsl/lib/libcuda.so.1",
                               "/usr/local/nvidia/lib64/libcuda.so.1"};

struct Loaded {
  Api api;
  Status status;
  unsigned generation = fork_generation();
};

void* open_library(std::string& tried) {
  for (const char* name : kNames) {
    if (void* handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
    tried += std::string(tried.empty() ? "" : ", ") + name;
  }
  return nullptr;
}

Loaded load() {
  Loaded out;
  std::string tried;
  void* handle = open_library(tried);
  if (!handle) {
    out.status = device_error("no NVIDIA driver found (tried " + tried + "); install it, or use device \"cpu\"");
    return out;
  }
#define EPI_CU(name, symbol, ...)                                                                                  \
  out.api.name = reinterpret_cast<decltype(out.api.name)>(::dlsym(handle, #symbol));                               \
  if (!out.api.name) {                                                                                             \
    out.status = device_error("the NVIDIA driver is too old: it lacks " #symbol " (need a driver of CUDA 12 or later)"); \
    return out;                                                                                                    \
  }
#include "epi/backend/cuda/driver/functions.def"
#undef EPI_CU
  if (const CUresult r = out.api.Init(0); r != kSuccess)
    out.status = device_error("the NVIDIA driver does not start (cuInit gives error " + std::to_string(r) +
                              (r == 100 ? ": no CUDA device" : "") + "); use device \"cpu\"");
  return out;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

Result<const Api*> api() {
  const Loaded& l = loaded();
  if (!l.status.ok()) return l.status;
  EPI_RETURN_IF_ERROR(check_process());
  return &l.api;
}

Status check_process() {
  if (fork_generation() == loaded().generation) return ok_status();
  return device_error(
      "this process was forked after CUDA had started in its parent, and a CUDA context does not survive fork; start "
      "children with the spawn method (multiprocessing.set_start_method(\"spawn\")), or fork before the first use of a GPU");
}

Status check(CUresult result, const char* doing) {
  if (result == kSuccess) return ok_status();
  const Api& a = loaded().api;
  const char* name = nullptr;
  const char* text = nullptr;
  if (a.GetErrorName) a.GetErrorName(result, &name);
  if (a.GetErrorString) a.GetErrorString(result, &text);
  std::string message = std::string(doing) + ": " + (name ? name : "unknown driver error") + " (" +
                        std::to_string(result) + (text ? std::string("): ") + text : ")");
  return {result == kErrorOutOfMemory ? Code::kOutOfMemory : Code::kDevice, std::move(message)};
}

}  // namespace epi::backend::cuda
