#include "epi/runtime/registry.h"

#include <charconv>

namespace epi::runtime {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// The labels, with commas.
std::string existing() {
  std::string out;
  for (const Device& device : devices()) {
    if (!out.empty()) out += ", ";
    out += device.label();
  }
  return out;
}

std::string known_drivers() {
  std::string out;
  for (const DriverFunction function : backend_drivers()) {
    if (!out.empty()) out += ", ";
    out += function().name();
  }
  return out;
}

struct Name {
  std::string_view kind;
  int ordinal = 0;
};

Result<Name> parse_name(std::string_view text) {
  Name name{text, 0};
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return name;
  name.kind = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), name.ordinal);
  if (error != std::errc{} || end != digits.data() + digits.size() || name.ordinal < 0) {
    return invalid_argument("device " + quoted(text) + ": takes a name like 'cpu' or 'cpu:0'; there are: " + existing());
  }
  return name;
}

Result<Device> open(device::Driver& driver, std::string_view text, int ordinal) {
  const Result<int> count = driver.count();
  if (!count.ok()) {
    return device_error("no device " + quoted(text) + ": " + count.status().message() + "; there are: " + existing());
  }
  if (ordinal >= *count) {
    return device_error("no device " + quoted(text) + ": " + std::string(driver.name()) + " has " +
                        std::to_string(*count) + (*count == 1 ? " device" : " devices") +
                        "; there are: " + existing());
  }
  EPI_TRY(device::Device * opened, driver.open(ordinal));
  return Device(*opened);
}

}  // namespace

std::vector<Device> devices() {
  std::vector<Device> out;
  for (const DriverFunction function : backend_drivers()) {
    device::Driver& driver = function();
    const Result<int> count = driver.count();
    for (int i = 0; count.ok() && i < *count; ++i) {
      const Result<device::Device*> opened = driver.open(i);
      if (opened.ok() && (*opened)->info().has(device::Cap::kComputes)) out.emplace_back(**opened);
    }
  }
  return out;
}

Result<Device> device(std::string_view text) {
  EPI_TRY(const Name name, parse_name(text));
  for (const DriverFunction function : backend_drivers()) {
    if (function().name() == name.kind) return open(function(), text, name.ordinal);
  }
  return device_error("no device " + quoted(text) + ": this build knows " + known_drivers() +
                      "; there are: " + existing());
}

}  // namespace epi::runtime
