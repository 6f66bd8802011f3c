// The Taylor polynomial of the solution, x(t + h) = sum_{k=0}^p x_k h^k, with order and step as in A. Jorba, M. Zou, A
// software package for the numerical integration of ODEs by means of high-order Taylor methods, Exp. Math. 14 (2005)
// 99-117.
//
// Where the coefficients fall like those of a series with radius of convergence r, the work per unit of time, about p^2
// / h, is least for h = r / e^2, and a last term of the size of the tolerance, (h/r)^p = rtol, then asks for the order
//     p = 1 + ceil(-ln(rtol) / 2).
// The step is the longest for which neither of the last two terms exceeds the tolerance, in units of it
//     h = min (1 / |x_j|)^(1/j),   j = p - 1, p:
// two, because series of even or odd functions lack every other term. What is left out is smaller by about h/r.
//
// Dense output is the polynomial itself. Where the accepted state is another (it was projected), it ends there, with
// the slope found there, by d(theta) = theta^2 ((3 - 2 theta) d + (theta - 1) d'), d and d' the differences at theta
// = 1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {
namespace {

constexpr std::size_t order_of_fixed_steps = 8, least_order = 4, most_order = 40;
/// Part of the longest step that is tried after a longer one was refused.
constexpr double refused = 0.8;

std::size_t order_for(double rtol) {
  const double digits = -std::log(std::max(rtol, std::numeric_limits<double>::epsilon()));
  return std::clamp(static_cast<std::size_t>(1.0 + std::ceil(0.5 * std::max(digits, 0.0))), least_order, most_order);
}

class Taylor final : public Stepper {
 public:
  /// Order 0 stands for what the tolerance asks for.
  Taylor(const System& system, std::size_t order)
      : system_(system),
        given_order_(order),
        n_(system.dimension),
        now_(n_),
        candidate_(n_),
        slope_(n_),
        end_(n_),
        end_slope_(n_),
        term_(n_) {}

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, n_, now_.begin());
    known_ = stepped_ = false;
    ++stats_.rhs;
    return system_.ode(t, x, slope_.data());
  }

  double foreseen_step(const Tolerance& tolerance) override {
    if (!known_ && expand(&tolerance, series_) != Evaluation::ok) return 0.0;
    if (longest_ == 0.0) longest_ = longest_step(tolerance);
    return longest_;
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    Attempt result;
    stepped_ = false;
    if (!known_) result.outcome = expand(tolerance, series_);
    if (result.outcome != Evaluation::ok) return result;
    h_ = h;
    evaluate(series_, h, candidate_.data());
    if (tolerance != nullptr) estimate(*tolerance, result);
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    next_.resize(series_.size());
    ++stats_.rhs;
    const Evaluation outcome = system_.series(t_next, candidate_.data(), order_, next_.data());
    if (outcome != Evaluation::ok) return outcome;
    old_.swap(series_);
    series_.swap(next_);
    now_.swap(candidate_);
    std::copy_n(series_.begin() + static_cast<std::ptrdiff_t>(n_), n_, slope_.begin());
    t_ = t_next;
    longest_ = 0.0;
    stepped_ = known_ = true;
    corrected_ = false;
    return outcome;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    if (!corrected_) find_correction();
    evaluate(old_, theta * h_, x);
    const double by_state = theta * theta * (3.0 - 2.0 * theta), by_slope = theta * theta * (theta - 1.0);
    for (std::size_t i = 0; i < n_; ++i) x[i] += by_state * end_[i] + by_slope * end_slope_[i];
    return Evaluation::ok;
  }

  const double* derivative() const override { return slope_.data(); }
  const double* state() const override { return now_.data(); }

 private:
  Evaluation expand(const Tolerance* tolerance, std::vector<double>& series) {
    order_ = given_order_ != 0      ? given_order_
             : tolerance != nullptr ? order_for(tolerance->rtol)
                                    : order_of_fixed_steps;
    for (auto* row : {&series_, &old_, &next_}) row->resize((order_ + 1) * n_);
    ++stats_.rhs;
    const Evaluation outcome = system_.series(t_, now_.data(), order_, series.data());
    known_ = outcome == Evaluation::ok;
    longest_ = 0.0;
    return outcome;
  }

  /// By Horner's rule.
  void evaluate(const std::vector<double>& series, double h, double* x) const {
    const double* row = series.data() + order_ * n_;
    std::copy_n(row, n_, x);
    for (std::size_t k = order_; k-- > 0;) {
      row -= n_;
      for (std::size_t i = 0; i < n_; ++i) x[i] = row[i] + h * x[i];
    }
  }

  /// |x_j| in units of the tolerance, and where it is largest.
  Attempt size_of_term(std::size_t j, const Tolerance& tolerance) {
    std::copy_n(series_.begin() + static_cast<std::ptrdiff_t>(j * n_), n_, term_.begin());
    if (system_.project_error) system_.project_error(term_.data());
    Attempt result;
    set_error(result, n_, [&](std::size_t i) { return term_[i] / error_weight(tolerance, i, std::abs(now_[i])); });
    return result;
  }

  double longest_step(const Tolerance& tolerance) {
    double longest = std::numeric_limits<double>::infinity();
    for (const std::size_t j : {order_ - 1, order_})
      if (const double size = size_of_term(j, tolerance).error; size > 0.0)
        longest = std::min(longest, std::pow(size, -1.0 / static_cast<double>(j)));
    return longest;
  }

  void estimate(const Tolerance& tolerance, Attempt& result) {
    if (n_ == 0) return;
    for (const std::size_t j : {order_ - 1, order_}) {
      const Attempt term = size_of_term(j, tolerance);
      const double error = term.error * std::pow(std::abs(h_), static_cast<double>(j));
      if (error < result.error) continue;
      result.error = error;
      result.worst = term.worst;
    }
    const double longest = foreseen_step(tolerance);
    if (std::abs(h_) <= longest * (1.0 + 1e-9)) {
      // The step was chosen for an error of 1: what rounding adds to it refuses nothing.
      result.error = std::min(result.error, 1.0);
    } else {
      // Shorter than need be, so that the end of the run, up to which a step may be stretched, does not stretch it
      // beyond again.
      result.next_step = refused * longest;
    }
  }

  void find_correction() {
    evaluate(old_, h_, end_.data());
    std::copy_n(old_.begin() + static_cast<std::ptrdiff_t>(order_ * n_), n_, end_slope_.begin());
    for (std::size_t i = 0; i < n_; ++i) end_slope_[i] *= static_cast<double>(order_);
    for (std::size_t k = order_; k-- > 1;)
      for (std::size_t i = 0; i < n_; ++i)
        end_slope_[i] = static_cast<double>(k) * old_[k * n_ + i] + h_ * end_slope_[i];
    for (std::size_t i = 0; i < n_; ++i) {
      end_[i] = now_[i] - end_[i];
      end_slope_[i] = h_ * (slope_[i] - end_slope_[i]);
    }
    corrected_ = true;
  }

  const System& system_;
  const std::size_t given_order_, n_;
  std::size_t order_ = 0;
  std::vector<double> now_, candidate_, slope_, end_, end_slope_, term_;
  std::vector<double> series_, old_, next_;  ///< at the present point, at the one before, at the one that is tried
  double h_ = 0.0, longest_ = 0.0;
  bool known_ = false;      ///< series_ belongs to the present point
  bool stepped_ = false;    ///< old_ to the one before, no attempt since
  bool corrected_ = false;  ///< end_ and end_slope_ are the differences of the last accepted step
};

}  // namespace

