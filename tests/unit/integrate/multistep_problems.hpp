#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "unit/integrate/problems.hpp"

/// Problems and measurements that the tests of bdf and mebdf share.
namespace daedalus::integrate::problems {

inline std::unique_ptr<Stepper> make_with_order(const std::string& method, const System& system, int order) {
  const IntegratorEntry& entry = integrator(method);
  return entry.make(system, Options(Choice{method, {{"order", std::to_string(order)}}}, entry.options));
}

/// x' = omega (-y, x)
inline System rotation(double omega) {
  System system;
  system.dimension = 2;
  system.names = {"x", "y"};
  system.ode = [omega](double, const double* x, double* dx) {
    dx[0] = -omega * x[1];
    dx[1] = omega * x[0];
    return Evaluation::ok;
  };
  system.ode_jacobian = [omega](double, const double*, double* jacobian) {
    jacobian[0] = jacobian[3] = 0.0;
    jacobian[1] = -omega;
    jacobian[2] = omega;
    return Evaluation::ok;
  };
  return system;
}

/// The order seen with fixed steps on one turn of a rotation, extrapolated from the last two of the halvings whose
/// errors are above 1000 round-offs: with errors a h^p + b h^(p+1) one halving shows p + O(h).
inline double order_on_circle(const std::string& method, int order) {
  const System system = rotation(1.0);
  std::vector<double> seen;
  double before = 0.0;
  for (int steps = 16; steps <= 16384; steps *= 2) {
    double largest = 0.0;
    Observer observer;
    observer.step = [&](double t, const double* x) {
      largest = std::max(largest, std::hypot(x[0] - std::cos(t), x[1] - std::sin(t)));
    };
    std::vector<double> x{1.0, 0.0};
    const std::unique_ptr<Stepper> stepper = make_with_order(method, system, order);
    if (integrate(system, integrator(method), *stepper, fixed(6.0, 6.0 / steps), observer, x).status != Status::done) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (largest < 1e3 * std::numeric_limits<double>::epsilon()) break;
    if (before > 0.0) seen.push_back(std::log2(before / largest));
    before = largest;
  }
  return 2.0 * seen.back() - seen[seen.size() - 2];
}

/// The largest radius after 400 steps of unit length on the rotation by `angle` per step, which starts at radius 1.
inline double growth_on_circle(const std::string& method, int order, double angle) {
  const System system = rotation(angle);
  std::vector<double> x{1.0, 0.0};
  double largest = 0.0;
  Observer observer;
  observer.step = [&](double t, const double* state) {
    if (t > 300.0) largest = std::max(largest, std::hypot(state[0], state[1]));
  };
  const std::unique_ptr<Stepper> stepper = make_with_order(method, system, order);
  const LoopResult result = integrate(system, integrator(method), *stepper, fixed(400.0, 1.0), observer, x);
  return result.status == Status::done ? largest : std::numeric_limits<double>::quiet_NaN();
}

/// x' = -rate (x - cos t)
inline System relaxation(double rate) {
  System system;
  system.dimension = 1;
  system.names = {"x"};
  system.ode = [rate](double t, const double* x, double* dx) {
    dx[0] = -rate * (x[0] - std::cos(t));
    return Evaluation::ok;
  };
  system.ode_jacobian = [rate](double, const double*, double* jacobian) {
    jacobian[0] = -rate;
    return Evaluation::ok;
  };
  return system;
}

struct ReferenceProblem {
  System system;
  std::vector<double> start, end;
  double t_end;
};

inline linalg::Sparsity full(std::size_t n) {
  linalg::Sparsity pattern{n, n, {0}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) pattern.column.push_back(j);
    pattern.row_start.push_back(pattern.column.size());
  }
  return pattern;
}

