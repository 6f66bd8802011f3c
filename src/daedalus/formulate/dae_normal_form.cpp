// The normal form of a DAE whose equations were differentiated by their offsets (Proposition 1 and Remark 4 of Di Franco,
// Scarciotti, Astolfi): its hidden constraints are h_j, h_j', ... up to the derivative before F determines (x', z); along
// x' = f^(t, x), the solution of F = 0, each is the derivative of the one before, and the last one is constant.
//     xi = hidden constraints,     eta = E x,
//     E g = 0,  E D = 0,  with g the directions in which x' follows a change of the rows that keep the constraints (what the
//     algebraic unknowns can do), D the gradients of all hidden constraints but the last of each: D g = 0, so that rows of E
//     and of D span what is orthogonal to g, and dPhi/dx is regular where the relative degrees are well defined.
// E is constant until dPhi/dx loses condition; L_g eta = 0 holds exactly where it was chosen and where g is constant. x is
// measured in its nominal values.

#include "daedalus/formulate/dae_normal_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/finite.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

constexpr double contraction = 0.5;
constexpr int most_iterations = 20;
/// Other coordinates are taken where the inverse of dPhi/dx has grown by this much.
constexpr double growth = 10.0;

/// Completes orthonormal vectors, one after the other in `basis`, by one more for a given one; false where it adds nothing.
bool add_orthonormal(std::vector<double>& basis, std::size_t n, std::vector<double> vector, double least) {
  const auto length = [&] {
    double sum = 0.0;
    for (const double v : vector) sum += v * v;
    return std::sqrt(sum);
  };
  const double before = length();
  for (int twice = 0; twice < 2; ++twice)
    for (std::size_t k = 0; k * n < basis.size(); ++k) {
      double product = 0.0;
      for (std::size_t j = 0; j < n; ++j) product += basis[k * n + j] * vector[j];
      for (std::size_t j = 0; j < n; ++j) vector[j] -= product * basis[k * n + j];
    }
  const double after = length();
  if (!(after > least * before) || before == 0.0) return false;
  for (const double v : vector) basis.push_back(v / after);
  return true;
}

}  // namespace

DaeNormalForm::DaeNormalForm(std::shared_ptr<const structure::DaeFunctions> functions)
    : functions_(std::move(functions)),
      evaluator_(functions_),
      values_({functions_, &functions_->kept}),
      n_(functions_->differential),
      r_(functions_->hidden.size()),
      N_(functions_->dimension()),
      scratch_(functions_->function.jacobian.make_scratch()),
      F_slope_(functions_->function.jacobian.output_count()),
      matrix_(N_ * N_),
      column_(N_),
      phi_(n_ * n_),
      step_(n_),
      motion_(n_ * n_),
      still_(n_, 0.0),
      solved_(N_),
      phi_lu_(n_) {
  for (std::size_t i = 0; i < n_; ++i) nominal_.push_back(functions_->unknowns[i].of->nominal);
  for (const structure::DaeFunctions::Row& row : functions_->hidden) {
    level_.push_back(row.level);
    std::size_t next = r_;
    for (std::size_t i = 0; i < r_; ++i)
      if (functions_->hidden[i].row == row.row && functions_->hidden[i].level == row.level + 1) next = i;
    next_.push_back(next);
    if (next == r_) row_.push_back(row.row);
  }
}

void DaeNormalForm::freeze(const double* frozen) {
  frozen_ = frozen;
  evaluator_.freeze(frozen);
  values_.freeze(frozen);
}

Evaluation DaeNormalForm::fail(Evaluation outcome, std::string explanation) {
  explanation_ = std::move(explanation);
  return outcome;
}

std::vector<std::string> DaeNormalForm::xi_names() const {
  std::vector<std::string> names;
  for (const structure::DaeFunctions::Row& row : functions_->hidden) names.push_back(row.name);
  return names;
}

std::vector<std::string> DaeNormalForm::eta_names() const {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < eta_count(); ++k) {
    const double* row = E_.data() + k * n_;
    std::size_t most = 0, others = 0;
    for (std::size_t j = 0; j < n_; ++j) {
      if (std::abs(row[j]) > std::abs(row[most])) most = j;
      if (std::abs(row[j]) > 1e-12) ++others;
    }
    names.push_back((others > 1 ? "mostly " : "") + functions_->unknowns[most].name);
  }
  return names;
}

