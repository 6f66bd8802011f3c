#pragma once

#include <memory>

#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

/// Lets the ODE of a system and its projection onto positions and velocities, in the mass norm, run as straight lines that
/// end with the solution (mechanics/solved_motion.hpp). What the system had before takes over where pivots are not to be
/// trusted, and altogether where constraints depend on others or a matrix fills up.
void solve_in_line(Formulated& formulated, const std::shared_ptr<const mechanics::Functions>& functions);

}  // namespace daedalus::formulate
