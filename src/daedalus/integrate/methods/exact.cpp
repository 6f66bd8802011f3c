// A formula for the solution needs no small steps. Those that are taken are the ones a picture needs: between two of them a
// cubic through both ends follows the solution to a thousandth of what each unknown has reached. Numbers stay in the
// coordinates of the formula, with all of its digits, from the start or the last event on.
#include <algorithm>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {
namespace {

constexpr double resolution = 1e-3;

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
        largest_(n_) {}

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
    result.outcome = state_at(z_, t_, h, z_next_, next_.data());
    if (result.outcome != Evaluation::ok || tolerance == nullptr) return result;
    // Two points, so that an oscillation that is met at one of its zeros is seen at the other.
    for (const double theta : {0.35, 0.7}) {
      result.outcome = state_at(z_, t_, theta * h, z_between_, between_.data());
      if (result.outcome != Evaluation::ok) return result;
      const double s = 1.0 - theta, left = s * s * (1.0 + 2.0 * theta), right = theta * theta * (1.0 + 2.0 * s);
      for (std::size_t i = 0; i < n_; ++i) {
        const double cubic = left * x_[i] + right * next_[i] + h * theta * s * (s * x_[n_ + i] - theta * next_[n_ + i]);
        const double size = std::max({largest_[i], std::abs(next_[i]), std::abs(between_[i])});
        const double error = std::abs(cubic - between_[i]) / (resolution * size + tolerance->atol[i]);
        if (error > result.error) {
          result.error = error;
          result.worst = i;
        }
      }
    }
    return result;
  }

  double* candidate() override { return next_.data(); }

  Evaluation accepted(double t_next) override {
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
    if (theta == 1.0) {
      std::copy(x_.begin(), x_.end(), x);
      return Evaluation::ok;
    }
    return state_at(z_old_, t_old_, theta * (t_ - t_old_), z_between_, x);
  }

  const double* state() const override { return x_.data(); }
  void remark(std::vector<std::string>& notes) const override {
    if (const std::string text = flow_->accuracy(); !text.empty()) notes.push_back(text);
  }

 private:
  Evaluation state_at(const std::vector<double>& from, double t, double h, std::vector<double>& z, double* x) {
    z = from;
    ++stats_.rhs;
    if (const Evaluation outcome = flow_->advance(t, h, z.data()); outcome != Evaluation::ok) return outcome;
    return flow_->leave(t + h, z.data(), x);
  }

  std::shared_ptr<const Flow> flow_;
  std::size_t n_;
  std::vector<double> z_, z_next_, z_old_, z_between_, x_, next_, between_, largest_;
  double t_old_ = 0.0;
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
