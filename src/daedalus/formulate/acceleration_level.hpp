#pragma once

#include <memory>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/mechanics/evaluator.hpp"
#include "daedalus/mechanics/evaluator.hpp"

namespace daedalus::formulate {

/// The ODE x' = (v, a, z_d') with accelerations from the KKT system and a feedback of the constraint residuals: what
/// `index1`, `baumgarte` and `projection` have in common.
Formulated acceleration_level(std::shared_ptr<const mechanics::Functions> functions, const mechanics::Feedback& feedback);

}  // namespace daedalus::formulate
