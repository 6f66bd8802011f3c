#pragma once

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/formulate/local_basis.hpp"

namespace daedalus::formulate {

/// The state-space form in local coordinates, which change while the motion goes on: what `partition` and `null-space` have
/// in common. States that a method shows are x = (q, v, z_d) on the constraints.
Formulated state_space(const Equations& equations, LocalBasis::Kind kind);

}  // namespace daedalus::formulate
