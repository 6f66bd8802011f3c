// With the array E(t, y, w), w = (y', y'', ...), of as many levels as the index asks for, in Taylor coefficients:
// M = dE/dw = Q [T S; 0 0] with T regular of the known rank. At fixed y
//     w_T -= T^-1 (Q^T E)_1
// for the pivots w_T, all of y' among them, until (Q^T E)_1 = 0; what the array does not determine of w stays. What is
// left, c = (Q^T E)_2, are the constraints: Kunkel and Mehrmann's Z_2^T F_mu with dc/dw = 0. Off the manifold c is not
// zero and (Q^T E)_1 = 0 depends on the Q in use, so that Q changes only at project() or where it no longer serves. On
// the manifold E = 0 and Q does not matter.
//
// Projection from y0: with C = dc/dy = (Q^T dE/dy)_2 and sizes D the least change of (Nocedal, Wright, section 18.1)
//     y = y0 - D (C D)^+ (c - C (y - y0)).
#include "daedalus/structure/array_solver.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/base/finite.hpp"

namespace daedalus::structure {

namespace {

constexpr double most_raise = 1e6;   // of columns by scales
constexpr double rank_loss = 1e-6;   // pivots that became so much shorter than at the start are lost
constexpr double dependent = 1e-9;   // of constraints among each other
constexpr double converged = 1e-14;  // of Taylor coefficients of size 1
constexpr double stagnating = 1e-9;  // a step this short that does not get shorter is round-off
constexpr double contraction = 0.2;  // slower than this, new factors are worth their price
constexpr int most_iterations = 30;
constexpr int most_factors = 6;  // for one point
constexpr double near = 1e-8;    // a change so short does not change the factors

}  // namespace

ArraySolver::ArraySolver(std::shared_ptr<const DerivativeArray> array, const NumericalIndex& found)
    : values_(array, found.index + 1, taylor_scale(*array, found.point.t, found.point.jets.data(), nullptr)),
      n_(array->dimension()),
      levels_(found.index + 1),
      m_(values_.rows()),
      rank_(found.ranks.back().rank),
      constraints_(found.algebraic),
      ranks_{rank_ - n_, n_},
      qr_(m_, {(levels_ - 1) * n_, n_, n_}),
      manifold_(m_ - rank_, n_),
      t_(found.point.t),
      u_(values_.columns()),
      before_(u_.size()),
      e_(m_),
      dy_(n_),
      residuals_(m_ - rank_),
      change_(n_),
      step_(std::max(n_, m_)),
      y0_(n_) {
  DAEDALUS_CHECK(found.outcome == NumericalIndex::Outcome::found, "no index");
  values_.to_taylor(found.point.jets.data(), u_.data());
  values_.evaluate(t_, u_.data());
  for (std::size_t c = 0; c < qr_.columns(); ++c) values_.column(place(c) / n_, place(c) % n_, qr_.column(c));
  qr_.balance(most_raise);
  qr_.factor(ranks_);
  kept_ = std::min(qr_.stage(0).kept, qr_.stage(1).kept);
}

/// Which of the Taylor coefficients stands in a column of the factorization: u_2, u_3, ..., then u_1, then u_0.
std::size_t ArraySolver::place(std::size_t column) const {
  const std::size_t group = column / n_, i = column % n_;
  return (group + 2 <= levels_ ? group + 2 : levels_ - group) * n_ + i;
}

DaeOutcome ArraySolver::fail(DaeOutcome outcome) {
  u_ = before_;
  explanation_ = outcome == DaeOutcome::not_finite ? "an equation or a derivative of one is not a finite number"
                 : outcome == DaeOutcome::singular
                     ? "the derivatives of the equations that determine y' elsewhere do not determine it here"
                     : "the derivatives of the equations have no solution near the last one";
  return outcome;
}

DaeOutcome ArraySolver::factor() {
  if (!values_.evaluate(t_, u_.data())) return DaeOutcome::not_finite;
  for (std::size_t c = 0; c < qr_.columns(); ++c) values_.column(place(c) / n_, place(c) % n_, qr_.column(c));
  qr_.apply_scales();
  qr_.factor(ranks_);
  ++factorizations_;
  const double kept = std::min(qr_.stage(0).kept, qr_.stage(1).kept);
  return qr_.rank() == rank_ && kept > rank_loss * kept_ ? DaeOutcome::ok : DaeOutcome::singular;
}

/// One step of w; returns the largest change.
double ArraySolver::correct_jets() {
  std::copy_n(e_.begin(), rank_, step_.begin());
  qr_.solve(step_.data(), rank_);
  double largest = 0.0;
  for (std::size_t k = 0; k < rank_; ++k) {
    const std::size_t column = qr_.order()[k];
    const double change = step_[k] * qr_.column_scales()[column];
    double& u = u_[place(column)];
    u -= change;
    largest = std::max(largest, std::abs(change) / std::max(1.0, std::abs(u)));
  }
  return largest;
}

DaeOutcome ArraySolver::derivatives(double t, const double* y) {
  before_ = u_;
  t_ = t;
  for (std::size_t i = 0; i < n_; ++i) u_[i] = y[i] / values_.scale().s[i];
  double last = 0.0;
  int factors = 0;
  for (int iteration = 0;; ++iteration) {
    if (iteration == most_iterations) return fail(DaeOutcome::no_convergence);
    if (!values_.evaluate(t_, u_.data())) return fail(DaeOutcome::not_finite);
    e_ = values_.E();
    qr_.reduce(e_.data());
    const double change = correct_jets();
    if (!std::isfinite(change)) return fail(DaeOutcome::not_finite);
    if (change <= converged || (iteration > 0 && change <= stagnating && change > 0.5 * last)) break;
    if (iteration > 0 && change > contraction * last && factors++ < most_factors) {
      if (const DaeOutcome outcome = factor(); outcome != DaeOutcome::ok) return fail(outcome);
    }
    last = change;
  }
  for (std::size_t i = 0; i < n_; ++i) dy_[i] = u_[n_ + i] / values_.scale().h * values_.scale().s[i];
  find_residuals();
  return DaeOutcome::ok;
}

/// Where (Q^T E)_1 = 0 holds, w_T moves with y by -T^-1 (Q^T dE/dy)_1.
DaeOutcome ArraySolver::jacobian(double t, const double* y, double* out) {
  if (const DaeOutcome outcome = derivatives(t, y); outcome != DaeOutcome::ok) return outcome;
  if (const DaeOutcome outcome = factor(); outcome != DaeOutcome::ok) return outcome;
  const std::vector<double>&s = values_.scale().s, &column_scales = qr_.column_scales();
  const std::size_t by_y = levels_ * n_;
  for (std::size_t j = 0; j < n_; ++j) {
    for (std::size_t k = 0; k < rank_; ++k) step_[k] = qr_.entry(k, by_y + j);
    qr_.solve(step_.data(), rank_);
    for (std::size_t k = 0; k < rank_; ++k) {
      const std::size_t column = qr_.order()[k], which = place(column);
      if (which / n_ != 1) continue;
      const std::size_t i = which % n_;
      out[i * n_ + j] = -step_[k] * column_scales[column] / column_scales[by_y + j] * s[i] / (values_.scale().h * s[j]);
    }
  }
  return DaeOutcome::ok;
}

void ArraySolver::find_residuals() {
  const std::size_t y = levels_ * n_;
  for (std::size_t k = 0; k < residuals_.size(); ++k) {
    double square = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double entry = qr_.entry(rank_ + k, y + i) / qr_.column_scales()[y + i];
      square += entry * entry;
    }
    residuals_[k] = square > 0.0 ? e_[rank_ + k] / std::sqrt(square) : e_[rank_ + k];
  }
}

