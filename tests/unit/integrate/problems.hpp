#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "daedalus/integrate/loop.hpp"

namespace daedalus::integrate::problems {

/// Taylor coefficients of a solution of kepler(), from u = x^2 + y^2, w = u^(-3/2) by u w' = -3/2 w u', and cos, sin(t + s).
inline Evaluation kepler_series(double t, const double* x, std::size_t order, double* series) {
  std::array<double, 41> u, w, cosine;  // the highest order that a method asks for
  std::copy_n(x, 5, series);
  const auto at = [&](std::size_t i, std::size_t k) -> double& { return series[5 * k + i]; };
  double factorial = 1.0;
  for (std::size_t k = 0; k < order; ++k) {
    u[k] = w[k] = 0.0;
    for (std::size_t j = 0; j <= k; ++j) u[k] += at(0, j) * at(0, k - j) + at(1, j) * at(1, k - j);
    if (k == 0) w[0] = 1.0 / (u[0] * std::sqrt(u[0]));
    for (std::size_t j = 1; j <= k; ++j)
      w[k] += (-1.5 * static_cast<double>(j) - static_cast<double>(k - j)) * u[j] * w[k - j] / (static_cast<double>(k) * u[0]);
    if (k > 0) factorial *= static_cast<double>(k);
    const double derivatives[] = {std::cos(t), -std::sin(t), -std::cos(t), std::sin(t)};
    cosine[k] = derivatives[k % 4] / factorial;
    const double next = 1.0 / static_cast<double>(k + 1);
    for (const std::size_t i : {2, 3, 4}) at(i, k + 1) = 0.0;
    for (std::size_t j = 0; j <= k; ++j) {
      at(2, k + 1) -= next * w[j] * at(0, k - j);
      at(3, k + 1) -= next * w[j] * at(1, k - j);
      at(4, k + 1) += next * cosine[j] * at(4, k - j);
    }
    at(0, k + 1) = next * at(2, k);
    at(1, k + 1) = next * at(3, k);
  }
  double sum = 0.0;
  for (std::size_t i = 0; i < 5 * (order + 1); ++i) sum += series[i];
  return std::isfinite(sum) ? Evaluation::ok : Evaluation::not_finite;
}

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
  system.series = kepler_series;
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
