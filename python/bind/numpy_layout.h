// NumPy arrays read through their C layout (fixed since NumPy 1.7, checked once when NumPy is first met), so that the
// binding neither includes NumPy's headers nor pays for a buffer request in every launch.
#pragma once
#include "arguments.h"

namespace epi::bind {

/// Whether `object` is a numpy.ndarray (or a subclass) whose layout is known; false where NumPy is not imported.
bool is_numpy_array(PyObject* object);

/// Whether `type` derives from numpy.generic.
bool is_numpy_scalar(PyObject* type);

Status read_numpy(PyObject* array, jit::Arg& a);
Status read_numpy_scalar(PyObject* scalar, jit::Arg& a);

}  // namespace epi::bind
