// The producers' half: reserve an index, wait for room, write the body while the slot is INVALID, store the header with
// release, ring the doorbell.
#include <algorithm>
#include <cstring>
#include <new>

#include "epi/backend/cpu/driver/futex.h"
#include "epi/backend/cpu/driver/soft_queue.h"
#include "epi/backend/cpu/driver/thread_state.h"
#include "epi/backend/cpu/driver/workers.h"
#include "epi/base/trace.h"

namespace epi::backend::cpu {
namespace {

constexpr std::uint32_t kManyPending = 16;        ///< with so many packets waiting, work is no longer small
constexpr float kSmallDispatchNs = 5000;          ///< below, waking a worker costs more than it saves
constexpr std::int64_t kFullPollNs = 1'000'000;

/// grid[0] * grid[1] * grid[2]; false when that does not fit.
bool count_programs(const std::uint32_t (&grid)[3], std::uint64_t* programs) {
  const std::uint64_t plane = std::uint64_t{grid[0]} * grid[1];
  return !__builtin_mul_overflow(plane, std::uint64_t{grid[2]}, programs) && *programs <= (std::uint64_t{1} << 62);
}

Status bad_slot_count(const device::Dispatch& d, const Kernel& kernel) {
  return invalid_argument(kernel.info->name + ": launched with " + std::to_string(d.slot_count) + " arguments, takes " +
                          std::to_string(kernel.info->slots.size()));
}

/// One program runs on one thread whoever it is; more are small when they are known to be quick.
bool looks_small(const Kernel& kernel, std::uint64_t programs) {
  const float program_ns = kernel.program_ns.load(std::memory_order_relaxed);
  if (program_ns == 0) return programs == 1;
  return program_ns * static_cast<float>(programs) < kSmallDispatchNs;
}

void fill_slots(KernArg& a, const device::Dispatch& d, const device::DriverSlots& own) {
  std::uint64_t* slots = d.slot_count > kInlineSlots ? a.many.get() : a.slots;
  for (std::uint32_t i = 0; i < d.slot_count; ++i) slots[i] = d.slots[i];
  if (own.errors >= 0) slots[own.errors] = reinterpret_cast<std::uint64_t>(&a.errors);
  if (own.ticket >= 0) slots[own.ticket] = reinterpret_cast<std::uint64_t>(&a.ticket);
  a.launch.slots = slots;
}

void write_dispatch_body(KernelDispatchPacket& p, const KernArg& a) {
  p.setup = 3;
  for (int i = 0; i < 3; ++i) {
    p.workgroup_size[i] = 1;
    p.grid_size[i] = a.launch.grid[i];
  }
  p.reserved0 = 0;
  p.private_segment_size = 0;
  p.group_segment_size = 0;
  p.kernel_object = reinterpret_cast<std::uint64_t>(a.kernel);
  p.kernarg_address = reinterpret_cast<std::uint64_t>(&a);
  p.reserved2 = 0;
  p.completion_signal = 0;
}

/// Lets go of the signals of packets that will not be queued.
void drop_references(std::span<const Packet> packets, PacketType type) {
  for (const Packet& packet : packets) {
    release(signal_of(packet.barrier.completion_signal));  // the same place in all packets
    if (type == PacketType::kAgentDispatch) continue;
    for (const std::uint64_t handle : packet.barrier.dependencies) release(signal_of(handle));
  }
}

}  // namespace

Status SoftQueue::dispatch(const device::Dispatch& d) {
  const auto* kernel = static_cast<const Kernel*>(d.kernel.ptr);
  if (kernel == nullptr) return invalid_argument("launch without a kernel");
  if (d.slot_count != kernel->info->slots.size()) return bad_slot_count(d, *kernel);
  if (d.tensor_map_count != 0) return unsupported(kernel->info->name + ": host kernels take no tensor maps");
  std::uint64_t programs = 0;
  if (!count_programs(d.grid, &programs)) return invalid_argument(kernel->info->name + ": the grid is too large");
  if (programs == 0) return ok_status();

  std::unique_ptr<std::uint64_t[]> many;
  if (d.slot_count > kInlineSlots) {
    many.reset(new (std::nothrow) std::uint64_t[d.slot_count]);
    if (!many) return {Code::kOutOfMemory, kernel->info->name + ": no memory for its arguments"};
  }
  std::uint64_t index = 0;
  EPI_RETURN_IF_ERROR(reserve(1, &index));
  KernArg& a = args_[index & mask_];
  if (many) a.many = std::move(many);
  a.launch.grid[0] = d.grid[0];
  a.launch.grid[1] = d.grid[1];
  a.launch.grid[2] = d.grid[2];
  a.errors = {};
  a.ticket = 0;
  a.programs = programs;
  a.kernel = kernel;
  a.name = d.name != nullptr ? d.name : kernel->info->name.c_str();
  a.submit_ns = trace::enabled() ? trace::now_ns() : 0;
  fill_slots(a, d, kernel->driver_slots);
  write_dispatch_body(ring_[index & mask_].kernel, a);
  publish(index, PacketType::kKernelDispatch);
  ring(index, !looks_small(*kernel, programs));
  return ok_status();
}

Result<std::uint64_t> SoftQueue::push(std::span<Packet> packets, PacketType type, bool eager) {
  std::uint64_t end = write_index();
  while (!packets.empty()) {
    const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(packets.size(), capacity()));
    std::uint64_t first = 0;
    if (Status status = reserve(count, &first); !status.ok()) {
      drop_references(packets, type);
      return status;
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      Packet& slot = ring_[(first + i) & mask_];
      // All but the header: the processor may look at that at any time.
      std::memcpy(reinterpret_cast<char*>(&slot) + 2, reinterpret_cast<const char*>(&packets[i]) + 2, 62);
      publish(first + i, type);
    }
    end = first + count;
    ring(end - 1, eager);
    packets = packets.subspan(count);
  }
  return end;
}

