// 002, Definition 2: h has relative degree r at x if L_g L_f^k h = 0 near x for k < r - 1, and L_g L_f^(r-1) h is not
// zero at x. With g^(0) = g and g^(k+1) = g^(k)_t + g^(k)_x f that is: dg^(k)/dz = 0 near the point for k < r, and not
// zero at it for k = r; r = 0 is a constraint that contains z itself. Several constraints have a vector relative degree
// if the matrix of rows dg_j^(r_j)/dz is regular; then z = z(t, x), and one more derivative of each gives z' (Lemma 1):
// the index is the largest r_j + 1.
#include "daedalus/structure/relative_degree.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/linalg/rank.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

namespace {

constexpr std::size_t neighbours = 4;
constexpr double spread = 1e-2;       // of neighbours, relative to the size of unknowns
constexpr std::size_t most_nodes = 50'000;  // of derivatives that still show no z
constexpr double negligible = 1e-11;  // of dg/dz against dg/dx, both times the size of unknowns: round-off

/// x' = f for the rows that have derivatives; empty where a row has several, or one not linearly.
std::vector<Expr> explicit_rates(const DaeFunctions& functions, std::vector<bool>& is_constraint) {
  const compile::ImplicitEquations& eq = functions.equations;
  const std::vector<Expr> rates(eq.dy.begin(), eq.dy.begin() + static_cast<std::ptrdiff_t>(functions.differential));
  is_constraint.assign(eq.F.size(), true);
  if (rates.empty()) return {};
  expr::Graph& graph = eq.t.graph();
  std::unordered_set<NodeId> symbols;
  std::unordered_map<NodeId, Expr> none;
  for (const Expr& rate : rates) {
    symbols.insert(rate.id());
    none.emplace(rate.id(), graph.constant(0.0));
  }
  const expr::SparseExpr leading = expr::jacobian(eq.F, rates);
  const std::vector<bool> nonlinear = expr::dependence(leading.value, symbols);
  const std::vector<Expr> rest = expr::substitute(eq.F, none);
  std::vector<Expr> f(rates.size());
  for (std::size_t i = 0; i < eq.F.size(); ++i) {
    const std::size_t begin = leading.row_start[i], count = leading.row_start[i + 1] - begin;
    if (count == 0) continue;
    if (count > 1 || nonlinear[begin] || f[leading.column[begin]].valid()) return {};
    f[leading.column[begin]] = -(rest[i] / leading.value[begin]);
    is_constraint[i] = false;
  }
  return std::ranges::all_of(f, [](const Expr& e) { return e.valid(); }) ? f : std::vector<Expr>{};
}

/// The point and its neighbours.
std::vector<ArrayPoint> samples(const ArrayPoint& point, const std::vector<double>& size) {
  std::vector<ArrayPoint> result{point};
  std::mt19937_64 random(1);
  for (std::size_t p = 0; p < neighbours; ++p) {
    result.push_back(point);
    for (std::size_t i = 0; i < size.size(); ++i)
      result.back().jets[i] += spread * size[i] * (static_cast<double>(random() >> 11) * 0x1p-52 - 1.0);
  }
  return result;
}

}  // namespace

RelativeDegrees relative_degrees(const DaeFunctions& functions, const ArrayPoint& point, const double* frozen) {
  RelativeDegrees result;
  const compile::ImplicitEquations& eq = functions.equations;
  const std::size_t n = functions.dimension(), differential = functions.differential, m = n - differential;
  std::vector<bool> is_constraint;
  const std::vector<Expr> f = explicit_rates(functions, is_constraint);
  if (f.size() != differential) return result;
  result.semi_explicit = true;
  std::vector<Expr> g;
  for (std::size_t i = 0; i < n; ++i)
    if (is_constraint[i]) {
      result.rows.push_back(i);
      g.push_back(eq.F[i]);
    }
  result.degree.resize(m);

  std::vector<double> size(n);
  for (std::size_t i = 0; i < n; ++i) size[i] = std::max(std::abs(point.jets[i]), functions.unknowns[i].of->nominal);
  const std::vector<ArrayPoint> points = samples(point, size);
  expr::Direction along{{eq.t.id(), eq.t.graph().constant(1.0)}};
  for (std::size_t i = 0; i < differential; ++i) along.emplace(eq.y[i].id(), f[i]);
  const auto numbers = functions.model->numbers();
  compile::Switches switches = functions.switches;

  std::vector<double> decoupling(m * m, 0.0);
  std::vector<bool> open(m, true);
  for (std::size_t k = 0; k <= n && std::ranges::find(open, true) != open.end(); ++k) {
    const expr::SparseExpr by_y = expr::jacobian(g, eq.y);
    const compile::Function function =
        compile::compile({{{eq.t}, eq.y}, by_y.value, &numbers, compile::Request::NewSwitches::none}, switches);
    compile::Function::Scratch scratch = function.make_scratch();
    std::vector<double> values(function.output_count());
    std::vector<bool> here(m, false), nearby(m, false);
    for (std::size_t p = 0; p < points.size(); ++p) {
      const double* inputs[] = {&points[p].t, points[p].jets.data()};
      function(inputs, values.data(), scratch, frozen);
      for (std::size_t j = 0; j < m; ++j) {
        double by_x = 0.0, by_z = 0.0;
        for (std::size_t e = by_y.row_start[j]; e < by_y.row_start[j + 1]; ++e) {
          const std::size_t i = by_y.column[e];
          double& top = i < differential ? by_x : by_z;
          top = std::max(top, std::abs(values[e]) * size[i]);
          if (p == 0 && open[j] && i >= differential) decoupling[j * m + i - differential] = values[e] * size[i];
        }
        if (by_z > negligible * by_x) (p == 0 ? here : nearby)[j] = true;
      }
    }
    for (std::size_t j = 0; j < m; ++j) {
      if (!open[j] || (!here[j] && !nearby[j])) continue;
      open[j] = false;
      if (here[j]) result.degree[j] = k;
    }
    g = expr::derivative_along(g, along);
    if (expr::reachable(g).size() > most_nodes) break;
  }

  linalg::Sparsity full;
  full.rows = full.columns = m;
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t i = 0; i < m; ++i) full.column.push_back(i);
    full.row_start.push_back(full.column.size());
  }
  const linalg::RankDecision decision = linalg::row_rank(full, decoupling.data());
  result.rank = decision.rank;
  result.kept = decision.kept;
  result.dropped = decision.dropped;
  std::size_t largest = 0;
  for (const auto& degree : result.degree) {
    if (!degree) return result;
    largest = std::max(largest, *degree);
  }
  if (result.rank == m) result.index = m == 0 ? 0 : largest + 1;
  return result;
}

}  // namespace daedalus::structure
