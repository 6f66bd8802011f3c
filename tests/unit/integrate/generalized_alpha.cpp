// Generalized-alpha: multipliers of order 2 from the first step on, damping as asked for, Newmark and HHT, step
// control.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "daedalus/base/error.hpp"
#include "unit/integrate/dae_problems.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using Given = std::vector<std::pair<std::string, std::string>>;

LoopResult run(const System& system, const Given& given, const LoopOptions& options, std::vector<double>& x,
               const Observer& observer = {}) {
  const IntegratorEntry& entry = integrator("generalized-alpha");
  const std::unique_ptr<Stepper> stepper =
      make_stepper(entry, system, Options(Choice{entry.name, given}, entry.options),
                   options.step ? Control::fixed : Control::adaptive);
  return integrate(system, entry, *stepper, options, observer, x);
}

/// The constrained problem of index 3 with accelerations that all derivatives of the constraint allow, as formulations
/// give them, whatever the multiplier of the state is. On velocity level as well.
problems::DaeProblem mechanical_problem(int index) {
  problems::DaeProblem problem = problems::index3_problem();
  auto implicit = std::make_shared<ImplicitSystem>(problem.implicit());
  implicit->derivative = [residual = implicit->residual](double t, const double* y, double* dy) {
    // F is linear in (v', lambda): M v' + G^T lambda = f from two residuals, G v' = gamma.
    const double zero[5] = {y[2], y[3], 0.0, 0.0, 0.0}, free[5] = {y[0], y[1], y[2], y[3], 0.0};
    double F[5];
    if (const Evaluation outcome = residual(t, free, zero, F); outcome != Evaluation::ok) return outcome;
    const double m1 = 1.0, m2 = 1.0 + 0.3 * y[0] * y[0], g1 = 2.0 * y[0], g2 = 0.5 * y[1];
    const double gamma = -2.0 * y[2] * y[2] - 0.5 * y[3] * y[3];
    const double lambda = (-g1 * F[2] / m1 - g2 * F[3] / m2 - gamma) / (g1 * g1 / m1 + g2 * g2 / m2);
    dy[0] = y[2];
    dy[1] = y[3];
    dy[2] = (-F[2] - g1 * lambda) / m1;
    dy[3] = (-F[3] - g2 * lambda) / m2;
    dy[4] = 0.0;
    return problems::finite(dy, 5);
  };
  if (index == 2) {
    implicit->residual = [residual = implicit->residual](double t, const double* y, const double* dy, double* F) {
      const Evaluation outcome = residual(t, y, dy, F);
      F[4] = 2.0 * y[0] * y[2] + 0.5 * y[1] * y[3];
      return outcome;
    };
    implicit->pattern = problems::dae_pattern(5, {{0, 2}, {1, 3}, {0, 1, 2, 4}, {0, 1, 2, 3, 4}, {0, 1, 2, 3}});
    implicit->jacobian = [jacobian = implicit->jacobian](double t, const double* y, const double* dy, double* F_y,
                                                         double* F_dy) {
      const Evaluation outcome = jacobian(t, y, dy, F_y, F_dy);
      const double row[] = {2.0 * y[2], 0.5 * y[3], 2.0 * y[0], 0.5 * y[1]};
      std::copy(std::begin(row), std::end(row), F_y + 13);
      std::fill_n(F_dy + 13, 4, 0.0);
      return outcome;
    };
    implicit->index = {1, 1, 1, 1, 2};
    implicit->system_index = 2;
    implicit->row_power = {1, 1, 2, 2, 1};
  }
  problem.system.implicit = implicit;
  return problem;
}

/// Largest errors of positions, velocities and multipliers on the whole way, the first step included. At t = 0 the
/// derivative of the acceleration is tangent to the constraint, so that any start would do: it is later.
std::array<double, 3> errors(const problems::DaeProblem& problem, const Given& given, int steps) {
  std::array<double, 3> largest{};
  Observer observer;
  observer.step = [&](double t, const double* y) {
    const std::vector<double> exact = problem.exact(t);
    for (std::size_t i = 0; i < 5; ++i) largest[i / 2] = std::max(largest[i / 2], std::abs(y[i] - exact[i]));
  };
  constexpr double begin = 0.7, length = 4.0;
  LoopOptions options = problems::fixed(begin + length, length / steps);
  options.t_start = begin;
  std::vector<double> y = problem.exact(begin);
  EXPECT_EQ(run(problem.system, given, options, y, observer).status, Status::done);
  return largest;
}

TEST(GeneralizedAlpha, EverythingIsOfOrderTwoFromTheFirstStep) {
  const std::vector<Given> schemes{{},
                                   {{"rho_inf", "0"}},
                                   {{"rho_inf", "0.5"}},
                                   {{"alpha_m", "0"}, {"alpha_f", "0.3"}},  // HHT
                                   {{"rho_inf", "0.9"}}};
  for (const int index : {3, 2}) {
    const problems::DaeProblem problem = mechanical_problem(index);
    for (const Given& given : schemes) {
      const auto coarse = errors(problem, given, 160), fine = errors(problem, given, 1280);
      for (std::size_t kind = 0; kind < 3; ++kind) {
        const double order = std::log2(coarse[kind] / fine[kind]) / 3.0;
        const std::string what = given.empty() ? "default" : given[0].first + given[0].second;
        EXPECT_NEAR(order, 2.0, 0.1) << "index " << index << ", " << what << ", kind " << kind;
        RecordProperty("index" + std::to_string(index) + "_" + what + "_kind" + std::to_string(kind),
                       std::to_string(order));
      }
    }
  }
}

