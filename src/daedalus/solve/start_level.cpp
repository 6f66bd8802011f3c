#include "daedalus/solve/start_level.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "daedalus/base/finite.hpp"
#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/compile/native.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::solve {

using expr::Expr;
using linalg::GaussNewtonOutcome;
using mechanics::Functions;

namespace {

constexpr double consistent = 1e-9;  ///< largest relative residual of a start that counts as consistent

}  // namespace

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
  std::unordered_map<std::string, double> nominal;
  for (const auto* several : {&fn.equations.model->variables, &fn.equations.model->auxiliary})
    for (const model::Unknown& unknown : *several)
      for (const std::size_t times : {0u, 1u}) nominal.emplace(model::derivative_name(unknown.name, times), unknown.nominal);
  for (const Expr& unknown : unknowns_) {
    const auto found = nominal.find(unknown.name());
    nominal_.push_back(found == nominal.end() ? 1.0 : found->second);
  }
  residual_ = compile::called_seldom(compile::compile({known, residuals, &numbers}, switches));
  jacobian_ = compile::called_seldom(compile::compile({known, jacobian.value, &numbers}, switches));
  terms_ = compile::called_seldom(compile::compile({known, terms, &numbers}, switches));
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

StartProblem Level::problem(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                            const std::vector<double>& weight_values) {
  StartProblem result;
  linalg::LeastChangeProblem& inner = result.least_change;
  inner.weight = weight;
  inner.weight_values = weight_values;
  inner.jacobian = pattern_;
  const auto take = [](const std::vector<double>& values, double* to) {
    std::copy(values.begin(), values.end(), to);
    return all_finite(values);
  };
  inner.residual = [this, take](const double* x, double* c) { return take(residual(x), c); };
  inner.jacobian_values = [this, take](const double* x, double* C) {
    return take(evaluate(jacobian_, jacobian_scratch_, x), C);
  };
  inner.fixed = fixed;
  inner.scales = scales(y.data());
  for (const Binding& binding : bindings_) result.rows.push_back({binding.name, binding.place, binding.initial});
  for (std::size_t i = 0; i < y.size(); ++i) {
    result.unknowns.push_back(unknowns_[i].name());
    result.sizes.push_back(std::max(std::abs(y[i]), nominal_[i]));
  }
  result.nominal = nominal_;
  result.searched.assign(y.size(), true);
  result.guess = y;
  result.scales_at = [this](const double* x) { return scales(x); };
  return result;
}

bool Level::solve(std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                  const std::vector<double>& weight_values, std::string& message, Extent extent,
                  std::vector<std::string>* notes) {
  if (rows() == 0) return true;
  const StartProblem start = problem(y, fixed, weight, weight_values);
  StartFound found;
  if (extent == Extent::near)
    found.result = near_guess(start);
  else
    found = search(start);
  if (found.found()) {
    y = found.result.x;
    if (const std::string note = found.note(); notes != nullptr && !note.empty()) notes->push_back(what_ + " level: " + note);
    return true;
  }
  const Conflict conflict = find_conflict(start, found.result);
  if (conflict.of_bindings) {
    std::string choice;
    if (extent == Extent::anywhere && !conflict.fixed.empty()) choice = choice_text(free_at(conflict.unbound, fixed), "on " + what_ + " level");
    refuse(conflict, start, choice);
  }
  message = describe(found.result, y, conflict);
  return false;
}

bool Level::possible(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                     const std::vector<double>& weight_values) {
  return near_guess(problem(y, fixed, weight, weight_values)).outcome == GaussNewtonOutcome::converged;
}

FreeValues Level::free_at(const std::vector<double>& y, const std::vector<bool>& fixed) {
  FreeValuesQuestion question;
  question.values = evaluate(jacobian_, jacobian_scratch_, y.data());
  // The constraints stand before the [initial] ones.
  question.pattern = pattern_;
  while (question.pattern.rows > 0 && bindings_[question.pattern.rows - 1].initial) --question.pattern.rows;
  question.pattern.row_start.resize(question.pattern.rows + 1);
  question.pattern.column.resize(question.pattern.row_start.back());
  for (std::size_t i = 0; i < y.size(); ++i) {
    question.names.push_back(unknowns_[i].name());
    question.sizes.push_back(std::max(std::abs(y[i]), nominal_[i]));
  }
  question.state.assign(y.size(), true);
  question.fixed = fixed;
  return free_values(question);
}

std::vector<double> Level::evaluate(const compile::Function& function, compile::Function::Scratch& scratch,
                                    const double* y) {
  std::vector<double> values(function.output_count());
  std::vector<const double*> inputs = known_;
  inputs.push_back(y);
  function(inputs.data(), values.data(), scratch);
  return values;
}

std::string Level::describe(const linalg::GaussNewtonResult& result, const std::vector<double>& y, const Conflict& conflict) {
  std::vector<std::string> names, unknowns;
  std::unordered_set<std::size_t> seen;
  for (const std::size_t i : conflict.equations) {
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
