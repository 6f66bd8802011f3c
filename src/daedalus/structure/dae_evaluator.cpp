// Where [F_x', F_z] is singular and the index still 1, the left null vectors c of F_y' give equations without
// derivatives, c^T F = 0. Differentiating them, and using F = 0 and c^T F_y' = 0, leaves c^T (F_t + F_y y') = 0: with the
// independent rows of F as many equations as unknown derivatives.
#include "daedalus/structure/dae_evaluator.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

#include "daedalus/base/finite.hpp"
#include "daedalus/base/listed.hpp"
#include "daedalus/linalg/matching.hpp"
#include "daedalus/linalg/rank.hpp"

namespace daedalus::structure {

namespace {

/// A sum this small beside its terms is zero, but for the round-off of its terms and factors.
constexpr double cancelled = 1e-14;

/// Whether a matrix is regular as far as its entries are known: to `uncertain` of the largest term of each. Of one that is
/// singular, as the capacitances of a circuit without ground or mixed equations, round-off leaves a last pivot that is small,
/// but not zero, and right sides that are off by as little move what is solved for by its own size. They are chosen: what
/// round-off itself does may cancel in small matrices.
bool regular_beyond_round_off(linalg::ShiftedLu& lu, const linalg::Sparsity& pattern, const std::vector<double>& largest_terms) {
  constexpr int probes = 4;
  constexpr double uncertain = 1e-15, most_moved = 0.01;
  const std::size_t n = pattern.rows;
  std::vector<double> row(n, 0.0), column(n, 0.0), off(n);  // sizes
  const auto each = [&](auto look) {
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        if (largest_terms[k] > 0.0) look(i, pattern.column[k], largest_terms[k]);
  };
  each([&](std::size_t i, std::size_t, double term) { row[i] = std::max(row[i], term); });
  each([&](std::size_t i, std::size_t j, double term) { column[j] = std::max(column[j], term / row[i]); });
  std::mt19937 random(1);
  for (int probe = 0; probe < probes; ++probe) {
    std::ranges::fill(off, 0.0);
    each([&](std::size_t i, std::size_t j, double term) { off[i] = std::max(off[i], term / column[j]); });
    for (double& value : off) value = random() % 2 == 0 ? value : -value;
    lu.solve(off.data());
    for (std::size_t j = 0; j < n; ++j)
      if (!(uncertain * std::abs(off[j]) * column[j] <= most_moved)) return false;
  }
  return true;
}

/// Rows of a matrix that depend on each other.
std::vector<bool> dependent_part(const linalg::Sparsity& pattern, const std::vector<double>& values) {
  std::vector<bool> part(pattern.rows, false);
  for (const std::vector<double>& c : linalg::row_rank(pattern, values.data()).combinations)
    for (std::size_t i = 0; i < c.size(); ++i) part[i] = part[i] || std::abs(c[i]) > 1e-10;
  return part;
}

/// The values of a matrix in the order of its transposed pattern.
std::vector<double> transposed_values(const linalg::Sparsity& pattern, const std::vector<double>& values) {
  const linalg::Sparsity columns = linalg::transposed(pattern);
  std::vector<double> result(values.size());
  std::vector<std::size_t> next(columns.row_start.begin(), columns.row_start.end() - 1);
  for (std::size_t k = 0; k < values.size(); ++k) result[next[pattern.column[k]]++] = values[k];
  return result;
}

std::string quoted(const std::string& name) { return "'" + name + "'"; }

/// Which equations, with those among them that contain no derivative differentiated, do not determine which derivatives.
std::string not_determined(const DaeFunctions& functions, const linalg::Sparsity& pattern, const std::vector<double>& values,
                           const DependentRows& differentiated) {
  constexpr std::size_t most = 500;
  if (!differentiated.complete || pattern.rows > most || values.size() != pattern.nonzeros()) return {};
  const std::vector<bool> rows = dependent_part(pattern, values);
  std::vector<bool> named(rows);
  for (std::size_t d = 0; d < differentiated.rows.size(); ++d)
    for (const auto& [i, c] : differentiated.combinations[d]) named[i] = named[i] || rows[differentiated.rows[d]];
  const std::vector<bool> open = dependent_part(linalg::transposed(pattern), transposed_values(pattern, values));
  std::vector<std::string> equations, unknowns;
  for (std::size_t i = 0; i < named.size(); ++i)
    if (named[i]) equations.push_back(quoted(functions.rows[i].name));
  for (std::size_t j = 0; j < open.size(); ++j)
    if (open[j]) unknowns.push_back(model::derivative_name(functions.unknowns[j].of->name, functions.unknowns[j].times + 1));
  if (equations.empty() || unknowns.empty()) return {};
  return fmt::format(": {} and first derivatives of them do not determine {}", listed(equations), listed(unknowns));
}

}  // namespace

DaeEvaluator::DaeEvaluator(std::shared_ptr<const DaeFunctions> functions)
    : functions_(std::move(functions)),
      residual_scratch_(functions_->function.residual.make_scratch()),
      jacobian_scratch_(functions_->function.jacobian.make_scratch()),
      time_scratch_(functions_->function.time_derivative.make_scratch()),
      lu_(functions_->function.pattern, linalg::ShiftedLu::Numbers::real, linalg::ShiftedLu::Backend::automatic,
          linalg::ShiftedLu::Pivots::kept),
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

void DaeEvaluator::gather_solved() {
  const linalg::Sparsity& pattern = functions_->function.pattern;
  for (std::size_t k = 0; k < mixed_.size(); ++k)
    mixed_[k] = jacobian_[pattern.column[k] < functions_->differential ? mixed_.size() + k : k];
}

const double* DaeEvaluator::solved_matrix(double t, const double* y, const double* dy) {
  if (!differentiate(t, y, dy)) return nullptr;
  gather_solved();
  return mixed_.data();
}

bool DaeEvaluator::factor_solved() {
  gather_solved();
  ++factorizations_;
  return factored_ = lu_.factor(mixed_.data(), mixed_.data(), 0.0);
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

/// Which equations do not determine which derivatives and algebraic unknowns; of large systems one unknown.
std::string DaeEvaluator::not_solved() {
  constexpr std::size_t most = 100;
  const auto name = [this](std::size_t column) {
    const DaeFunctions::Unknown& unknown = functions_->unknowns[column];
    return quoted(model::derivative_name(unknown.of->name, unknown.times + (column < functions_->differential ? 1 : 0)));
  };
  const linalg::Sparsity& pattern = functions_->function.pattern;
  std::vector<std::string> equations, unknowns;
  if (pattern.rows <= most && all_finite(mixed_)) {
    const std::vector<bool> rows = dependent_part(pattern, mixed_);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i]) equations.push_back(quoted(functions_->rows[i].name));
    const std::vector<bool> columns = dependent_part(linalg::transposed(pattern), transposed_values(pattern, mixed_));
    for (std::size_t j = 0; j < columns.size(); ++j)
      if (columns[j]) unknowns.push_back(name(j));
  }
  if (equations.empty() || unknowns.empty()) return "the equations do not determine " + name(lu_.singular_column());
  return fmt::format("the equation{} {} {} not determine {}", equations.size() > 1 ? "s" : "", listed(equations),
                     equations.size() > 1 ? "do" : "does", listed(unknowns));
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
      [&](std::size_t i) { return functions_->unknowns[i].of->nominal; }, factored_);
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
    explanation_ = not_solved();
    return DaeOutcome::singular;
  }
  // The row that is farthest from holding, in units of its largest derivative.
  const linalg::Sparsity& pattern = functions_->function.pattern;
  std::size_t worst = 0;
  double most = 0.0;
  for (std::size_t i = 0; i < F_.size(); ++i) {
    double size = 0.0;
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) size = std::max(size, std::abs(mixed_[k]));
    if (const double off = std::abs(F_[i]) / (size > 0.0 ? size : 1.0); off > most) {
      most = off;
      worst = i;
    }
  }
  explanation_ = fmt::format("the equations have no solution near the last one: '{}' cannot be met", functions_->rows[worst].name);
  return DaeOutcome::no_convergence;
}

