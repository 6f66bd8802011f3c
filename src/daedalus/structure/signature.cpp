#include "daedalus/structure/signature.hpp"

#include <fmt/format.h>

#include <cmath>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/expr/tidy.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::Node;
using expr::NodeId;
using expr::Op;

namespace {

/// Whether an expression is zero whatever its symbols are. Sums in which terms may cancel are tried with numbers, and
/// expanded only where these say zero: an answer "yes" is always proven.
class Vanishing {
 public:
  bool operator()(Expr e) {
    expr::Graph& graph = e.graph();
    std::vector<NodeId> factors{e.id()};
    while (!factors.empty()) {
      const NodeId id = factors.back();
      factors.pop_back();
      const Node node = graph.node(id);
      switch (node.op) {
        case Op::constant:
          if (node.value == 0.0) return true;
          break;
        case Op::neg:
        case Op::div:
          factors.push_back(node.a);
          break;
        case Op::mul:
          factors.push_back(node.a);
          factors.push_back(node.b);
          break;
        case Op::add:
        case Op::sub:
          if (cancels(Expr(&graph, node.a), Expr(&graph, node.b), node.op) &&
              expr::tidy(Expr(&graph, id)).is_constant(0.0))
            return true;
          break;
        default:
          break;
      }
    }
    return false;
  }

 private:
  bool cancels(Expr a, Expr b, Op op) {
    const Expr both[] = {a, b};
    for (const NodeId symbol : expr::symbols_of(both))
      if (!values_.contains(symbol)) values_.emplace(symbol, next());
    const double x = expr::evaluate(a, values_), y = expr::evaluate(b, values_);
    return std::abs(op == Op::add ? x + y : x - y) <= 1e-9 * (std::abs(x) + std::abs(y));
  }

  /// Numbers between 0.5 and 1.5 without relations: multiples of the golden section.
  double next() {
    state_ += 0.6180339887498949;
    state_ -= std::floor(state_);
    return 0.5 + state_;
  }

  std::unordered_map<NodeId, double> values_;
  double state_ = 0.1;
};

}  // namespace

void add_numbers(EquationSet& system, const model::Model& model) {
  system.graph = model.graph;
  system.time = model.time;
  for (const model::Parameter& parameter : model.parameters)
    system.parameters.emplace(parameter.symbol.id(), parameter.value);
  for (const model::Parameter& value : model.discrete) system.discrete.emplace(value.symbol.id(), value.value);
}

void add_unknown(EquationSet& system, const model::Unknown& unknown) {
  EquationSet::Unknown added{unknown.name, {unknown.symbol}, {}, unknown.nominal};
  added.derivatives.insert(added.derivatives.end(), unknown.rates.begin(), unknown.rates.end());
  for (std::size_t k = 0; k < added.derivatives.size(); ++k)
    added.guess.push_back(k < unknown.start.size() ? unknown.start[k].value : 0.0);
  system.unknowns.push_back(std::move(added));
}

EquationSet equations_of(const model::Model& model) {
  EquationSet result;
  add_numbers(result, model);
  for (const model::Unknown& variable : model.variables) add_unknown(result, variable);
  if (model.kind == model::Kind::dae) {
    for (const model::Equation& equation : model.equations)
      result.equations.push_back({equation.name, equation.residual, equation.place});
    return result;
  }
  const auto found = model.places.find("E");
  const Place place = found == model.places.end() ? Place{model.source} : found->second;
  for (std::size_t i = 0; i < model.E.rows; ++i)
    result.equations.push_back({fmt::format("row {}", i + 1), model.graph->constant(0.0), place});
  const auto subtract = [&](std::size_t i, Expr term) {
    result.equations[i].residual = result.equations[i].residual - term;
  };
  for (const model::Entry& entry : model.E.entries)
    result.equations[entry.row].residual =
        result.equations[entry.row].residual + entry.value * model.variables[entry.column].rates.at(0);
  for (const model::Entry& entry : model.A.entries)
    subtract(entry.row, entry.value * model.variables[entry.column].symbol);
  for (std::size_t i = 0; i < result.equations.size() && i < model.f.size(); ++i) subtract(i, model.f[i]);
  return result;
}

Signature signature_of(const EquationSet& system) {
  Signature sigma{{system.equations.size(), system.unknowns.size(), {0}, {}}, {}, {}};
  std::vector<Expr> residuals, symbols;
  std::vector<std::size_t> unknown;  // of each symbol
  std::vector<int> times;
  for (const EquationSet::Equation& equation : system.equations) residuals.push_back(equation.residual);
  for (std::size_t j = 0; j < system.unknowns.size(); ++j)
    for (std::size_t k = 0; k < system.unknowns[j].derivatives.size(); ++k) {
      symbols.push_back(system.unknowns[j].derivatives[k]);
      unknown.push_back(j);
      times.push_back(static_cast<int>(k));
    }
  if (residuals.empty() || symbols.empty()) {
    sigma.pattern.row_start.assign(residuals.size() + 1, 0);
    return sigma;
  }
  const expr::SparseExpr jacobian = expr::jacobian(residuals, symbols);
  std::unordered_map<NodeId, Expr> numbers;
  for (const auto& [symbol, value] : system.parameters) numbers.emplace(symbol, system.graph->constant(value));
  const std::vector<Expr> with_numbers = expr::substitute(jacobian.value, numbers);

  Vanishing vanishes;
  for (std::size_t i = 0; i < jacobian.rows; ++i) {
    // Derivatives of one unknown stand together and rise: the last one that does not vanish is the highest.
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1];) {
      const std::size_t j = unknown[jacobian.column[k]];
      std::size_t end = k;
      while (end < jacobian.row_start[i + 1] && unknown[jacobian.column[end]] == j) ++end;
      for (std::size_t last = end; last-- > k;) {
        if (vanishes(jacobian.value[last]) || vanishes(with_numbers[last])) continue;
        sigma.pattern.column.push_back(j);
        sigma.order.push_back(times[jacobian.column[last]]);
        sigma.derivative.push_back(jacobian.value[last]);
        break;
      }
      k = end;
    }
    sigma.pattern.row_start.push_back(sigma.pattern.column.size());
  }
  return sigma;
}

}  // namespace daedalus::structure
