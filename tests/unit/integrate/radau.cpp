// Radau II A of variable order on stiff, differential-algebraic and sparse systems. Coefficients are tested beside it;
// order 5, dense output, allocations and the like in tests/conformance.
#include <gtest/gtest.h>

#include <algorithm>

#include "daedalus/base/check.hpp"
#include "unit/integrate/dae_problems.hpp"
#include "unit/integrate/pendulum_problem.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::DaeProblem;
using problems::distance;

LoopResult run(const std::string& choice, const System& system, const LoopOptions& options, std::vector<double>& x,
               const Observer& observer = {}) {
  const Choice parsed = parse_choice(choice);
  const IntegratorEntry& entry = integrator(parsed.name);
  const std::unique_ptr<Stepper> stepper = entry.make(system, Options(parsed, entry.options));
  return integrate(system, entry, *stepper, options, observer, x);
}

System plain_ode(std::size_t n, std::function<Evaluation(double, const double*, double*)> ode) {
  System system;
  system.dimension = n;
  system.ode = std::move(ode);
  for (std::size_t i = 0; i < n; ++i) system.names.push_back("y" + std::to_string(i + 1));
  return system;
}

/// max |x_i - y_i| / |y_i|
double relative_distance(const std::vector<double>& x, const std::vector<double>& y) {
  double largest = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) largest = std::max(largest, std::abs(x[i] / y[i] - 1.0));
  return largest;
}

/// log2 of the quotient of the errors with n and 2n steps.
double kepler_order(const std::string& choice, int steps) {
  double errors[2];
  for (int k = 0; k < 2; ++k) {
    std::vector<double> x = problems::kepler_solution(0.0);
    const LoopResult result = run(choice, problems::kepler(), problems::fixed(6.0, 6.0 / (steps << k)), x);
    EXPECT_EQ(result.status, Status::done) << result.message;
    errors[k] = distance(x, problems::kepler_solution(6.0));
    EXPECT_GT(errors[k], 1e-13) << "only round-off";
  }
  return std::log2(errors[0] / errors[1]);
}

TEST(Radau, FixedOrdersAreMeasured) {
  // The error is c h^p (1 + O(h)); orders are odd and four apart.
  EXPECT_NEAR(kepler_order("radau:order=5", 64), 5.0, 0.3);
  EXPECT_NEAR(kepler_order("radau:order=9", 16), 9.0, 0.5);
  EXPECT_NEAR(kepler_order("radau:order=13", 4), 13.0, 1.0);
}

/// The largest errors of the kinds of components at the ends of fixed steps: at a single time one may happen to vanish.
std::vector<double> dae_errors(const std::string& choice, const DaeProblem& problem, int steps) {
  std::vector<double> y = problem.exact(0.0), errors(problem.kinds.size());
  Observer observer;
  observer.step = [&](double t, const double* now) {
    const std::vector<double> exact = problem.exact(t);
    for (std::size_t kind = 0; kind < errors.size(); ++kind) {
      for (const std::size_t i : problem.kinds[kind])
        errors[kind] = std::max(errors[kind], std::abs(now[i] - exact[i]));
    }
  };
  const LoopResult result =
      run(choice, problem.system, problems::fixed(problem.t_end, problem.t_end / steps), y, observer);
  EXPECT_EQ(result.status, Status::done) << problem.name << ": " << result.message;
  return errors;
}

