// Gauss elimination with equations in place of numbers: R(t, x, w) = 0 that is linear in w_j gives w_j = -R(w_j = 0)/R_wj,
// which is put into the others. For equations that are linear in w it is what the elimination of their matrix does. Whether
// a coefficient is zero is asked at points: after a substitution dT/ds = T_s + T_wj S_s, and what is 1e-11 of the
// largest of the parts that were added up is what round-off leaves of zero.

#include "daedalus/structure/elimination.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/expr/tidy.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

namespace {

constexpr double negligible = 1e-11;  // of a coefficient against the parts of which it is the sum
constexpr double small = 1e-8;        // of a coefficient by which we divide against the others of its equation

bool depends(Expr e, NodeId symbol) {
  const std::vector<NodeId> symbols = expr::symbols_of(e);
  return std::ranges::binary_search(symbols, symbol);
}

bool depends(Expr e, const std::unordered_set<NodeId>& symbols) {
  return std::ranges::any_of(expr::symbols_of(e), [&](NodeId id) { return symbols.contains(id); });
}

/// What remains of an equation, with the sizes that its coefficients once had at each point.
class Target {
 public:
  Target(Expr residual, const std::vector<SymbolValues>& points) : residual_(residual), points_(points), sizes_(points.size()) {
    measure(residual_, nullptr);
  }

  Expr residual() const { return residual_; }

  void put_in(Expr unknown, Expr value) {
    measure(value, &unknown);
    residual_ = expr::substitute(residual_, {{unknown.id(), value}});
    measure(residual_, nullptr);
  }

  void add(Expr part) {
    measure(part, nullptr);
    residual_ = residual_ + part;
  }

  /// Removes symbols that only seem to occur.
  void clean() {
    residual_ = neat(residual_);
    for (const NodeId id : expr::symbols_of(residual_)) {
      if (!points_[0].contains(id)) continue;
      const Expr symbol(&residual_.graph(), id), coefficient = expr::partial(residual_, symbol);
      bool zero = true;
      for (std::size_t p = 0; p < points_.size() && zero; ++p) {
        const double value = std::abs(expr::evaluate(coefficient, points_[p]));
        const auto size = sizes_[p].find(id);
        if (std::isfinite(value)) zero = value <= negligible * (size == sizes_[p].end() ? 0.0 : size->second);
      }
      if (!zero) continue;
      const double instead = depends(coefficient, id) ? points_[0].at(id) : 0.0;
      residual_ = expr::substitute(residual_, {{id, residual_.graph().constant(instead)}});
    }
    residual_ = neat(residual_);
  }

 private:
  /// Takes down how large the coefficients of a part are: that of the equation itself, or of the value of an unknown.
  void measure(Expr part, const Expr* unknown) {
    const Expr by_unknown = unknown ? expr::partial(residual_, *unknown) : Expr();
    for (const NodeId id : expr::symbols_of(part)) {
      if (!points_[0].contains(id)) continue;
      const Expr coefficient = expr::partial(part, Expr(&part.graph(), id));
      for (std::size_t p = 0; p < points_.size(); ++p) {
        double value = std::abs(expr::evaluate(coefficient, points_[p]));
        if (unknown) value *= std::abs(expr::evaluate(by_unknown, points_[p]));
        double& size = sizes_[p][id];
        if (std::isfinite(value)) size = std::max(size, value);
      }
    }
  }

