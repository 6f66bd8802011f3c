// With jets x, x', x'', ... as symbols the total derivative of an expression is its derivative in the direction
//     t -> 1,   x^(k) -> x^(k+1).
// Equal parts of an expression are one node, so that f^(k) costs a number of nodes that grows with k^2 and not with 2^k.

#include "daedalus/structure/prolongation.hpp"

#include <algorithm>

#include "daedalus/expr/derivative.hpp"

namespace daedalus::structure {

using expr::Expr;

Expr derivative_symbol(const EquationSet::Unknown& unknown, std::size_t times) {
  if (times < unknown.derivatives.size()) return unknown.derivatives[times];
  return unknown.derivatives.front().graph().symbol(model::derivative_name(unknown.name, times));
}

std::vector<std::vector<Expr>> prolong(const EquationSet& system, const std::vector<int>& times) {
  const int most = times.empty() ? 0 : *std::ranges::max_element(times);
  expr::Direction direction;
  if (most > 0) direction.emplace(system.time.id(), system.time.graph().constant(1.0));
  for (const EquationSet::Unknown& unknown : system.unknowns)
    for (std::size_t k = 0; most > 0 && k < unknown.derivatives.size() + static_cast<std::size_t>(most); ++k)
      direction.emplace(derivative_symbol(unknown, k).id(), derivative_symbol(unknown, k + 1));

  std::vector<std::vector<Expr>> result;
  for (const EquationSet::Equation& equation : system.equations) result.push_back({equation.residual});
  for (int level = 1; level <= most; ++level) {
    std::vector<Expr> last;
    for (std::size_t i = 0; i < result.size(); ++i)
      if (times[i] >= level) last.push_back(result[i].back());
    const std::vector<Expr> next = expr::derivative_along(last, direction);
    for (std::size_t i = 0, k = 0; i < result.size(); ++i)
      if (times[i] >= level) result[i].push_back(next[k++]);
  }
  return result;
}

}  // namespace daedalus::structure
