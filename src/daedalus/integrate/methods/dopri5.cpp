// The explicit Runge-Kutta method of order 5 with an estimate of order 4 by Dormand and Prince (RK5(4)7M) and
// Shampine's dense output of order 4, as in Hairer's code DOPRI5: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary
// Differential Equations I, 2nd ed., table II.5.2, (II.6.12) and, for the stiffness test, IV.2 of volume II.
//
// Dense output, with s = theta and u = 1 - theta:
//   x = x0 + s (r2 + u (r3 + s (r4 + u r5))),
//   r2 = x1 - x0,   r3 = h k1 - r2,   r4 = r2 - h k7 - r3,   r5 = h sum_j d_j k_j.
// The estimate uses k7 = f(t + h, x1). So the estimate comes first; where x1 is then projected, k7 is evaluated once
// more at the projected state, for the next step and for the dense output, which through r2 and r4 ends there with that
// slope.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/families/weighted_slopes.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {
namespace {

constexpr std::array stage2{Term{1, 1.0 / 5.0}};
constexpr std::array stage3{Term{1, 3.0 / 40.0}, Term{2, 9.0 / 40.0}};
constexpr std::array stage4{Term{1, 44.0 / 45.0}, Term{2, -56.0 / 15.0}, Term{3, 32.0 / 9.0}};
constexpr std::array stage5{Term{1, 19372.0 / 6561.0}, Term{2, -25360.0 / 2187.0}, Term{3, 64448.0 / 6561.0},
                            Term{4, -212.0 / 729.0}};
constexpr std::array stage6{Term{1, 9017.0 / 3168.0}, Term{2, -355.0 / 33.0}, Term{3, 46732.0 / 5247.0},
                            Term{4, 49.0 / 176.0}, Term{5, -5103.0 / 18656.0}};
constexpr std::array weights{Term{1, 35.0 / 384.0}, Term{3, 500.0 / 1113.0}, Term{4, 125.0 / 192.0},
                             Term{5, -2187.0 / 6784.0}, Term{6, 11.0 / 84.0}};
constexpr std::array error_weights{Term{1, 71.0 / 57600.0},      Term{3, -71.0 / 16695.0}, Term{4, 71.0 / 1920.0},
                                   Term{5, -17253.0 / 339200.0}, Term{6, 22.0 / 525.0},    Term{7, -1.0 / 40.0}};
constexpr std::array dense_weights{Term{1, -12715105075.0 / 11282082432.0}, Term{3, 87487479700.0 / 32700410799.0},
                                   Term{4, -10690763975.0 / 1880347072.0},  Term{5, 701980252875.0 / 199316789632.0},
                                   Term{6, -1453857185.0 / 822651844.0},    Term{7, 69997945.0 / 29380423.0}};

/// c_i; entry 0 is unused.
constexpr std::array<double, 8> node{0.0, 0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};

class Dopri5 final : public Stepper {
 public:
  Dopri5(const System& system, double beta)
      : system_(system),
        beta_(beta),
        n_(system.dimension),
        old_(n_),
        now_(n_),
        candidate_(n_),
        tried_(n_),
        argument_(n_),
        error_(n_),
        slopes_(7 * n_),
        dense_(n_) {
    k_[0] = nullptr;
    for (std::size_t stage = 1; stage <= 7; ++stage) k_[stage] = slopes_.data() + (stage - 1) * n_;
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, n_, now_.begin());
    stepped_ = false;
    stiffness_ = 0.0;
    return evaluate(t, now_.data(), k_[1]);
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    if (stepped_) std::swap(k_[1], k_[7]);
    stepped_ = end_known_ = false;
    h_ = h;
    Attempt result;
    result.memory = beta_;
    result.outcome = evaluate_stages();
    if (result.outcome != Evaluation::ok) return result;
    move_along<weights>(now_.data(), k_, h, n_, candidate_.data());
    if (tolerance == nullptr) return result;
    result.outcome = evaluate(t_ + h, candidate_.data(), k_[7]);
    if (result.outcome != Evaluation::ok) return result;
    end_known_ = true;
    t_tried_ = t_ + h;
    tried_ = candidate_;
    estimate(*tolerance, result);
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    if (!end_known_ || t_next != t_tried_ || candidate_ != tried_) {
      const Evaluation outcome = evaluate(t_next, candidate_.data(), k_[7]);
      if (outcome != Evaluation::ok) return outcome;
    }
    detect_stiffness();
    old_.swap(now_);
    now_.swap(candidate_);
    t_old_ = t_;
    t_ = t_next;
    stepped_ = true;
    dense_ready_ = false;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    const double h = t_ - t_old_, s = theta, u = 1.0 - theta;
    if (!dense_ready_) sum_slopes<dense_weights>(k_, h, n_, dense_.data());
    dense_ready_ = true;
    for (std::size_t i = 0; i < n_; ++i) {
      const double r2 = now_[i] - old_[i], r3 = h * k_[1][i] - r2, r4 = r2 - h * k_[7][i] - r3;
      x[i] = old_[i] + s * (r2 + u * (r3 + s * (r4 + u * dense_[i])));
    }
    return Evaluation::ok;
  }