  Expr residual_;
  const std::vector<SymbolValues>& points_;
  std::vector<std::unordered_map<NodeId, double>> sizes_;
};

/// The best equation to solve, and for what.
struct Pivot {
  std::size_t row = 0;
  Expr unknown, value;
  double cost = 0.0;
};

/// How much we would rather divide by something else.
double cost_of(Expr coefficient, const std::unordered_set<NodeId>& unknowns) {
  if (coefficient.is_constant()) return std::abs(coefficient.node().value) == 1.0 ? 0.0 : 1.0;
  return depends(coefficient, unknowns) ? 8.0 : coefficient.is_symbol() ? 2.0 : 4.0;
}

Pivot best_pivot(const std::vector<Expr>& rows, const std::vector<bool>& used, Expr target,
                 const std::unordered_set<NodeId>& unknowns, const SymbolValues& point) {
  Pivot best;
  best.cost = INFINITY;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (used[i]) continue;
    struct Candidate {
      Expr unknown, coefficient;
      double size;
    };
    std::vector<Candidate> candidates;
    double largest = 0.0;
    for (const NodeId id : expr::symbols_of(rows[i])) {
      if (!unknowns.contains(id)) continue;
      const Expr unknown(&rows[i].graph(), id), coefficient = neat(expr::partial(rows[i], unknown));
      const double size = std::abs(expr::evaluate(coefficient, point));
      if (!std::isfinite(size)) continue;
      largest = std::max(largest, size);
      candidates.push_back({unknown, coefficient, size});
    }
    for (const Candidate& candidate : candidates) {
      if (!(candidate.size > small * largest) || depends(candidate.coefficient, candidate.unknown.id())) continue;
      double cost = cost_of(candidate.coefficient, unknowns) + static_cast<double>(candidates.size());
      if (candidate.size < 0.1 * largest) cost += 3.0;
      if (!depends(target, candidate.unknown.id())) cost += 100.0;
      if (cost < best.cost) best = {i, candidate.unknown, solved_for(rows[i], candidate.unknown, point), cost};
    }
  }
  return best;
}

void finish(Target& left, const std::unordered_set<NodeId>& unknowns, Elimination& result) {
  left.clean();
  result.residual = left.residual();
  result.complete = true;
  for (const NodeId id : expr::symbols_of(result.residual)) {
    if (!unknowns.contains(id)) continue;
    result.complete = false;
    result.obstacle = fmt::format("it contains {}, for which none of these equations can be solved",
                                  Expr(&result.residual.graph(), id).name());
  }
}

}  // namespace

Expr neat(Expr e) {
  constexpr std::size_t most_nodes = 300;
  const Expr roots[] = {e};
  return expr::reachable(roots).size() <= most_nodes ? expr::tidy(e) : e;
}

Expr solved_for(Expr residual, Expr unknown, const SymbolValues& point) {
  const Expr coefficient = neat(expr::partial(residual, unknown));
  if (depends(coefficient, unknown.id())) return {};
  if (const double value = expr::evaluate(coefficient, point); value == 0.0 || !std::isfinite(value)) return {};
  const Expr rest = expr::substitute(residual, {{unknown.id(), residual.graph().constant(0.0)}});
  return neat(-(rest / coefficient));
}

Elimination eliminate(Expr target, const std::vector<Expr>& rows, const std::unordered_set<NodeId>& unknowns,
                      const std::vector<SymbolValues>& points) {
  Elimination result;
  Target left(target, points);
  std::vector<Expr> open = rows;
  std::vector<bool> used(rows.size(), false);
  for (std::size_t round = 0; round < rows.size() && depends(left.residual(), unknowns); ++round) {
    const Pivot pivot = best_pivot(open, used, left.residual(), unknowns, points[0]);
    if (!pivot.value.valid()) break;
    used[pivot.row] = true;
    for (std::size_t i = 0; i < open.size(); ++i)
      if (!used[i] && depends(open[i], pivot.unknown.id()))
        open[i] = neat(expr::substitute(open[i], {{pivot.unknown.id(), pivot.value}}));
    if (!depends(left.residual(), pivot.unknown.id())) continue;
    left.put_in(pivot.unknown, pivot.value);
    result.steps.push_back({pivot.row, pivot.unknown, pivot.value});
  }
  finish(left, unknowns, result);
  return result;
}

Elimination combine(Expr target, const std::vector<Expr>& rows, const std::vector<double>& factors,
                    const std::unordered_set<NodeId>& unknowns, const std::vector<SymbolValues>& points) {
  Elimination result;
  Target left(target, points);
  for (std::size_t i = 0; i < rows.size(); ++i) left.add(factors[i] * rows[i]);
  finish(left, unknowns, result);
  return result;
}

}  // namespace daedalus::structure
