// What a device is: the calls a driver must answer, and nothing about who answers them. runtime/ is the only caller;
// each backend/<name>/driver implements Driver and Device and exports `epi::device::Driver& epi::backend::<name>::driver()`.
//
// Laws, for every driver:
//  - A failing call creates nothing and leaves queue, memory and the caller's thread state as they were.
//  - Every call may be made from any thread. Nothing throws, nothing ends the process.
//  - A queue runs its work in the order of submission; two queues are unordered except through events.
//  - A kernel's error (ErrorRecord) or a failed operation sticks to its queue: the first one wins. synchronise(queue)
//    reports it once and clears it. Every event recorded on the queue in between keeps it and reports it at each wait.
//    The message starts with the launch's name.
//  - submit() allocates nothing, copies no string and takes its arguments by value before it returns.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epi/base/dtype.h"
#include "epi/base/status.h"
#include "epi/device/kernel_abi.h"

namespace epi::device {

/// What a device can do beyond the minimum. Callers ask; they never compare names of backends.
enum class Cap : std::uint32_t {
  kHostKernels = 1u << 0,     ///< load_module takes the address of a HostKernel
  kBinaryModules = 1u << 1,   ///< load_module takes bytes
  kAssembles = 1u << 2,       ///< assemble() turns the target's assembly text into loadable bytes
  kHostAddressable = 1u << 3, ///< kDevice memory may be read and written by the host directly
  kComputes = 1u << 4,        ///< kernels really run (a template driver only counts them)
  kTensorMaps = 1u << 5,      ///< encode_tensor_map() and Dispatch::tensor_maps
  kWaitAny = 1u << 6,         ///< WaitMode::kAny
  kSurvivesFork = 1u << 7,    ///< usable in a forked child
};
[[nodiscard]] constexpr std::uint32_t operator|(Cap a, Cap b) {
  return static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b);
}
[[nodiscard]] constexpr std::uint32_t operator|(std::uint32_t a, Cap b) { return a | static_cast<std::uint32_t>(b); }

/// Facts of one device; fixed after open.
struct DeviceInfo {
  std::string name;                   ///< product name, for people
  std::string kind;                   ///< the driver's name: what stands before ':' in "kind:ordinal"
  std::string arch;                   ///< what the compiler targets: "x86-64-v4", or a GPU generation
  std::vector<std::string> features;  ///< finer facts for the compiler: "avx512f", "amx-bf16"
  int ordinal = 0;
  std::uint32_t caps = 0;             ///< of Cap
  int processors = 1;                 ///< multiprocessors, or cores this process may use
  int warp_size = 1;
  std::size_t total_bytes = 0;        ///< memory
  std::size_t shared_bytes = 0;       ///< shared memory a block may ask for; 0 = none
  std::size_t cache_bytes = 0;        ///< last-level cache (L2 on a GPU)
  int driver_version = 0;
  [[nodiscard]] bool has(Cap cap) const { return (caps & static_cast<std::uint32_t>(cap)) != 0; }
};

struct MemoryInfo {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

enum class MemoryKind : std::uint8_t {
  kDevice,  ///< the device's own, fastest for kernels
  kPinned,  ///< the host's, which kernels and asynchronous copies reach
  kHost,    ///< ordinary host memory
};
inline constexpr int kMemoryKindCount = 3;

enum class CopyKind : std::uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice, kHostToHost };

/// Opaque things of a driver. Null = none. Only the driver that made one may get it back.
template <class Tag>
struct Handle {
  void* ptr = nullptr;
  explicit operator bool() const { return ptr != nullptr; }
  bool operator==(const Handle&) const = default;
};
using QueueHandle = Handle<struct QueueTag>;
using EventHandle = Handle<struct EventTag>;
using ModuleHandle = Handle<struct ModuleTag>;
using KernelHandle = Handle<struct KernelTag>;

/// Code to load. Bytes for binary modules; the address of linked code for host modules.
struct ModuleImage {
  std::span<const char> bytes;          ///< a loadable binary; copied or consumed before load_module returns
  HostKernel host = nullptr;            ///< the code, already linked
  std::shared_ptr<const void> keep;     ///< held until the module is unloaded *and* its work has finished
};

/// What the device reads tiles with; opaque to all but the driver.
struct alignas(64) TensorMap {
  std::byte bytes[128];
};

/// What a TensorMap describes: `rank` axes, innermost first.
struct TensorMapSpec {
  const void* base = nullptr;
  DType dtype = DType::kFloat32;
  int rank = 0;                             ///< 1 to 5
  std::uint64_t extents[5] = {};            ///< elements
  std::uint64_t strides_bytes[5] = {};      ///< strides_bytes[0] is the element size
  std::uint32_t box[5] = {};                ///< elements of the tile that one transfer moves
  std::uint32_t swizzle_bytes = 0;          ///< 0, 32, 64 or 128
};

/// One launch. Plain data, lives on the caller's stack; submit() copies what it needs.
struct Dispatch {
  // -- what ------------------------------------------------------------------
  KernelHandle kernel;                      ///< its KernelInfo (given to get_kernel) says what the slots are
  const char* name = nullptr;               ///< for errors and traces; lives as long as the kernel; null = info.name
  // -- how many --------------------------------------------------------------
  std::uint32_t grid[3] = {1, 1, 1};        ///< programs along each axis; any 0 = nothing runs, and that is no error
  // -- with what -------------------------------------------------------------
  std::uint32_t slot_count = 0;             ///< must equal info.slots.size()
  /// One value a slot. The driver fills kErrors and kTicket slots itself (what stands there is ignored). A kTensorMap
  /// slot holds an index into `tensor_maps`.
  const std::uint64_t* slots = nullptr;
  const TensorMap* tensor_maps = nullptr;
  std::uint32_t tensor_map_count = 0;
};

