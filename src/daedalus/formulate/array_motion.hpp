#pragma once

#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

/// A DAE by its derivative array: y' of all its unknowns, and the projection of y onto everything that the array says about
/// y alone. Needs `equations.array`.
Formulated array_motion(const Equations& equations);

}  // namespace daedalus::formulate
