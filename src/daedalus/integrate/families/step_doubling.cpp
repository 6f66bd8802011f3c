// Step doubling: with x1 from one step h and x2 from two steps h/2 of a method of order p,
//   error of x2 = (x2 - x1)/(2^p - 1) + O(h^(p+2)),
// E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., theorem II.4.1. Explicit
// methods on ODEs carry on x2 + (x2 - x1)/(2^p - 1), of order p + 1. Others carry on x2 itself: extrapolated, the
// stability function of the trapezoidal rule tends to 5/3 at infinity, and a symplectic method is none any more.
//
// In an implicit system an unknown of index k > 1 is weighed with h^(k-1), and unknowns whose order is below p have the
// power of their own order in the denominator.
#include "daedalus/integrate/families/step_doubling.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/stability.hpp"

namespace daedalus::integrate {
namespace {

/// Evaluations of f at start, middle and end of a step, which more than one of the three steps and the interpolation
/// ask for: each is made once.
class SharedSlopes {
 public:
  explicit SharedSlopes(std::size_t n) {
    for (Slot& slot : slots_) {
      slot.x.resize(n);
      slot.slope.resize(n);
    }
  }

  enum Where { start, middle, end };

  void expect(Where where, double t, const double* x) {
    Slot& slot = slots_[where];
    slot.t = t;
    std::copy_n(x, slot.x.size(), slot.x.begin());
    slot.state = Slot::State::wanted;
  }
  /// What was the end of a step is the start of the next.
  void advance() { std::swap(slots_[start], slots_[end]); }
  void forget() {
    for (Slot& slot : slots_) slot.state = Slot::State::empty;
  }
  const double* known(Where where) const {
    return slots_[where].state == Slot::State::known ? slots_[where].slope.data() : nullptr;
  }

  Evaluation evaluate(const System& system, double t, const double* x, double* slope) {
    for (Slot& slot : slots_) {
      if (slot.state == Slot::State::empty || slot.t != t || !std::equal(slot.x.begin(), slot.x.end(), x)) continue;
      if (slot.state == Slot::State::wanted) {
        ++evaluations;
        if (const Evaluation outcome = system.ode(t, x, slot.slope.data()); outcome != Evaluation::ok) return outcome;
        slot.state = Slot::State::known;
      }
      std::copy(slot.slope.begin(), slot.slope.end(), slope);
      return Evaluation::ok;
    }
    ++evaluations;
    return system.ode(t, x, slope);
  }

  std::size_t evaluations = 0;

 private:
  struct Slot {
    enum class State { empty, wanted, known } state = State::empty;
    double t = 0.0;
    std::vector<double> x, slope;
  };
  std::array<Slot, 3> slots_;
};

/// Whether the multipliers of a higher index keep their old error, with either sign, from step to step: one step and two
/// halves then differ by twice that error, however short they are.
bool remembers_multipliers(const IntegratorEntry& method) {
  return method.tableau && !has_property(method, "stiffly accurate") && stability_at_infinity(*method.tableau) > 0.999;
}

/// The order of each unknown, from what the entry says about systems of that index; 0 where the comparison of steps says
/// nothing about it.
std::vector<int> orders_of(const IntegratorEntry& method, const System& system) {
  std::vector<int> result(system.dimension, method.order);
  if (!system.implicit) return result;
  const ImplicitSystem& implicit = *system.implicit;
  const std::vector<int>& given = implicit.system_index >= 3   ? method.index3_orders
                                  : implicit.system_index == 2 ? method.index2_orders
                                                               : method.index1_orders;
  if (given.empty() || implicit.system_index == 0) return result;
  for (std::size_t i = 0; i < result.size(); ++i) {
    std::size_t kind = implicit.differential[i] ? 0 : 1;
    if (implicit.system_index >= 3) kind = static_cast<std::size_t>(std::clamp(implicit.index[i], 1, 3) - 1);
    const bool multiplier = !implicit.differential[i] && implicit.system_index >= 2;
    const bool left_out = (multiplier && remembers_multipliers(method)) || !implicit.counts(i);
    result[i] = left_out ? 0 : given[std::min(kind, given.size() - 1)];
  }
  return result;
}

class StepDoubling final : public Stepper {
 public:
  StepDoubling(const IntegratorEntry& method, const System& system, const Options& options)
      : system_(system),
        n_(system.dimension),
        slopes_(system.ode ? n_ : 0),
        shared_(sharing(system)),
        whole_(method.make(shared_, options)),
        first_(method.make(shared_, options)),
        second_(method.make(shared_, options)),
        now_(n_),
        candidate_(n_),
        error_(n_),
        extrapolates_(!method.implicit && system.ode && !has_property(method, "symplectic")),
        counted_(system.implicit ? system.implicit->counted() : n_) {
    for (const int order : orders_of(method, system)) {
      // No step would be short enough for an unknown of order 0: it is left out.
      share_.push_back(order > 0 ? 1.0 / (std::pow(2.0, order) - 1.0) : 0.0);
    }
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, n_, now_.begin());
    slopes_.forget();
    if (system_.ode) slopes_.expect(SharedSlopes::start, t, x);
    stepped_ = false;
    const Evaluation outcome = restart();
    gather();
    return outcome;
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    Attempt result;
    result.outcome = attempt_three(h);
    gather();
    if (result.outcome != Evaluation::ok) return result;
    const double* fine = second_->candidate();
    const double* coarse = whole_->candidate();
    for (std::size_t i = 0; i < n_; ++i) {
      error_[i] = share_[i] * (fine[i] - coarse[i]);
      candidate_[i] = extrapolates_ ? fine[i] + error_[i] : fine[i];
    }
    if (tolerance != nullptr) estimate(h, *tolerance, result);
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    std::copy(candidate_.begin(), candidate_.end(), second_->candidate());
    if (system_.ode) slopes_.expect(SharedSlopes::end, t_next, candidate_.data());
    Evaluation outcome = second_->accepted(t_next);
    if (outcome == Evaluation::ok) outcome = first_->accepted(t_middle_);
    gather();
    if (outcome != Evaluation::ok) return outcome;
    now_.swap(candidate_);
    middle_ = (t_middle_ - t_) / (t_next - t_);
    t_ = t_next;
    stepped_ = true;
    return outcome;
  }