IntegratorEntry integrator_taylor() {
  IntegratorEntry entry;
  entry.name = "taylor";
  entry.summary = "Taylor series of the solution, of the order that rtol asks for: for many digits";
  entry.citation =
      "A. Jorba, M. Zou, A software package for the numerical integration of ODEs by means of high-order Taylor "
      "methods, Exp. "
      "Math. 14 (2005) 99-117";
  entry.order = static_cast<int>(order_of_fixed_steps);
  entry.stages = 1;
  entry.adaptive = true;
  entry.accepts = {View::series};
  entry.dense_order = static_cast<int>(order_of_fixed_steps);
  entry.estimate_order = static_cast<int>(order_of_fixed_steps);
  entry.stability_radius = 6.1;  // on the real axis with order 13; order p has about 1.3 + 0.375 p
  entry.options = {{.name = "order",
                    .summary = "of the polynomial; 0 takes what rtol asks for, 1 - ln(rtol)/2, and 8 with fixed steps",
                    .standard = 0.0,
                    .least = 0.0,
                    .most = static_cast<double>(most_order)}};
  entry.notes = {"the order stands for fixed steps; under step control it is 1 - ln(rtol)/2, rounded up",
                 "conditions of if, abs, min, max keep their mode inside a step, tables their segment"};
  entry.make = [](const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.ode && system.series, "dimension {}", system.dimension);
    const auto order = static_cast<std::size_t>(options.number("order"));
    return std::make_unique<Taylor>(system, order == 0 ? 0 : std::max<std::size_t>(order, 2));
  };
  return entry;
}

}  // namespace daedalus::integrate
