// Where [F_x', F_z] is singular and the index still 1, the left null vectors c of F_y' give equations without
// derivatives, c^T F = 0. Differentiating them, and using F = 0 and c^T F_y' = 0, leaves c^T (F_t + F_y y') = 0: with the
// independent rows of F as many equations as unknown derivatives.
#include "daedalus/structure/dae_evaluator.hpp"

#include <fmt/format.h>

#include <cmath>

#include "daedalus/base/finite.hpp"
#include "daedalus/linalg/rank.hpp"

namespace daedalus::structure {

DaeEvaluator::DaeEvaluator(std::shared_ptr<const DaeFunctions> functions)
    : functions_(std::move(functions)),
      residual_scratch_(functions_->function.residual.make_scratch()),
      jacobian_scratch_(functions_->function.jacobian.make_scratch()),
      time_scratch_(functions_->function.time_derivative.make_scratch()),
      lu_(functions_->function.pattern, linalg::ShiftedLu::Numbers::real),
      newton_(functions_->dimension()) {
  const std::size_t n = functions_->dimension();
  for (auto* vector : {&y_, &dy_, &y_before_, &dy_before_, &F_, &F_t_, &solved_, &step_, &sum_}) vector->resize(n);
  jacobian_.resize(functions_->function.jacobian.output_count());
  mixed_.resize(jacobian_.size() / 2);
}

void DaeEvaluator::guess(const std::vector<double>& y, const std::vector<double>& dy) {
  y_ = y;
  dy_ = dy;
}

bool DaeEvaluator::evaluate(double t, const double* y, const double* dy, double* F) {
  const double* inputs[] = {&t, y, dy};
  functions_->function.residual(inputs, F, residual_scratch_, frozen_);
  double sum = 0.0;
  for (std::size_t i = 0; i < F_.size(); ++i) {
    if (added_ != nullptr) F[i] += added_[i];
    sum += 0.0 * F[i];
  }
  return sum == 0.0;
}

bool DaeEvaluator::differentiate(double t, const double* y, const double* dy) {
  const double* inputs[] = {&t, y, dy};
  functions_->function.jacobian(inputs, jacobian_.data(), jacobian_scratch_, frozen_);
  return all_finite(jacobian_);
}

void DaeEvaluator::set_solved(const std::vector<double>& w) {
  for (std::size_t i = 0; i < w.size(); ++i) (i < functions_->differential ? dy_ : y_)[i] = w[i];
}

bool DaeEvaluator::factor_solved() {
  const linalg::Sparsity& pattern = functions_->function.pattern;
  for (std::size_t k = 0; k < mixed_.size(); ++k)
    mixed_[k] = jacobian_[pattern.column[k] < functions_->differential ? mixed_.size() + k : k];
  ++factorizations_;
  return lu_.factor(mixed_.data(), mixed_.data(), 0.0);
}

DaeOutcome DaeEvaluator::not_finite() {
  explanation_ = "an equation has a value that is not a finite number";
  for (std::size_t i = 0; i < F_.size(); ++i)
    if (!std::isfinite(F_[i])) {
      explanation_ = fmt::format("the equation '{}' has a value that is not a finite number", functions_->rows[i].name);
      break;
    }
  return DaeOutcome::not_finite;
}

DaeOutcome DaeEvaluator::solve(double t, const double* x) {
  const std::size_t differential = functions_->differential;
  y_before_ = y_;
  dy_before_ = dy_;
  std::copy_n(x, differential, y_.begin());
  for (std::size_t i = 0; i < solved_.size(); ++i) solved_[i] = i < differential ? dy_[i] : y_[i];
  const auto outcome = newton_(
      solved_, functions_->linear_in_solved,
      [&](const std::vector<double>& w, std::vector<double>& R) {
        set_solved(w);
        return evaluate(t, y_.data(), dy_.data(), R.data());
      },
      [&](const std::vector<double>& w) {
        set_solved(w);
        return differentiate(t, y_.data(), dy_.data()) && factor_solved();
      },
      [&](std::vector<double>& step) { lu_.solve(step.data()); },
      [&](std::size_t i, double w) {
        // In units of the unknown; near zero its nominal size counts.
        return std::max(std::abs(w), 1e-8 * functions_->unknowns[i].of->nominal);
      });
  if (outcome == linalg::NewtonOutcome::solved) {
    set_solved(solved_);
    return all_finite(y_) && all_finite(dy_) ? DaeOutcome::ok : not_finite();
  }
  evaluate(t, y_.data(), dy_.data(), F_.data());
  // A failed trial step must not spoil the guess of the next, shorter one.
  y_ = y_before_;
  dy_ = dy_before_;
  if (outcome == linalg::NewtonOutcome::not_finite) return not_finite();
  if (outcome == linalg::NewtonOutcome::singular) {
    const std::size_t column = lu_.singular_column();
    const std::string& name = functions_->unknowns[column].name;
    explanation_ = fmt::format("the equations do not determine {}",
                               column < functions_->differential ? "der(" + name + ")" : name);
    return DaeOutcome::singular;
  }
  explanation_ = "the equations have no solution near the last one";
  return DaeOutcome::no_convergence;
}

bool DaeEvaluator::easy(double t, const double* y, const double* dy) {
  return differentiate(t, y, dy) && factor_solved();
}

/// Factors F_y' with the rows that depend on others replaced by c^T F_y.
bool DaeEvaluator::factor_differentiated(double t, const double* y, const double* dy) {
  if (!differentiate(t, y, dy)) return false;
  const linalg::Sparsity& pattern = functions_->function.pattern;
  const std::size_t count = pattern.nonzeros();
  if (still_dependent() && factor_with_combinations()) return true;
  const linalg::RankDecision decision = linalg::row_rank(pattern, jacobian_.data() + count);
  if (decision.combinations.size() != decision.dependent_rows.size()) return false;
  dependent_ = decision.dependent_rows;
  combinations_ = decision.combinations;
  return factor_with_combinations();
}

/// Whether the combinations found last still give zero: most often they do not depend on the state, and a rank decision
/// costs far more than a factorization.
bool DaeEvaluator::still_dependent() {
  const linalg::Sparsity& pattern = functions_->function.pattern;
  const double* F_dy = jacobian_.data() + pattern.nonzeros();
  for (const std::vector<double>& c : combinations_) {
    std::ranges::fill(sum_, 0.0);
    double largest = 0.0;
    for (std::size_t i = 0; i < c.size(); ++i)
      for (std::size_t k = pattern.row_start[i]; c[i] != 0.0 && k < pattern.row_start[i + 1]; ++k) {
        sum_[pattern.column[k]] += c[i] * F_dy[k];
        largest = std::max(largest, std::abs(c[i] * F_dy[k]));
      }
    for (const double sum : sum_)
      if (!(std::abs(sum) <= 1e-13 * largest)) return false;
  }
  return !combinations_.empty();
}

bool DaeEvaluator::factor_with_combinations() {
  const linalg::Sparsity& pattern = functions_->function.pattern;
  const std::size_t n = F_.size(), count = pattern.nonzeros();
  matrix_.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      matrix_[i * n + pattern.column[k]] = jacobian_[count + k];
  for (std::size_t d = 0; d < dependent_.size(); ++d) {
    double* row = &matrix_[dependent_[d] * n];
    std::fill_n(row, n, 0.0);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        row[pattern.column[k]] += combinations_[d][i] * jacobian_[k];
  }
  if (!dense_) dense_ = std::make_unique<linalg::DenseLu>(n);
  ++factorizations_;
  return dense_->factor(matrix_.data());
}

bool DaeEvaluator::index_at_most_one(double t, const double* y, const double* dy) {
  return easy(t, y, dy) || factor_differentiated(t, y, dy);
}

DaeOutcome DaeEvaluator::derivatives(double t, const double* y) {
  const std::size_t n = F_.size();
  std::copy_n(y, n, y_.begin());
  for (int iteration = 0; iteration < 20; ++iteration) {
    if (!evaluate(t, y_.data(), dy_.data(), F_.data()) || !differentiate(t, y_.data(), dy_.data())) return not_finite();
    for (std::size_t i = 0; i < n; ++i) step_[i] = -F_[i];
    if (factor_solved()) {
      lu_.solve(step_.data());
    } else if (factor_differentiated(t, y_.data(), dy_.data())) {
      const double* inputs[] = {&t, y_.data(), dy_.data()};
      functions_->function.time_derivative(inputs, F_t_.data(), time_scratch_, frozen_);
      const linalg::Sparsity& pattern = functions_->function.pattern;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
          F_t_[i] += jacobian_[k] * dy_[pattern.column[k]];
      for (std::size_t d = 0; d < dependent_.size(); ++d) {
        double sum = 0.0;
        for (std::size_t i = 0; i < n; ++i) sum -= combinations_[d][i] * F_t_[i];
        step_[dependent_[d]] = sum;
      }
      dense_->solve(step_.data());
    } else {
      explanation_ = "the index is above 1 here: some derivatives follow only from derivatives of the equations";
      return DaeOutcome::singular;
    }
    double change = 0.0;
    for (std::size_t i = 0; i < functions_->differential; ++i) {
      dy_[i] += step_[i];
      change = std::max(change, std::abs(step_[i]) / std::max(std::abs(dy_[i]), functions_->unknowns[i].of->nominal));
    }
    if (!std::isfinite(change)) return not_finite();
    if (change <= 1e-13 || (functions_->linear_in_solved && iteration > 0)) return DaeOutcome::ok;
  }
  return DaeOutcome::ok;
}

}  // namespace daedalus::structure
