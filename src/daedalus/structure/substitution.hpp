#pragma once

#include <string>
#include <utility>
#include <vector>

#include "daedalus/structure/derivation.hpp"
#include "daedalus/structure/signature.hpp"

namespace daedalus::structure {

/// Reduces a square system to an easy one by differentiation and substitution, in symbols, and tells every step. Ranks
/// and divisors are decided at a point, which should satisfy the equations and those they hide: `values` by name
/// ("x", "der(x,2)") go before the start values of the system. Where symbols do not suffice the derivation ends
/// incomplete, with the reason as the text of its last part.
Derivation substitution(const EquationSet& system, double t, const std::vector<std::pair<std::string, double>>& values);

}  // namespace daedalus::structure
