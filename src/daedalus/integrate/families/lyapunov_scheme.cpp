// Two discretizations of xi_i' = k_i xi_i, eta' = q(xi, eta) with a sampling time T (Di Franco, Scarciotti, Astolfi):
//     (45)   xi+ = (1 + T k) xi,        eta+ = eta + T (phi_T(q0) + q(xi, eta) - q0(eta)),      q0(eta) = q(0, eta)
//     (52)   xi+ = xi / (1 - T k),      the same
// with T phi_T(q0) the step of any one-step method on the zero dynamics eta' = q0(eta). xi decays with (45) where
// T k_i > -2 for all i, Theorem 5; with (52) for every T, Theorem 6. The bound (49) is 2 over the largest -k_i.

#include "daedalus/integrate/families/lyapunov_scheme.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/base/finite.hpp"
#include "daedalus/base/text.hpp"

namespace daedalus::integrate {

namespace {

class LyapunovScheme final : public Stepper {
 public:
  LyapunovScheme(const System& system, XiStep step, const std::string& scheme)
      : form_(system.normal_form), step_(step), scheme_(integrator(scheme)) {
    DAEDALUS_CHECK(form_ != nullptr, "no normal form in a system of dimension {}", system.dimension);
    for (auto* vector : {&x_, &before_, &candidate_, &own_, &on_}) vector->resize(system.dimension);
    zero_.ode = [this](double t, const double* eta, double* q) {
      if (const Evaluation outcome = reach(on_time_, t, {none_.data(), eta}, on_.data()); outcome != Evaluation::ok) return outcome;
      on_time_ = t;
      return form_->rates(t, on_.data(), q);
    };
    zero_.explain = system.explain;
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, x_.size(), x_.begin());
    stepped_ = false;
    if (const Evaluation outcome = make_room(); outcome != Evaluation::ok) return outcome;
    return form_->reduce(t, x, xi_.data(), eta_.data());
  }

  Attempt attempt(double h, const Tolerance*) override {
    Attempt result;
    result.outcome = advance(h);
    // A step of this size may leave the domain of these coordinates, and not that of others.
    bool others = result.outcome != Evaluation::ok && form_->exchange != nullptr;
    while (others && result.outcome != Evaluation::ok) {
      others = form_->exchange(t_, x_.data());  // else the first are back, and say why
      std::ranges::copy(x_, own_.begin());
      result.outcome = start(t_, own_.data());
      if (result.outcome == Evaluation::ok) result.outcome = advance(h);
    }
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    watch(t_next - t_);
    old_xi_ = xi_;
    old_eta_ = eta_;
    t_old_ = t_;
    if (candidate_ == own_) {
      xi_.swap(next_xi_);
      eta_.swap(next_eta_);
    } else if (const Evaluation outcome = form_->reduce(t_next, candidate_.data(), xi_.data(), eta_.data());
               outcome != Evaluation::ok) {
      return outcome;
    }
    before_.swap(x_);
    std::ranges::copy(candidate_, x_.begin());
    t_ = t_next;
    stepped_ = true;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    std::ranges::copy(theta < 0.5 ? before_ : x_, x);
    if (theta == 1.0) return Evaluation::ok;
    // In the coordinates, as the step is: a chord of states leaves the constraints.
    const auto between = [theta](const std::vector<double>& from, const std::vector<double>& to, std::vector<double>& there) {
      for (std::size_t i = 0; i < there.size(); ++i) there[i] = from[i] + theta * (to[i] - from[i]);
    };
    between(old_xi_, xi_, next_xi_);
    between(old_eta_, eta_, next_eta_);
    if (reach(theta < 0.5 ? t_old_ : t_, t_old_ + theta * (t_ - t_old_), {next_xi_.data(), next_eta_.data()}, x) != Evaluation::ok)
      for (std::size_t i = 0; i < x_.size(); ++i) x[i] = before_[i] + theta * (x_[i] - before_[i]);
    return Evaluation::ok;
  }

  void remark(std::vector<std::string>& notes) const override {
    if (!(largest_ > 0.0)) return;
    const double bound = 2.0 / largest_;
    if (step_ == XiStep::implicit_step) {
      notes.push_back(fmt::format("the largest gain was {}: the explicit scheme would need steps below {}", brief(-largest_), brief(bound)));
    } else if (violations_ == 0) {
      notes.push_back(fmt::format("k T > -2 held at every step; the largest gain was {}, which allows steps below {}", brief(-largest_),
                                  brief(bound)));
    } else {
      notes.push_back(fmt::format("k T > -2 was violated in {} of {} steps, first at t = {}: the largest gain was {}, which allows "
                                  "steps below {}; violations need not decay",
                                  violations_, steps_, brief(first_violation_), brief(-largest_), brief(bound)));
    }
  }

  const double* state() const override { return x_.data(); }

