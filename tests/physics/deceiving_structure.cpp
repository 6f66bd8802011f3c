// DAEs of which nothing can be read off: P F(t, Q y) = 0 with dense orthogonal P and Q. Every unknown and its derivative
// stands in every equation, so that the structure says "an ODE"; index, start and solution must be those of F.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numbers>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "unit/structure/dae_examples.hpp"

namespace daedalus::tests {
namespace {

using structure::testing::DaeExample;
using structure::testing::Mixing;

constexpr double t_end = 1.0;
constexpr std::size_t samples = 21;

solve::Prepared prepared(const DaeExample& example, Mixing mixing, std::uint64_t seed = 1) {
  return solve::prepare(structure::testing::compiled(example, mixing, seed)->model);
}

solve::Trajectory run(const solve::Prepared& model, const std::string& method, double rtol, const std::string& formulation = "auto") {
  solve::RunOptions options;
  options.formulation = formulation;
  options.method = method;
  options.rtol = rtol;
  options.t_end = t_end;
  options.samples = samples;
  return solve::simulate(model, options);
}

/// The largest error, beside the largest unknown: mixing makes all of them as large, and a tolerance is relative to that.
double distance(const DaeExample& example, const solve::Trajectory& run, const std::function<double(std::size_t row, std::size_t i)>& right) {
  double worst = 0.0;
  for (std::size_t row = 0; row < run.t.size(); ++row) {
    double size = 0.0, error = 0.0;
    for (std::size_t i = 0; i < example.start.size(); ++i) {
      const double value = right(row, i);
      size = std::max(size, std::abs(value));
      error = std::max(error, std::abs(run.value(row, run.column(fmt::format("plain{}", i + 1))) - value));
    }
    worst = std::max(worst, error / (1.0 + size));
  }
  return worst;
}

/// The example from a consistent start: that of its equations as they are.
DaeExample consistent(DaeExample example) {
  const solve::Start start = solve::consistent_start(prepared(example, Mixing::none), 0.0, solve::Initialize::project);
  EXPECT_TRUE(start.found) << start.message;
  for (std::size_t i = 0; i < example.start.size(); ++i)
    for (const auto& [name, value] : start.values)
      if (name == fmt::format("x{}", i + 1)) example.start[i] = value;
  return example;
}

class DeceivingStructure : public testing::TestWithParam<std::size_t> {};

TEST_P(DeceivingStructure, IsSeenThrough) {
  const DaeExample example = consistent(structure::testing::dae_examples()[GetParam()]);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(fmt::format("{}, seed {}", example.name, seed));
    const solve::Analysis analysis = solve::analyze(prepared(example, Mixing::dense, seed), 0.0);
    ASSERT_TRUE(analysis.index);
    EXPECT_EQ(*analysis.index, static_cast<int>(example.index));
    EXPECT_EQ(analysis.free_initial_values, example.start.size() - example.constraints);
    EXPECT_TRUE(analysis.consistent);
    if (example.index > 1) {
      EXPECT_EQ(analysis.structural_index, 0);
      if (analysis.ranks.empty()) continue;  // linear equations have their pencil
      EXPECT_LT(analysis.ranks.back().dropped, 1e-11);
      EXPECT_GT(analysis.ranks.back().kept, 1e-8);
    }
  }
}

/// With the best method the error is within 30 times that of the best direct method on the equations as they are written, or
/// within the tolerance that was asked for: mebdf is often a thousand times better than asked, and how much so says nothing.
/// With the method that `auto` takes it is within 30 times the error of the same method as a direct one, or of the tolerance.
TEST_P(DeceivingStructure, IsSolvedAsWellAsThePlainOne) {
  const DaeExample example = consistent(structure::testing::dae_examples()[GetParam()]);
  const solve::Prepared plain = prepared(example, Mixing::none);
  const solve::Trajectory reference = run(plain, "radau", 1e-12);
  ASSERT_TRUE(reference.success()) << reference.message;
  const auto right = [&](std::size_t row, std::size_t i) {
    return example.solution ? example.solution(reference.t[row])[i]
                            : reference.value(row, reference.column(fmt::format("plain{}", i + 1)));
  };
  for (const double rtol : {1e-5, 1e-8}) {
    double best = 0.0, radau = 0.0;  // where no method takes the index the tolerance alone counts
    if (example.index <= 3 && !plain.converted) {
      best = INFINITY;
      for (const std::string method : {"radau", "bdf", "mebdf"}) {
        const solve::Trajectory direct = run(plain, method, rtol, "direct");
        ASSERT_TRUE(direct.success()) << method << ": " << direct.message;
        const double error = distance(example, direct, right);
        best = std::min(best, error);
        if (method == "radau") radau = error;
      }
    }
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const solve::Prepared mixed = prepared(example, Mixing::dense, seed);
      for (const std::string method : {"auto", "mebdf"}) {
        SCOPED_TRACE(fmt::format("{}, seed {} at {} by {}", example.name, seed, rtol, method));
        const solve::Trajectory solved = run(mixed, method, rtol);
        ASSERT_TRUE(solved.success()) << solved.message;
        const double error = distance(example, solved, right);
        if (method == "auto")
          EXPECT_LE(error, 30.0 * std::max(radau, rtol));
        else
          EXPECT_LE(error, std::max(30.0 * best, rtol));
        if (example.index == 1) continue;  // nothing is projected
        EXPECT_EQ(solved.formulation, "projection");
        ASSERT_FALSE(solved.constraints.relative.empty());
        for (const double residual : solved.constraints.relative) EXPECT_LE(residual, 1e-11);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DeceivingStructure, testing::Range<std::size_t>(0, structure::testing::dae_examples().size()));

/// How far a trajectory is from being one: the equations at every row, with the derivatives that the run shows, and whether
/// these are the derivatives, by Simpson's rule.
std::pair<double, double> defects(const structure::DaeFunctions& fn, const solve::Trajectory& run) {
  const std::size_t n = fn.dimension(), rows = run.t.size();
  std::vector<std::vector<double>> y(rows, std::vector<double>(n)), dy(rows, std::vector<double>(n, 0.0));
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < n; ++i) {
      y[row][i] = run.value(row, run.column(fn.unknowns[i].name));
      if (i < fn.differential) dy[row][i] = run.value(row, run.column("der(" + fn.unknowns[i].name + ")"));
    }
  double residual = 0.0, integral = 0.0;
  std::vector<double> F(n);
  auto scratch = fn.function.residual.make_scratch();
  for (std::size_t row = 0; row < rows; ++row) {
    const double* inputs[] = {&run.t[row], y[row].data(), dy[row].data()};
    fn.function.residual(inputs, F.data(), scratch);
    for (const double value : F) residual = std::max(residual, std::abs(value));
    if (row < 2) continue;
    const double h = run.t[row] - run.t[row - 1];
    for (std::size_t i = 0; i < fn.differential; ++i)
      integral = std::max(integral, std::abs(y[row][i] - y[row - 2][i] - h / 3.0 * (dy[row - 2][i] + 4.0 * dy[row - 1][i] + dy[row][i])));
  }
  return {residual, integral};
}

/// ODEs and chains of differentiators behind known transformations, sizes 5 to 50, index up to 5. The unknowns are of size
/// 10 with derivatives up to 100: a thousand tolerances are left for what mixing and high derivatives make of errors.
TEST(RandomSparseDaes, AreSolved) {
  const std::size_t count = std::getenv("DAEDALUS_LONG") != nullptr ? 100 : 16;
  for (std::size_t k = 0; k < count; ++k) {
    structure::testing::Random random(5000 + k);
    const std::size_t size = 5 + random.below(46), index = random.below(6);
    SCOPED_TRACE(fmt::format("number {}: {} unknowns, index {}", k, size, index));
    const auto dae = structure::testing::random_dae(size, index, k, structure::testing::Hiding::linear);
    const solve::Prepared model = solve::prepare(dae.functions->model);
    solve::RunOptions options;
    options.rtol = 1e-8;
    options.t_end = 1.0;
    options.samples = 101;
    const solve::Trajectory solved = solve::simulate(model, options);
    ASSERT_TRUE(solved.success()) << solved.message;
    const auto [residual, integral] = defects(*model.dae, solved);
    EXPECT_LE(residual, 1e-5);
    EXPECT_LE(integral, 1e-5);
  }
}

/// A pendulum of first order from a start that satisfies everything: derivatives that its author did not give follow, and
/// nothing of what he gave moves.
TEST(ConsistentStarts, StayWhereTheyAre) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 0
u = 0
v = 1
tension = 1
[equations]
a = "der(x) = u"
b = "der(y) = v"
c = "der(u) = -tension*x"
d = "der(v) = -tension*y"
rod = "x^2 + y^2 = 1"
)toml", "turning"));
  const solve::Start start = solve::consistent_start(model, 0.0, solve::Initialize::check);
  EXPECT_TRUE(start.found && start.consistent_as_given) << start.message;
  EXPECT_TRUE(start.moved.empty());
}

