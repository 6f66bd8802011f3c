#pragma once

#include "daedalus/linalg/sparsity.hpp"

// Not part of this room's interface.
namespace daedalus::linalg {

/// True where the sparse symmetric M (scaled to a diagonal of about 1) is positive definite on ker G (rows scaled
/// to lengths of about 1). Costs one or a few sparse Cholesky factorizations; allocates.
bool definite_on_kernel(const Sparsity& mass, const double* M, const Sparsity& jacobian, const double* G);

}  // namespace daedalus::linalg
