#include "daedalus/integrate/families/mechanical_interpolant.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace daedalus::integrate {

MechanicalInterpolant::MechanicalInterpolant(const System& system, Velocities velocities)
    : mechanical_(*system.mechanical),
      n_(mechanical_.n),
      dimension_(system.dimension),
      velocities_(velocities),
      kkt_(mechanical_.mass, mechanical_.jacobian),
      M_(mechanical_.mass.nonzeros()),
      f_(n_),
      G_(mechanical_.jacobian.nonzeros()),
      gamma_(mechanical_.m),
      start_(dimension_ - n_),
      end_(dimension_ - n_) {}

void MechanicalInterpolant::advance() {
  start_.swap(end_);
  start_known_ = std::exchange(end_known_, false);
}

Evaluation MechanicalInterpolant::slopes_at(double t, const double* x, std::vector<double>& slope) {
  ++evaluations;
  ++factorizations;
  const Evaluation outcome =
      mechanical_.motion(t, x, M_.data(), f_.data(), G_.data(), gamma_.data(), slope.data() + n_);
  if (outcome != Evaluation::ok) return outcome;
  const linalg::KktOutcome factored = kkt_.factor(M_.data(), G_.data());
  if (factored == linalg::KktOutcome::not_finite) return Evaluation::not_finite;
  if (factored == linalg::KktOutcome::singular_mass) return Evaluation::singular;
  kkt_.solve(f_.data(), gamma_.data(), slope.data(), gamma_.data());
  return Evaluation::ok;
}

Evaluation MechanicalInterpolant::at(double theta, const Step& step, double* x) {
  if (!start_known_) {
    if (const Evaluation outcome = slopes_at(step.t0, step.x0, start_); outcome != Evaluation::ok) return outcome;
    start_known_ = true;
  }
  if (!end_known_) {
    if (const Evaluation outcome = slopes_at(step.t1, step.x1, end_); outcome != Evaluation::ok) return outcome;
    end_known_ = true;
  }
  const double h = step.t1 - step.t0, s = theta, s2 = s * s, u = 1.0 - s;
  for (std::size_t i = 0; i < n_; ++i) {
    const double q0 = step.x0[i], v0 = h * step.x0[n_ + i], a0 = 0.5 * h * h * start_[i];
    // What the Taylor polynomial of the start lacks at the end, in value and derivatives.
    const double value = step.x1[i] - q0 - v0 - a0, slope = h * step.x1[n_ + i] - v0 - 2.0 * a0,
                 bend = 0.5 * h * h * end_[i] - a0;
    const double c3 = 10.0 * value - 4.0 * slope + bend, c4 = -15.0 * value + 7.0 * slope - 2.0 * bend,
                 c5 = 6.0 * value - 3.0 * slope + bend;
    x[i] = q0 + s * (v0 + s * (a0 + s * (c3 + s * (c4 + s * c5))));
    // The cubic polynomial through v and a of both ends, and what the way from q0 to q1 adds to it.
    const double w0 = step.x0[n_ + i], w1 = step.x1[n_ + i], k0 = h * start_[i], k1 = h * end_[i], change = w1 - w0;
    const double way = step.x1[i] - q0, missing = way - h * (0.5 * (w0 + w1) + (k0 - k1) / 12.0);
    const double noise =
        8.0 * std::numeric_limits<double>::epsilon() * (std::abs(q0) + std::abs(step.x1[i]) + std::abs(h * w0));
    x[n_ + i] = w0 + s * (change + u * (u * (k0 - change) - s * (k1 - change)));
    if (velocities_ == Velocities::quartic && std::abs(missing) > noise) x[n_ + i] += 30.0 * missing / h * s2 * u * u;
  }
  for (std::size_t i = 2 * n_; i < dimension_; ++i) {
    const double x0 = step.x0[i], change = step.x1[i] - x0, k0 = h * start_[i - n_], k1 = h * end_[i - n_];
    x[i] = x0 + s * (change + u * (u * (k0 - change) - s * (k1 - change)));
  }
  return Evaluation::ok;
}

}  // namespace daedalus::integrate