/// The same where the structure is repaired by unknowns that have open derivatives in them: -der(x) + y is zero, and not y.
TEST(ConsistentStarts, StayWhereTheyAreInARepairedStructure) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 0
y = 1
z = 1
[equations]
a = "cos(t)*(der(x) - y) + sin(t)*x = sin(t)^2"
b = "-sin(t)*(der(x) - y) + cos(t)*x + (1 + t^2)*(der(y) - z) = sin(t)*cos(t) - (1 + t^2)*(sin(t) + exp(-t))"
c = "(2 + sin(t))*(der(y) - z) + t*x = t*sin(t) - (2 + sin(t))*(sin(t) + exp(-t))"
)toml", "turned"));
  ASSERT_TRUE(model.converted && !model.converted->unknowns.empty());
  const solve::Start start = solve::consistent_start(model, 0.0, solve::Initialize::check);
  EXPECT_TRUE(start.found && start.consistent_as_given) << start.message;
  EXPECT_TRUE(start.moved.empty());
}

/// What the array did not take: events, [initial] and formulations other than projection, of the circle of 003 with sums of its
/// equations in every row.
TEST(RepairedStructure, GoesTheOrdinaryWay) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 0.2
z = 0
[discrete]
rounds = 0
[equations]
p = "der(x) + x^2 + y^2 = 1 - y + z*x"
q = "der(y) + 2*(x^2 + y^2) = 2 + x + z*y"
r = "der(x) - der(y) + x^2 + y^2 = 1 - x - y + z*(x - y)"
[initial]
angle = "atan2(y, x) = 0.5"
[events]
up = { when = "y", direction = "up", reset = { rounds = "rounds + 1" } }
enough = { when = "rounds >= 2", stop = true }
[simulation]
t_end = 100
)toml", "mixed"));
  ASSERT_TRUE(model.converted);
  EXPECT_EQ(model.converted->equations.size(), 1u);
  for (const std::string formulation : {"projection", "index1", "baumgarte:alpha=5", "dummy-derivatives"}) {
    SCOPED_TRACE(formulation);
    solve::RunOptions options;
    options.formulation = formulation;
    options.method = "dop853";
    options.rtol = 1e-9;
    const solve::Trajectory solved = solve::simulate(model, options);
    ASSERT_TRUE(solved.success()) << solved.message;
    // y = sin(t + 0.5) rises through zero at 2 pi - 0.5 and 4 pi - 0.5.
    EXPECT_NEAR(solved.t.back(), 4.0 * std::numbers::pi - 0.5, 1e-6);
    EXPECT_NEAR(solved.value(solved.t.size() - 1, solved.column("x")), 1.0, 1e-6);
  }
}

