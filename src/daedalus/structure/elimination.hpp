#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::structure {

/// Numbers for all symbols. Expressions are tried at several of these: the first is the point that matters, the others
/// are near it and without special relations between their values.
using SymbolValues = std::unordered_map<expr::NodeId, double>;

/// Unknowns removed from an equation with the help of others, in symbols.
struct Elimination {
  struct Step {
    std::size_t row;  ///< of the helping equations
    expr::Expr unknown, value;
  };
  bool complete = false;    ///< nothing of the unknowns is left
  expr::Expr residual;      ///< the equation, as far as it came
  std::vector<Step> steps;  ///< in this order
  std::string obstacle;     ///< why it is not complete: a part of a sentence that begins with "it contains"
};

/// The expression tidied, unless it is so long that this would take longer than all the rest.
expr::Expr neat(expr::Expr e);

/// Removes the unknowns from the equation `target` = 0: each helping equation is solved for one of them in which it is
/// linear, and that is put into the others. A coefficient that the start makes zero is none by which to divide; what
/// cancels up to round-off is gone.
Elimination eliminate(expr::Expr target, const std::vector<expr::Expr>& rows,
                      const std::unordered_set<expr::NodeId>& unknowns, const std::vector<SymbolValues>& points);

/// The same by adding multiples of the helping equations, where these are known.
Elimination combine(expr::Expr target, const std::vector<expr::Expr>& rows, const std::vector<double>& factors,
                    const std::unordered_set<expr::NodeId>& unknowns, const std::vector<SymbolValues>& points);

/// The value of `unknown` by the equation `residual` = 0; invalid where it is not linear in it, or its coefficient is
/// zero at the first point.
expr::Expr solved_for(expr::Expr residual, expr::Expr unknown, const SymbolValues& point);

}  // namespace daedalus::structure
