// What the global error of dop853 is at a given tolerance, on problems with known solutions.
#include <gtest/gtest.h>

#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::controlled;
using problems::distance;
using problems::kepler;
using problems::kepler_solution;
using problems::run;

TEST(Accuracy, ErrorIsProportionalToTheTolerance) {
  // Ten revolutions with eccentricity 0.5. The step is proportional to tolerance^(1/8) and the global error to h^8, so
  // six decades of tolerance are six of error. A factor of 4 at either end, by higher terms and by the luck of step
  // sequences, is 0.6 decades each; single steps of two decades must show at least one.
  const double e = 0.5, t_end = 62.8;
  std::vector<double> logarithms;
  for (const double tolerance : {1e-6, 1e-8, 1e-10, 1e-12}) {
    std::vector<double> x = kepler_solution(0.0, e);
    const LoopResult result = run("dop853", kepler(), controlled(kepler(), t_end, tolerance), x);
    ASSERT_EQ(result.status, Status::done) << result.message;
    EXPECT_EQ(result.t, t_end);
    logarithms.push_back(std::log10(distance(x, kepler_solution(t_end, e))));
  }
  EXPECT_NEAR(logarithms.front() - logarithms.back(), 6.0, 1.2);
  for (std::size_t i = 1; i < logarithms.size(); ++i) EXPECT_LT(logarithms[i], logarithms[i - 1] - 1.0);
}

TEST(Accuracy, ArenstorfOrbitCloses) {
  // E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, (II.0.1), (II.0.2).
  System system;
  system.dimension = 4;
  system.ode = [](double, const double* x, double* dx) {
    constexpr double mu = 0.012277471, nu = 1.0 - mu;
    const double near = x[1] * x[1], d1 = std::pow((x[0] + mu) * (x[0] + mu) + near, 1.5),
                 d2 = std::pow((x[0] - nu) * (x[0] - nu) + near, 1.5);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = x[0] + 2.0 * x[3] - nu * (x[0] + mu) / d1 - mu * (x[0] - nu) / d2;
    dx[3] = x[1] - 2.0 * x[2] - nu * x[1] / d1 - mu * x[1] / d2;
    return Evaluation::ok;
  };
  const std::vector<double> start{0.994, 0.0, 0.0, -2.00158510637908252240537862224};
  const double period = 17.0652165601579625588917206249;
  std::vector<double> x = start;
  const LoopResult result = run("dop853", system, controlled(system, period, 1e-12), x);
  ASSERT_EQ(result.status, Status::done) << result.message;
  // The global error is a few thousand times the tolerance on regular orbits; the passages of the moon at a distance of
  // 0.006 multiply it by some thousand more.
  EXPECT_NEAR(x[0], start[0], 1e-5);
  EXPECT_NEAR(x[1], start[1], 1e-5);
  EXPECT_TRUE(result.notes.empty());
}

TEST(Accuracy, VanDerPolOscillator) {
  System system = problems::growth(0.0);
  system.dimension = 2;
  system.ode = [](double, const double* x, double* dx) {
    dx[0] = x[1];
    dx[1] = ((1.0 - x[0] * x[0]) * x[1] - x[0]) / 1e-3;
    return Evaluation::ok;
  };
  // The reference is rk4 with 400,000 steps: h lambda is below 0.02 on the slow parts; halving its step changes the
  // result by less than 1e-10. An error of the tolerance at the jump shifts the time by about as much; the factor 1000
  // is the one seen on other problems.
  std::vector<double> reference{2.0, 0.0}, x = reference;
  ASSERT_EQ(run("rk4", system, problems::fixed(2.0, 5e-6), reference).status, Status::done);
  ASSERT_EQ(run("dop853", system, controlled(system, 2.0, 1e-9), x).status, Status::done);
  EXPECT_LT(distance(x, reference), 1e-6);

  x = {2.0, 0.0};
  const LoopResult loose = run("dop853", system, controlled(system, 2.0, 1e-5), x);
  EXPECT_EQ(loose.notes.size(), 1u);
}

/// The pendulum of mass 2 and length 2.5 in Cartesian coordinates, with the multiplier eliminated.
System pendulum() {
  System system;
  system.dimension = 4;
  system.coordinates = 2;
  system.ode = [](double, const double* x, double* dx) {
    const double factor = (9.81 * x[1] - x[2] * x[2] - x[3] * x[3]) / (x[0] * x[0] + x[1] * x[1]);
    dx[0] = x[2];
    dx[1] = x[3];
    dx[2] = factor * x[0];
    dx[3] = factor * x[1] - 9.81;
    return Evaluation::ok;
  };
  return system;
}

/// Moves to the nearest point of the circle, then removes the velocity across it.
Evaluation project_on_circle(double, double* x) {
  const double scale = 2.5 / std::hypot(x[0], x[1]);
  x[0] *= scale;
  x[1] *= scale;
  const double across = (x[0] * x[2] + x[1] * x[3]) / 6.25;
  x[2] -= across * x[0];
  x[3] -= across * x[1];
  return Evaluation::ok;
}

TEST(Accuracy, PendulumWithProjectionOver50Seconds) {
  // Exact positions at t = 50 from Jacobi elliptic functions. An independent DOP853 with projection errs by 2.0e-7 at
  // the tolerance 1e-10 and 1.2e-9 at 1e-12; without projection by 600 to 166,000 times the tolerance.
  System system = pendulum();
  const auto error = [&](double tolerance) {
    std::vector<double> x{0.86, 2.34742412017939357, 0.0, 0.0};
    EXPECT_EQ(run("dop853", system, controlled(system, 50.0, tolerance), x).status, Status::done);
    return std::max(std::abs(x[0] - 2.02623404191016276), std::abs(x[1] - 1.46436867195539415));
  };
  EXPECT_LT(error(1e-10), 2e5 * 1e-10);
  system.project = project_on_circle;
  EXPECT_LT(error(1e-10), 2 * 2.0e-7);
  EXPECT_LT(error(1e-12), 2 * 1.2e-9);
}

}  // namespace
}  // namespace daedalus::integrate