/// The ring modulator (E. Horneber, 1985; F. Mazzia and C. Magherini, Test Set for IVP Solvers, 2008) without the capacitors of its
/// diodes: the currents of four coils add up to zero, which follows from the four equations of the diodes. Their derivatives
/// differ by factors of 1e20 and more from one place to another, and exponentials of the voltage of its source, up to 1e8,
/// cancel in their sum.
TEST(RepairedStructure, SeesThroughExponentials) {
  const auto ring = [](const std::string& last) {
    return solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[definitions]
"q(U)" = "40.67286402e-9*(exp(17.7493332*U) - 1)"
u2 = "2*sin(20000*pi*t)"
D1 = "q(U3 - U5 - U7 - u2)"
D2 = "q(-U4 + U6 - U7 - u2)"
D3 = "q(U4 + U5 + U7 + u2)"
D4 = "q(-U3 - U6 + U7 + u2)"
[variables]
"U[i]" = { for = "i in 1..2" }
U3 = 0
U4 = 0
U5 = 0
U6 = 0
U7 = 0
"I[i]" = { for = "i in 1..8" }
[equations]
e1 = "1.6e-8*der(U[1]) = I[1] - 0.5*I[3] + 0.5*I[4] + I[7] - U[1]/25000"
e2 = "1.6e-8*der(U[2]) = I[2] - 0.5*I[5] + 0.5*I[6] + I[8] - U[2]/25000"
e3 = "I[3] = D1 - D4"
e4 = "I[4] = D2 - D3"
e5 = "I[5] = D3 - D1"
e6 = ")toml" + last + R"toml("
e7 = "1e-8*der(U7) = -U7/50 + D1 + D2 - D3 - D4"
e8 = "4.45*der(I[1]) = -U[1]"
e9 = "4.45*der(I[2]) = -U[2]"
e10 = "5e-4*der(I[3]) = 0.5*U[1] - U3 - 17.3*I[3]"
e11 = "5e-4*der(I[4]) = -0.5*U[1] + U4 - 17.3*I[4]"
e12 = "5e-4*der(I[5]) = 0.5*U[2] - U5 - 17.3*I[5]"
e13 = "5e-4*der(I[6]) = -0.5*U[2] + U6 - 17.3*I[6]"
e14 = "0.002*der(I[7]) = -U[1] + 0.5*sin(2000*pi*t) - 86.3*I[7]"
e15 = "0.002*der(I[8]) = -U[2] - 636.3*I[8]"
[simulation]
t_end = 1e-3
)toml", "ring"));
  };
  const solve::Prepared written = ring("I[6] = D4 - D2"), reduced = ring("I[3] + I[4] + I[5] + I[6] = 0");
  ASSERT_TRUE(written.converted);
  EXPECT_EQ(written.converted->equations.size(), 1u);
  const solve::Analysis analysis = solve::analyze(written, 0.0);
  EXPECT_EQ(analysis.index, 2);
  EXPECT_EQ(analysis.free_initial_values, 10u);
  solve::RunOptions options;
  options.method = std::string("radau");
  options.rtol = 1e-6;
  options.atol = 1e-12;
  options.t_end = 1e-4;
  const solve::Trajectory run = solve::simulate(written, options), other = solve::simulate(reduced, options);
  ASSERT_TRUE(run.success()) << run.message;
  ASSERT_TRUE(other.success()) << other.message;
  for (const std::string name : {"U[1]", "U[2]", "U7", "I[3]"}) EXPECT_NEAR(run.last(name), other.last(name), 1e-5 * std::abs(other.last(name)));
  for (const double residual : run.constraints.relative) EXPECT_LE(residual, 1e-11);
}

