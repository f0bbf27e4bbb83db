// The soft queue's binary facts, in HSA's shape: 64-byte packets with a 16-bit header first, and 64-bit signals.
// soft_queue.cpp produces and consumes them; nothing else writes one.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "epi/base/status.h"

namespace epi::backend::cpu {

/// Bits 0-7 of the header. A slot is INVALID until its packet is whole.
enum class PacketType : std::uint8_t {
  kVendor = 0,
  kInvalid = 1,
  kKernelDispatch = 2,
  kBarrierAnd = 3,
  kAgentDispatch = 4,
  kBarrierOr = 5,
};

inline constexpr std::uint16_t kHeaderBarrier = 1u << 8;       ///< waits for all earlier packets of the queue
inline constexpr std::uint16_t kHeaderAcquireSystem = 2u << 9;
inline constexpr std::uint16_t kHeaderReleaseSystem = 2u << 11;

[[nodiscard]] constexpr std::uint16_t make_header(PacketType type) {
  return static_cast<std::uint16_t>(static_cast<std::uint16_t>(type) | kHeaderBarrier | kHeaderAcquireSystem |
                                    kHeaderReleaseSystem);
}
[[nodiscard]] constexpr PacketType packet_type(std::uint16_t header) { return static_cast<PacketType>(header & 0xff); }

/// A 64-bit value that waiters compare with 0, with the time and the error of the work that brought it there. Counted
/// references: an event holds one, every packet that names it holds one.
struct alignas(64) Signal {
  std::int64_t kind = 1;                          ///< 1 = user signal (no doorbell behind it)
  std::atomic<std::int64_t> value{1};             ///< completion subtracts 1; a dependency is met at 0
  std::atomic<std::uint32_t> references{1};
  std::uint32_t reserved = 0;
  std::shared_ptr<const Status> failure;          ///< written before the value's release, read after its acquire
  std::int64_t start_ns = 0;                      ///< when the packet began
  std::int64_t end_ns = 0;                        ///< when it completed
};
static_assert(sizeof(Signal) == 64);
static_assert(offsetof(Signal, value) == 8);

inline Signal* retain(Signal* signal) {
  if (signal != nullptr) signal->references.fetch_add(1, std::memory_order_relaxed);
  return signal;
}
inline void release(Signal* signal) {
  if (signal != nullptr && signal->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete signal;
}
/// A signal as a packet names it; 0 = none.
[[nodiscard]] inline std::uint64_t handle_of(Signal* signal) { return reinterpret_cast<std::uint64_t>(signal); }
[[nodiscard]] inline Signal* signal_of(std::uint64_t handle) { return reinterpret_cast<Signal*>(handle); }

struct KernelDispatchPacket {
  std::uint16_t header;
  std::uint16_t setup;                ///< bits 0-1: dimensions
  std::uint16_t workgroup_size[3];    ///< 1: a program is one work-item of ours
  std::uint16_t reserved0;
  std::uint32_t grid_size[3];         ///< in work-items
  std::uint32_t private_segment_size;
  std::uint32_t group_segment_size;
  std::uint64_t kernel_object;        ///< Kernel*
  std::uint64_t kernarg_address;      ///< KernArg*, unmodified until completion
  std::uint64_t reserved2;
  std::uint64_t completion_signal;
};
static_assert(sizeof(KernelDispatchPacket) == 64);
static_assert(offsetof(KernelDispatchPacket, setup) == 2);
static_assert(offsetof(KernelDispatchPacket, workgroup_size) == 4);
static_assert(offsetof(KernelDispatchPacket, grid_size) == 12);
static_assert(offsetof(KernelDispatchPacket, private_segment_size) == 24);
static_assert(offsetof(KernelDispatchPacket, group_segment_size) == 28);
static_assert(offsetof(KernelDispatchPacket, kernel_object) == 32);
static_assert(offsetof(KernelDispatchPacket, kernarg_address) == 40);
static_assert(offsetof(KernelDispatchPacket, completion_signal) == 56);

/// Barrier-AND and barrier-OR. A dependency 0 is met in AND and not met in OR.
struct BarrierPacket {
  std::uint16_t header;
  std::uint16_t reserved0;
  std::uint32_t reserved1;
  std::uint64_t dependencies[5];
  std::uint64_t reserved2;
  std::uint64_t completion_signal;
};
inline constexpr std::size_t kBarrierDependencies = 5;
static_assert(sizeof(BarrierPacket) == 64);
static_assert(offsetof(BarrierPacket, dependencies) == 8);
static_assert(offsetof(BarrierPacket, completion_signal) == 56);

/// Functions that the queue's own agent answers.
enum class AgentFunction : std::uint16_t {
  kHostCall = 0x8000,  ///< args: HostFunction, argument
  kCopy,               ///< args: dst, src, bytes
  kFree,               ///< args: ptr, bytes
};

struct AgentDispatchPacket {
  std::uint16_t header;
  std::uint16_t type;  ///< AgentFunction
  std::uint32_t reserved0;
  std::uint64_t return_address;
  std::uint64_t arguments[4];
  std::uint64_t reserved2;
  std::uint64_t completion_signal;
};
static_assert(sizeof(AgentDispatchPacket) == 64);
static_assert(offsetof(AgentDispatchPacket, type) == 2);
static_assert(offsetof(AgentDispatchPacket, return_address) == 8);
static_assert(offsetof(AgentDispatchPacket, arguments) == 16);
static_assert(offsetof(AgentDispatchPacket, completion_signal) == 56);

/// One slot of the ring.
union alignas(64) Packet {
  std::uint16_t header;
  KernelDispatchPacket kernel;
  BarrierPacket barrier;
  AgentDispatchPacket agent;
  Packet() : kernel{} {}
};
static_assert(sizeof(Packet) == 64);

}  // namespace epi::backend::cpu
