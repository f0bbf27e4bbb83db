// Finds the provider of a device kind in the generated table.
#include "epi/math/blas.h"

#include <span>

namespace epi::math {

std::span<const BlasProviderFunction> blas_providers();  // generated

Result<BlasProvider*> blas_provider(std::string_view kind) {
  for (BlasProviderFunction f : blas_providers())
    if (f().kind() == kind) return &f();
  return unsupported("device " + std::string(kind) + " has no library of matrix products");
}

}  // namespace epi::math
