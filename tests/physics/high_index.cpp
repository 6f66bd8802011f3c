// DAEs of an index above 1, written as plain equations: their index, what they hide, and their exact solutions.

#include <gtest/gtest.h>

#include <random>

#include "daedalus/solve/analysis.hpp"
#include "physics/high_index_cases.hpp"

namespace daedalus::tests {
namespace {

class HighIndex : public testing::TestWithParam<Case> {};

TEST_P(HighIndex, IsFound) {
  const solve::Analysis analysis = solve::analyze(prepared(GetParam()), 0.0);
  ASSERT_TRUE(analysis.index);
  EXPECT_EQ(*analysis.index, GetParam().index);
  EXPECT_EQ(analysis.free_initial_values, GetParam().free);
  // Of an equation that is differentiated k times all k derivatives are shown.
  EXPECT_EQ(analysis.hidden.size() > 0, GetParam().index > 1);
}

/// Projection keeps every level at round-off; errors follow the tolerance within the factor that is usual for long runs.
TEST_P(HighIndex, IsSolved) {
  const Case& one = GetParam();
  const solve::Prepared model = prepared(one);
  for (const std::string method : {"auto", "dop853", "radau", "bdf"})
    for (const double rtol : {1e-5, 1e-8, 1e-11}) {
      SCOPED_TRACE(fmt::format("{} at {}", method, rtol));
      solve::RunOptions options;
      options.method = method;
      options.rtol = rtol;
      options.t_end = one.t_end;
      options.samples = 31;
      const solve::Trajectory run = solve::simulate(model, options);
      ASSERT_TRUE(run.success()) << run.message;
      EXPECT_LE(error_of(run, one), (method == "bdf" ? 3000.0 : 300.0) * rtol);
      if (one.index == 1) continue;  // nothing is projected
      for (const double residual : run.constraints.relative) EXPECT_LE(residual, 1e-11);
    }
}

/// Feedback of any order keeps what drifts without it.
TEST_P(HighIndex, DecaysWithFeedback) {
  const Case& one = GetParam();
  if (one.index == 1) GTEST_SKIP() << "nothing is differentiated";
  const solve::Prepared model = prepared(one);
  for (const std::string formulation : {"index1", "baumgarte:alpha=20", "dummy-derivatives"}) {
    SCOPED_TRACE(formulation);
    double before = 0.0;
    for (const double rtol : {1e-6, 1e-10}) {
      solve::RunOptions options;
      options.formulation = formulation;
      options.method = "dop853";
      options.rtol = rtol;
      options.t_end = one.t_end;
      options.samples = 31;
      const solve::Trajectory run = solve::simulate(model, options);
      ASSERT_TRUE(run.success()) << run.message;
      const double error = error_of(run, one);
      EXPECT_TRUE(before == 0.0 || error <= std::max(0.02 * before, 1e-9)) << error << " after " << before;
      before = error;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, HighIndex, testing::ValuesIn(cases()), [](const auto& one) {
  std::string name = one.param.name;
  std::ranges::replace_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

/// The pendulum as a Lagrangian and as plain equations is one motion.
TEST(HighIndexModels, PendulumAsALagrangianAndAsEquations) {
  solve::RunOptions options;
  options.rtol = 1e-11;
  options.t_end = 10.0;
  options.samples = 101;
  options.method = "dop853";
  const solve::Trajectory motion = solve::simulate(model::read_model(slurp_model("pendulum")), options);
  const solve::Trajectory plain = solve::simulate(model::read_model(slurp_model("pendulum_dae")), options);
  ASSERT_TRUE(motion.success() && plain.success()) << plain.message;
  for (std::size_t row = 0; row < motion.t.size(); ++row) {
    EXPECT_NEAR(plain.value(row, plain.column("x")), motion.value(row, motion.column("x")), 1e-9);
    EXPECT_NEAR(plain.value(row, plain.column("y")), motion.value(row, motion.column("y")), 1e-9);
    EXPECT_NEAR(plain.value(row, plain.column("lambda")), motion.value(row, motion.column("lambda.rod")), 1e-8);
  }
}

solve::Trajectory run_with_feedback(const model::Model& model) {
  solve::RunOptions options;
  options.formulation = std::string("baumgarte:alpha=5");
  options.method = std::string("dop853");
  options.initialize = std::string("off");
  options.rtol = 1e-11;
  options.residuals = true;
  options.t_end = 2.0;
  options.samples = 21;
  return solve::simulate(model, options);
}

/// From an inconsistent start (d/dt + alpha)^k f = 0 is solved by a polynomial times exp(-alpha t): for k = 2 on the rod of
/// the pendulum, for k = 3 on the path of three integrators. The residuals follow it to the error of the run.
TEST(HighIndexModels, FeedbackHasItsPolesWhereItSays) {
  constexpr double alpha = 5.0;
  // f = 0.0121, f' = 0 at the start that the notes 000 print
  const solve::Trajectory rod = run_with_feedback(model::read_model(slurp_model("pendulum_dae")));
  ASSERT_TRUE(rod.success()) << rod.message;
  for (std::size_t row = 0; row < rod.t.size(); ++row) {
    const double t = rod.t[row];
    EXPECT_NEAR(rod.value(row, rod.column("residual.rod")), 0.0121 * (1.0 + alpha * t) * std::exp(-alpha * t), 1e-8) << t;
  }
  // f = x1 - sin t with x1 = x1' = x1'' = 0:  f = 0, f' = -1, f'' = 0
  const solve::Trajectory path = run_with_feedback(model::read_model_text(R"toml(
kind = "dae"
[variables]
x1 = 0
x2 = 0
x3 = 0
z = 0
[equations]
path = "x1 = sin(t)"
a = "der(x1) = x2"
b = "der(x2) = x3"
c = "der(x3) = z"
)toml", "three"));
  ASSERT_TRUE(path.success()) << path.message;
  for (std::size_t row = 0; row < path.t.size(); ++row) {
    const double t = path.t[row];
    EXPECT_NEAR(path.value(row, path.column("residual.path")), -(t + alpha * t * t) * std::exp(-alpha * t), 1e-8) << t;
  }
}

TEST(HighIndexModels, HiddenConstraintsAreShownInTheAuthorsNames) {
  const solve::Analysis analysis = solve::analyze(solve::prepare(model::read_model(slurp_model("pendulum_dae"))), 0.0);
  EXPECT_EQ(analysis.index, 3);
  EXPECT_EQ(analysis.free_initial_values, 2u);
  ASSERT_EQ(analysis.hidden.size(), 2u);
  EXPECT_EQ(analysis.hidden[0].of, "rod");
  EXPECT_EQ(analysis.hidden[0].level, 1);
  EXPECT_EQ(analysis.hidden[0].equation, "2*x*der(x) + 2*y*der(y) = 0");
  EXPECT_EQ(analysis.hidden[1].level, 2);
  EXPECT_FALSE(analysis.consistent);
  ASSERT_EQ(analysis.violations.size(), 1u);
  EXPECT_EQ(analysis.violations[0].of, "rod");
}

/// The circle of the lecture with a multiplier, and sums of its equations in every row: the structure sees index 1, the
/// ranks of the derivative array 2, and 003 says so.
TEST(HighIndexModels, MixedEquationsAreSeenThrough) {
  const solve::Analysis analysis = solve::analyze(solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 0
z = 0
[equations]
p = "der(x) + x^2 + y^2 = 1 - y + z*x"
q = "der(y) + 2*(x^2 + y^2) = 2 + x + z*y"
r = "der(x) - der(y) + x^2 + y^2 = 1 - x - y + z*(x - y)"
)toml", "mixed")), 0.0);
  EXPECT_EQ(analysis.structural_index, 1);
  EXPECT_EQ(analysis.index, 2);
  EXPECT_EQ(analysis.free_initial_values, 1u);
  ASSERT_EQ(analysis.ranks.size(), 3u);
  EXPECT_LT(analysis.ranks.back().dropped, 1e-11);
  EXPECT_GT(analysis.ranks.back().kept, 1e-4);
}

/// Equations of known solutions, mixed by random matrices: P f(Q x), of which nothing can be read off.
TEST(HighIndexModels, MixedEquationsAreSolved) {
  struct Plain {
    std::string name;
    std::vector<std::string> rows;  ///< in $0, $1, ...: unknowns; in ~0, ~1, ...: their derivatives
    std::vector<Exact> exact;
    int index;
  };
  const std::vector<Plain> problems{
      {"circle", {"~0 - $1", "~1 - $2", "($0^2 + $1^2 - 1)/2"},
       {[](double t) { return std::sin(t); }, [](double t) { return std::cos(t); }, [](double t) { return -std::sin(t); }}, 2},
      {"chain", {"~0 - $1", "~1 - $2", "$0 - exp(-t)*cos(3*t)", "~3 + $3 - $2"},
       {[](double t) { return std::exp(-t) * std::cos(3 * t); },
        [](double t) { return -std::exp(-t) * (std::cos(3 * t) + 3 * std::sin(3 * t)); },
        [](double t) { return std::exp(-t) * (6 * std::sin(3 * t) - 8 * std::cos(3 * t)); },
        [](double) { return 0.0; }}, 3}};
  for (const Plain& one : problems)
    for (unsigned seed = 1; seed <= 3; ++seed) {
      SCOPED_TRACE(fmt::format("{}, seed {}", one.name, seed));
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> any(-0.4, 0.4);
      const std::size_t n = one.rows.size();
      const auto matrix = [&] {  // well conditioned: strictly diagonally dominant for these n
        std::vector<std::vector<double>> m(n, std::vector<double>(n));
        for (std::size_t i = 0; i < n; ++i)
          for (std::size_t j = 0; j < n; ++j) m[i][j] = (i == j ? 1.5 : 0.0) + any(random);
        return m;
      };
      const auto P = matrix(), Q = matrix();
      const auto combination = [&](const std::vector<double>& row, const std::function<std::string(std::size_t)>& part) {
        std::string sum;
        for (std::size_t j = 0; j < n; ++j) sum += fmt::format("{}({})*({})", j == 0 ? "" : " + ", row[j], part(j));
        return sum;
      };
      std::string text = "kind = \"dae\"\n[variables]\n", equations = "[equations]\n", outputs = "[outputs]\n";
      for (std::size_t j = 0; j < n; ++j) {
        // start: Q u = x(0) needs no inverse where u is only a guess
        text += fmt::format("u{} = {}\n", j, one.exact[j](0.0) / 1.5);
        outputs += fmt::format("x{} = \"{}\"\n", j, combination(Q[j], [](std::size_t k) { return fmt::format("u{}", k); }));
        equations += fmt::format("f{} = \"{} = 0\"\n", j, combination(P[j], [&](std::size_t i) {
          std::string row = one.rows[i];
          for (std::size_t k = n; k-- > 0;)
            for (const bool rate : {true, false}) {
              const std::string name = (rate ? "~" : "$") + std::to_string(k);
              const std::string value =
                  "(" + combination(Q[k], [&](std::size_t l) { return rate ? fmt::format("der(u{})", l) : fmt::format("u{}", l); }) + ")";
              for (std::size_t at; (at = row.find(name)) != std::string::npos;) row.replace(at, name.size(), value);
            }
          return row;
        }));
      }
      const solve::Prepared model = solve::prepare(model::read_model_text(text + equations + outputs, "mixed"));
      const solve::Analysis analysis = solve::analyze(model, 0.0);
      EXPECT_EQ(analysis.index, one.index);
      if (one.name == "circle") continue;  // its start is free along the circle
      for (const double rtol : {1e-6, 1e-9}) {
        solve::RunOptions options;
        options.rtol = rtol;
        options.t_end = 2.0;
        options.samples = 21;
        options.method = "dop853";
        const solve::Trajectory run = solve::simulate(model, options);
        ASSERT_TRUE(run.success()) << run.message;
        EXPECT_EQ(run.formulation, "projection");
        EXPECT_LE(run.constraints.relative[0], 1e-11);
        double worst = 0.0;
        for (std::size_t row = 0; row < run.t.size(); ++row)
          for (std::size_t j = 0; j < 3; ++j)  // the chain prescribes these, whatever the start
            worst = std::max(worst, std::abs(run.value(row, run.column(fmt::format("x{}", j))) - one.exact[j](run.t[row])));
        EXPECT_LE(worst, 300.0 * rtol);
      }
    }
}

/// A disk rolls in a circle. At loose tolerances steps turn it by a radian and more: rows between are found all the same, and on
/// the branch of the motion.
TEST(DummyDerivatives, ShowRowsBetweenLongSteps) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 0
y = 0
heading = 0
rolled = 0
a = 0
b = 0
"der(heading)" = 1
"der(rolled)" = 2
[equations]
ex = "2*x'' = a"
ey = "2*y'' = b"
eh = "0.5*heading'' = 0"
er = "0.3*rolled'' = -a*cos(heading) - b*sin(heading)"
along = "der(x) = der(rolled)*cos(heading)"
across = "der(y) = der(rolled)*sin(heading)"
[simulation]
t_end = 6
)toml", "disk"));
  for (const std::string method : {"dop853", "radau"})
    for (const double rtol : {1e-3, 1e-4, 1e-5}) {
      SCOPED_TRACE(fmt::format("{} at {}", method, rtol));
      solve::RunOptions options;
      options.formulation = "dummy-derivatives";
      options.method = method;
      options.rtol = rtol;
      options.samples = 101;
      const solve::Trajectory run = solve::simulate(model, options);
      ASSERT_TRUE(run.success()) << run.message;
      for (std::size_t row = 0; row < run.t.size(); ++row) {
        EXPECT_NEAR(run.value(row, run.column("x")), 2.0 * std::sin(run.t[row]), 300.0 * rtol) << run.t[row];
        EXPECT_NEAR(run.value(row, run.column("y")), 2.0 - 2.0 * std::cos(run.t[row]), 300.0 * rtol) << run.t[row];
      }
    }
}

}  // namespace
}  // namespace daedalus::tests
