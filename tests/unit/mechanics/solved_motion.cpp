// Straight-line solutions of the KKT system beside the solver with orthogonal factors.
#include "daedalus/mechanics/solved_motion.hpp"

#include <random>

#include "daedalus/mechanics/evaluator.hpp"
#include "unit/mechanics/tools.hpp"

namespace daedalus::tests {
namespace {

using mechanics::Evaluator;
using mechanics::Functions;
using mechanics::Outcome;
using mechanics::SolvedEvaluator;
using mechanics::SolvedMotion;

std::shared_ptr<const Functions> functions_of(const std::string& text) {
  return mechanics::compile_functions(derived(text));
}

double largest(const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

/// K is symmetric and its pivots are definite, so errors of either solution are some ten units of round-off times the
/// condition of K, which cancellations below 1e5 keep below some 1e6: 1e-9 for accelerations. A step of the
/// projection has to satisfy G d = -r as well as r is known.
TEST(SolvedMotion, EqualsTheSolverOnEveryModel) {
  std::mt19937_64 random(31);
  std::uniform_real_distribution<double> uniform(-1.5, 1.5);
  std::size_t solved = 0, compared = 0;
  for (const std::string& name : model_names()) {
    SCOPED_TRACE(name);
    const auto functions = mechanics::compile_functions(derived_file(name));
    const Functions& fn = *functions;
    const auto motion = SolvedMotion::of(fn);
    if (!motion) continue;
    ++solved;
    SolvedEvaluator in_line(motion);
    Evaluator evaluator(functions);
    linalg::KktSolver kkt(fn.mass, fn.jacobian);
    auto scratch = fn.geometry.make_scratch(), correction = motion->correction.function.make_scratch();
    std::vector<double> geometry(fn.geometry.output_count()), zero(fn.n), right(fn.m), dq(fn.n), lambda(fn.m);
    for (int point = 0; point < 20; ++point) {
      std::vector<double> x(fn.dimension()), a(fn.n), dv(fn.n), position(fn.holonomic), velocity(fn.m);
      for (std::size_t i = 0; i < fn.n; ++i) {
        x[i] = uniform(random);
        x[fn.n + i] = uniform(random);
      }
      const double t = 0.3;
      const double* inputs[] = {&t, x.data(), x.data() + fn.n};
      if (evaluator.accelerations(t, x.data()) != Outcome::ok || evaluator.rows().size() < fn.m) continue;
      if (!in_line.accelerations(inputs, nullptr, a.data())) continue;
      ++compared;
      const double size = largest(evaluator.a());
      for (std::size_t i = 0; i < fn.n; ++i) EXPECT_NEAR(a[i], evaluator.a()[i], 1e-9 * size);

      // velocities: G dv = -(G v + g_t) where M dv is in the range of G^T, that is, as the solver does it
      fn.geometry(inputs, geometry.data(), scratch);
      if (fn.m == 0 || kkt.factor(geometry.data(), geometry.data() + fn.mass.nonzeros()) != linalg::KktOutcome::regular)
        continue;
      evaluator.residuals(t, x.data(), position.data(), velocity.data());
      for (std::size_t i = 0; i < fn.m; ++i) right[i] = -velocity[i];
      kkt.solve(zero.data(), right.data(), dq.data(), lambda.data());
      const auto correct = [&](const std::vector<double>& violation) {
        const double* with_violation[] = {&t, x.data(), violation.data()};
        motion->correction.function(with_violation, dv.data(), correction);
      };
      correct(velocity);
      for (std::size_t i = 0; i < fn.n; ++i) EXPECT_NEAR(dv[i], dq[i], 1e-9 * largest(dq));
      if (fn.holonomic < fn.m) continue;
      for (std::size_t i = 0; i < fn.m; ++i) right[i] = -position[i];
      kkt.solve(zero.data(), right.data(), dq.data(), lambda.data());
      correct(position);
      for (std::size_t i = 0; i < fn.n; ++i) EXPECT_NEAR(dv[i], dq[i], 1e-9 * largest(dq));
    }
  }
  EXPECT_GE(solved, 15U);
  EXPECT_GE(compared, 10 * solved);
}

std::string in_plane(const std::string& kinetic, const std::string& constraints) {
  return "kind = \"lagrangian\"\n[variables]\nx = 0.6\ny = 0.8\n[lagrangian]\nkinetic = \"" + kinetic +
         "\"\n[constraints]\n" + constraints;
}

TEST(SolvedMotion, SaysWhereItsPivotsAreNotToBeTrusted) {
  const double t = 0.0, good[] = {0.6, 0.8, 0.4, -0.3}, bad[] = {0.6, 0.0, 0.0, 0.0};
  const double* at_good[] = {&t, good, good + 2};
  const double* at_bad[] = {&t, bad, bad + 2};
  double a[4];
  // two constraints that become one at y = 0
  const auto twice =
      functions_of(in_plane("(der(x)^2 + der(y)^2)/2", "rod = \"x^2 + y^2 = 1\"\nline = \"2*x + y^3 = 1.712\""));
  SolvedEvaluator constrained(SolvedMotion::of(*twice));
  EXPECT_TRUE(constrained.accelerations(at_good, nullptr, a));
  EXPECT_FALSE(constrained.accelerations(at_bad, nullptr, a));
  // a mass that becomes negative
  const auto heavy = functions_of(in_plane("(y*der(x)^2 + der(y)^2)/2", "rod = \"x^2 + y^2 = 1\""));
  SolvedEvaluator massive(SolvedMotion::of(*heavy));
  EXPECT_TRUE(massive.accelerations(at_good, nullptr, a));
  const double below[] = {0.6, -0.8, 0.4, 0.3};
  const double* at_below[] = {&t, below, below + 2};
  EXPECT_FALSE(massive.accelerations(at_below, nullptr, a));
  // a mass that is constant and not positive is seen at once
  EXPECT_EQ(SolvedMotion::of(*functions_of(in_plane("(der(x)^2 - der(y)^2)/2", "rod = \"x^2 + y^2 = 1\""))), nullptr);
}

/// Where the landing ends, the constraints hold to round-off at both levels, the way there is the shortest in the mass norm,
/// M d = G^T mu, and the accelerations are those of that place. From 1e-6 beside the circle two steps leave 1e-18.
TEST(SolvedMotion, LandsOnTheConstraints) {
  const auto functions = functions_of(in_plane("(2*der(x)^2 + 3*der(y)^2)/2", "rod = \"x^2 + y^2 = 1\""));
  SolvedEvaluator in_line(SolvedMotion::of(*functions));
  Evaluator evaluator(functions);
  const double t = 0.0, x[] = {0.6 + 1e-6, 0.8 - 3e-6, 0.4, -0.2};
  const double* inputs[] = {&t, x, x + 2};
  double out[8];
  ASSERT_TRUE(in_line.land(inputs, nullptr, out));
  const double *last = out, *q = out + 2, *v = out + 4, *a = out + 6;
  EXPECT_NEAR(q[0] * q[0] + q[1] * q[1], 1.0, 4e-16);
  EXPECT_NEAR(q[0] * v[0] + q[1] * v[1], 0.0, 2e-16);
  EXPECT_LT(std::hypot(last[0], last[1]), 1e-11);
  const double mu = 2.0 * (q[0] - x[0]) / x[0];
  EXPECT_GT(std::abs(mu), 1e-7);
  EXPECT_NEAR(3.0 * (q[1] - x[1]), mu * x[1], 4e-16);
  EXPECT_NEAR(3.0 * (v[1] - x[3]) * q[0], 2.0 * (v[0] - x[2]) * q[1], 4e-16);
  ASSERT_EQ(evaluator.accelerations(t, q), Outcome::ok);
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(a[i], evaluator.a()[i], 1e-14);
}

/// A chain of N links costs O(N): the elimination runs from link to link.
TEST(SolvedMotion, GrowsWithTheSizeOfAChain) {
  const auto operations = [](int links) {
    const model::Overrides overrides{{{"N", std::to_string(links)}}, {}, {}};
    const auto model = std::make_shared<const model::Model>(
        model::read_model(source_folder() + "/models/chain.toml", overrides));
    const auto motion = SolvedMotion::of(*mechanics::compile_functions(mechanics::derive(model)));
    return motion->accelerations.function.operation_count();
  };
  const std::size_t small = operations(20), large = operations(200);
  EXPECT_LT(large, 11 * small);
  EXPECT_LT(large, 200U * 100U);
}

}  // namespace
}  // namespace daedalus::tests
