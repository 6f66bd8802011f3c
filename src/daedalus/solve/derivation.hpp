#pragma once

#include "daedalus/solve/pipeline.hpp"
#include "daedalus/structure/derivation.hpp"

namespace daedalus::solve {

/// Derives step by step, in the way of the model's kind: plain equations and mechanics by substitution, down to a system
/// that can be solved for the highest derivatives and the algebraic unknowns, near the consistent start.
structure::Derivation derivation(const Prepared& prepared, double t_start);

/// The same for models of kind linear, which need not be solvable: see structure::linear_derivation.
structure::Derivation derivation(const model::Model& linear);

}  // namespace daedalus::solve
