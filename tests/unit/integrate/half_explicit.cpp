// HEM5: coefficients, orders with and without projection of the positions, velocity constraints, step control.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/methods/half_explicit_coefficients.hpp"
#include "unit/integrate/mechanical_problems.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::Ellipse;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

TEST(HalfExplicit, RowsAndWeightsFitTheNodes) {
  // Coefficients up to 4 are given to 16 digits; those of stage 8 agree with its node to 13.
  for (std::size_t i = 0; i < hem5::a.size(); ++i) {
    double sum = 0.0;
    for (const double a : hem5::a[i]) sum += a;
    EXPECT_NEAR(sum, hem5::node[i], i == 7 ? 2e-13 : 1e-14) << i;
  }
  for (int k = 1; k <= 5; ++k) {
    double sum = 0.0;
    for (std::size_t j = 0; j < hem5::stages; ++j) sum += hem5::a.back()[j] * std::pow(hem5::node[j], k - 1);
    EXPECT_NEAR(sum, 1.0 / k, 1e-14) << k;
  }
  // The stage that serves as an estimate is of order 3, the second formula of order 2.
  for (int k = 1; k <= 3; ++k) {
    double last = 0.0, rough = 0.0;
    for (std::size_t j = 0; j < hem5::stages; ++j) {
      last += hem5::a[hem5::stages - 1][j] * std::pow(hem5::node[j], k - 1);
      rough += hem5::rough[j] * std::pow(hem5::node[j], k - 1);
    }
    EXPECT_NEAR(last, 1.0 / k, 2e-13) << k;
    if (k <= 2) {
      EXPECT_NEAR(rough, 1.0 / k, 1e-15) << k;
    }
  }
}

/// The least change of q and v onto the ellipse, in the mass norm.
System projected(const Ellipse& problem) {
  System system = problem.system();
  system.project = [c = problem.c](double, double* x) {
    for (int i = 0; i < 20; ++i) {
      const double g = x[0] * x[0] + 0.25 * x[1] * x[1] - 1.0, mass = 1.0 + c * x[0] * x[0];
      const double d[] = {2.0 * x[0], 0.5 * x[1] / mass}, size = 2.0 * x[0] * d[0] + 0.5 * x[1] * d[1];
      x[0] -= d[0] * g / size;
      x[1] -= d[1] * g / size;
      if (std::abs(g) < epsilon) break;
    }
    const double rate = 2.0 * x[0] * x[2] + 0.5 * x[1] * x[3], mass = 1.0 + c * x[0] * x[0];
    const double d[] = {2.0 * x[0], 0.5 * x[1] / mass}, size = 2.0 * x[0] * d[0] + 0.5 * x[1] * d[1];
    x[2] -= d[0] * rate / size;
    x[3] -= d[1] * rate / size;
    return Evaluation::ok;
  };
  return system;
}

/// Largest errors of q, v and z on the way.
std::array<double, 3> errors(const Ellipse& problem, const System& system, int steps) {
  std::array<double, 3> largest{};
  Observer observer;
  observer.step = [&](double t, const double* x) {
    const std::vector<double> exact = problem.exact(t);
    for (std::size_t i = 0; i < exact.size(); ++i) largest[i / 2] = std::max(largest[i / 2], std::abs(x[i] - exact[i]));
  };
  std::vector<double> x = problem.exact(0.0);
  EXPECT_EQ(problems::run("half-explicit", system, problems::fixed(4.0, 4.0 / steps), x, observer).status,
            Status::done);
  return largest;
}

TEST(HalfExplicit, OrderIsFive) {
  for (const Ellipse& problem : {Ellipse{0.0, 0.0, false}, Ellipse{0.3, 0.2, false}, Ellipse{0.3, 0.2, true}}) {
    System nonholonomic = problem.system();
    auto view = std::make_shared<MechanicalSystem>(*nonholonomic.mechanical);
    view->holonomic_rows.clear();
    nonholonomic.mechanical = view;
    int number = 0;
    for (const System& system : {problem.system(), projected(problem), nonholonomic}) {
      // A pair late in the sequence of halvings, as projected errors reach their leading power late; at the end of it
      // they are still 100 times the round-off of one step.
      const auto coarse = errors(problem, system, 240), fine = errors(problem, system, 480);
      for (std::size_t kind = 0; kind < (problem.auxiliary ? 3 : 2); ++kind) {
        const double order = std::log2(coarse[kind] / fine[kind]);
        EXPECT_GT(fine[kind], 100.0 * epsilon);
        EXPECT_NEAR(order, 5.0, 0.1) << "c = " << problem.c << ", system " << number << ", kind " << kind;
        RecordProperty("c" + std::to_string(problem.c != 0.0) + "_z" + std::to_string(problem.auxiliary) + "_system" +
                           std::to_string(number) + "_kind" + std::to_string(kind),
                       std::to_string(order));
      }
      ++number;
    }
  }
}