/// Where the coefficients depend on the state nothing is repaired, and the array runs the model.
TEST(RepairedStructure, TakesConstantCombinationsAlone) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 0
z = 0
[equations]
p = "der(x) + x^2 + y^2 = 1 - y + z*x"
q = "der(y) + 2*(x^2 + y^2) = 2 + x + z*y"
r = "x*der(x) - der(y) + x^2 + y^2 = 1 - x*y - x + z*(x^2 - y)"
[simulation]
t_end = 5
)toml", "mixed"));
  EXPECT_FALSE(model.converted);
  ASSERT_TRUE(model.array);
  const solve::Trajectory solved = solve::simulate(model, {});
  ASSERT_TRUE(solved.success()) << solved.message;
  for (std::size_t row = 0; row < solved.t.size(); ++row)
    EXPECT_NEAR(solved.value(row, solved.column("x")), std::cos(solved.t[row]), 1e-4);
}

/// f = 0 mixed by a regular matrix that depends on all unknowns. Where f is not zero, as with the derivatives that nobody gave,
/// the matrix of its derivatives is regular, and says nothing.
TEST(ArrayForm, TakesEquationsMixedByAllUnknowns) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 1
z = 2
[definitions]
f1 = "der(x) - y*z^2 - 0.5 + cos(t)*(2 + sin(2*t))^2"
f2 = "der(y) + x + z + sin(t) - 1 - t/2 - 2 - sin(2*t)"
f3 = "x^2 + sin(y) + x*y - (1 + t/2)^2 - sin(cos(t)) - (1 + t/2)*cos(t)"
[equations]
e1 = "f1 - 0.625*sin(z)*f2 + 0.375*(2 + y)*f3 = 0"
e2 = "-0.1875*(2 + x)*(f1 - 0.625*sin(z)*f2 + 0.375*(2 + y)*f3) + f2 + z/8*f3 = 0"
e3 = "cos(z)/2*(f1 - 0.625*sin(z)*f2 + 0.375*(2 + y)*f3) - 0.75*z*(f2 + z/8*f3) + f3 = 0"
)toml", "mixed"));
  ASSERT_TRUE(model.array);
  const solve::Analysis analysis = solve::analyze(model, 0.0);
  EXPECT_EQ(analysis.index, 2);
  EXPECT_TRUE(analysis.consistent);
  const solve::Trajectory solved = run(model, "auto", 1e-8);
  ASSERT_TRUE(solved.success()) << solved.message;
  for (std::size_t row = 0; row < solved.t.size(); ++row) {
    EXPECT_NEAR(solved.value(row, solved.column("y")), std::cos(solved.t[row]), 1e-6);
    EXPECT_NEAR(solved.value(row, solved.column("z")), 2.0 + std::sin(2.0 * solved.t[row]), 1e-6);
  }
  for (const double residual : solved.constraints.relative) EXPECT_LE(residual, 1e-11);
}

