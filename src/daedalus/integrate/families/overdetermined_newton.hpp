#pragma once

#include <memory>

#include "daedalus/integrate/families/multistep_newton.hpp"

namespace daedalus::integrate {

/// The generalized inverse that the system asks for, sparse or dense, scaled by powers of h.
NewtonCorrection overdetermined_correction(std::shared_ptr<const OverdeterminedSystem> system);

/// The same system with one multiplier for every row beyond the square part, A_1 and A_2 its Jacobians:
///     F_1 + A_2^T mu = 0,   F_2 = 0.
/// Its Jacobian leaves out what contains mu, which vanishes in the exact solution.
ImplicitSystem extended_system(std::shared_ptr<const OverdeterminedSystem> system);

}  // namespace daedalus::integrate