TEST(GeneralizedAlpha, PositionsHoldTheirConstraint) {
  const problems::DaeProblem problem = mechanical_problem(3);
  double position = 0.0, velocity = 0.0;
  Observer observer;
  observer.step = [&](double t, const double* y) {
    position = std::max(position, std::abs(y[0] * y[0] + 0.25 * y[1] * y[1] - 1.0));
    if (t > 0.0) velocity = std::max(velocity, std::abs(2.0 * y[0] * y[2] + 0.5 * y[1] * y[3]));
  };
  std::vector<double> y = problem.exact(0.0);
  EXPECT_EQ(run(problem.system, {}, problems::fixed(4.0, 0.01), y, observer).status, Status::done);
  // Two terms of size 1 with three roundings each.
  EXPECT_LT(position, 10 * std::numeric_limits<double>::epsilon());
  // |C| h^2 |G w'| with C = 1/6 + 1/18 - 0.3086 = -0.086 and |G w'| below 50.
  EXPECT_LT(velocity, 0.086 * 1e-4 * 50.0);
  EXPECT_GT(velocity, 1e-6);
}

/// x'' = -omega^2 x
System oscillator(double omega) {
  System system;
  system.dimension = 2;
  system.coordinates = 1;
  system.names = {"x", "der(x)"};
  system.ode = [omega](double, const double* x, double* dx) {
    dx[0] = x[1];
    dx[1] = -omega * omega * x[0];
    return Evaluation::ok;
  };
  system.ode_jacobian = [omega](double, const double*, double* jacobian) {
    jacobian[0] = jacobian[3] = 0.0;
    jacobian[1] = 1.0;
    jacobian[2] = -omega * omega;
    return Evaluation::ok;
  };
  return system;
}

TEST(GeneralizedAlpha, InfiniteFrequenciesAreDampedAsAskedFor) {
  // At h omega = 1e4 all eigenvalues of the step are -rho_inf up to 1e-2 or so (a triple one splits like a root): over
  // many steps x falls like rho^n n^2.
  for (const double rho : {0.3, 0.6, 0.8}) {
    const System system = oscillator(1e4);
    std::vector<double> sizes, x{1.0, 0.0};
    Observer observer;
    observer.step = [&](double, const double* y) { sizes.push_back(std::abs(y[0])); };
    EXPECT_EQ(run(system, {{"rho_inf", std::to_string(rho)}}, problems::fixed(60.0, 1.0), x, observer).status,
              Status::done);
    const double rate = std::pow(sizes[60] / sizes[40], 1.0 / 20.0), growth = std::pow(60.0 / 40.0, 2.0 / 20.0);
    EXPECT_GT(rate, rho * 0.9) << rho;
    EXPECT_LT(rate, rho * growth * 1.05) << rho;
  }
}

TEST(GeneralizedAlpha, TrapezoidalRuleOfNewmarkKeepsTheEnergy) {
  // beta = 1/4, gamma = 1/2 keeps the energy of a linear oscillator to round-off.
  const System system = oscillator(3.0);
  std::vector<double> x{1.0, 0.5};
  const double energy = 0.5 * x[1] * x[1] + 4.5 * x[0] * x[0];
  double largest = 0.0;
  Observer observer;
  observer.step = [&](double, const double* y) {
    largest = std::max(largest, std::abs(0.5 * y[1] * y[1] + 4.5 * y[0] * y[0] - energy));
  };
  const Given newmark{{"alpha_m", "0"}, {"alpha_f", "0"}, {"beta", "0.25"}, {"gamma", "0.5"}};
  EXPECT_EQ(run(system, newmark, problems::fixed(100.0, 0.1), x, observer).status, Status::done);
  // 1000 steps with some ten roundings of numbers up to 10.
  EXPECT_LT(largest, 10.0 * std::sqrt(1e4) * std::numeric_limits<double>::epsilon());
}

TEST(GeneralizedAlpha, StepControlFollowsTheTolerance) {
  for (const int index : {3, 2}) {
    const problems::DaeProblem problem = mechanical_problem(index);
    // A step may err by tol (1 + |y|) <= 4 tol; the others add up, and grow by less than 10 on this way.
    const auto error = [&](double tolerance) {
      std::vector<double> y = problem.exact(0.0);
      const LoopResult result = run(problem.system, {}, problems::controlled(problem.system, 4.0, tolerance), y);
      EXPECT_EQ(result.status, Status::done) << result.message;
      const std::vector<double> exact = problem.exact(4.0);
      const double distance = std::max(
          {std::abs(y[0] - exact[0]), std::abs(y[1] - exact[1]), std::abs(y[2] - exact[2]), std::abs(y[3] - exact[3])});
      EXPECT_LT(distance, 40.0 * tolerance * static_cast<double>(result.stats.steps));
      return distance;
    };
    EXPECT_LT(error(1e-6), 0.2 * error(1e-4)) << index;
  }
}

TEST(GeneralizedAlpha, OptionsHaveBounds) {
  const problems::DaeProblem problem = mechanical_problem(3);
  std::vector<double> y = problem.exact(0.0);
  EXPECT_THROW(run(problem.system, {{"rho_inf", "1.2"}}, problems::fixed(1.0, 0.1), y), Error);
  EXPECT_THROW(run(problem.system, {{"beta", "0"}}, problems::fixed(1.0, 0.1), y), Error);
}

}  // namespace
}  // namespace daedalus::integrate