bool DaeEvaluator::easy(double t, const double* y, const double* dy) {
  if (!differentiate(t, y, dy) || !factor_solved()) return false;
  std::vector<double> terms(mixed_);
  for (double& term : terms) term = std::abs(term);
  return regular_beyond_round_off(lu_, functions_->function.pattern, terms);
}

/// Factors F_y' with the rows that depend on others replaced by c^T F_y.
bool DaeEvaluator::factor_differentiated(double t, const double* y, const double* dy) {
  if (!differentiate(t, y, dy)) return false;
  if (still_dependent() && factor_with_combinations()) return true;
  const linalg::Sparsity& pattern = functions_->function.pattern;
  dependent_ = dependent_rows(pattern, jacobian_.data() + pattern.nonzeros());
  if (!dependent_.complete) return false;
  lay_out_combinations();
  return factor_with_combinations();
}

/// Whether the combinations found last still give zero: most often they do not depend on the state, and a rank decision
/// costs far more than a factorization.
bool DaeEvaluator::still_dependent() {
  const linalg::Sparsity& pattern = functions_->function.pattern;
  const double* F_dy = jacobian_.data() + pattern.nonzeros();
  for (const auto& combination : dependent_.combinations) {
    double largest = 0.0, left = 0.0;
    for (const auto& [i, c] : combination)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        sum_[pattern.column[k]] += c * F_dy[k];
        largest = std::max(largest, std::abs(c * F_dy[k]));
      }
    for (const auto& [i, c] : combination)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        left = std::max(left, std::abs(sum_[pattern.column[k]]));
        sum_[pattern.column[k]] = 0.0;
      }
    if (!(left <= 1e-13 * largest)) return false;
  }
  return !dependent_.combinations.empty();
}

