// The driver of NVIDIA GPUs: counts and opens devices once.
#include <array>
#include <map>
#include <mutex>

#include "epi/backend/cuda/driver/device.h"

namespace epi::backend::cuda {
namespace {

constexpr std::array kUnsupported = {
    device::Unsupported{"wait_any", "streams wait for all events, never for any"},
    device::Unsupported{"host_kernels", "kernels are GPU binaries"},
    device::Unsupported{"host_call_submits", "the driver allows no API calls in a stream's host functions"},
    device::Unsupported{"survives_fork", "a CUDA context does not survive fork; start children with spawn"},
};

class GpuDriver final : public device::Driver {
 public:
  [[nodiscard]] std::string_view name() const override { return "cuda"; }

  Result<int> count() override {
    EPI_TRY(const Api* a, api());
    int n = 0;
    EPI_RETURN_IF_ERROR(check(a->DeviceGetCount(&n), "counting GPUs"));
    return n;
  }

  Result<device::Device*> open(int ordinal) override {
    EPI_TRY(const Api* a, api());
    EPI_TRY(const int n, count());
    if (ordinal < 0 || ordinal >= n)
      return device_error("no GPU " + std::to_string(ordinal) + "; there are " + std::to_string(n));
    std::lock_guard lock(mutex_);
    auto& slot = devices_[ordinal];
    if (!slot) {
      EPI_TRY(slot, GpuDevice::create(*a, ordinal));
    }
    return slot.get();
  }

  [[nodiscard]] std::span<const device::Unsupported> conformance() const override { return kUnsupported; }

 private:
  std::mutex mutex_;
  std::map<int, std::unique_ptr<GpuDevice>> devices_;  ///< guarded by mutex_; open devices live to the process's end
};

}  // namespace

device::Driver& driver() {
  static auto* one = new GpuDriver;  // never destroyed: the driver library may be gone first
  return *one;
}

}  // namespace epi::backend::cuda
