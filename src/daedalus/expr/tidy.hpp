#pragma once

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// The same expression in the shortest form that a person would write, for display only: products expanded and like terms
/// collected, with and without the addition theorems of sine and cosine, common factors in front. The value agrees
/// mathematically, not to the last bit; an expression that grows too long when expanded stays as it is. Of like terms what
/// is left is nothing if it is at most `cancelled` times all of them: more where the numbers are known to fewer digits.
Expr tidy(Expr root, double cancelled = 1e-14);

/// The same with numbers of so many significant digits, for display of what rounding has touched: 1.0000000000000044 is 1.
Expr with_digits(Expr root, int digits);

}  // namespace daedalus::expr
