#pragma once

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/mechanics/stabilized.hpp"

namespace daedalus::formulate {

/// The option `weight` of formulations with constraints on several levels.
OptionSpec weight_option();

/// The equations of motion with the constraints on all levels up to `highest`, those below it held by multipliers of their
/// own: `ggl` and `stabilized-index1`.
Formulated stabilized_motion(const Equations& equations, mechanics::Level highest, const Options& options);

}  // namespace daedalus::formulate