struct QueueOptions {
  std::uint32_t capacity = 0;  ///< packets the queue holds before submit() blocks, a power of two; 0 = driver's choice
  bool high_priority = false;
};

struct EventOptions {
  bool timed = true;  ///< elapsed() needs it
};

enum class WaitMode : std::uint8_t { kAll, kAny };

/// Called in queue order, on a thread of the driver or on one that waits for the queue. Must not throw. May submit, must
/// not wait for its own queue.
using HostFunction = void (*)(void* argument);

/// A point of the conformance suite that a driver does not meet, and why. Listed points are tested to be refused.
struct Unsupported {
  std::string_view point;
  std::string_view reason;
};

/// One opened device. Owned by its driver; lives until the process ends.
class Device {
 public:
  virtual ~Device() = default;

  // -- facts -----------------------------------------------------------------
  [[nodiscard]] virtual const DeviceInfo& info() const = 0;
  virtual Result<MemoryInfo> memory_info() = 0;

  // -- memory ----------------------------------------------------------------
  /// At least 256-byte aligned; `size_bytes` > 0. Usable by work submitted to `queue` later, by the host at once where
  /// the kind is host-addressable, and by other queues after an event. A null queue means: usable everywhere at once.
  /// kOutOfMemory when there is no room; the caller frees its cache and tries again.
  virtual Result<void*> allocate(MemoryKind kind, std::size_t size_bytes, QueueHandle queue) = 0;
  /// Gives memory back once the work submitted to `queue` so far is done (null queue: the caller knows that it is idle).
  virtual Status deallocate(MemoryKind kind, void* ptr, std::size_t size_bytes, QueueHandle queue) = 0;
  /// Ordered in `queue`; both sides stay valid until it has run, and do not overlap. Size 0 is a no-op.
  virtual Status copy(QueueHandle queue, void* dst, const void* src, std::size_t size_bytes, CopyKind kind) = 0;
  /// `count` copies of a pattern of 1, 2, 4, 8 or 16 bytes (read before the call returns) from `dst` on.
  virtual Status fill(QueueHandle queue, void* dst, const void* pattern, std::size_t pattern_bytes,
                      std::size_t count) = 0;

  // -- code ------------------------------------------------------------------
  /// Assembly text of the target to bytes for load_module. kCompile carries the tool's whole log. Needs Cap::kAssembles.
  virtual Result<std::string> assemble(std::string_view text) {
    (void)text;
    return unsupported("device " + info().kind + " does not assemble");
  }
  virtual Result<ModuleHandle> load_module(const ModuleImage& image) = 0;
  /// Work already submitted still runs: the driver waits for it, or defers.
  virtual Status unload_module(ModuleHandle module) = 0;
  /// The entry `info->name` of a module. The module must outlive the kernel; `info` is shared, so errors can name it.
  virtual Result<KernelHandle> get_kernel(ModuleHandle module, std::shared_ptr<const KernelInfo> info) = 0;
  virtual Status encode_tensor_map(const TensorMapSpec& spec, TensorMap* out) {
    (void)spec, (void)out;
    return unsupported("device " + info().kind + " has no tensor maps");
  }

  // -- queues ----------------------------------------------------------------
  virtual Result<QueueHandle> create_queue(const QueueOptions& options) = 0;
  /// Waits for what was submitted, then ends the queue. An unreported error is returned.
  virtual Status destroy_queue(QueueHandle queue) = 0;
  /// Puts a launch at the end of the queue. Blocks while the queue is full.
  virtual Status submit(QueueHandle queue, const Dispatch& dispatch) = 0;
  virtual Status host_call(QueueHandle queue, HostFunction function, void* argument) = 0;
  /// Work submitted to `queue` from now on waits for the events as they are recorded now. Events never recorded count as
  /// met. kAny takes at most five events and needs Cap::kWaitAny. No events: a no-op.
  virtual Status wait_events(QueueHandle queue, std::span<const EventHandle> events, WaitMode mode) = 0;
  /// The calling thread waits for all submitted work; reports the queue's error once.
  virtual Status synchronise(QueueHandle queue) = 0;
  /// Whether all submitted work is done. Never blocks, reports no error of the work.
  virtual Result<bool> is_idle(QueueHandle queue) = 0;

  // -- events ----------------------------------------------------------------
  virtual Result<EventHandle> create_event(const EventOptions& options) = 0;
  /// Allowed while the event is pending; waiters are not disturbed.
  virtual Status destroy_event(EventHandle event) = 0;
  /// The event now stands for the work submitted to `queue` so far. Recording again forgets the former meaning, but not
  /// for those who already wait.
  virtual Status record(EventHandle event, QueueHandle queue) = 0;
  /// The calling thread waits; reports the error that stuck to the queue when the event was reached, each time.
  virtual Status wait(EventHandle event) = 0;
  /// Whether wait() would return at once. Never recorded: true.
  virtual Result<bool> is_done(EventHandle event) = 0;
  /// Nanoseconds between two reached, timed events.
  virtual Result<double> elapsed_ns(EventHandle begin, EventHandle end) = 0;
};

/// One backend. A singleton.
class Driver {
 public:
  virtual ~Driver() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// How many devices there are. An error says what was tried ("libx.so.1: cannot open shared object file").
  virtual Result<int> count() = 0;
  /// The device `ordinal`, the same object at every call. Ordinals are 0 to count() - 1.
  virtual Result<Device*> open(int ordinal) = 0;
  /// What this driver does not meet of the conformance suite (tests/cpp/runtime/conformance.h names the points).
  [[nodiscard]] virtual std::span<const Unsupported> conformance() const { return {}; }
};

}  // namespace epi::device
