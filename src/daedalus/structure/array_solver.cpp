// With the array E(t, y, w), w = (y', y'', ...), of as many levels as the index asks for, in Taylor coefficients:
// M = dE/dw = Q [T S; 0 0] with T regular of the known rank. At fixed y
//     w_T -= T^-1 (Q^T E)_1
// for the pivots w_T, all of y' among them, until (Q^T E)_1 = 0; what the array does not determine of w stays. What is
// left, c = (Q^T E)_2, are the constraints: Kunkel and Mehrmann's Z_2^T F_mu with dc/dw = 0. Off the manifold c is not
// zero and (Q^T E)_1 = 0 depends on the Q in use and on which of w are pivots, so that both change at project() alone:
// an implicit method needs one function of y. Where T no longer serves, (Q^T M)_1 of the point itself takes its place.
// On the manifold E = 0 and Q does not matter.
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
constexpr double projected = 1e-10;  // residuals of points that were moved to the manifold
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
      pivots_(rank_),
      manifold_(m_ - rank_, n_),
      t_(found.point.t),
      u_(values_.columns()),
      e_(m_),
      dy_(n_),
      residuals_(m_ - rank_),
      change_(n_),
      step_(std::max(n_, m_)),
      y0_(n_),
      between_(n_),
      from_(n_),
      next_(n_),
      ones_(n_, 1.0),
      matrix_(rank_ * rank_),
      column_(m_) {
  DAEDALUS_CHECK(found.outcome == NumericalIndex::Outcome::found, "no index");
  values_.to_taylor(found.point.jets.data(), u_.data());
  anchor_ = begin_ = end_ = before_ = u_;
  anchor_t_ = t_;
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
  u_ = anchor_;
  explanation_ = outcome == DaeOutcome::not_finite ? "an equation or a derivative of one is not a finite number"
                 : outcome == DaeOutcome::singular
                     ? "the differentiated equations, which determine the derivatives of the unknowns elsewhere, do not do so here"
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

/// (Q^T M)_1 at the present point, with the Q of another one.
bool ArraySolver::factor_pivots() {
  if (!values_.evaluate(t_, u_.data())) return false;
  for (std::size_t k = 0; k < rank_; ++k) {
    const std::size_t column = qr_.order()[k];
    values_.column(place(column) / n_, place(column) % n_, column_.data());
    qr_.reduce(column_.data());
    for (std::size_t i = 0; i < rank_; ++i) matrix_[i * rank_ + k] = column_[i] * qr_.column_scales()[column];
  }
  ++factorizations_;
  use_pivots_ = pivots_.factor(matrix_.data());
  return use_pivots_;
}

/// One step of w; returns the largest change.
double ArraySolver::correct_jets() {
  std::copy_n(e_.begin(), rank_, step_.begin());
  if (use_pivots_)
    pivots_.solve(step_.data());
  else
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
  // What shows rows between has stages of its own, after the end of the step was projected. From there jets far off may be
  // found, so that y' is that of the point of the manifold next to them, reached along it.
  const bool between = attempted_ && begin_t_ == begin_t_ && t != anchor_t_;
  if (between && derivatives_next_to(t, y) == DaeOutcome::ok) return DaeOutcome::ok;
  DaeOutcome outcome = find_jets(t, y);
  // A failure leaves the jets of the last projected point. Those of a stage that was far off lead nowhere.
  if (outcome != DaeOutcome::ok) outcome = find_jets(t, y);
  return outcome;
}

DaeOutcome ArraySolver::derivatives_next_to(double t, const double* y) {
  const DaeOutcome outcome = reach(t, y, [&] {
    std::copy_n(y, n_, next_.begin());
    return move_to_manifold(t, next_.data(), ones_.data());
  });
  return outcome == DaeOutcome::ok ? find_jets(t, next_.data()) : outcome;
}

DaeOutcome ArraySolver::find_jets(double t, const double* y) {
  t_ = t;
  for (std::size_t i = 0; i < n_; ++i) u_[i] = y[i] / values_.scale().s[i];
  double last = 0.0;
  int factors = 0;
  use_pivots_ = false;
  for (int iteration = 0;; ++iteration) {
    if (iteration == most_iterations) return fail(DaeOutcome::no_convergence);
    if (!values_.evaluate(t_, u_.data())) return fail(DaeOutcome::not_finite);
    e_ = values_.E();
    qr_.reduce(e_.data());
    const double change = correct_jets();
    if (!std::isfinite(change)) return fail(DaeOutcome::not_finite);
    if (change <= converged || (iteration > 0 && change <= stagnating && change > 0.5 * last)) break;
    if (iteration > 0 && change > contraction * last && factors++ < most_factors && !factor_pivots())
      return fail(DaeOutcome::singular);
    last = change;
  }
  for (std::size_t i = 0; i < n_; ++i) dy_[i] = u_[n_ + i] / values_.scale().h * values_.scale().s[i];
  find_residuals();
  return DaeOutcome::ok;
}

DaeOutcome ArraySolver::find_jets_anew(double t, const double* y, double most) {
  t_ = t;
  for (std::size_t i = 0; i < n_; ++i) u_[i] = y[i] / values_.scale().s[i];
  if (const DaeOutcome outcome = factor(); outcome != DaeOutcome::ok) return fail(outcome);
  if (const DaeOutcome outcome = find_jets(t, y); outcome != DaeOutcome::ok) return outcome;
  for (const double residual : residuals_)
    if (!(std::abs(residual) <= most)) return fail(DaeOutcome::no_convergence);
  anchor_ = u_;
  anchor_t_ = t;
  return DaeOutcome::ok;
}

DaeOutcome ArraySolver::derivatives_on_manifold(double t, const double* y, double most) {
  return reach(t, y, [&] { return find_jets_anew(t, y, most); });
}

DaeOutcome ArraySolver::derivatives_at_projected(double t, const double* y) {
  before_ = anchor_;
  const double t_before = anchor_t_;
  const DaeOutcome outcome = derivatives_on_manifold(t, y, projected);
  if (outcome == DaeOutcome::ok) return outcome;
  u_ = anchor_ = before_;
  anchor_t_ = t_before;
  return derivatives_on_manifold(t, y);
}

void ArraySolver::begin_at(const ArraySolver& other) {
  u_ = anchor_ = other.anchor_;
  t_ = anchor_t_ = other.anchor_t_;
}

void ArraySolver::begin_step(double t, const double* y) {
  // The last attempt from here again, or the end of it, whatever rows between were looked at.
  bool goes_on = t == end_t_;
  for (std::size_t i = 0; i < n_ && goes_on; ++i) goes_on = y[i] == end_[i] * values_.scale().s[i];
  attempted_ = false;
  if (t == begin_t_ || goes_on) {
    u_ = anchor_ = goes_on ? end_ : begin_;
    t_ = anchor_t_ = t;
    static_cast<void>(factor());
  } else if (derivatives_at_projected(t, y) != DaeOutcome::ok) {
    return;  // told by the attempt
  }
  begin_ = anchor_;
  begin_t_ = t;
}

/// Higher derivatives may change much from one point to the next: where Newton's method does not reach them at once, it
/// follows them over points of the manifold between the last one and y.
template <class Arrive>
DaeOutcome ArraySolver::reach(double t, const double* y, Arrive arrive) {
  DaeOutcome outcome = arrive();
  for (std::size_t parts = 4; outcome != DaeOutcome::ok && parts <= 256; parts *= 4) {
    const double t_from = anchor_t_;
    for (std::size_t i = 0; i < n_; ++i) from_[i] = anchor_[i] * values_.scale().s[i];
    outcome = DaeOutcome::ok;
    for (std::size_t part = 1; part < parts && outcome == DaeOutcome::ok; ++part) {
      const double share = static_cast<double>(part) / static_cast<double>(parts);
      for (std::size_t i = 0; i < n_; ++i) between_[i] = (1.0 - share) * from_[i] + share * y[i];
      outcome = move_to_manifold((1.0 - share) * t_from + share * t, between_.data(), ones_.data());
    }
    if (outcome == DaeOutcome::ok) outcome = arrive();
  }
  return outcome;
}

/// Where (Q^T E)_1 = 0 holds, w_T moves with y by -(Q^T M)_1^-1 (Q^T dE/dy)_1.
DaeOutcome ArraySolver::jacobian(double t, const double* y, double* out) {
  if (const DaeOutcome outcome = derivatives(t, y); outcome != DaeOutcome::ok) return outcome;
  if (!factor_pivots()) return fail(DaeOutcome::singular);
  const std::vector<double>& s = values_.scale().s;
  for (std::size_t j = 0; j < n_; ++j) {
    values_.column(0, j, column_.data());
    qr_.reduce(column_.data());
    pivots_.solve(column_.data());
    for (std::size_t k = 0; k < rank_; ++k) {
      const std::size_t column = qr_.order()[k], which = place(column);
      if (which / n_ != 1) continue;
      const std::size_t i = which % n_;
      out[i * n_ + j] = -column_[k] * qr_.column_scales()[column] * s[i] / (values_.scale().h * s[j]);
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
  const DaeOutcome outcome = reach(t, y, [&] { return move_to_manifold(t, y, sizes); });
  if (outcome == DaeOutcome::ok && !attempted_) {
    attempted_ = true;
    end_ = anchor_;
    end_t_ = t;
  }
  return outcome;
}

DaeOutcome ArraySolver::move_to_manifold(double t, double* y, const double* sizes) {
  t_ = t;
  const std::size_t column = levels_ * n_, left = m_ - rank_;
  const std::vector<double>& s = values_.scale().s;
  for (std::size_t i = 0; i < n_; ++i) {
    y0_[i] = y[i] / s[i];
    u_[i] = y0_[i];
  }
  double last = 0.0;
  bool fresh = false;
  use_pivots_ = false;
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
  anchor_ = u_;
  anchor_t_ = t;
  return DaeOutcome::ok;
}

}  // namespace daedalus::structure