/// Robertson's reaction as a DAE of index 1; end values of the IVP Test Set.
inline ReferenceProblem robertson() {
  auto implicit = std::make_shared<ImplicitSystem>();
  implicit->residual = [](double, const double* y, const double* dy, double* F) {
    F[0] = dy[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
    F[1] = dy[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + 3e7 * y[1] * y[1];
    F[2] = y[0] + y[1] + y[2] - 1.0;
    return Evaluation::ok;
  };
  implicit->pattern = full(3);
  implicit->jacobian = [](double, const double* y, const double*, double* F_y, double* F_dy) {
    const double partial[] = {0.04,        -1e4 * y[2],
                              1e4 * -y[1],  //
                              -0.04,       1e4 * y[2] + 6e7 * y[1],
                              1e4 * y[1],  //
                              1.0,         1.0,
                              1.0};
    std::copy_n(partial, 9, F_y);
    std::fill_n(F_dy, 9, 0.0);
    F_dy[0] = F_dy[4] = 1.0;
    return Evaluation::ok;
  };
  implicit->derivative = [](double, const double* y, double* dy) {
    dy[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    dy[1] = -dy[0] - 3e7 * y[1] * y[1];
    dy[2] = 0.0;
    return Evaluation::ok;
  };
  implicit->differential = {true, true, false};
  implicit->index = {1, 1, 1};
  implicit->system_index = 1;
  implicit->constant_leading = true;
  ReferenceProblem problem;
  problem.system.dimension = 3;
  problem.system.names = {"y1", "y2", "y3"};
  problem.system.implicit = implicit;
  problem.start = {1.0, 0.0, 0.0};
  problem.end = {0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050};
  problem.t_end = 1e11;
  return problem;
}

/// The transistor amplifier, C y' = f(t, y) with a singular C and index 1; end values of the IVP Test Set.
inline ReferenceProblem transistor_amplifier() {
  constexpr double supply = 6.0, alpha = 0.99, beta = 1e-6, thermal = 0.026, R0 = 1000.0, R = 9000.0;
  const auto current = [](double u) { return beta * (std::exp(u / thermal) - 1.0); };
  const auto conductance = [](double u) { return beta / thermal * std::exp(u / thermal); };
  auto implicit = std::make_shared<ImplicitSystem>();
  implicit->residual = [current](double t, const double* y, const double* dy, double* F) {
    const double input = 0.1 * std::sin(200.0 * std::numbers::pi * t), first = current(y[1] - y[2]),
                 second = current(y[4] - y[5]);
    F[0] = 1e-6 * (dy[1] - dy[0]) - (y[0] - input) / R0;
    F[1] = 1e-6 * (dy[0] - dy[1]) - y[1] / R - (y[1] - supply) / R - (1.0 - alpha) * first;
    F[2] = -2e-6 * dy[2] - y[2] / R + first;
    F[3] = 3e-6 * (dy[4] - dy[3]) - (y[3] - supply) / R - alpha * first;
    F[4] = 3e-6 * (dy[3] - dy[4]) - y[4] / R - (y[4] - supply) / R - (1.0 - alpha) * second;
    F[5] = -4e-6 * dy[5] - y[5] / R + second;
    F[6] = 5e-6 * (dy[7] - dy[6]) - (y[6] - supply) / R - alpha * second;
    F[7] = 5e-6 * (dy[6] - dy[7]) - y[7] / R;
    double sum = 0.0;
    for (int i = 0; i < 8; ++i) sum += F[i];
    return std::isfinite(sum) ? Evaluation::ok : Evaluation::not_finite;
  };
  implicit->pattern = full(8);
  implicit->jacobian = [conductance](double, const double* y, const double*, double* F_y, double* F_dy) {
    std::fill_n(F_y, 64, 0.0);
    std::fill_n(F_dy, 64, 0.0);
    const double first = conductance(y[1] - y[2]), second = conductance(y[4] - y[5]);
    const auto capacitor = [&](std::size_t i, double C) {
      F_dy[8 * i + i] = F_dy[8 * (i + 1) + i + 1] = -C;
      F_dy[8 * i + i + 1] = F_dy[8 * (i + 1) + i] = C;
    };
    const auto junction = [&](std::size_t row, std::size_t base, double value) {
      F_y[8 * row + base] += value;
      F_y[8 * row + base + 1] -= value;
    };
    capacitor(0, 1e-6);
    capacitor(3, 3e-6);
    capacitor(6, 5e-6);
    F_dy[8 * 2 + 2] = -2e-6;
    F_dy[8 * 5 + 5] = -4e-6;
    const double leak[] = {1.0 / R0, 2.0 / R, 1.0 / R, 1.0 / R, 2.0 / R, 1.0 / R, 1.0 / R, 1.0 / R};
    for (std::size_t i = 0; i < 8; ++i) F_y[8 * i + i] = -leak[i];
    junction(1, 1, -(1.0 - alpha) * first);
    junction(2, 1, first);
    junction(3, 1, -alpha * first);
    junction(4, 4, -(1.0 - alpha) * second);
    junction(5, 4, second);
    junction(6, 4, -alpha * second);
    return Evaluation::ok;
  };
  // At the start only; see the statement of the problem.
  implicit->derivative = [](double, const double*, double* dy) {
    const double rates[] = {51.3392765171807,  51.3392765171807, -500.0 / 3.0,      -24.9703285154063,
                            -24.9703285154063, -250.0 / 3.0,     -10.0002764024563, -10.0002764024563};
    std::copy_n(rates, 8, dy);
    return Evaluation::ok;
  };
  implicit->differential.assign(8, true);
  implicit->index.assign(8, 1);
  implicit->system_index = 1;
  implicit->constant_leading = true;
  ReferenceProblem problem;
  problem.system.dimension = 8;
  problem.system.names = {"y1", "y2", "y3", "y4", "y5", "y6", "y7", "y8"};
  problem.system.implicit = implicit;
  problem.start = {0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0};
  problem.end = {-0.005562145012262709, 3.006522471903042, 2.849958788608128, 2.926422536206241,
                 2.704617865010554,     2.761837778393145, 4.770927631616772, 1.236995868091548};
  problem.t_end = 0.2;
  return problem;
}

}  // namespace daedalus::integrate::problems
