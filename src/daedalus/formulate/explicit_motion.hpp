#pragma once

#include "daedalus/formulate/acceleration_level.hpp"

namespace daedalus::formulate {

/// Writes df/dx of an ODE, row by row.
using OdeJacobian = std::function<integrate::Evaluation(double t, const double* x, double* jacobian)>;

/// df/dx of the ODE of acceleration_level by differentiating the KKT system: with F(t, x, x', y) = 0 for x' and
/// y = (z_a, lambda),
///     [F_x'  F_y] (dx'/dx, dy/dx) = -F_x.
/// Compiled when the result is called. `formulated` hands its frozen values and first guesses on.
std::function<OdeJacobian()> acceleration_jacobian(const Equations& equations, const AccelerationRule& rule,
                                                   Formulated& formulated);

/// Shows the ODE of a system to implicit methods where the view asks for it, with a derivative that is made when
/// needed.
void show_ode(Formulated& formulated, integrate::View view, const std::function<OdeJacobian()>& make_jacobian);

/// The ODE of acceleration_level in every view: to implicit methods, too, it is an ODE, without multipliers among the
/// unknowns.
Formulated explicit_motion(const Equations& equations, integrate::View view, const AccelerationRule& rule);

}  // namespace daedalus::formulate
