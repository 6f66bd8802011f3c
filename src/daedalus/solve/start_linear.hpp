#pragma once

#include "daedalus/solve/pipeline.hpp"
#include "daedalus/structure/linear_solution.hpp"

namespace daedalus::solve {

/// The start of a linear DAE on the manifold (2.32) of 000: fixed values are kept, given values of unknowns whose derivative
/// occurs change least, in units of their nominal ones, then those that nobody gave. `off` keeps everything and says what
/// happens at the start instead. Throws Error for contradicting fixed values and, with `check`, for an inconsistent start.
Start linear_start(const Prepared& prepared, double t, Initialize mode, Look look = Look::at_start);

/// (y, y') of a linear DAE as it is written, at a start that was found by the one above or by the general way.
std::vector<double> whole_state(const Prepared& prepared, const Start& start);

/// "x jumps from 1 to 0 and y gets a Dirac impulse of 2 at t = 0", one sentence per unknown; empty where nothing happens.
std::vector<std::string> impulse_texts(const structure::DaeFunctions& functions, double t, const std::vector<double>& before,
                                       const std::vector<structure::Impulse>& impulses);

}  // namespace daedalus::solve
