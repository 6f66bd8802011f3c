#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "daedalus/integrate/loop.hpp"

namespace daedalus::integrate::problems {

/// The Kepler ellipse of eccentricity e and period 2 pi, x = (q, v), with a driven equation z' = cos(t) z beside it: a
/// second-order, nonlinear, time-dependent system with a known solution.
inline System kepler() {
  System system;
  system.dimension = 5;
  system.coordinates = 2;
  system.names = {"x", "y", "der(x)", "der(y)", "z"};
  system.ode = [](double t, const double* x, double* dx) {
    const double r2 = x[0] * x[0] + x[1] * x[1], r3 = r2 * std::sqrt(r2);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = -x[0] / r3;
    dx[3] = -x[1] / r3;
    dx[4] = std::cos(t) * x[4];
    return std::isfinite(dx[2] + dx[3] + dx[4]) ? Evaluation::ok : Evaluation::not_finite;
  };
  return system;
}

/// The solution of kepler() that passes the pericentre at t = 0, from Kepler's equation E - e sin E = t.
inline std::vector<double> kepler_solution(double t, double e = 0.1) {
  double anomaly = t;
  for (int i = 0; i < 50; ++i) anomaly -= (anomaly - e * std::sin(anomaly) - t) / (1.0 - e * std::cos(anomaly));
  const double b = std::sqrt(1.0 - e * e), rate = 1.0 / (1.0 - e * std::cos(anomaly));
  return {std::cos(anomaly) - e, b * std::sin(anomaly), -std::sin(anomaly) * rate, b * std::cos(anomaly) * rate,
          std::exp(std::sin(t))};
}

/// x' = rate x in one unknown.
inline System growth(double rate) {
  System system;
  system.dimension = 1;
  system.names = {"x"};
  system.ode = [rate](double, const double* x, double* dx) {
    dx[0] = rate * x[0];
    return Evaluation::ok;
  };
  return system;
}

inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

inline std::unique_ptr<Stepper> make_stepper(const IntegratorEntry& method, const System& system,
                                             Control control = Control::fixed) {
  return integrate::make_stepper(method, system, Options(Choice{method.name, {}}, method.options), control);
}

inline LoopOptions controlled(const System& system, double t_end, double tolerance) {
  LoopOptions options;
  options.t_end = t_end;
  options.tolerance = {tolerance, std::vector<double>(system.dimension, tolerance)};
  return options;
}

inline LoopOptions fixed(double t_end, double step) {
  LoopOptions options;
  options.t_end = t_end;
  options.step = step;
  return options;
}

/// Runs a method by name on a system; x becomes the end state.
inline LoopResult run(const std::string& method, const System& system, const LoopOptions& options,
                      std::vector<double>& x, const Observer& observer = {}) {
  const IntegratorEntry& entry = integrator(method);
  const std::unique_ptr<Stepper> stepper =
      make_stepper(entry, system, options.step ? Control::fixed : Control::adaptive);
  return integrate(system, entry, *stepper, options, observer, x);
}

}  // namespace daedalus::integrate::problems