TEST(HalfExplicit, VelocityConstraintsHoldAndPositionsDriftSlowly) {
  const Ellipse problem{0.3, 0.1};
  double position = 0.0, velocity = 0.0;
  Observer observer;
  observer.step = [&](double, const double* x) {
    position = std::max(position, std::abs(x[0] * x[0] + 0.25 * x[1] * x[1] - 1.0));
    velocity = std::max(velocity, std::abs(2.0 * x[0] * x[2] + 0.5 * x[1] * x[3]));
  };
  std::vector<double> x = problem.exact(0.0);
  EXPECT_EQ(problems::run("half-explicit", problem.system(), problems::fixed(10.0, 0.05), x, observer).status,
            Status::done);
  // One linear system gives the velocity at the end: its round-off with a condition of about 10, divided by the weight
  // 0.06 of the last slope.
  EXPECT_LT(velocity, 2e-13);
  EXPECT_GT(position, 1e-12);
  EXPECT_LT(position, 1e-5);
}

TEST(HalfExplicit, ConstraintsThatDependOnOthersAreLeftOut) {
  const Ellipse problem{0.3, 0.1};
  System twice = problem.system();
  auto view = std::make_shared<MechanicalSystem>(*twice.mechanical);
  view->m = 2;
  view->jacobian = {2, 2, {0, 2, 4}, {0, 1, 0, 1}};
  view->holonomic_rows = {0, 1};
  const MechanicalSystem once = *problem.system().mechanical;
  view->motion = [once](double t, const double* x, double* M, double* f, double* G, double* gamma, double* dz) {
    const Evaluation outcome = once.motion(t, x, M, f, G, gamma, dz);
    if (G != nullptr) G[2] = 3.0 * G[0], G[3] = 3.0 * G[1];
    if (gamma != nullptr) gamma[1] = 3.0 * gamma[0];
    return outcome;
  };
  view->geometry = [once](double t, const double* q, double* M, double* G, double* g) {
    const Evaluation outcome = once.geometry(t, q, M, G, g);
    if (G != nullptr) G[2] = 3.0 * G[0], G[3] = 3.0 * G[1];
    if (g != nullptr) g[1] = 3.0 * g[0];
    return outcome;
  };
  view->velocity_residual = [once](double t, const double* q, const double* v, double* c) {
    const Evaluation outcome = once.velocity_residual(t, q, v, c);
    c[1] = 3.0 * c[0];
    return outcome;
  };
  twice.mechanical = view;
  std::vector<double> x = problem.exact(0.0), y = x;
  EXPECT_EQ(problems::run("half-explicit", problem.system(), problems::fixed(2.0, 0.05), x).status, Status::done);
  EXPECT_EQ(problems::run("half-explicit", twice, problems::fixed(2.0, 0.05), y).status, Status::done);
  EXPECT_LT(problems::distance(x, y), 1e-13);
}

TEST(HalfExplicit, DenseOutputIsOfOrderFour) {
  const Ellipse problem{0.3, 0.1};
  const System system = problem.system();
  const auto error = [&](double h) {
    const std::unique_ptr<Stepper> stepper = problems::make_stepper(integrator("half-explicit"), system);
    EXPECT_EQ(stepper->start(0.4, problem.exact(0.4).data()), Evaluation::ok);
    EXPECT_EQ(stepper->attempt(h, nullptr).outcome, Evaluation::ok);
    EXPECT_EQ(stepper->accepted(0.4 + h), Evaluation::ok);
    double largest = 0.0;
    std::vector<double> row(4);
    for (int i = 1; i < 10; ++i) {
      EXPECT_EQ(stepper->interpolate(0.1 * i, row.data()), Evaluation::ok);
      largest = std::max(largest, problems::distance(row, problem.exact(0.4 + 0.1 * i * h)));
    }
    return largest;
  };
  // From an exact start one step errs by O(h^5) between its ends.
  EXPECT_NEAR(std::log2(error(0.04) / error(0.02)), 5.0, 0.25);
}

TEST(HalfExplicit, StepControlFollowsTheTolerance) {
  const Ellipse problem{0.3, 0.1, true};
  const System system = projected(problem);
  // A step may err by tol (1 + |x|) <= 4 tol, and errors grow by less than 10 on this way: n steps make at most 40 n
  // tol.
  const auto error = [&](double tolerance) {
    std::vector<double> x = problem.exact(0.0);
    const LoopResult result = problems::run("half-explicit", system, problems::controlled(system, 4.0, tolerance), x);
    EXPECT_EQ(result.status, Status::done);
    const double distance = problems::distance(x, problem.exact(4.0));
    EXPECT_LT(distance, 40.0 * tolerance * static_cast<double>(result.stats.steps));
    return distance;
  };
  EXPECT_LT(error(1e-9), 0.05 * error(1e-6));
}

}  // namespace
}  // namespace daedalus::integrate
