#include "epi/backend/cpu/driver/host_facts.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "epi/backend/cpu/driver/workers.h"

namespace epi::backend::cpu {
namespace {

/// The value behind "key ... :" in the first paragraph of /proc/cpuinfo.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.compare(0, key.size(), key) != 0) continue;
    return colon + 2 <= line.size() ? line.substr(colon + 2) : "";
  }
  return "";
}

/// LLVM's names of the features that the compiler asks for; the kernel's differ for a few.
std::vector<std::string> features() {
  static constexpr std::pair<const char*, const char*> kNames[] = {
      {"avx2", "avx2"},         {"fma", "fma"},           {"f16c", "f16c"},
      {"avx512f", "avx512f"},   {"avx512bw", "avx512bw"}, {"avx512dq", "avx512dq"},
      {"avx512vl", "avx512vl"}, {"avx512cd", "avx512cd"}, {"avx512_vnni", "avx512vnni"},
      {"avx512_bf16", "avx512bf16"}, {"avx512_fp16", "avx512fp16"}, {"avx_vnni", "avxvnni"},
      {"amx_tile", "amx-tile"}, {"amx_int8", "amx-int8"}, {"amx_bf16", "amx-bf16"}};
  std::vector<std::string> out;
  std::istringstream flags(cpuinfo("flags"));
  for (std::string flag; flags >> flag;) {
    for (const auto& [kernel_name, name] : kNames) {
      if (flag == kernel_name) out.emplace_back(name);
    }
  }
  return out;
}

std::string arch() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2")) return "x86-64-v2";
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "generic";
#endif
}

/// A number in a file of the control group; SIZE_MAX where there is none ("max") or no such file.
std::size_t group_number(const char* path) {
  std::ifstream file(path);
  std::size_t value = 0;
  return file >> value ? value : SIZE_MAX;
}

std::size_t available_bytes(std::size_t otherwise) {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 13, "MemAvailable:") == 0) return std::stoull(line.substr(13)) * 1024;
  }
  return otherwise;
}

std::size_t cache_bytes() {
  const long l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return static_cast<std::size_t>(std::max({l3, l2, 0L}));
}

}  // namespace

device::MemoryInfo read_host_memory() {
  const auto physical =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t limit = std::min(group_number("/sys/fs/cgroup/memory.max"),
                                     group_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  const std::size_t used = std::min(group_number("/sys/fs/cgroup/memory.current"),
                                    group_number("/sys/fs/cgroup/memory/memory.usage_in_bytes"));
  device::MemoryInfo out;
  out.total_bytes = std::min(physical, limit);
  out.free_bytes = std::min(available_bytes(physical), out.total_bytes);
  if (limit < physical && used != SIZE_MAX) out.free_bytes = std::min(out.free_bytes, limit - std::min(limit, used));
  return out;
}

device::DeviceInfo read_host_facts() {
  device::DeviceInfo out;
  out.name = cpuinfo("model name");
  if (out.name.empty()) out.name = "host processor";
  out.kind = "cpu";
  out.arch = arch();
  out.features = features();
  out.caps = device::Cap::kHostKernels | device::Cap::kHostAddressable | device::Cap::kComputes |
             device::Cap::kWaitAny | device::Cap::kSurvivesFork;
  out.processors = static_cast<int>(Workers::get().threads());
  out.total_bytes = read_host_memory().total_bytes;
  out.cache_bytes = cache_bytes();
  return out;
}

}  // namespace epi::backend::cpu
