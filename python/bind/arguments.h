// From a Python object to a launch argument, in the hot path: NumPy arrays by their (stable) C layout, other producers
// by DLPack or the array interfaces, Python and NumPy scalars. The way to read a type is found once and remembered.
#pragma once
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "bind.h"
#include "epi/jit/specialize.h"

namespace epi::bind {

/// Where an argument's memory is. Scalars have none.
struct Place {
  enum Kind : std::uint8_t { kNone, kHost, kCuda } kind = kNone;
  int ordinal = 0;
  bool operator==(const Place&) const = default;
};

/// What one launch's arguments amount to. `held` keeps DLPack tensors alive until the launch has been queued.
struct Arguments {
  std::vector<jit::Arg> args;
  Place place;           ///< of all views; kNone where there are none
  int placed_by = -1;    ///< index of the view that decided `place`
  bool foreign = false;  ///< some view is of a library that queues its own work (torch, cupy)
  bool wide = false;     ///< some extent, stride or span does not fit 32 bits
  std::vector<nb::object> held;
};

/// Appends `object` as the next argument; `name` is used in messages only. A Python int is an int32 (int64 where it
/// does not fit, then uint64), a float a float32, a bool a bool; NumPy scalars keep their dtype.
Status extract(PyObject* object, const char* name, Arguments& out);

}  // namespace epi::bind