// Hairer, Lubich, Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods, table 2.3: on
// index 1 both kinds have order 2s-1, on index 2 the orders are 2s-1 and s, on index 3 2s-1, s and s-1.
TEST(Radau, OrdersOnDifferentialAlgebraicSystems) {
  struct Expected {
    std::string choice;
    DaeProblem problem;
    int coarse, fine;  ///< numbers of steps
    std::vector<double> orders;
  };
  const std::vector<Expected> cases{
      {"radau:order=5", problems::index1_problem(), 16, 32, {5, 5}},
      {"radau:order=5", problems::fully_implicit_problem(), 32, 64, {5, 5}},
      {"radau:order=5", problems::index2_problem(), 64, 128, {5, 3}},
      {"radau:order=5", problems::index3_problem(), 64, 128, {5, 3, 2}},
      {"radau:order=9", problems::index1_problem(), 4, 8, {9, 9}},
      {"radau:order=9", problems::fully_implicit_problem(), 16, 24, {9, 9}},
      {"radau:order=9", problems::index2_problem(), 12, 18, {9, 5}},
      {"radau:order=9", problems::index3_problem(), 12, 18, {9, 5, 4}},
      // The differential unknowns reach round-off with the longest steps that have a solution.
      {"radau:order=13", problems::index2_problem(), 8, 12, {0, 7}},
      {"radau:order=13", problems::index3_problem(), 8, 12, {0, 7, 6}},
  };
  for (const Expected& expected : cases) {
    const std::vector<double> coarse = dae_errors(expected.choice, expected.problem, expected.coarse),
                              fine = dae_errors(expected.choice, expected.problem, expected.fine);
    for (std::size_t kind = 0; kind < coarse.size(); ++kind) {
      const double order =
          std::log(coarse[kind] / fine[kind]) / std::log(static_cast<double>(expected.fine) / expected.coarse);
      // At steps this long, as they must be to stay above round-off, the next term is felt; orders are two or four
      // apart.
      EXPECT_GT(order, expected.orders[kind] - 0.8) << expected.choice << ", " << expected.problem.name << ", " << kind;
    }
  }
}

TEST(Radau, ErrorFollowsTheToleranceOnDifferentialAlgebraicSystems) {
  for (const DaeProblem& problem : problems::dae_problems()) {
    double previous = 1.0;
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
      std::vector<double> y = problem.exact(0.0);
      const LoopResult result =
          run("radau", problem.system, problems::controlled(problem.system, problem.t_end, tolerance), y);
      ASSERT_EQ(result.status, Status::done) << problem.name << ": " << result.message;
      const std::vector<double> exact = problem.exact(problem.t_end);
      double error = 0.0;
      for (const std::size_t i : problem.kinds[0]) error = std::max(error, std::abs(y[i] - exact[i]));
      // The steps (fewer than 100) err by less than the tolerance each, and errors do not grow on these problems.
      EXPECT_LT(error, 100.0 * tolerance) << problem.name;
      EXPECT_LT(error, previous) << problem.name;
      previous = error;
    }
  }
}

