#pragma once

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/mechanics/stabilized.hpp"

namespace daedalus::formulate {

/// The options of formulations with constraints on all levels up to `highest`.
std::vector<OptionSpec> level_options(mechanics::Level highest);

/// The equations of motion with the constraints on all levels up to `highest`, those below it held by multipliers of
/// their own: `ggl` and `stabilized-index1`.
Formulated stabilized_motion(const Equations& equations, mechanics::Level highest, const Options& options);

/// The same without further multipliers, as more equations than unknowns: `overdetermined-index2` and
/// `overdetermined-index1`. They have one more option, the generalized inverse.
OptionSpec corrector_option();
Formulated overdetermined_motion(const Equations& equations, mechanics::Level highest, const Options& options);

}  // namespace daedalus::formulate
