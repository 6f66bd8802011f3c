// D = d/dt + sum_j y^(j+1) d/dy^(j) commutes with partial derivatives up to a shift, d/dy^(j) D = D d/dy^(j) +
// d/dy^(j-1), so that by induction
//     d(D^k F)/dy^(j) = C(k, j) D^(k-j) F_y + C(k, j-1) D^(k-j+1) F_y':
// the derivatives of the entries of F_y and F_y' are all that the Jacobians of every level need.
#include "daedalus/structure/derivative_array.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/error.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

namespace {

constexpr std::size_t most_nodes = 4'000'000;  // of the graph, some 200 MB

linalg::Sparsity pattern_of(const expr::SparseExpr& matrix) {
  return {matrix.rows, matrix.columns, matrix.row_start, matrix.column};
}

}  // namespace

DerivativeArray::DerivativeArray(std::shared_ptr<const DaeFunctions> functions)
    : functions_(std::move(functions)), numbers_(functions_->model->numbers()), switches_(functions_->switches) {
  const compile::ImplicitEquations& eq = functions_->equations;
  expr::Graph& graph = eq.t.graph();
  direction_.emplace(eq.t.id(), graph.constant(1.0));
  jets_.push_back(eq.y);
  append_jet();
  Level first;
  first.F = eq.F;
  const expr::SparseExpr F_y = expr::jacobian(eq.F, jets_[0]), F_dy = expr::jacobian(eq.F, jets_[1]);
  by_y_ = pattern_of(F_y);
  by_dy_ = pattern_of(F_dy);
  first.F_y = F_y.value;
  first.F_dy = F_dy.value;
  tables_ =
      std::ranges::any_of(expr::reachable(eq.F), [&](NodeId id) { return graph.node(id).op == expr::Op::lookup; });
  finish(std::move(first));
}

/// Derivatives that occur in no equation get symbols of their own.
void DerivativeArray::append_jet() {
  const compile::ImplicitEquations& eq = functions_->equations;
  const std::size_t k = jets_.size();
  std::vector<Expr> jet;
  for (std::size_t i = 0; i < eq.y.size(); ++i) {
    const bool given = k == 1 && eq.dy[i].valid();
    jet.push_back(given ? eq.dy[i] : eq.t.graph().symbol(fmt::format("jet{}.{}", k, functions_->unknowns[i].name)));
    direction_.insert_or_assign(jets_.back()[i].id(), jet.back());
  }
  jets_.push_back(std::move(jet));
}

bool DerivativeArray::extend(std::size_t count) {
  const expr::Graph& graph = functions_->equations.t.graph();
  while (levels_.size() < count) {
    if (graph.size() > most_nodes) return false;
    append_jet();
    const Level& last = levels_.back();
    std::vector<Expr> roots = last.F;
    roots.insert(roots.end(), last.F_y.begin(), last.F_y.end());
    roots.insert(roots.end(), last.F_dy.begin(), last.F_dy.end());
    const std::vector<Expr> all = expr::derivative_along(roots, direction_);
    const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i); };
    const std::size_t n = last.F.size(), p = n + last.F_y.size();
    Level next;
    next.F.assign(at(0), at(n));
    next.F_y.assign(at(n), at(p));
    next.F_dy.assign(at(p), all.end());
    finish(std::move(next));
  }
  return true;
}

void DerivativeArray::finish(Level level) {
  std::vector<std::vector<Expr>> inputs{{functions_->equations.t}, {}};
  for (const std::vector<Expr>& jet : jets_) inputs[1].insert(inputs[1].end(), jet.begin(), jet.end());
  std::vector<Expr> outputs = level.F;
  outputs.insert(outputs.end(), level.F_y.begin(), level.F_y.end());
  outputs.insert(outputs.end(), level.F_dy.begin(), level.F_dy.end());
  // Derivatives are decided by the switches of what they are derivatives of.
  level.function = compile::compile(
      {std::move(inputs), std::move(outputs), &numbers_, compile::Request::NewSwitches::none}, switches_);
  if (tables_) level.rough = rough_tables(level.F);
  for (RoughTable& one : level.rough) one.level = levels_.size();
  levels_.push_back(std::move(level));
}

/// A k-th derivative of a table exists, as a function, where the (k-1)-th is continuous.
std::vector<DerivativeArray::RoughTable> rough_tables(const std::vector<Expr>& F) {
  std::vector<DerivativeArray::RoughTable> found;
  for (std::size_t i = 0; i < F.size(); ++i) {
    const expr::Graph& graph = F[i].graph();
    for (const NodeId id : expr::reachable(std::span(&F[i], 1))) {
      if (graph.node(id).op != expr::Op::lookup) continue;
      const expr::Graph::TableUse use = graph.table(graph.node(id).index);
      if (!use.data || use.times <= use.data->smoothness() + 1) continue;
      const std::string name = graph.table_name(graph.node(id).index);
      found.push_back({i, 0, name.substr(0, name.find('\'')), use.times});
      break;
    }
  }
  return found;
}

void refuse_rough_tables(const DaeFunctions& functions, const std::vector<DerivativeArray::RoughTable>& rough) {
  constexpr const char* ordinal[] = {"", "first", "second", "third"};
  Faults faults;
  for (const DerivativeArray::RoughTable& one : rough)
    faults.add("table-not-smooth",
               fmt::format("the equation '{}' must be differentiated {}, and so needs {} of the table '{}', which its "
                           "interpolation does not have",
                           functions.rows[one.row].name, one.level == 1 ? "once" : fmt::format("{} times", one.level),
                           one.times < 4 ? fmt::format("the {} derivative", ordinal[one.times])
                                         : fmt::format("derivative {}", one.times),
                           one.table),
               one.times == 1   ? "write interpolation = \"linear\", \"monotone\" or \"spline\""
               : one.times == 2 ? "write interpolation = \"monotone\" or \"spline\""
               : one.times == 3 ? "write interpolation = \"spline\""
                                : "write a formula instead of the table: no interpolation is smooth enough",
               functions.rows[one.row].place);
  faults.throw_if_any();
}

}  // namespace daedalus::structure
