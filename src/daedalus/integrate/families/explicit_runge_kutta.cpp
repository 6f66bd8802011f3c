// Explicit Runge-Kutta methods from a tableau (A, b, c):
//   k_i = f(t + c_i h, x + h sum_{j < i} a_ij k_j),   x1 = x + h sum_i b_i k_i,
// and with embedded weights b^ the error estimate h sum_i (b_i - b^_i) k_i: E. Hairer, S. P. Norsett, G. Wanner,
// Solving Ordinary Differential Equations I, 2nd ed., sections II.1 and II.4.
#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/families/two_ends.hpp"

namespace daedalus::integrate {
namespace {

class ExplicitRungeKutta final : public Stepper {
 public:
  ExplicitRungeKutta(const System& system, const Tableau& tableau)
      : system_(system),
        tableau_(tableau),
        ends_(system),
        slopes_(tableau.b.size(), std::vector<double>(system.dimension)),
        argument_(system.dimension),
        error_(system.dimension) {
    for (std::size_t i = 0; i < tableau_.embedded.size(); ++i) {
      error_weights_.push_back(tableau_.b[i] - tableau_.embedded[i]);
    }
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    ends_.start(x);
    return Evaluation::ok;
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    Attempt result;
    result.outcome = ends_.need_slope(t_, stats_);
    if (result.outcome != Evaluation::ok) return result;
    std::copy_n(ends_.slope(), argument_.size(), slopes_[0].begin());
    for (std::size_t stage = 1; stage < slopes_.size(); ++stage) {
      combine(h, tableau_.a[stage], stage, argument_.data());
      ++stats_.rhs;
      result.outcome = system_.ode(t_ + tableau_.c[stage] * h, argument_.data(), slopes_[stage].data());
      if (result.outcome != Evaluation::ok) return result;
    }
    combine(h, tableau_.b, slopes_.size(), ends_.candidate());
    if (tolerance != nullptr && !error_weights_.empty()) estimate(h, *tolerance, result);
    return result;
  }

  double* candidate() override { return ends_.candidate(); }

  Evaluation accepted(double t_next) override {
    ends_.advance(t_, t_next);
    t_ = t_next;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }
  Evaluation interpolate(double theta, double* x) override { return ends_.interpolate(theta, x, stats_); }
  const double* derivative() const override { return ends_.slope(); }
  const double* state() const override { return ends_.state(); }

 private:
  /// Sets out to x + h sum_{j < terms} weights_j k_j.
  void combine(double h, const std::vector<double>& weights, std::size_t terms, double* out) const {
    const double* x = ends_.state();
    for (std::size_t i = 0; i < argument_.size(); ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < terms; ++j) sum += weights[j] * slopes_[j][i];
      out[i] = x[i] + h * sum;
    }
  }

  void estimate(double h, const Tolerance& tolerance, Attempt& result) {
    for (std::size_t i = 0; i < error_.size(); ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < slopes_.size(); ++j) sum += error_weights_[j] * slopes_[j][i];
      error_[i] = h * sum;
    }
    if (system_.project_error) system_.project_error(error_.data());
    set_error(result, error_.size(), [&](std::size_t i) {
      return error_[i] / error_weight(tolerance, i, ends_.state()[i], ends_.candidate()[i]);
    });
  }

  const System& system_;
  const Tableau tableau_;
  TwoEnds ends_;
  std::vector<std::vector<double>> slopes_;
  std::vector<double> argument_, error_, error_weights_;
};

}  // namespace

IntegratorEntry explicit_runge_kutta(IntegratorEntry entry, Tableau tableau,
                                     std::function<Tableau(const Options&)> choose) {
  const std::size_t stages = tableau.b.size();
  DAEDALUS_CHECK(tableau.a.size() == stages && tableau.c.size() == stages, "{}: {} stages", entry.name, stages);
  DAEDALUS_CHECK(tableau.embedded.empty() || tableau.embedded.size() == stages, "{}", entry.name);
  for (std::size_t i = 0; i < stages; ++i) {
    DAEDALUS_CHECK(tableau.a[i].size() == i, "{}: row {} has {} entries", entry.name, i, tableau.a[i].size());
  }
  constexpr int hermite_order = 3;
  entry.stages = static_cast<int>(stages);
  entry.adaptive = !tableau.embedded.empty();
  entry.accepts = {View::ode};
  entry.dense_order = std::min(entry.order, hermite_order);
  entry.tableau = tableau;
  entry.make = [tableau = std::move(tableau), choose = std::move(choose)](
                   const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.ode, "dimension {}", system.dimension);
    return std::make_unique<ExplicitRungeKutta>(system, choose ? choose(options) : tableau);
  };
  return entry;
}

}  // namespace daedalus::integrate
