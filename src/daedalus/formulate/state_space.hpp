#pragma once

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/formulate/local_basis.hpp"

namespace daedalus::formulate {

enum class Shown { motion, choice };

/// The state-space form in local coordinates, which change while the motion goes on: what `partition` and `null-space` have
/// in common. States that a method shows are x = (q, v, z_d) on the constraints.
/// With `Shown::choice` rows tell which coordinates are independent: columns `independent.x`, 1 or 0.
Formulated state_space(const Equations& equations, LocalBasis::Kind kind, Shown shown = Shown::motion);

}  // namespace daedalus::formulate
