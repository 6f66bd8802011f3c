#include "daedalus/structure/sampled_equations.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_set>

#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/collect.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/expr/tidy.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

namespace {

constexpr double nothing = 1e-10;    ///< of a sum, beside its terms
constexpr double round_off = 1e-12;  ///< of coefficients that cancel

/// Symbols whose values decide between branches: what depends on them need not have a derivative by them.
std::unordered_set<NodeId> deciding(const std::vector<Expr>& roots) {
  std::unordered_set<NodeId> result;
  if (roots.empty()) return result;
  expr::Graph& graph = roots[0].graph();
  std::vector<Expr> decisions;
  for (const NodeId id : expr::reachable(roots))
    if (compile::is_switched(graph.node(id).op) || graph.node(id).op == expr::Op::choose)
      decisions.push_back(Expr(&graph, id));
  for (const NodeId id : expr::symbols_of(decisions)) result.insert(id);
  return result;
}

}  // namespace

SampledEquations::Values SampledEquations::operator()(const std::vector<Expr>& outputs) const {
  if (outputs.empty()) return Values(enough);
  const std::vector<NodeId> used = expr::symbols_of(outputs);
  struct Input {
    double guess, size;
  };
  std::vector<Expr> symbols, discrete;
  std::vector<Input> inputs;
  for (const EquationSet::Unknown& unknown : system_.unknowns)
    for (std::size_t k = 0; k < unknown.derivatives.size(); ++k) {
      if (!std::ranges::binary_search(used, unknown.derivatives[k].id())) continue;
      const double guess = k < unknown.guess.size() ? unknown.guess[k] : 0.0;
      symbols.push_back(unknown.derivatives[k]);
      inputs.push_back({guess, std::max(std::abs(guess), unknown.nominal)});
    }
  for (const auto& [symbol, value] : system_.discrete) discrete.emplace_back(system_.graph.get(), symbol);
  compile::Switches switches;
  const compile::Function function =
      compile::compile({{{system_.time}, symbols, discrete}, outputs, &system_.parameters}, switches);
  compile::Function::Scratch scratch = function.make_scratch();
  std::mt19937_64 random(1);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1.0; };
  Values result;
  std::vector<double> point(symbols.size()), held(discrete.size()), values(outputs.size());
  for (const double spread : {0.05, 0.1, 0.1, 0.5, 1.0, 3.0, 3.0}) {
    const double t = t_ + 0.3 * std::min(spread, 1.0) * span_ * std::abs(uniform());
    for (std::size_t k = 0; k < point.size(); ++k) point[k] = inputs[k].guess + spread * uniform() * inputs[k].size;
    // Held values may be anything after an event.
    std::size_t number = 0;
    for (const auto& [symbol, value] : system_.discrete)
      held[number++] = value + (spread > 0.4 ? spread * uniform() * std::max(1.0, std::abs(value)) : 0.0);
    const double* blocks[] = {&t, point.data(), held.data()};
    function(blocks, values.data(), scratch);
    if (std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) result.push_back(values);
  }
  return result;
}

std::vector<SampledEquations::Jet> SampledEquations::jets_of(const std::vector<Expr>& terms) const {
  const std::vector<NodeId> used = expr::symbols_of(terms);
  std::vector<Jet> result;
  for (const EquationSet::Unknown& unknown : system_.unknowns)
    for (std::size_t k = 0; k < unknown.derivatives.size(); ++k)
      if (std::ranges::binary_search(used, unknown.derivatives[k].id()))
        result.emplace_back(unknown.derivatives[k], unknown.guess[k]);
  return result;
}

std::optional<std::vector<SampledEquations::Jet>> SampledEquations::vanishing(const std::vector<Jet>& jets,
                                                                              const std::vector<Expr>& terms,
                                                                              const std::vector<Sum>& sums) const {
  const Values values = (*this)(terms);
  if (values.size() < enough) return std::nullopt;
  std::vector<Jet> result;
  for (std::size_t s = 0; s < sums.size(); ++s) {
    const bool vanishes = std::ranges::all_of(values, [&](const std::vector<double>& at) {
      double sum = 0.0, size = 0.0;
      for (const auto& [place, factor] : sums[s]) {
        sum += factor * at[place];
        size += std::abs(factor * at[place]);
      }
      return std::abs(sum) <= nothing * size;
    });
    if (vanishes) result.push_back(jets[s]);
  }
  return result;
}

std::optional<std::vector<SampledEquations::Jet>> SampledEquations::independent_of(
    const std::vector<Expr>& terms, const std::vector<double>& factors) const {
  const std::vector<Jet> jets = jets_of(terms);
  std::vector<Expr> symbols;
  for (const Jet& jet : jets) symbols.push_back(jet.first);
  const expr::SparseExpr jacobian = expr::jacobian(terms, symbols);
  std::vector<Sum> sums(jets.size());
  for (std::size_t i = 0; i < terms.size(); ++i)
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k)
      sums[jacobian.column[k]].emplace_back(k, factors[i]);
  return vanishing(jets, jacobian.value, sums);
}

bool SampledEquations::remove(Expr& residual, const std::vector<Jet>& symbols) const {
  if (symbols.empty()) return true;
  const std::unordered_set<NodeId> deciders = deciding({residual});
  for (const auto& [symbol, guess] : symbols)
    if (deciders.contains(symbol.id())) return false;
  for (const bool zero : {true, false}) {
    std::unordered_map<NodeId, Expr> numbers;
    for (const auto& [symbol, guess] : symbols)
      numbers.emplace(symbol.id(), system_.graph->constant(zero ? 0.0 : guess));
    const Expr replaced = expr::substitute(residual, numbers);
    if ((*this)({replaced}).size() < enough) continue;
    // What was part of the terms that drop out cancels as well, and may be large: exponentials of inputs, beside currents.
    // What is left of whole equations that cancel, 1e-16 of them, is as large as others wherever they are.
    const Expr cleaned = expr::tidy(expr::collected(replaced, system_.parameters, round_off), round_off);
    residual = (*this)({cleaned}).size() < enough ? replaced : cleaned;
    return true;
  }
  return false;
}

}  // namespace daedalus::structure
