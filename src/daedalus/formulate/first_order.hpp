#pragma once

#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

/// A DAE of index 1 at most as its author wrote it, F(t, y, y') = 0; higher derivatives have become unknowns. Where
/// [F_x', F_z] is regular, with x the unknowns whose derivatives occur and z the others, F = 0 is solved for (x', z) at
/// every evaluation, and methods for ODEs see x' = f(t, x).
Formulated first_order(const Equations& equations, integrate::View view);

/// What is added to the rows of F at a state x.
using RowFeedback = std::function<const double*(double t, const double* x)>;
/// The ODE of F + feedback = 0. What is shown of a state is without it.
Formulated first_order_with(const Equations& equations, RowFeedback feedback);

}  // namespace daedalus::formulate
