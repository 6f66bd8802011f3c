#pragma once

#include "daedalus/structure/derivation.hpp"
#include "daedalus/structure/linear_model.hpp"

namespace daedalus::structure {

/// Tells E x' = A x + f step by step: the Gauss-like method of section 2.3 of 000 down to an ODE, then the Jordan-based
/// construction of its Theorem 4; in fractions where the entries are short ones, with rounding and without the second
/// part otherwise. A singular pencil ends with what binds f.
Derivation linear_derivation(const model::Model& model);

/// Jordan forms of more unknowns are not shown.
inline constexpr std::size_t most_jordan = 12;

}  // namespace daedalus::structure
