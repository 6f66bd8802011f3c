// Insert y = sum_k y_k s^k, t + s into F(t, y, y') = 0. Coefficient k of F is linear in coefficient k of the unknowns
// u = (x', z), for k > 0 whatever F is, with one matrix for all orders:
//     F_k = (F_k where u_k = 0) + J u_k,     J = dF/du at order 0,     x_{k+1} = x'_k / (k + 1).
// On the acceleration level of constrained motion J is the KKT matrix: one factorization serves all orders.
#include "daedalus/formulate/solution_series.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/finite.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/formulate/motion_observation.hpp"
#include "daedalus/mechanics/implicit.hpp"

namespace daedalus::formulate {

using expr::Expr;
using integrate::Evaluation;

SolutionSeries::SolutionSeries(SeriesEquations equations) : equations_(std::move(equations)) {
  const compile::ImplicitEquations& symbols = equations_.symbols;
  const std::size_t count = symbols.y.size();
  std::vector<std::vector<Expr>> inputs{{symbols.t}, symbols.y, {}};
  std::vector<Expr> unknowns;
  for (std::size_t i = 0; i < count; ++i) {
    const bool differential = symbols.dy[i].valid();
    unknowns.push_back(differential ? symbols.dy[i] : symbols.y[i]);
    // A symbol that nothing uses stands for the derivative of an algebraic unknown, so that blocks have one size.
    inputs[2].push_back(differential ? symbols.dy[i] : symbols.t.graph().symbol(fmt::format("rate.none{}", i)));
    unknown_.push_back(1 + (differential ? count + i : i));
    if (differential) ++n_;
  }

  const expr::SparseExpr J = expr::jacobian(symbols.F, unknowns);
  std::vector<std::size_t> in_column(count, 0);
  for (const std::size_t j : J.column) ++in_column[j];
  std::vector<std::size_t> place(count, count);  // of the unknowns that need the others
  std::vector<Expr> entries;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = J.row_start[i];
    if (J.row_start[i + 1] == at + 1 && in_column[J.column[at]] == 1) {
      own_.push_back({i, J.column[at]});
      entries.push_back(J.value[at]);
    } else {
      rows_.push_back(i);
    }
  }
  std::vector<bool> is_own(count, false);
  for (const Own& own : own_) is_own[own.unknown] = true;
  for (std::size_t j = 0; j < count; ++j) {
    if (is_own[j]) continue;
    place[j] = columns_.size();
    columns_.push_back(j);
  }
  linalg::Sparsity pattern{rows_.size(), columns_.size(), {0}, {}};
  for (const std::size_t i : rows_) {
    for (std::size_t k = J.row_start[i]; k < J.row_start[i + 1]; ++k) {
      pattern.column.push_back(place[J.column[k]]);
      entries.push_back(J.value[k]);
    }
    pattern.row_start.push_back(pattern.column.size());
  }
  const auto make = [&](const std::vector<Expr>& outputs) {
    return compile::compile({inputs, outputs, &equations_.numbers, compile::Request::NewSwitches::none},
                            equations_.switches);
  };
  residual_ = make(symbols.F);
  matrix_ = make(entries);
  scratch_ = matrix_.make_scratch();
  if (!rows_.empty()) lu_ = std::make_unique<linalg::ShiftedLu>(pattern, linalg::ShiftedLu::Numbers::real);
  entries_.resize(entries.size());
  zero_.resize(entries.size());
  y_.resize(count);
  dy_.resize(count);
  right_.resize(rows_.size());
  change_.resize(count);
}

/// Factors J at order 0.
bool SolutionSeries::factor(double t) {
  const double* inputs[] = {&t, y_.data(), dy_.data()};
  matrix_(inputs, entries_.data(), scratch_, frozen_);
  ++factorizations_;
  std::size_t lost = unknown_.size();
  for (std::size_t i = 0; i < own_.size(); ++i)
    if (entries_[i] == 0.0) lost = own_[i].unknown;
  if (lu_ && !lu_->factor(entries_.data() + own_.size(), zero_.data(), 0.0)) lost = columns_[lu_->singular_column()];
  if (lost == unknown_.size()) return true;
  const compile::ImplicitEquations& symbols = equations_.symbols;
  const Expr unknown = symbols.dy[lost].valid() ? symbols.dy[lost] : symbols.y[lost];
  explanation_ = fmt::format("the equations cannot be solved for '{}'", unknown.name());
  return false;
}