Evaluation DaeNormalForm::motion(double t, const double* x) {
  const auto outcome = static_cast<Evaluation>(evaluator_.solve(t, x));
  return outcome == Evaluation::ok ? outcome : fail(outcome, evaluator_.explain());
}

Evaluation DaeNormalForm::differentiate(double t) {
  const double* inputs[] = {&t, evaluator_.y().data(), evaluator_.dy().data()};
  functions_->function.jacobian(inputs, F_slope_.data(), scratch_, frozen_);
  if (!all_finite(F_slope_)) return fail(Evaluation::not_finite, "the derivative of an equation is not a finite number");
  const linalg::Sparsity& pattern = functions_->function.pattern;
  std::ranges::fill(matrix_, 0.0);
  for (std::size_t i = 0; i < N_; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      const std::size_t j = pattern.column[k];
      matrix_[i * N_ + j] = j < n_ ? F_slope_[pattern.nonzeros() + k] : F_slope_[k];
    }
  ++factorizations_;
  return solved_.factor(matrix_.data()) ? Evaluation::ok
                                        : fail(Evaluation::singular, "the equations cannot be solved for the derivatives");
}

Evaluation DaeNormalForm::motion_slope(double t, const double* x, double* jacobian) {
  if (const Evaluation outcome = motion(t, x); outcome != Evaluation::ok) return outcome;
  if (const Evaluation outcome = differentiate(t); outcome != Evaluation::ok) return outcome;
  const linalg::Sparsity& pattern = functions_->function.pattern;
  for (std::size_t c = 0; c < n_; ++c) {
    std::ranges::fill(column_, 0.0);
    for (std::size_t i = 0; i < N_; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        if (pattern.column[k] == c) column_[i] = -F_slope_[k];
    solved_.solve(column_.data());
    for (std::size_t i = 0; i < n_; ++i) jacobian[i * n_ + c] = column_[i];
  }
  return Evaluation::ok;
}

Evaluation DaeNormalForm::choose(double t, const double* x) {
  if (const Evaluation outcome = motion(t, x); outcome != Evaluation::ok) return outcome;
  if (const Evaluation outcome = differentiate(t); outcome != Evaluation::ok) return outcome;
  if (!values_.jacobian(t, x)) return fail(Evaluation::not_finite, "the derivative of a hidden constraint is not a finite number");
  constexpr double dependent = 1e-10;
  std::vector<double> basis, vector(n_);
  for (const std::size_t row : row_) {
    std::ranges::fill(column_, 0.0);
    column_[row] = 1.0;
    solved_.solve(column_.data());
    for (std::size_t j = 0; j < n_; ++j) vector[j] = column_[j] / nominal_[j];
    if (!add_orthonormal(basis, n_, vector, dependent))
      return fail(Evaluation::singular, "the relative degree of the constraints is not well defined here");
  }
  const linalg::Sparsity& pattern = values_.equations().pattern;
  for (std::size_t i = 0; i < r_; ++i) {
    if (next_[i] == r_) continue;
    std::ranges::fill(vector, 0.0);
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      vector[pattern.column[k]] = values_.jacobian()[k] * nominal_[pattern.column[k]];
    if (!add_orthonormal(basis, n_, vector, dependent))
      return fail(Evaluation::singular, "the hidden constraints depend on each other here");
  }
  // The rest of an orthonormal basis, from unit vectors: always the one that is farthest from what is there.
  std::vector<double> rows;
  while (rows.size() < eta_count() * n_) {
    std::size_t best = 0;
    double most = -1.0;
    for (std::size_t j = 0; j < n_; ++j) {
      double rest = 1.0;
      for (std::size_t k = 0; k * n_ < basis.size(); ++k) rest -= basis[k * n_ + j] * basis[k * n_ + j];
      if (rest > most + 1e-9) {
        most = rest;
        best = j;
      }
    }
    std::ranges::fill(vector, 0.0);
    vector[best] = 1.0;
    const std::size_t before = basis.size();
    add_orthonormal(basis, n_, vector, 0.0);
    rows.insert(rows.end(), basis.begin() + static_cast<std::ptrdiff_t>(before), basis.end());
  }
  E_ = rows;
  for (std::size_t k = 0; k < eta_count(); ++k)
    for (std::size_t j = 0; j < n_; ++j) E_[k * n_ + j] /= nominal_[j];
  return factor(t, x);
}

double DaeNormalForm::largest_inverse() {
  double largest = 0.0;
  for (std::size_t c = r_; c < n_; ++c) {
    std::ranges::fill(step_, 0.0);
    step_[c] = 1.0;
    phi_lu_.solve(step_.data());
    for (std::size_t j = 0; j < n_; ++j) largest = std::max(largest, std::abs(step_[j]) / nominal_[j]);
  }
  return largest;
}

double DaeNormalForm::condition(double t, const double* x) {
  return factor(t, x) == Evaluation::ok ? largest_inverse() : std::numeric_limits<double>::infinity();
}

double DaeNormalForm::limit(double condition) { return std::max(1.0, growth * condition); }

void DaeNormalForm::multiply_E(const double* x, double* eta) const {
  for (std::size_t k = 0; k < eta_count(); ++k) {
    double sum = 0.0;
    for (std::size_t j = 0; j < n_; ++j) sum += E_[k * n_ + j] * x[j];
    eta[k] = sum;
  }
}

Evaluation DaeNormalForm::factor(double t, const double* x) {
  if (!values_.residuals(t, x) || !values_.jacobian(t, x))
    return fail(Evaluation::not_finite, "a hidden constraint or its derivative is not a finite number");
  const linalg::Sparsity& pattern = values_.equations().pattern;
  std::ranges::fill(phi_, 0.0);
  for (std::size_t i = 0; i < r_; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      phi_[i * n_ + pattern.column[k]] = values_.jacobian()[k];
  std::ranges::copy(E_, phi_.begin() + static_cast<std::ptrdiff_t>(r_ * n_));
  ++factorizations_;
  return phi_lu_.factor(phi_.data()) ? Evaluation::ok
                                     : fail(Evaluation::singular, "the hidden constraints and the coordinates beside them "
                                                                  "depend on each other");
}

Evaluation DaeNormalForm::reduce(double t, const double* x, double* xi, double* eta) {
  if (!values_.residuals(t, x)) return fail(Evaluation::not_finite, "a hidden constraint is not a finite number");
  std::copy_n(values_.residual().begin(), r_, xi);
  multiply_E(x, eta);
  return Evaluation::ok;
}

Evaluation DaeNormalForm::expand(double t, const double* xi, const double* eta, double* x) {
  double last = 0.0;
  for (int iteration = 0;; ++iteration) {
    if (const Evaluation outcome = factor(t, x); outcome != Evaluation::ok) return outcome;
    multiply_E(x, step_.data() + r_);
    for (std::size_t i = 0; i < r_; ++i) step_[i] = xi[i] - values_.residual()[i];
    for (std::size_t k = 0; k < eta_count(); ++k) step_[r_ + k] = eta[k] - step_[r_ + k];
    phi_lu_.solve(step_.data());
    double length = 0.0, size = 0.0;
    for (std::size_t j = 0; j < n_; ++j) {
      length = std::max(length, std::abs(step_[j]) / nominal_[j]);
      size = std::max(size, std::abs(x[j]) / nominal_[j]);
    }
    if (size == 0.0) size = 1.0;
    if (!std::isfinite(length)) return fail(Evaluation::not_finite, "a state is not a finite number");
    if (length <= 1e-15 * size) return Evaluation::ok;
    const bool stalls = iteration == most_iterations || (iteration > 1 && length > contraction * last);
    bool round_off = last <= 1e-12 * size;
    if (stalls && !round_off) {
      round_off = true;
      for (std::size_t i = 0; i < r_; ++i)
        round_off = round_off && std::abs(xi[i] - values_.residual()[i]) <= 1e-14 * values_.scale()[i];
    }
    if (stalls && round_off) return Evaluation::ok;
    if (stalls)
      return fail(Evaluation::no_convergence, "no state near has these residuals of the hidden constraints");
    for (std::size_t j = 0; j < n_; ++j) x[j] += step_[j];
    last = length;
  }
}

Evaluation DaeNormalForm::drift(double t, const double* x, double* dx) {
  if (const Evaluation outcome = factor(t, x); outcome != Evaluation::ok) return outcome;
  if (!values_.rates(t, x, still_.data()))
    return fail(Evaluation::not_finite, "the rate of a hidden constraint is not a finite number");
  std::fill_n(dx, n_, 0.0);
  for (std::size_t i = 0; i < r_; ++i) dx[i] = -values_.rate()[i];
  phi_lu_.solve(dx);
  return Evaluation::ok;
}

Evaluation DaeNormalForm::rates(double t, const double* x, double* q) {
  if (const Evaluation outcome = motion(t, x); outcome != Evaluation::ok) return outcome;
  multiply_E(evaluator_.dy().data(), q);
  return Evaluation::ok;
}

Evaluation DaeNormalForm::slopes(double t, const double* x, double* dq) {
  if (const Evaluation outcome = motion_slope(t, x, motion_.data()); outcome != Evaluation::ok) return outcome;
  if (const Evaluation outcome = factor(t, x); outcome != Evaluation::ok) return outcome;
  for (std::size_t i = 0; i < r_; ++i) {
    std::ranges::fill(step_, 0.0);
    step_[i] = 1.0;
    phi_lu_.solve(step_.data());
    for (std::size_t a = 0; a < n_; ++a) {
      column_[a] = 0.0;
      for (std::size_t b = 0; b < n_; ++b) column_[a] += motion_[a * n_ + b] * step_[b];
    }
    multiply_E(column_.data(), dq + i * eta_count());
  }
  return Evaluation::ok;
}

Evaluation DaeNormalForm::inverse_columns(double t, const double* x, std::size_t first, std::size_t count, double* dx) {
  if (const Evaluation outcome = factor(t, x); outcome != Evaluation::ok) return outcome;
  for (std::size_t k = first; k < first + count; ++k) {
    std::ranges::fill(step_, 0.0);
    step_[k] = 1.0;
    phi_lu_.solve(step_.data());
    dx = std::ranges::copy(step_, dx).out;
  }
  return Evaluation::ok;
}

Evaluation DaeNormalForm::crossings(double t, const double* x, double* dx) { return inverse_columns(t, x, 0, r_, dx); }

Evaluation DaeNormalForm::tangents(double t, const double* x, double* dx) {
  return inverse_columns(t, x, r_, eta_count(), dx);
}

Evaluation DaeNormalForm::lift(double t, const double* x, const double* dxi, double* dx) {
  if (const Evaluation outcome = motion(t, x); outcome != Evaluation::ok) return outcome;
  if (const Evaluation outcome = factor(t, x); outcome != Evaluation::ok) return outcome;
  if (!values_.rates(t, x, evaluator_.dy().data()))
    return fail(Evaluation::not_finite, "the rate of a hidden constraint is not a finite number");
  std::ranges::fill(step_, 0.0);
  for (std::size_t i = 0; i < r_; ++i) step_[i] = dxi[i] - values_.rate()[i];
  phi_lu_.solve(step_.data());
  for (std::size_t j = 0; j < n_; ++j) dx[j] = evaluator_.dy()[j] + step_[j];
  return Evaluation::ok;
}

Evaluation DaeNormalForm::add_slope(double t, const double* x, const double* gain, double* jacobian) {
  if (const Evaluation outcome = factor(t, x); outcome != Evaluation::ok) return outcome;
  for (std::size_t c = 0; c < n_; ++c) {
    std::ranges::fill(step_, 0.0);
    for (std::size_t i = 0; i < r_; ++i)
      step_[i] = gain[i] * phi_[i * n_ + c] - (next_[i] < r_ ? phi_[next_[i] * n_ + c] : 0.0);
    phi_lu_.solve(step_.data());
    for (std::size_t j = 0; j < n_; ++j) jacobian[j * n_ + c] += step_[j];
  }
  return Evaluation::ok;
}

}  // namespace daedalus::formulate