// Reference values of the IVP test set (Mazzia, Magherini 2008), of 11 and more digits.
TEST(Radau, StiffProblems) {
  struct Stiff {
    std::string name;
    System system;
    double t_end, atol;
    std::vector<double> start, end;
  };
  const std::vector<Stiff> cases{
      {"van der Pol",
       plain_ode(2,
                 [](double, const double* y, double* dy) {
                   dy[0] = y[1];
                   dy[1] = ((1.0 - y[0] * y[0]) * y[1] - y[0]) * 1e6;
                   return Evaluation::ok;
                 }),
       2.0,
       1.0,
       {2.0, 0.0},
       {1.706167732170483, -0.8928097010247975}},
      {"Robertson",
       plain_ode(3,
                 [](double, const double* y, double* dy) {
                   dy[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
                   dy[2] = 3e7 * y[1] * y[1];
                   dy[1] = -dy[0] - dy[2];
                   return Evaluation::ok;
                 }),
       1e11,
       1e-8,
       {1.0, 0.0, 0.0},
       {0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050}},
      {"HIRES",
       plain_ode(8,
                 [](double, const double* y, double* dy) {
                   dy[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
                   dy[1] = 1.71 * y[0] - 8.75 * y[1];
                   dy[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
                   dy[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
                   dy[4] = -1.745 * y[4] + 0.43 * (y[5] + y[6]);
                   dy[5] = -280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
                   dy[6] = 280.0 * y[5] * y[7] - 1.81 * y[6];
                   dy[7] = -dy[6];
                   return Evaluation::ok;
                 }),
       321.8122,
       1e-4,
       {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057},
       {0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
        0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2}},
  };
  for (const Stiff& stiff : cases) {
    for (const double rtol : {1e-4, 1e-7, 1e-10}) {
      LoopOptions options = problems::controlled(stiff.system, stiff.t_end, rtol);
      options.tolerance.atol.assign(stiff.system.dimension, rtol * stiff.atol);
      std::vector<double> x = stiff.start;
      const LoopResult result = run("radau", stiff.system, options, x);
      ASSERT_EQ(result.status, Status::done) << stiff.name << ": " << result.message;
      // Errors are damped. HIRES ends while its fast reaction is under way, and its small components have the tolerance
      // 1e-4 rtol, 2 rtol relative to them.
      EXPECT_LT(relative_distance(x, stiff.end), 100.0 * rtol) << stiff.name << " " << rtol;
      // Stability does not bind the step: an explicit method needs millions.
      EXPECT_LT(result.stats.steps, 400u) << stiff.name << " " << rtol;
      // Factors and Jacobians are used again.
      EXPECT_LE(result.stats.factorizations, result.stats.steps + result.stats.rejected) << stiff.name;
      EXPECT_LT(result.stats.jacobians, result.stats.steps + result.stats.rejected) << stiff.name;
    }
  }
}

// Heat conduction u' = (u_(j-1) - 2 u_j + u_(j+1)) / d^2 from u_j = sin(pi j d), whose solution is u_j exp(-k t), with
// k = 4 sin^2(pi d / 2) / d^2; tridiagonal, so it goes through the sparse solver.
TEST(Radau, SparseSystem) {
  constexpr std::size_t n = 300;
  const double d = 1.0 / (n + 1), pi = std::acos(-1.0);
  auto implicit = std::make_shared<ImplicitSystem>();
  std::vector<std::vector<std::size_t>> rows(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i == 0 ? 0 : i - 1; j <= std::min(i + 1, n - 1); ++j) rows[i].push_back(j);
  }
  implicit->pattern = problems::dae_pattern(n, rows);
  implicit->residual = [d](double, const double* y, const double* dy, double* F) {
    for (std::size_t i = 0; i < n; ++i) {
      F[i] = dy[i] - ((i > 0 ? y[i - 1] : 0.0) - 2.0 * y[i] + (i + 1 < n ? y[i + 1] : 0.0)) / (d * d);
    }
    return Evaluation::ok;
  };
  implicit->jacobian = [d, pattern = implicit->pattern](double, const double*, const double*, double* F_y,
                                                        double* F_dy) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        const bool diagonal = pattern.column[k] == i;
        F_y[k] = (diagonal ? 2.0 : -1.0) / (d * d);
        F_dy[k] = diagonal ? 1.0 : 0.0;
      }
    }
    return Evaluation::ok;
  };
  implicit->differential.assign(n, true);
  implicit->index.assign(n, 1);
  implicit->constant_leading = true;
  System system;
  system.dimension = n;
  system.names.assign(n, "u");
  system.implicit = implicit;

  std::vector<double> u(n);
  for (std::size_t j = 0; j < n; ++j) u[j] = std::sin(pi * d * static_cast<double>(j + 1));
  const std::vector<double> start = u;
  const LoopResult result = run("radau", system, problems::controlled(system, 0.2, 1e-8), u);
  ASSERT_EQ(result.status, Status::done) << result.message;
  const double half = std::sin(0.5 * pi * d), factor = std::exp(-4.0 * half * half / (d * d) * 0.2);
  double error = 0.0;
  for (std::size_t j = 0; j < n; ++j) error = std::max(error, std::abs(u[j] - factor * start[j]));
  // Errors are damped: fewer than those of 100 steps.
  EXPECT_LT(error, 1e-6);
  EXPECT_LT(result.stats.steps, 100u);
  // The Jacobian is constant and the start is not: a handful of evaluations.
  EXPECT_LT(result.stats.jacobians, 20u);
}

