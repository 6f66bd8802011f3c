#pragma once

#include <vector>

#include "daedalus/structure/signature.hpp"

namespace daedalus::structure {

/// The symbol of a derivative of an unknown; new where the author's equations do not contain it.
expr::Expr derivative_symbol(const EquationSet::Unknown& unknown, std::size_t times);

/// Every equation with its total time derivatives: result[i][k] is f_i^(k) for k = 0 .. times[i].
std::vector<std::vector<expr::Expr>> prolong(const EquationSet& system, const std::vector<int>& times);

}  // namespace daedalus::structure