/// Where the entries of F_y', with dependent rows replaced by their combinations of F_y, stand.
void DaeEvaluator::lay_out_combinations() {
  const linalg::Sparsity& pattern = functions_->function.pattern;
  const std::size_t n = F_.size();
  std::vector<std::size_t> combination(n, dependent_.rows.size());
  for (std::size_t d = 0; d < dependent_.rows.size(); ++d) combination[dependent_.rows[d]] = d;
  combined_ = {n, n, {0}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = static_cast<std::ptrdiff_t>(combined_.column.size());
    const auto add = [&](std::size_t row) {
      for (std::size_t k = pattern.row_start[row]; k < pattern.row_start[row + 1]; ++k) combined_.column.push_back(pattern.column[k]);
    };
    if (combination[i] == dependent_.rows.size()) {
      add(i);
    } else {
      for (const auto& [row, c] : dependent_.combinations[combination[i]]) add(row);
      std::sort(combined_.column.begin() + begin, combined_.column.end());
      combined_.column.erase(std::unique(combined_.column.begin() + begin, combined_.column.end()), combined_.column.end());
    }
    combined_.row_start.push_back(combined_.column.size());
  }
  matrix_.resize(combined_.nonzeros());
  terms_.resize(combined_.nonzeros());
  combined_lu_ = std::make_unique<linalg::ShiftedLu>(combined_, linalg::ShiftedLu::Numbers::real);
}