// High orders pay at tight tolerances.
TEST(Radau, OrderRisesWithTheTolerance) {
  const auto steps = [](const std::string& choice, double tolerance) {
    std::vector<double> x = problems::kepler_solution(0.0);
    const System system = problems::kepler();
    const LoopResult result = run(choice, system, problems::controlled(system, 20.0, tolerance), x);
    EXPECT_EQ(result.status, Status::done);
    // Errors in the semi-axis grow by 3 t/2 = 30; fewer than 1000 steps.
    EXPECT_LT(distance(x, problems::kepler_solution(20.0)), 3e4 * tolerance) << choice;
    return result.stats.steps;
  };
  EXPECT_LT(4 * steps("radau", 1e-10), steps("radau:order=5", 1e-10));
  EXPECT_LT(4 * steps("radau", 1e-10), steps("radau:max-order=5", 1e-10));
  EXPECT_LT(steps("radau:min-order=9", 1e-4), steps("radau:order=5", 1e-4));
}

// The pendulum of 000 over 50 s in index 3, 2 and 1, as published codes fail to solve it: from 1e-4 to 1e-12 every run
// reaches the end, and the error falls.
TEST(Radau, PendulumInEveryIndex) {
  for (const int index : {3, 2, 1}) {
    const System system = problems::pendulum(index);
    double previous = 10.0;
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
      double error = 0.0;
      for (const double factor : {0.8, 1.0, 1.25}) {
        std::vector<double> y = problems::pendulum_start();
        const LoopResult result = run("radau", system, problems::controlled(system, 50.0, factor * tolerance), y);
        ASSERT_EQ(result.status, Status::done) << "index " << index << ", " << tolerance << ": " << result.message;
        const std::vector<double> end = problems::pendulum_end();
        error = std::max({error, std::abs(y[0] - end[0]), std::abs(y[1] - end[1])});
      }
      EXPECT_LT(error, previous) << "index " << index << ", " << tolerance;
      previous = error;
    }
    // The mechanism multiplies errors by up to 3500 in that time: the largest factor that DOP853 shows on it.
    EXPECT_LT(previous, 3500.0 * 1e-12) << "index " << index;
  }
}

TEST(Radau, IndexAboveThreeIsRefused) {
  DaeProblem problem = problems::index3_problem();
  auto implicit = std::make_shared<ImplicitSystem>(*problem.system.implicit);
  implicit->system_index = 4;
  problem.system.implicit = implicit;
  const IntegratorEntry& entry = integrator("radau");
  EXPECT_EQ(entry.highest_index, 3);
  EXPECT_THROW(entry.make(problem.system, Options(Choice{"radau", {}}, entry.options)), InternalError);
}

TEST(Radau, StateIsReplacedAndTimeRunsBackwards) {
  const DaeProblem problem = problems::index2_problem();
  const IntegratorEntry& entry = integrator("radau");
  const std::unique_ptr<Stepper> stepper = entry.make(problem.system, Options(Choice{"radau", {}}, entry.options));
  ASSERT_EQ(stepper->start(1.0, problem.exact(1.0).data()), Evaluation::ok);
  ASSERT_EQ(stepper->attempt(0.05, nullptr).outcome, Evaluation::ok);
  ASSERT_EQ(stepper->accepted(1.05), Evaluation::ok);
  ASSERT_EQ(stepper->replace_state(problem.exact(1.05).data()), Evaluation::ok);
  ASSERT_EQ(stepper->attempt(-0.05, nullptr).outcome, Evaluation::ok);
  ASSERT_EQ(stepper->accepted(1.0), Evaluation::ok);
  // One step errs by h^6 in x and h^3 in z, times derivatives of some units.
  const std::vector<double> exact = problem.exact(1.0);
  EXPECT_NEAR(stepper->state()[0], exact[0], 1e-6);
  EXPECT_NEAR(stepper->state()[2], exact[2], 1e-2);
  std::vector<double> row(3);
  ASSERT_EQ(stepper->interpolate(0.5, row.data()), Evaluation::ok);
  EXPECT_NEAR(row[0], problem.exact(1.025)[0], 1e-6);
}

}  // namespace
}  // namespace daedalus::integrate