Status SoftQueue::reserve(std::uint32_t count, std::uint64_t* first) {
  for (;;) {
    // Read index first: it only grows and never passes the write index, so the difference cannot underflow.
    const std::uint64_t read = read_.load(std::memory_order_acquire);
    std::uint64_t write = write_.load(std::memory_order_relaxed);
    if (write - read + count <= capacity()) {
      if (write_.compare_exchange_weak(write, write + count, std::memory_order_relaxed)) {
        *first = write;
        return ok_status();
      }
      continue;
    }
    EPI_RETURN_IF_ERROR(make_room(count));
  }
}

Status SoftQueue::make_room(std::uint32_t count) {
  if (InsideQueue::contains(this)) {
    return device_error("queue " + std::to_string(id_) + " is full (" + std::to_string(capacity()) +
                        " packets), and the thread that submits is inside of its work");
  }
  const std::uint64_t read = read_.load(std::memory_order_acquire);
  const std::uint64_t enough = read + std::max(count, capacity() / 4);
  if (process(enough, capacity()) || help()) return ok_status();
  workers_.notify(true);
  for (int i = 0; i < 1000; ++i) {
    if (read_.load(std::memory_order_acquire) != read) return ok_status();
    pause();
  }
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  if (read_.load(std::memory_order_seq_cst) == read) {
    futex_wait(&read_, static_cast<std::uint32_t>(read), kFullPollNs);
  }
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
  return ok_status();
}

void SoftQueue::publish(std::uint64_t index, PacketType type) {
  std::atomic_ref<std::uint16_t>(ring_[index & mask_].header).store(make_header(type), std::memory_order_release);
}

void SoftQueue::ring(std::uint64_t last, bool eager) {
  doorbell_.value.store(static_cast<std::int64_t>(last), std::memory_order_release);
  // Pairs with the processor's look at the ring after it has given up its role.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (processor_.load(std::memory_order_relaxed) != 0) return;
  workers_.notify(eager || last - read_.load(std::memory_order_relaxed) >= kManyPending);
}

}  // namespace epi::backend::cpu
