#include "daedalus/solve/start_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::solve {

using expr::Expr;
using linalg::GaussNewtonOutcome;
using mechanics::Functions;

namespace {

constexpr double consistent = 1e-9;  ///< largest relative residual of a start that counts as consistent

}  // namespace

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 6;
  std::string text;
  const std::size_t shown = std::min(names.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == shown && names.size() <= most ? " and " : ", ";
    text += names[i];
  }
  return names.size() > most ? text + fmt::format(" and {} more", names.size() - most) : text;
}

std::string quoted(const std::string& name) { return "'" + name + "'"; }

Level::Level(const Functions& fn, std::string what, std::vector<Expr> unknowns, std::vector<std::vector<Expr>> known,
             std::vector<Binding> bindings)
    : what_(std::move(what)), unknowns_(std::move(unknowns)), bindings_(std::move(bindings)) {
  std::vector<Expr> residuals;
  for (const Binding& binding : bindings_) residuals.push_back(binding.residual);
  const expr::SparseExpr jacobian = expr::jacobian(residuals, unknowns_);
  pattern_ = {jacobian.rows, jacobian.columns, jacobian.row_start, jacobian.column};
  known.push_back(unknowns_);
  auto numbers = fn.equations.model->numbers();
  for (const auto& block : known)
    for (const Expr& symbol : block) numbers.erase(symbol.id());
  compile::Switches switches;
  std::vector<Expr> terms;
  term_start_.push_back(0);
  for (const Expr& residual : residuals) {
    const std::vector<Expr> more = expr::terms_of(residual);
    terms.insert(terms.end(), more.begin(), more.end());
    term_start_.push_back(terms.size());
  }
  residual_ = compile::compile({known, residuals, &numbers}, switches);
  jacobian_ = compile::compile({known, jacobian.value, &numbers}, switches);
  terms_ = compile::compile({known, terms, &numbers}, switches);
  residual_scratch_ = residual_.make_scratch();
  jacobian_scratch_ = jacobian_.make_scratch();
  terms_scratch_ = terms_.make_scratch();
}

std::vector<double> Level::scales(const double* y) {
  const std::vector<double> terms = evaluate(terms_, terms_scratch_, y);
  const std::vector<double> C = evaluate(jacobian_, jacobian_scratch_, y);
  std::vector<double> result(rows());
  for (std::size_t i = 0; i < rows(); ++i) {
    for (std::size_t k = term_start_[i]; k < term_start_[i + 1]; ++k)
      if (std::isfinite(terms[k])) result[i] = std::max(result[i], std::abs(terms[k]));
    double slope = 0.0;
    for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
      if (std::isfinite(C[k])) slope += std::abs(C[k]);
    result[i] = std::max(result[i], 1e-8 * slope);
    if (result[i] == 0.0) result[i] = 1.0;
  }
  return result;
}

bool Level::check(const double* y, int level, std::vector<Violation>& violations) {
  const std::vector<double> c = residual(y), scale = scales(y);
  bool good = true;
  for (std::size_t i = 0; i < rows(); ++i)
    if (!(std::abs(c[i]) <= consistent * scale[i])) {
      violations.push_back({bindings_[i].name, level, c[i]});
      good = false;
    }
  return good;
}

bool Level::solve(std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                  const std::vector<double>& weight_values, std::string& message) {
  if (rows() == 0) return true;
  linalg::GaussNewtonResult result = attempt(y, fixed, weight, weight_values, rows());
  if (result.outcome == GaussNewtonOutcome::converged) {
    y = result.x;
    return true;
  }
  std::vector<std::size_t> offending = result.offending_rows;
  if (offending.empty())
    for (std::size_t i = 0; i < rows(); ++i) offending.push_back(i);
  blame_bound_values(y, fixed, weight, weight_values, offending);
  message = describe(result, y, offending);
  return false;
}

bool Level::possible(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                     const std::vector<double>& weight_values) {
  return attempt(y, fixed, weight, weight_values, rows()).outcome == GaussNewtonOutcome::converged;
}

std::vector<double> Level::evaluate(const compile::Function& function, compile::Function::Scratch& scratch,
                                    const double* y) {
  std::vector<double> values(function.output_count());
  std::vector<const double*> inputs = known_;
  inputs.push_back(y);
  function(inputs.data(), values.data(), scratch);
  return values;
}