DaeOutcome ArraySolver::project(double t, double* y, const double* sizes) {
  before_ = u_;
  t_ = t;
  const std::size_t column = levels_ * n_, left = m_ - rank_;
  const std::vector<double>& s = values_.scale().s;
  for (std::size_t i = 0; i < n_; ++i) {
    y0_[i] = y[i] / s[i];
    u_[i] = y0_[i];
  }
  double last = 0.0;
  bool fresh = false;
  for (int iteration = 0;; ++iteration) {
    if (iteration == most_iterations) return fail(DaeOutcome::no_convergence);
    if (!fresh) {
      if (const DaeOutcome outcome = factor(); outcome != DaeOutcome::ok) return fail(outcome);
      for (std::size_t k = 0; k < left; ++k) {
        double* x = manifold_.clear(k);
        for (std::size_t i = 0; i < n_; ++i)
          x[i] = qr_.entry(rank_ + k, column + i) / qr_.column_scales()[column + i] * sizes[i] / s[i];
        manifold_.set_support(k, 0, n_);
      }
      manifold_.factor(left, dependent);
    } else if (!values_.evaluate(t_, u_.data())) {
      return fail(DaeOutcome::not_finite);
    }
    e_ = values_.E();
    qr_.reduce(e_.data());
    // (C D)^+ (c - C (y - y0))
    std::fill(change_.begin(), change_.end(), 0.0);
    for (std::size_t k = 0; k < manifold_.rank(); ++k) {
      const std::size_t row = rank_ + manifold_.order()[k];
      double value = e_[row];
      for (std::size_t i = 0; i < n_; ++i)
        value -= qr_.entry(row, column + i) / qr_.column_scales()[column + i] * (u_[i] - y0_[i]);
      change_[k] = value;
    }
    manifold_.solve_lower(change_.data());
    manifold_.apply(change_.data());
    double largest = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      change_[i] = y0_[i] - change_[i] * sizes[i] / s[i] - u_[i];
      u_[i] += change_[i];
      largest = std::max(largest, std::abs(change_[i]) / std::max(1.0, std::abs(u_[i])));
    }
    for (std::size_t k = 0; k < rank_; ++k)
      for (std::size_t i = 0; i < n_; ++i)
        e_[k] += qr_.entry(k, column + i) / qr_.column_scales()[column + i] * change_[i];
    const double moved = std::max(largest, correct_jets());
    if (!std::isfinite(moved)) return fail(DaeOutcome::not_finite);
    if (largest <= converged || (iteration > 0 && moved <= stagnating && moved > 0.5 * last)) break;
    fresh = moved < near && (iteration == 0 || moved < contraction * last);
    last = moved;
  }
  for (std::size_t i = 0; i < n_; ++i) y[i] = u_[i] * s[i];
  return DaeOutcome::ok;
}

}  // namespace daedalus::structure
