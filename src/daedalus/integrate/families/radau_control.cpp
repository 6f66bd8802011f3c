// Calibration: with the estimate E of order h^(s+1) and the error of a step of order h^(2s) a tolerance tol is kept by
//   E <= 0.1 tol^((s+1)/(2s)),
// as in the code of E. Hairer and G. Wanner, Stiff differential equations solved by Radau methods, J. Comput. Appl.
// Math. 111 (1999) 93-111. Order: a step with s stages costs s evaluations per iteration and s pieces of factorization,
// so s/h is minimized over s-2, s, s+2. The estimate for s+2 stages is guessed as E_s^2 / E_(s-2): the quotients of
// successive derivatives grow about as fast as those of the constants fall.
#include "daedalus/integrate/families/radau_control.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::integrate {
namespace {

constexpr double safety = 0.9, least_factor = 0.125;
/// Another order must promise this much of the present work at most.
constexpr double order_gain = 0.8;
/// Inside the step the polynomial errs by up to half the estimate: more would be seen in dense output.
constexpr double most_calibration = 300.0;

}  // namespace

double radau_calibration(double relative_tolerance, std::size_t stages) {
  const double s = static_cast<double>(stages);
  return std::clamp(0.1 * std::pow(relative_tolerance, (1.0 - s) / (2.0 * s)), 1.0, most_calibration);
}

double radau_growth(double error, std::size_t stages) {
  if (!std::isfinite(error)) return least_factor;
  return std::pow(std::max(error, 1e-10), -1.0 / static_cast<double>(stages + 1));
}

OrderChoice choose_radau_order(const OrderQuestion& question) {
  const std::size_t s = question.stages;
  const auto factor_for = [&](double error, std::size_t stages) {
    const double allowed = radau_calibration(question.relative_tolerance, stages);
    return std::clamp(safety * radau_growth(error / allowed, stages), least_factor, question.most_growth);
  };
  const auto work = [](std::size_t stages, double factor) { return static_cast<double>(stages) / factor; };
  const double bound = order_gain * work(s, question.factor);
  if (s + 2 <= question.most) {
    const double quotient = question.lower_error > 0.0 ? std::min(1.0, question.error / question.lower_error) : 1.0;
    const double factor = factor_for(question.error * quotient, s + 2);
    if (work(s + 2, factor) < bound) return {s + 2, factor};
  }
  if (s >= question.least + 2) {
    const double factor = factor_for(question.lower_error, s - 2);
    if (work(s - 2, factor) < bound) return {s - 2, factor};
  }
  return {s, question.factor};
}

}  // namespace daedalus::integrate