/// Solves the first `count` equations; the constraints stand before the [initial] ones.
linalg::GaussNewtonResult Level::attempt(const std::vector<double>& y, const std::vector<bool>& fixed,
                                         const linalg::Sparsity& weight, const std::vector<double>& weight_values,
                                         std::size_t count) {
  linalg::LeastChangeProblem problem;
  problem.weight = weight;
  problem.weight_values = weight_values;
  problem.jacobian = {
      count,
      pattern_.columns,
      {pattern_.row_start.begin(), pattern_.row_start.begin() + static_cast<std::ptrdiff_t>(count) + 1},
      {pattern_.column.begin(), pattern_.column.begin() + static_cast<std::ptrdiff_t>(pattern_.row_start[count])}};
  const auto take = [](const std::vector<double>& values, std::size_t many, double* to) {
    std::copy(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(many), to);
    return std::all_of(to, to + many, [](double value) { return std::isfinite(value); });
  };
  problem.residual = [this, take, count](const double* x, double* c) { return take(residual(x), count, c); };
  problem.jacobian_values = [this, take, nonzeros = pattern_.row_start[count]](const double* x, double* C) {
    return take(evaluate(jacobian_, jacobian_scratch_, x), nonzeros, C);
  };
  problem.fixed = fixed;
  problem.scales = scales(y.data());
  problem.scales.resize(count);
  linalg::GaussNewtonResult result = linalg::GaussNewton(problem).solve(y.data());
  if (result.outcome == GaussNewtonOutcome::stalled) {
    // Terms that vanish at the given point (all velocities 0) have their size only where the solution is.
    const std::vector<double> there = scales(result.x.data());
    for (std::size_t i = 0; i < count; ++i) problem.scales[i] = std::max(problem.scales[i], there[i]);
    result = linalg::GaussNewton(problem).solve(y.data());
  }
  if (result.outcome != GaussNewtonOutcome::singular_weight) return result;
  // no usable mass matrix at this point: plain least squares
  const std::size_t n = unknowns_.size();
  problem.weight = {n, n, {0}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    problem.weight.column.push_back(i);
    problem.weight.row_start.push_back(i + 1);
  }
  problem.weight_values.assign(n, 1.0);
  return linalg::GaussNewton(problem).solve(y.data());
}

/// Throws where the constraints alone could be satisfied: then what is fixed contradicts them.
void Level::blame_bound_values(const std::vector<double>& y, const std::vector<bool>& fixed,
                               const linalg::Sparsity& weight, const std::vector<double>& weight_values,
                               const std::vector<std::size_t>& offending) {
  const auto constraints = static_cast<std::size_t>(
      std::count_if(bindings_.begin(), bindings_.end(), [](const Binding& binding) { return !binding.initial; }));
  const bool any_fixed = std::find(fixed.begin(), fixed.end(), true) != fixed.end();
  if (!any_fixed && constraints == rows()) return;
  if (constraints > 0 &&
      attempt(y, std::vector<bool>(fixed.size(), false), weight, weight_values, constraints).outcome !=
          GaussNewtonOutcome::converged)
    return;
  std::vector<std::string> equations, values;
  std::unordered_set<std::size_t> seen;
  for (const std::size_t i : offending) {
    equations.push_back((bindings_[i].initial ? "[initial] " : "") + quoted(bindings_[i].name));
    for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
      if (fixed[pattern_.column[k]] && seen.insert(pattern_.column[k]).second)
        values.push_back(fmt::format("{} = {}", unknowns_[pattern_.column[k]].name(), brief(y[pattern_.column[k]])));
  }
  throw Error(
      "contradicting-fixed",
      values.empty() ? fmt::format("{} cannot hold together at the start", listed(equations))
                     : fmt::format("the fixed {} {} contradict{} {}", values.size() == 1 ? "value" : "values",
                                   listed(values), values.size() == 1 ? "s" : "", listed(equations)),
      values.empty() ? "drop one of them" : "drop `fixed` (or --fix) from one of the values, so that it can move",
      bindings_[offending.front()].place);
}

std::string Level::describe(const linalg::GaussNewtonResult& result, const std::vector<double>& y,
                            const std::vector<std::size_t>& offending) {
  std::vector<std::string> names, unknowns;
  std::unordered_set<std::size_t> seen;
  for (const std::size_t i : offending) {
    names.push_back(quoted(bindings_[i].name));
    for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
      if (seen.insert(pattern_.column[k]).second) unknowns.push_back(unknowns_[pattern_.column[k]].name());
  }
  const std::string noun = names.size() == 1 ? "constraint" : "constraints";
  switch (result.outcome) {
    case GaussNewtonOutcome::rank_deficient_inconsistent:
      return fmt::format(
          "the {} {} contradict{} each other on {} level: they depend on one another, but no {} satisfy all of them",
          noun, listed(names), names.size() == 1 ? "s" : "", what_, listed(unknowns));
    case GaussNewtonOutcome::not_finite: {
      const std::vector<double> c = residual(y.data());
      for (std::size_t i = 0; i < rows(); ++i)
        if (!std::isfinite(c[i]))
          return fmt::format("the constraint '{}' is not a finite number at the given start", bindings_[i].name);
      return "the derivative of a constraint is not a finite number at the given start";
    }
    default:
      return fmt::format(
          "no consistent start: the {} {} cannot be reached from the given values of {} (the residual stays at {} of "
          "its largest "
          "term); other start values or parameters are needed",
          noun, listed(names), listed(unknowns), brief(result.residual, 2));
  }
}

}  // namespace daedalus::solve