/// u_k from F_k.
void SolutionSeries::solve_for_unknowns(std::size_t k) {
  for (std::size_t i = 0; i < rows_.size(); ++i) right_[i] = -jet_->output(rows_[i], k);
  if (lu_) lu_->solve(right_.data());
  for (std::size_t j = 0; j < columns_.size(); ++j) change_[columns_[j]] = right_[j];
  for (std::size_t i = 0; i < own_.size(); ++i) change_[own_[i].unknown] = -jet_->output(own_[i].row, k) / entries_[i];
}

Evaluation SolutionSeries::operator()(double t, const double* x, std::size_t order, double* series) {
  explanation_.clear();
  if (!jet_ || jet_->highest() < order) jet_ = std::make_unique<compile::Jet>(residual_, order, unknown_);
  const std::size_t count = unknown_.size();
  std::copy_n(x, n_, series);
  std::copy_n(x, n_, y_.begin());
  std::fill(y_.begin() + static_cast<std::ptrdiff_t>(n_), y_.end(), 0.0);
  std::fill(dy_.begin(), dy_.end(), 0.0);
  if (equations_.solve)
    if (const Evaluation outcome = equations_.solve(t, x, y_.data(), dy_.data()); outcome != Evaluation::ok)
      return outcome;
  if (!factor(t)) return all_finite(entries_) ? Evaluation::singular : Evaluation::not_finite;

  compile::Jet& jet = *jet_;
  for (std::size_t i = 0; i < count; ++i) {
    jet.input(1 + i) = y_[i];
    jet.input(1 + count + i) = dy_[i];
  }
  jet.input(0) = t;
  for (std::size_t k = 0; k < order; ++k) {
    if (k > 0) {
      jet.input(0) = k == 1 ? 1.0 : 0.0;
      for (std::size_t i = 0; i < n_; ++i) jet.input(1 + i) = series[k * n_ + i];
      for (const std::size_t at : unknown_) jet.input(at) = 0.0;
    }
    jet.advance(k, frozen_);
    solve_for_unknowns(k);
    for (std::size_t i = 0; i < count; ++i) jet.input(unknown_[i]) += change_[i];
    if (k + 1 < order) jet.correct(k, frozen_);
    double* next = series + (k + 1) * n_;
    for (std::size_t i = 0; i < n_; ++i) next[i] = jet.input(1 + count + i) / static_cast<double>(k + 1);
  }
  if (all_finite(series, (order + 1) * n_)) return Evaluation::ok;
  jet.clear();
  return Evaluation::not_finite;
}

void add_series(Formulated& formulated, std::function<SeriesEquations()> equations) {
  struct Late {
    std::unique_ptr<SolutionSeries> series;
    const double* frozen = nullptr;
  };
  auto late = std::make_shared<Late>();
  formulated.system.series = [late, equations = std::move(equations)](double t, const double* x, std::size_t order,
                                                                      double* series) {
    if (!late->series) {
      late->series = std::make_unique<SolutionSeries>(equations());
      late->series->freeze(late->frozen);
    }
    return (*late->series)(t, x, order, series);
  };
  formulated.freeze = [late, inner = formulated.freeze](const double* frozen) {
    inner(frozen);
    late->frozen = frozen;
    if (late->series) late->series->freeze(frozen);
  };
  formulated.system.explain = [late, inner = formulated.system.explain] {
    return late->series && !late->series->explain().empty() ? late->series->explain() : inner();
  };
  formulated.factorizations = [late, inner = formulated.factorizations] {
    return inner() + (late->series ? late->series->factorizations() : 0);
  };
}

void add_motion_series(Formulated& formulated, const Equations& equations) {
  const std::shared_ptr<const mechanics::Functions> functions = equations.motion;
  auto seen = std::static_pointer_cast<MotionObservation>(formulated.observation);
  add_series(formulated, [functions, seen, redundant = equations.redundant] {
    SeriesEquations out{mechanics::motion_symbols(*functions, mechanics::Level::acceleration, redundant),
                        functions->equations.model->numbers(), functions->switches};
    if (functions->equations.z.empty()) return out;
    out.solve = [functions, seen](double t, const double* x, double* y, double* dy) {
      const Evaluation outcome = seen->at(t, x);
      if (outcome != Evaluation::ok) return outcome;
      mechanics::Evaluator& evaluator = seen->evaluator();
      const auto rates = static_cast<Evaluation>(evaluator.ode(t, x, dy));
      double* next = y + functions->dimension();
      for (const std::size_t i : functions->algebraic) *next++ = evaluator.w()[i];
      std::ranges::copy(evaluator.lambda(), next);
      return rates;
    };
    return out;
  });
}

}  // namespace daedalus::formulate