  const double* derivative() const override { return stepped_ ? k_[7] : k_[1]; }
  double stiffness() const override { return stiffness_; }
  const double* state() const override { return now_.data(); }

 private:
  Evaluation evaluate(double t, const double* x, double* slope) {
    ++stats_.rhs;
    return system_.ode(t, x, slope);
  }

  /// Stages 2 to 6; the argument of stage 6 stays in argument_.
  Evaluation evaluate_stages() {
    Evaluation outcome = Evaluation::ok;
    const auto good = [&]<const auto & row>(std::size_t stage) {
      move_along<row>(now_.data(), k_, h_, n_, argument_.data());
      outcome = evaluate(t_ + node[stage] * h_, argument_.data(), k_[stage]);
      return outcome == Evaluation::ok;
    };
    static_cast<void>(good.template operator()<stage2>(2) && good.template operator()<stage3>(3) &&
                      good.template operator()<stage4>(4) && good.template operator()<stage5>(5) &&
                      good.template operator()<stage6>(6));
    return outcome;
  }

  void estimate(const Tolerance& tolerance, Attempt& result) {
    if (n_ == 0) return;
    sum_slopes<error_weights>(k_, h_, n_, error_.data());
    if (system_.project_error) system_.project_error(error_.data());
    set_error(result, n_, [&](std::size_t i) { return error_[i] / error_weight(tolerance, i, now_[i], candidate_[i]); });
  }

  /// Compares stages 6 and 7, both at t + h: |k7 - k6| / |x7 - x6| is about |lambda|. Differences at the level of
  /// round-off say nothing.
  void detect_stiffness() {
    double slope_change = 0.0, change = 0.0, size = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double slope_difference = k_[7][i] - k_[6][i], difference = candidate_[i] - argument_[i];
      slope_change += slope_difference * slope_difference;
      change += difference * difference;
      size += candidate_[i] * candidate_[i];
    }
    constexpr double noise = 100.0 * std::numeric_limits<double>::epsilon();
    stiffness_ = change > noise * noise * size ? std::abs(h_) * std::sqrt(slope_change / change) : 0.0;
  }

  const System& system_;
  const double beta_;
  const std::size_t n_;
  std::vector<double> old_, now_, candidate_, tried_, argument_, error_, slopes_, dense_;
  std::array<double*, 8> k_;
  double t_old_ = 0.0, t_tried_ = 0.0, h_ = 0.0, stiffness_ = 0.0;
  bool stepped_ = false;      ///< the last step is accepted, k7 known, no attempt since
  bool end_known_ = false;    ///< k7 is known at tried_, the candidate before any projection
  bool dense_ready_ = false;  ///< r5 belongs to the last accepted step
};

}  // namespace

IntegratorEntry integrator_dopri5() {
  IntegratorEntry entry;
  entry.name = "dopri5";
  entry.summary = "Dormand and Prince's explicit method of order 5 with step control and dense output of order 4";
  entry.citation =
      "J. R. Dormand, P. J. Prince, A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6 (1980) 19-26";
  entry.order = 5;
  entry.stages = 7;
  entry.adaptive = true;
  entry.accepts = {View::ode};
  entry.properties = {"first same as last"};
  entry.dense_order = 4;
  entry.estimate_order = 5;
  entry.stability_radius = 3.25;
  entry.tableau =
      exact_tableau({.a = {{},
                           {"1/5"},
                           {"3/40", "9/40"},
                           {"44/45", "-56/15", "32/9"},
                           {"19372/6561", "-25360/2187", "64448/6561", "-212/729"},
                           {"9017/3168", "-355/33", "46732/5247", "49/176", "-5103/18656"},
                           {"35/384", "0", "500/1113", "125/192", "-2187/6784", "11/84"}},
                     .b = {"35/384", "0", "500/1113", "125/192", "-2187/6784", "11/84", "0"},
                     .c = {"0", "1/5", "3/10", "4/5", "8/9", "1", "1"},
                     .embedded = {"5179/57600", "0", "7571/16695", "393/640", "-92097/339200", "187/2100", "1/40"}});
  entry.options = {error_memory_option()};
  entry.make = [](const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.ode, "dimension {}", system.dimension);
    return std::make_unique<Dopri5>(system, options.number("beta"));
  };
  return entry;
}

}  // namespace daedalus::integrate