/// Start and end alone are shown. From the jets of the one Newton's method finds others at the other that satisfy nearly the same
/// equations: a residual where there is none.
TEST(ArrayForm, ShowsTheResidualsOfItsOwnPoints) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 2
a = 1
z = 1
w = 0
[definitions]
f1 = "der(x) - y + cos(t)"
f2 = "der(y) - z - x*a + (1 + sin(t))*exp(-t) + 2*sin(t) + cos(2*t)"
f3 = "der(a) - w + z + x - 1 - sin(t) - cos(2*t) + t + exp(-t)"
f4 = "x^2 + x - (1 + sin(t))^2 - 1 - sin(t)"
f5 = "a + sin(x) - exp(-t) - sin(1 + sin(t))"
g1 = "f1 + 7/8*cos(a)*f2 + (w/2 + 1)*f3 + 7/8*w*f4 - 3/8*(a + 2)*f5"
g2 = "f2 - sin(a)/8*f3 + (x + 2)/8*f4 - 3/8*(y + 2)*f5"
g3 = "f3 + w/2*f4 - 5/8*sin(y)*f5"
g4 = "f4 - y/4*f5"
[equations]
e1 = "g1 = 0"
e2 = "z/8*g1 + g2 = 0"
e3 = "cos(x)/4*g1 + g3 = 0"
e4 = "g4 - 5/8*sin(a)*g1 - 3/4*sin(y)*g2 - sin(a)*g3 = 0"
e5 = "f5 + 7/16*(z + 2)*g1 + 3/8*(w + 2)*g2 - 3/4*sin(z)*g3 = 0"
[simulation]
t_end = 1
)toml", "mixed"));
  ASSERT_TRUE(model.array);
  const solve::Trajectory solved = solve::simulate(model, {});
  ASSERT_TRUE(solved.success()) << solved.message;
  EXPECT_NEAR(solved.last("z"), std::cos(2.0), 1e-12);  // nothing is free
  for (const double residual : solved.constraints.relative) EXPECT_LE(residual, 1e-11);
}

