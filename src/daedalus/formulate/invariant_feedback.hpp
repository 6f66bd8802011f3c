#pragma once

#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

/// A DAE whose invariants c = 0 attract: x' = f(t, x) is changed so that c' + rate c = 0; and whose hidden constraints do:
/// (d/dt + rate)^k f = 0 takes the place of f^(k) = 0.
Formulated invariant_feedback(const Equations& equations, double rate);

/// A DAE whose hidden constraints and invariants h = 0 attract on the shortest way: x' = f - rate F h, F = D (C D)^-1 with
/// C = dh/dx and D = C^T in units of the nominal values.
Formulated manifold_feedback(const Equations& equations, double rate);

}  // namespace daedalus::formulate