  void rejected() override {
    whole_->rejected();
    first_->rejected();
    second_->rejected();
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    const Evaluation outcome = theta < middle_ ? first_->interpolate(theta / middle_, x)
                                               : second_->interpolate((theta - middle_) / (1.0 - middle_), x);
    gather();
    return outcome;
  }

  const double* derivative() const override {
    return slopes_.known(stepped_ ? SharedSlopes::end : SharedSlopes::start);
  }
  const double* state() const override { return now_.data(); }

 private:
  /// The system with evaluations at the ends of steps shared. The steppers keep a reference to it.
  System sharing(const System& system) {
    System result = system;
    if (system.ode) {
      result.ode = [this](double t, const double* x, double* slope) { return slopes_.evaluate(system_, t, x, slope); };
    }
    return result;
  }

  /// Puts the steppers of the whole step and of the first half to the current point.
  Evaluation restart() {
    const Evaluation outcome = whole_->start(t_, now_.data());
    return outcome == Evaluation::ok ? first_->start(t_, now_.data()) : outcome;
  }

  Evaluation attempt_three(double h) {
    if (stepped_) {
      slopes_.advance();
      stepped_ = false;
      if (const Evaluation outcome = restart(); outcome != Evaluation::ok) return outcome;
    }
    if (const Attempt whole = whole_->attempt(h, nullptr); whole.outcome != Evaluation::ok) return whole.outcome;
    t_middle_ = t_ + 0.5 * h;
    if (const Attempt half = first_->attempt(t_middle_ - t_, nullptr); half.outcome != Evaluation::ok)
      return half.outcome;
    if (system_.ode) slopes_.expect(SharedSlopes::middle, t_middle_, first_->candidate());
    const Evaluation outcome = second_->start(t_middle_, first_->candidate());
    if (outcome != Evaluation::ok) return outcome;
    return second_->attempt(t_ + h - t_middle_, nullptr).outcome;
  }

  void estimate(double h, const Tolerance& tolerance, Attempt& result) {
    if (n_ == 0) return;
    if (system_.project_error) system_.project_error(error_.data());
    set_error(result, n_, counted_, [&](std::size_t i) {
      double ratio = error_[i] / error_weight(tolerance, i, now_[i], candidate_[i]);
      for (int k = 1; system_.implicit && k < system_.implicit->index[i]; ++k) ratio *= std::abs(h);
      return ratio;
    });
  }

  /// Counts what the three steppers spent; of evaluations of f only those that were made.
  void gather() {
    stats_ = {};
    for (const Stepper* stepper : {whole_.get(), first_.get(), second_.get()}) {
      stats_.rhs += stepper->stats().rhs;
      stats_.jacobians += stepper->stats().jacobians;
      stats_.factorizations += stepper->stats().factorizations;
      stats_.newton_iterations += stepper->stats().newton_iterations;
    }
    if (system_.ode) stats_.rhs = slopes_.evaluations;
  }

  const System& system_;
  const std::size_t n_;
  SharedSlopes slopes_;
  const System shared_;
  const std::unique_ptr<Stepper> whole_, first_, second_;
  std::vector<double> now_, candidate_, error_;
  std::vector<double> share_;  ///< 1/(2^p - 1) of each unknown
  const bool extrapolates_;
  const std::size_t counted_;
  double t_middle_ = 0.0, middle_ = 0.5;
  bool stepped_ = false;  ///< the last step is accepted, no attempt since
};

}  // namespace

std::unique_ptr<Stepper> step_doubling(const IntegratorEntry& method, const System& system, const Options& options) {
  return std::make_unique<StepDoubling>(method, system, options);
}

}  // namespace daedalus::integrate
