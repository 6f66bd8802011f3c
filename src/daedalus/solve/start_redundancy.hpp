#pragma once

#include <memory>

#include "daedalus/solve/start.hpp"

namespace daedalus::solve {

/// Names the constraints that depend on others at a start, whose accelerations `evaluator` has just found: which follow from
/// which, and whose multipliers are not unique. Where they depend on each other at this one position and not beside it, or
/// contradict each other, the start is none.
void name_redundancy(const std::shared_ptr<const mechanics::Functions>& functions, mechanics::Evaluator& evaluator, Start& start);

}  // namespace daedalus::solve