bool DaeEvaluator::factor_with_combinations() {
  const linalg::Sparsity& pattern = functions_->function.pattern;
  const double *F_y = jacobian_.data(), *F_dy = F_y + pattern.nonzeros();
  // Rows that are replaced may be as long as before: they are written over.
  for (std::size_t i = 0; i < F_.size(); ++i) {
    if (combined_.row_start[i + 1] - combined_.row_start[i] != pattern.row_start[i + 1] - pattern.row_start[i]) continue;
    for (std::size_t k = 0; k < pattern.row_start[i + 1] - pattern.row_start[i]; ++k)
      matrix_[combined_.row_start[i] + k] = F_dy[pattern.row_start[i] + k];
  }
  for (std::size_t k = 0; k < matrix_.size(); ++k) terms_[k] = std::abs(matrix_[k]);
  for (std::size_t d = 0; d < dependent_.rows.size(); ++d) {
    const std::size_t row = dependent_.rows[d];
    const auto sum_up = [&](auto term) {
      for (const auto& [i, c] : dependent_.combinations[d])
        for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) sum_[pattern.column[k]] += term(c * F_y[k]);
    };
    sum_up([](double term) { return std::abs(term); });
    for (std::size_t k = combined_.row_start[row]; k < combined_.row_start[row + 1]; ++k) {
      terms_[k] = sum_[combined_.column[k]];
      sum_[combined_.column[k]] = 0.0;
    }
    sum_up([](double term) { return term; });
    for (std::size_t k = combined_.row_start[row]; k < combined_.row_start[row + 1]; ++k) {
      double& sum = sum_[combined_.column[k]];
      matrix_[k] = std::abs(sum) <= cancelled * terms_[k] ? 0.0 : sum;
      sum = 0.0;
    }
  }
  ++factorizations_;
  return combined_lu_->factor(matrix_.data(), matrix_.data(), 0.0);
}

bool DaeEvaluator::index_at_most_one(double t, const double* y, const double* dy) {
  return easy(t, y, dy) || (factor_differentiated(t, y, dy) && regular_beyond_round_off(*combined_lu_, combined_, terms_));
}

/// Newton's method for c^T F = 0 in the directions that F_y' annihilates: the differential part of y is kept, as x is where
/// there are x and z. What c^T F says depends on y' where F is not linear in it, so that y' follows y: the other rows hold at
/// (y + dy, y' + dy').
void DaeEvaluator::meet_combinations(double t, double* y) {
  constexpr int most_iterations = 8;
  const std::size_t n = F_.size();
  const linalg::Sparsity& pattern = functions_->function.pattern;
  std::copy_n(y, n, y_.begin());
  // What y' was at the last point serves where it does not matter.
  if (!functions_->linear_in_solved && derivatives(t, y) != DaeOutcome::ok) return;
  double last = std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < most_iterations; ++iteration) {
    if (!evaluate(t, y_.data(), dy_.data(), F_.data()) || !factor_differentiated(t, y_.data(), dy_.data())) return;
    std::ranges::fill(step_, 0.0);
    for (std::size_t d = 0; d < dependent_.rows.size(); ++d)
      for (const auto& [i, c] : dependent_.combinations[d]) step_[dependent_.rows[d]] -= c * F_[i];
    combined_lu_->solve(step_.data());
    double change = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      y_[i] += step_[i];
      change = std::max(change, std::abs(step_[i]) / std::max(std::abs(y_[i]), functions_->unknowns[i].of->nominal));
    }
    if (!functions_->linear_in_solved) {
      for (std::size_t i = 0; i < n; ++i) {
        F_[i] = -F_[i];
        for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) F_[i] -= jacobian_[k] * step_[pattern.column[k]];
      }
      for (const std::size_t row : dependent_.rows) F_[row] = 0.0;
      combined_lu_->solve(F_.data());
      for (std::size_t i = 0; i < functions_->differential; ++i) dy_[i] += F_[i];
    }
    if (!(change < 0.5 * last)) {
      if (!(last <= 1e-12)) return;
      break;
    }
    if (change <= 1e-14) break;
    last = change;
  }
  std::ranges::copy(y_, y);
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
      for (std::size_t d = 0; d < dependent_.rows.size(); ++d) {
        double sum = 0.0;
        for (const auto& [i, c] : dependent_.combinations[d]) sum -= c * F_t_[i];
        step_[dependent_.rows[d]] = sum;
      }
      combined_lu_->solve(step_.data());
    } else {
      const std::string what = not_determined(*functions_, combined_, matrix_, dependent_);
      explanation_ = "the index is above 1 here" + (what.empty() ? ": some derivatives follow only from derivatives of the equations" : what);
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