 private:
  Evaluation make_room() {
    // The first look at a state chooses coordinates, and with that how many there are.
    if (xi_.empty() && eta_.empty()) {
      xi_.resize(x_.size());
      eta_.resize(x_.size());
      if (const Evaluation outcome = form_->reduce(t_, x_.data(), xi_.data(), eta_.data()); outcome != Evaluation::ok) return outcome;
    }
    const std::size_t count = form_->xi_count(), rest = form_->eta_count();
    if (zero_stepper_ && xi_.size() == count) return Evaluation::ok;
    for (auto* vector : {&xi_, &next_xi_, &old_xi_, &gain_}) vector->resize(count);
    none_.assign(count, 0.0);
    for (auto* vector : {&eta_, &next_eta_, &old_eta_, &rate_, &zero_rate_}) vector->resize(rest);
    zero_.dimension = rest;
    zero_stepper_ = scheme_.make(zero_, Options(Choice{scheme_.name, {}}, scheme_.options));
    return Evaluation::ok;
  }

  Evaluation advance(double h) {
    using enum Evaluation;
    ++stats_.rhs;
    if (const Evaluation outcome = form_->gains(t_, xi_.data(), eta_.data(), x_.data(), gain_.data()); outcome != ok) return outcome;
    if (const Evaluation outcome = form_->rates(t_, x_.data(), rate_.data()); outcome != ok) return outcome;
    std::ranges::copy(x_, on_.begin());
    on_time_ = t_;
    if (const Evaluation outcome = zero_.ode(t_, eta_.data(), zero_rate_.data()); outcome != ok) return outcome;
    if (const Evaluation outcome = zero_stepper_->start(t_, eta_.data()); outcome != ok) return outcome;
    if (const Attempt zero = zero_stepper_->attempt(h, nullptr); zero.outcome != ok) return zero.outcome;
    for (std::size_t k = 0; k < eta_.size(); ++k)
      next_eta_[k] = zero_stepper_->candidate()[k] + h * (rate_[k] - zero_rate_[k]);
    for (std::size_t i = 0; i < xi_.size(); ++i)
      next_xi_[i] = step_ == XiStep::explicit_step ? xi_[i] + h * gain_[i] * xi_[i] : xi_[i] / (1.0 - h * gain_[i]);
    if (!all_finite(next_eta_) || !all_finite(next_xi_)) return not_finite;
    std::ranges::copy(x_, own_.begin());
    if (const Evaluation outcome = reach(t_, t_ + h, {next_xi_.data(), next_eta_.data()}, own_.data()); outcome != ok) return outcome;
    std::ranges::copy(own_, candidate_.begin());
    return ok;
  }

  struct Coordinates {
    const double *xi, *eta;
  };
  /// Goes on from the state x at one time to that with these coordinates at another.
  Evaluation reach(double from, double to, const Coordinates& there, double* x) {
    if (form_->wait)
      if (const Evaluation outcome = form_->wait(from, to, x); outcome != Evaluation::ok) return outcome;
    return form_->expand(to, there.xi, there.eta, x);
  }

  void watch(double h) {
    ++steps_;
    double largest = 0.0;
    for (const double k : gain_) largest = std::max(largest, -k);
    largest_ = std::max(largest_, largest);
    if (largest * std::abs(h) < 2.0) return;
    if (violations_++ == 0) first_violation_ = t_;
  }

  std::shared_ptr<const NormalForm> form_;
  const XiStep step_;
  const IntegratorEntry& scheme_;
  System zero_;
  std::unique_ptr<Stepper> zero_stepper_;
  bool stepped_ = false;
  std::size_t steps_ = 0, violations_ = 0;
  double largest_ = 0.0, first_violation_ = 0.0;
  double on_time_ = 0.0;  ///< of on_
  double t_old_ = 0.0;
  std::vector<double> x_, before_, candidate_, own_, on_;
  std::vector<double> old_xi_, old_eta_;  ///< where the last step began
  std::vector<double> xi_, eta_, next_xi_, next_eta_, gain_, none_, rate_, zero_rate_;
};

}  // namespace

IntegratorEntry lyapunov_scheme(IntegratorEntry entry, XiStep step) {
  entry.citation = fmt::format("Di Franco, Scarciotti, Astolfi, ({})", step == XiStep::explicit_step ? 45 : 52);
  entry.order = 1;
  entry.stages = 1;
  entry.estimate_order = 1;
  entry.dense_order = 1;
  entry.accepts = {View::normal};
  entry.options = {{"scheme",
                    "one-step method for the zero dynamics",
                    std::nullopt,
                    0.0,
                    0.0,
                    {"explicit-euler", "midpoint", "heun2", "heun3", "rk4", "rk38", "implicit-euler", "implicit-midpoint", "gauss4"}}};
  entry.make = [step](const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    return std::make_unique<LyapunovScheme>(system, step, options.word("scheme"));
  };
  return entry;
}

}  // namespace daedalus::integrate