/// Rows are looked at with the solver that takes the steps: they change nothing in it.
TEST(ArrayForm, TakesTheSameStepsWhateverRowsAreShown) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 0
y = 1
z = 1
u = 0
v = 1
w = 0
[definitions]
f1 = "der(x) - y"
f2 = "der(y) - z + sin(t) + exp(-t)"
f3 = "der(z) - u + exp(-t) + t"
f4 = "der(u) - v + t^2"
f5 = "der(v) - w - 2*t + sin(2*t)"
f6 = "x - sin(t)"
g1 = "f1 + 7/8*sin(y)*f2 - (1 + z/2)/2*f3 + u/4*f4 + 3/8*cos(v)*f5 - 5/8*w*f6"
g2 = "f2 + (1 + x/2)*f3 - 3/4*sin(w)*f4 + v/8*f5 + 7/8*cos(y)*f6"
g3 = "f3 + 5/8*u*f4 - cos(z)/2*f5 + (1 + y/2)/4*f6"
g4 = "f4 + 3/4*sin(v)*f5 - x/2*f6"
g5 = "f5 + (1 + w/2)/2*f6"
[equations]
e1 = "g1 = 0"
e2 = "g2 + z/2*g1 = 0"
e3 = "g3 - 5/8*cos(u)*g1 + (1 + v/2)/4*g2 = 0"
e4 = "g4 + w/4*g1 - 3/8*sin(x)*g2 + y/2*g3 = 0"
e5 = "g5 + 7/8*cos(w)*g1 - z/4*g2 + sin(u)/2*g3 - 3/8*(1 + y/2)*g4 = 0"
e6 = "f6 - v/2*g1 + 3/4*cos(x)*g2 - 5/8*sin(z)*g3 + u/8*g4 + (1 + w/2)/2*g5 = 0"
[simulation]
t_end = 1
)toml", "mixed"));
  ASSERT_TRUE(model.array);
  std::size_t steps = 0;
  for (const std::size_t rows : {2u, 11u, 50u}) {
    SCOPED_TRACE(rows);
    solve::RunOptions options;
    options.t_end = 0.2;
    options.samples = rows;
    const solve::Trajectory run = solve::simulate(model, options);
    ASSERT_TRUE(run.success()) << run.message;
    if (steps > 0) {
      EXPECT_EQ(run.stats.steps, steps);
    }
    steps = run.stats.steps;
    for (const double residual : run.constraints.relative) EXPECT_LE(residual, 1e-11);
  }
}

