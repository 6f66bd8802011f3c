// Cubic Hermite interpolation: with s = theta, d = x1 - x0 and the slopes f0, f1 at the ends
//   x(t0 + s h) = (1 - s) x0 + s x1 + s (s - 1) ((1 - 2 s) d + (s - 1) h f0 + s h f1),
// E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., (II.6.7). Its error is
// O(h^4). x1 is the state after projection and f1 its slope, so the polynomial ends on the constraints and is joined
// to the next one with a continuous derivative.
#include "daedalus/integrate/families/two_ends.hpp"

#include <algorithm>

#include "daedalus/base/check.hpp"

namespace daedalus::integrate {

TwoEnds::TwoEnds(const System& system)
    : system_(system),
      old_(system.dimension),
      now_(system.dimension),
      candidate_(system.dimension),
      old_slope_(system.dimension),
      slope_(system.dimension) {}

void TwoEnds::start(const double* x) {
  std::copy_n(x, now_.size(), now_.begin());
  slope_known_ = stepped_ = false;
}

void TwoEnds::advance(double t_old, double t_now) {
  old_.swap(now_);
  now_.swap(candidate_);
  old_slope_.swap(slope_);
  slope_known_ = false;
  stepped_ = true;
  t_old_ = t_old;
  t_now_ = t_now;
}

Evaluation TwoEnds::need_slope(double t, Stats& stats) {
  if (slope_known_) return Evaluation::ok;
  ++stats.rhs;
  const Evaluation outcome = system_.ode(t, now_.data(), slope_.data());
  slope_known_ = outcome == Evaluation::ok;
  return outcome;
}

Evaluation TwoEnds::interpolate(double theta, double* x, Stats& stats) {
  DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
  if (const Evaluation outcome = need_slope(t_now_, stats); outcome != Evaluation::ok) return outcome;
  const double h = t_now_ - t_old_;
  for (std::size_t i = 0; i < now_.size(); ++i) {
    const double bulge =
        (1.0 - 2.0 * theta) * (now_[i] - old_[i]) + (theta - 1.0) * h * old_slope_[i] + theta * h * slope_[i];
    x[i] = (1.0 - theta) * old_[i] + theta * now_[i] + theta * (theta - 1.0) * bulge;
  }
  return Evaluation::ok;
}

}  // namespace daedalus::integrate
