#pragma once

#include <memory>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/mechanics/implicit.hpp"

namespace daedalus::formulate {

/// The equations of motion with multipliers among the unknowns, F(t, y, y') = 0, y = (q, v, z_d, z_a, lambda), and the
/// constraints on one level: what implicit methods see of `index3`, `index2`, `index1`, `baumgarte` and `projection`.
/// Multipliers of output rows come from the KKT system there.
Formulated implicit_motion(const Equations& equations, mechanics::Level level,
                           const mechanics::Feedback& feedback = {});

/// The implicit view of equations of motion with unknowns that begin with (q, v, z_d, z_a, lambda); projects nothing but
/// what the acceleration level with this feedback does.
Formulated with_unknowns(const Equations& equations, mechanics::ImplicitMotion motion,
                         const mechanics::Feedback& feedback = {});

/// The acceleration level as an ODE or with multipliers among the unknowns, as the view asks.
Formulated in_view(const Equations& equations, integrate::View view,
                   const mechanics::Feedback& feedback);

}  // namespace daedalus::formulate
