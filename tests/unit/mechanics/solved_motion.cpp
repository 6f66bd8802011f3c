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
    auto scratch = fn.geometry.make_scratch();
    std::vector<double> geometry(fn.geometry.output_count()), zero(fn.n), right(fn.m), dq(fn.n), lambda(fn.m);
    for (int point = 0; point < 20; ++point) {
      std::vector<double> x(fn.dimension()), dx(2 * fn.n), dv(fn.n), position(fn.holonomic), velocity(fn.m);
      for (std::size_t i = 0; i < fn.n; ++i) {
        x[i] = uniform(random);
        x[fn.n + i] = uniform(random);
      }
      const double t = 0.3;
      const double* inputs[] = {&t, x.data(), x.data() + fn.n};
      if (evaluator.accelerations(t, x.data()) != Outcome::ok || evaluator.rows().size() < fn.m) continue;
      if (!in_line.slopes(inputs, nullptr, dx.data())) continue;
      ++compared;
      EXPECT_TRUE(std::equal(dx.begin(), dx.begin() + static_cast<std::ptrdiff_t>(fn.n), x.begin() + static_cast<std::ptrdiff_t>(fn.n)));
      const double size = largest(evaluator.a());
      for (std::size_t i = 0; i < fn.n; ++i) EXPECT_NEAR(dx[fn.n + i], evaluator.a()[i], 1e-9 * size);

      // velocities: G dv = -(G v + g_t) where M dv is in the range of G^T, that is, as the solver does it
      fn.geometry(inputs, geometry.data(), scratch);
      if (fn.m == 0 || kkt.factor(geometry.data(), geometry.data() + fn.mass.nonzeros()) != linalg::KktOutcome::regular)
        continue;
      evaluator.residuals(t, x.data(), position.data(), velocity.data());
      for (std::size_t i = 0; i < fn.m; ++i) right[i] = -velocity[i];
      kkt.solve(zero.data(), right.data(), dq.data(), lambda.data());
      ASSERT_TRUE(in_line.velocity_step(inputs, nullptr, dv.data()));
      for (std::size_t i = 0; i < fn.n; ++i) EXPECT_NEAR(dv[i], dq[i], 1e-9 * largest(dq));
      if (fn.holonomic < fn.m) continue;
      for (std::size_t i = 0; i < fn.m; ++i) right[i] = -position[i];
      kkt.solve(zero.data(), right.data(), dq.data(), lambda.data());
      ASSERT_TRUE(in_line.position_step(inputs, nullptr, dv.data()));
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
  EXPECT_TRUE(constrained.slopes(at_good, nullptr, a));
  EXPECT_FALSE(constrained.slopes(at_bad, nullptr, a));
  // a mass that becomes negative
  const auto heavy = functions_of(in_plane("(y*der(x)^2 + der(y)^2)/2", "rod = \"x^2 + y^2 = 1\""));
  SolvedEvaluator massive(SolvedMotion::of(*heavy));
  EXPECT_TRUE(massive.slopes(at_good, nullptr, a));
  const double below[] = {0.6, -0.8, 0.4, 0.3};
  const double* at_below[] = {&t, below, below + 2};
  EXPECT_FALSE(massive.slopes(at_below, nullptr, a));
  // a mass that is constant and not positive is seen at once
  EXPECT_EQ(SolvedMotion::of(*functions_of(in_plane("(der(x)^2 - der(y)^2)/2", "rod = \"x^2 + y^2 = 1\""))), nullptr);
}

/// A chain of N links costs O(N): the elimination runs from link to link.
TEST(SolvedMotion, GrowsWithTheSizeOfAChain) {
  const auto operations = [](int links) {
    const model::Overrides overrides{{{"N", std::to_string(links)}}, {}, {}};
    const auto model = std::make_shared<const model::Model>(
        model::read_model(source_folder() + "/models/chain.toml", overrides));
    const auto motion = SolvedMotion::of(*mechanics::compile_functions(mechanics::derive(model)));
    return motion->slopes.function.operation_count();
  };
  const std::size_t small = operations(20), large = operations(200);
  EXPECT_LT(large, 11 * small);
  EXPECT_LT(large, 200U * 100U);
}

}  // namespace
}  // namespace daedalus::tests
