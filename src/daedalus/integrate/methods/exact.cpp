// A formula for the solution needs no small steps. Those that are taken are the ones a picture needs: between two of
// them a cubic through both ends follows the solution to a thousandth of what each unknown has reached. Numbers stay in
// the coordinates of the formula, with all of its digits, from the start or the last event on. The functions whose
// events make another formula are followed in the same way: a step over two of their zeros would not know of either.
#include <algorithm>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {
namespace {

constexpr double resolution = 1e-3, resolution_of_conditions = 1e-2;
/// Inside a step, as parts of it: two points, so that an oscillation that is met at one of its zeros is seen at the
/// other, and irrational ones (of the golden ratio), so that whole periods do not fit between them and the ends.
constexpr double points[] = {0.381966011250105152, 0.723606797749978970};

/// The cubic through values a, b and slopes a', b' at both ends of a step of size h.
double cubic(double theta, double h, double a, double da, double b, double db) {
  const double s = 1.0 - theta;
  return s * s * (1.0 + 2.0 * theta) * a + theta * theta * (1.0 + 2.0 * s) * b + h * theta * s * (s * da - theta * db);
}

/// to - (from + h), which h was rounded by.
double left_over(double from, double h, double to) {
  const double apart = to - from, begin = to - apart;
  const double rounded = (to - (apart + begin)) + (begin - from);  // apart + rounded = to - from
  return (apart - h) + rounded;
}

class Exact final : public Stepper {
 public:
  explicit Exact(const System& system)
      : flow_(system.flow),
        n_(system.dimension / 2),
        z_(flow_->coordinates),
        z_next_(z_),
        z_old_(z_),
        z_between_(z_),
        x_(system.dimension),
        next_(system.dimension),
        between_(system.dimension),
        largest_(n_),
        conditions_(2 * flow_->conditions),
        conditions_next_(conditions_),
        conditions_between_(conditions_) {}

  Evaluation start(double t, const double* x) override {
    t_ = t_old_ = t;
    if (const Evaluation outcome = flow_->enter(t, x, z_.data()); outcome != Evaluation::ok) return outcome;
    z_old_ = z_;
    // A state off all solutions leaps: what follows begins after the leap.
    const Evaluation outcome = flow_->leave(t, z_.data(), x_.data());
    for (std::size_t i = 0; i < n_; ++i) largest_[i] = std::max(largest_[i], std::abs(x_[i]));
    return outcome;
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    Attempt result;
    h_ = h;
    result.outcome = state_at(z_, t_, h, z_next_, next_.data());
    if (result.outcome != Evaluation::ok || tolerance == nullptr) return result;
    for (const double theta : points) {
      result.outcome = state_at(z_, t_, theta * h, z_between_, between_.data());
      if (result.outcome != Evaluation::ok) return result;
      for (std::size_t i = 0; i < n_; ++i) {
        const double followed = cubic(theta, h, x_[i], x_[n_ + i], next_[i], next_[n_ + i]);
        const double size = std::max({largest_[i], std::abs(next_[i]), std::abs(between_[i])});
        const double error = std::abs(followed - between_[i]) / (resolution * size + tolerance->atol[i]);
        if (error > result.error) {
          result.error = error;
          result.worst = i;
        }
      }
    }
    follow_conditions(h, result);
    return result;
  }

  double* candidate() override { return next_.data(); }

  Evaluation accepted(double t_next) override {
    // Steps of a grid are as long as its times are apart but for rounding, which would add up.
    if (const double rest = left_over(t_, h_, t_next); rest != 0.0) {
      if (const Evaluation outcome = state_at(z_next_, t_ + h_, rest, z_between_, next_.data());
          outcome != Evaluation::ok)
        return outcome;
      z_next_ = z_between_;
    }
    t_old_ = t_;
    t_ = t_next;
    z_old_ = z_;
    z_ = z_next_;
    x_ = next_;
    for (std::size_t i = 0; i < n_; ++i) largest_[i] = std::max(largest_[i], std::abs(x_[i]));
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    return interpolate_at(theta == 1.0 ? t_ : t_old_ + theta * (t_ - t_old_), theta, x);
  }
  Evaluation interpolate_at(double t, double, double* x) override {
    if (t == t_) {
      std::copy(x_.begin(), x_.end(), x);
      return Evaluation::ok;
    }
    const double h = t - t_old_;
    if (const Evaluation outcome = state_at(z_old_, t_old_, h, z_between_, x); outcome != Evaluation::ok)
      return outcome;
    if (const double rest = left_over(t_old_, h, t); rest != 0.0) {
      z_next_ = z_between_;
      return state_at(z_next_, t_old_ + h, rest, z_between_, x);
    }
    return Evaluation::ok;
  }

  const double* state() const override { return x_.data(); }
  void remark(std::vector<std::string>& notes) const override {
    if (const std::string text = flow_->accuracy(); !text.empty()) notes.push_back(text);
  }

 private:
  void follow_conditions(double h, Attempt& result) {
    const std::size_t count = flow_->conditions;
    if (count == 0) return;
    flow_->watch(t_, conditions_.data());
    flow_->watch(t_ + h, conditions_next_.data());
    for (const double theta : points) {
      flow_->watch(t_ + theta * h, conditions_between_.data());
      for (std::size_t i = 0; i < count; ++i) {
        const double a = conditions_[i], b = conditions_next_[i], between = conditions_between_[i];
        const double off =
            std::abs(cubic(theta, h, a, conditions_[count + i], b, conditions_next_[count + i]) - between);
        const double size = std::max({std::abs(a), std::abs(b), std::abs(between)});
        if (off > 0.0 && std::isfinite(off))
          result.error = std::max(result.error, off / (resolution_of_conditions * size));
      }
    }
  }

  Evaluation state_at(const std::vector<double>& from, double t, double h, std::vector<double>& z, double* x) {
    z = from;
    ++stats_.rhs;
    if (const Evaluation outcome = flow_->advance(t, h, z.data()); outcome != Evaluation::ok) return outcome;
    return flow_->leave(t + h, z.data(), x);
  }

  std::shared_ptr<const Flow> flow_;
  std::size_t n_;
  std::vector<double> z_, z_next_, z_old_, z_between_, x_, next_, between_, largest_, conditions_, conditions_next_,
      conditions_between_;
  double t_old_ = 0.0, h_ = 0.0;
};

}  // namespace

IntegratorEntry integrator_exact() {
  IntegratorEntry entry;
  entry.name = "exact";
  entry.summary = "The solution by its formula: matrix exponential, integral and derivatives of f, with all digits";
  entry.citation = "DAE notes (000), (2.31); Van Loan, IEEE Trans. Automat. Control 23, 1978";
  entry.adaptive = true;
  entry.stages = 1;
  entry.dense_order = 8;
  entry.estimate_order = 4;
  entry.accepts = {View::flow};
  entry.notes = {"steps are those that a picture needs; no number depends on them"};
  entry.make = [](const System& system, const Options&) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.flow, "there is no formula for the solution");
    return std::make_unique<Exact>(system);
  };
  return entry;
}

}  // namespace daedalus::integrate
