#pragma once

#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

/// A DAE whose invariants c = 0 attract: x' = f(t, x) is changed so that c' + rate c = 0; and whose hidden constraints do:
/// (d/dt + rate)^k f = 0 takes the place of f^(k) = 0.
Formulated invariant_feedback(const Equations& equations, double rate);

}  // namespace daedalus::formulate