/// At t = 0.275 the derivatives of f4 and f5 determine z and w no more, (x*y - x)*(1 + 2*y^2) = (1 + y + x*y)*(x - 2*y). The run
/// ends there, soon: a method that asks for the same step again and again is not asked for ever.
TEST(ArrayForm, EndsAtASingularPoint) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 1
a = 1
z = 0
w = 1
[definitions]
f1 = "der(x) - x*z - w - 1 + (1 + t)*sin(t) + 1 + t^2"
f2 = "der(y) - w*y + z - a + exp(-t) + (1 + t^2)*exp(-t) - sin(t) + cos(t)"
f3 = "der(a) + a - x*y - w + sin(t) - cos(t) + (1 + t)*exp(-t) + 1 + t^2"
f4 = "x*y + a - (1 + t)*exp(-t) - cos(t)"
f5 = "x + y^2 - 1 - t - exp(-2*t)"
g1 = "f1 + sin(z)/2*f2 + (1 + w/2)*f4"
g2 = "f2 - y/4*f3 + cos(x)/2*f5"
[equations]
e1 = "g1 = 0"
e2 = "w/4*g1 + g2 = 0"
e3 = "f3 + cos(z)/2*g1 - x/4*f4 = 0"
e4 = "f4 + sin(a)/4*g2 + z/2*f5 = 0"
e5 = "f5 + y/2*g1 - sin(w)/2*g2 = 0"
[simulation]
t_end = 1
)toml", "mixed"));
  ASSERT_TRUE(model.array);
  solve::RunOptions options;
  options.max_steps = 20000;
  for (const std::string method : {"radau", "dop853"}) {
    SCOPED_TRACE(method);
    options.method = method;
    const solve::Trajectory run = solve::simulate(model, options);
    EXPECT_FALSE(run.success());
    EXPECT_NE(run.status, integrate::Status::too_many_steps) << run.message;
    EXPECT_NEAR(run.t.back(), 0.2756, 5e-3);
  }
}

/// What runs by its array may switch, count and be reset: the angle t becomes -4 at t = 4 and goes on, and w has the integral of
/// |cos|.
TEST(ArrayForm, TakesEvents) {
  const solve::Prepared model = solve::prepare(model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = 0
z = 0
w = { start = 0, fixed = true }
[discrete]
n = 0
[definitions]
f1 = "der(x) + y - z*x"
f2 = "der(y) - x - z*y"
f3 = "x^2 + y^2 - 1"
[equations]
e1 = "2*f1 + 0.3*x*f2 + 0.5*f3 = 0"
e2 = "0.3*y*f1 + 2*f2 - 0.5*f3 = 0"
e3 = "0.5*x*f1 + 0.5*f2 + 2*f3 = 0"
e4 = "der(w) = abs(x)"
[events]
up = { when = "y - 0.5", direction = "up", reset = { n = "n + 1" } }
flip = { when = "t >= 4", reset = { y = "-y" } }
[simulation]
t_end = 10
)toml", "mixed"));
  ASSERT_TRUE(model.array);
  solve::RunOptions options;
  options.rtol = 1e-8;
  options.samples = 41;
  const solve::Trajectory run = solve::simulate(model, options);
  ASSERT_TRUE(run.success()) << run.message;
  const auto area = [](double angle) {  // of |cos| from 0
    const double turns = std::floor(angle / std::numbers::pi + 0.5);
    return 2.0 * turns + std::sin(angle - turns * std::numbers::pi);
  };
  for (std::size_t row = 0; row < run.t.size(); ++row) {
    const double t = run.t[row], angle = t < 4.0 ? t : t - 8.0;
    EXPECT_NEAR(run.value(row, run.column("x")), std::cos(angle), 1e-6) << t;
    if (t == 4.0) continue;
    EXPECT_NEAR(run.value(row, run.column("y")), std::sin(angle), 1e-6) << t;
    EXPECT_NEAR(run.value(row, run.column("w")), t < 4.0 ? area(t) : area(4.0) + area(angle) - area(-4.0), 1e-6) << t;
  }
  EXPECT_EQ(run.last("n"), 2.0);  // at pi/6 and 8 + pi/6
  for (const double residual : run.constraints.relative) EXPECT_LE(residual, 1e-11);
}

}  // namespace
}  // namespace daedalus::tests
