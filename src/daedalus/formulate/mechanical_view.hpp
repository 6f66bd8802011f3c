#pragma once

#include <memory>

#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

/// Constrained motion as methods that use its structure see it: masses, forces and constraints on all levels. `project`
/// moves states onto the constraints; a formulation that does not project takes it away.
Formulated mechanical_motion(std::shared_ptr<const mechanics::Functions> functions);

}  // namespace daedalus::formulate
