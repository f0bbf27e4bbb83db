// What compiled host code may call: our own functions and nothing else. link.cpp gives their addresses to the linker.
#pragma once
#include <cstdint>
#include <span>

namespace epi::cpu {

struct HostCall {
  const char* name;
  void* address;
};
std::span<const HostCall> host_calls();

}  // namespace epi::cpu

/// Prints one line: `values` are 16 bytes each, their dtypes in `dtypes`. Called by kernels of print ops.
extern "C" void epi_host_print(const char* format, const void* values, const std::uint8_t* dtypes, std::uint32_t count);
