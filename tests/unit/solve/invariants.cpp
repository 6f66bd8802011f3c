// [invariants]: what the start does with them, what is said where they are none, what events do, and who keeps them.
// Where no other tolerance is derived: some units of round-off of values of size 1.
#include <algorithm>
#include <cmath>

#include "daedalus/solve/analysis.hpp"
#include "unit/solve/start_tools.hpp"

namespace daedalus::tests {
namespace {

using solve::Initialize;
using solve::Start;

constexpr double round_off = 1e-14;

std::string circle(const std::string& x, const std::string& y, const std::string& more = "") {
  return "kind = \"dae\"\n[variables]\nx = " + x + "\ny = " + y +
         "\n[equations]\na = \"der(x) = y\"\nb = \"der(y) = -x\"\n[invariants]\nunit = \"x^2 + y^2 = 1\"\n" + more +
         "\n[simulation]\nt_end = 1\n";
}

solve::Prepared prepared_from(const std::string& text) { return solve::prepare(model::read_model_text(text, "test")); }

Start dae_start(const std::string& text, Initialize mode = Initialize::project) {
  return solve::consistent_start(prepared_from(text), 0.0, mode);
}

std::string answer(const std::string& text, const solve::RunOptions& options = {}) {
  try {
    return solve::simulate(prepared_from(text), options).message;
  } catch (const Error& error) {
    return error.faults().front().code + ": " + error.faults().front().message;
  }
}

bool noted(const std::vector<std::string>& notes, const std::string& part) {
  return std::ranges::any_of(notes, [&](const std::string& note) { return contains(note, part); });
}

/// The nearest point of the circle lies on the ray through the given one.
TEST(InvariantStart, MovesTheLeast) {
  const Start start = dae_start(circle("3", "4"));
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_NEAR(start.x[0], 0.6, 1e-8);  // the least change is found to the root of round-off: its square counts
  EXPECT_NEAR(start.x[1], 0.8, 1e-8);
  EXPECT_NEAR(std::hypot(start.x[0], start.x[1]), 1.0, round_off);
  EXPECT_FALSE(start.consistent_as_given);
  ASSERT_EQ(start.violations.size(), 1u);
  EXPECT_EQ(start.violations[0].of, "unit");
  EXPECT_NEAR(start.violations[0].value, 24.0, round_off);
  EXPECT_TRUE(start.notes.empty());
}

/// In units of the nominal values: with x ten times as large as y, x moves a hundred times as easily.
TEST(InvariantStart, WeighsByNominalValues) {
  const Start start = dae_start(circle("{ start = 0.5, nominal = 10 }", "{ start = 0.5, nominal = 1 }"));
  ASSERT_TRUE(start.found) << start.message;
  const double dx = start.x[0] - 0.5, dy = start.x[1] - 0.5;
  EXPECT_NEAR(dx / 100.0 / start.x[0], dy / start.x[1], 1e-7);  // W (x - x0) is parallel to the gradient
}

TEST(InvariantStart, KeepsFixedValues) {
  const Start start = dae_start(circle("{ start = 0.6, fixed = true }", "1"));
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.x[0], 0.6);
  EXPECT_NEAR(start.x[1], 0.8, round_off);
}

TEST(InvariantStart, NamesContradictions) {
  EXPECT_EQ(answer(circle("{ start = 2, fixed = true }", "{ start = 0, fixed = true }")),
            "contradicting-fixed: the fixed value x = 2 contradicts 'unit'");
  EXPECT_EQ(answer(circle("2", "0", "far = \"x^2 + y^2 = 4\"")),
            "no consistent start was found near the given values: 'unit' and 'far' cannot be met together; a path from the "
            "guess and 64 random starts around it lead to none");
  solve::RunOptions check;
  check.initialize = "check";
  EXPECT_EQ(answer(circle("2", "0"), check), "inconsistent-start: the start does not satisfy the invariant 'unit': the residual is 3");
}

/// Of mechanics: velocities first, with positions kept.
TEST(InvariantStart, VelocitiesMeetTheEnergyOfAMotion) {
  const std::string model = planar("x = { start = 1, fixed = true }\ny = 0\n\"der(y)\" = -1", "rod = \"x^2 + y^2 = 1\"",
                                   "(der(x)^2 + der(y)^2)/2",
                                   "[invariants]\nenergy = \"(der(x)^2 + der(y)^2)/2 + 9.81*y = 2\"");
  const Start start = start_of(model);
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_EQ(start.x[0], 1.0);
  EXPECT_NEAR(start.x[3], -2.0, round_off);
  EXPECT_NEAR(start.x[2], 0.0, round_off);
  EXPECT_LE(start.invariants.at(0).relative, 1e-12);
  EXPECT_EQ(start.invariant_rank, 1u);
}

/// Where velocities are fixed, positions move: 1/2 + 9.81 y = 0.
TEST(InvariantStart, PositionsMoveWhereVelocitiesCannot) {
  const std::string model = "kind = \"lagrangian\"\n[variables]\nx = 0\ny = 1\n\"der(x)\" = { start = 1, fixed = true }\n"
                            "\"der(y)\" = { start = 0, fixed = true }\n[lagrangian]\nkinetic = \"(der(x)^2 + der(y)^2)/2\"\n"
                            "potential = \"9.81*y\"\n[invariants]\nenergy = \"(der(x)^2 + der(y)^2)/2 + 9.81*y = 0\"\n";
  const Start start = start_of(model);
  ASSERT_TRUE(start.found) << start.message;
  EXPECT_NEAR(start.x[1], -0.5 / 9.81, round_off);
  EXPECT_EQ(start.x[2], 1.0);
  EXPECT_EQ(start.x[3], 0.0);
}

/// x^2 + y^2 changes at the rate -2 d y^2 with damping d: zero at y = 0, where the start is, but not near it.
TEST(InvariantCheck, TellsWhatIsNoInvariant) {
  std::string damped = circle("1", "0");
  damped.replace(damped.find("-x\""), 2, "-x - y/5");
  const Start start = dae_start(damped);
  ASSERT_TRUE(start.found);
  ASSERT_EQ(start.invariants.size(), 1u);
  EXPECT_LT(start.invariants[0].rate, 0.0);
  EXPECT_GT(start.invariants[0].relative, 1e-3);
  EXPECT_TRUE(noted(start.notes, "'unit' is no invariant of the equations: near the start it changes at the rate -"));
  EXPECT_TRUE(dae_start(circle("1", "0")).notes.empty());
  const solve::Analysis analysis = solve::analyze(prepared_from(damped), 0.0);
  EXPECT_TRUE(noted(analysis.notes, "'unit' is no invariant"));
}

/// An invariant on its own manifold only: c = x + y - 1 has c' = -3 c.
TEST(InvariantCheck, AcceptsWhatIsKeptOnTheManifoldAlone) {
  const Start start = dae_start(R"toml(
kind = "dae"
[variables]
x = 0.3
y = 0.7
[equations]
a = "der(x) = y - x - 3*(x + y - 1)"
b = "der(y) = x - y"
[invariants]
sum = "x + y = 1"
)toml");
  EXPECT_TRUE(start.notes.empty()) << start.notes.front();
}

TEST(InvariantCheck, NamesDependentInvariants) {
  const Start start = dae_start(circle("0.6", "0.8", "double = \"2*x^2 + 2*y^2 = 2\""));
  EXPECT_TRUE(noted(start.notes, "the invariant 'double' says nothing at the start that 'unit' does not say"));
  EXPECT_EQ(start.invariant_rank, 1u);
  EXPECT_EQ(solve::analyze(prepared_from(circle("0.6", "0.8")), 0.0).free_initial_values, 1u);
}

TEST(InvariantRun, DependentInvariantsAreKept) {
  const solve::Trajectory run = solve::simulate(prepared_from(circle("0.6", "0.8", "double = \"2*x^2 + 2*y^2 = 2\"")), {});
  ASSERT_TRUE(run.success()) << run.message;
  for (const solve::InvariantResidual& one : run.invariants) EXPECT_LE(one.relative, 1e-15) << one.name;
}

TEST(InvariantRun, AutoChoosesProjectionAndSaysSo) {
  const solve::Trajectory run = solve::simulate(prepared_from(circle("1", "0")), {});
  EXPECT_EQ(run.formulation, "projection");
  EXPECT_TRUE(contains(run.chosen, "projection keeps every invariant")) << run.chosen;
  solve::RunOptions options;
  options.formulation = "direct";
  EXPECT_TRUE(noted(solve::simulate(prepared_from(circle("1", "0")), options).notes, "'direct' does not keep [invariants]"));
}

TEST(InvariantRun, WithoutInvariantsThereIsNothingToKeep) {
  solve::RunOptions options;
  for (const char* formulation : {"projection", "baumgarte"}) {
    options.formulation = formulation;
    std::string plain = circle("1", "0");
    const std::size_t begin = plain.find("[invariants]");
    plain.erase(begin, plain.find("[simulation]") - begin);
    EXPECT_EQ(answer(plain, options), std::string("formulation-does-not-fit: the formulation '") + formulation +
                                          "' keeps [invariants], and the model 'test' has none");
  }
}

/// Linear models have invariants too: E x' = A x with x1^2 + x2^2 = 1.
TEST(InvariantRun, OfLinearModels) {
  const solve::Trajectory run = solve::simulate(prepared_from(R"toml(
kind = "linear"
[linear]
E = [[1, 0], [0, 1]]
A = [[0, 1], [-1, 0]]
[variables]
x1 = 2
x2 = 0
[invariants]
unit = "x1^2 + x2^2 = 1"
[simulation]
t_end = 10
)toml"), {});
  ASSERT_TRUE(run.success()) << run.message;
  EXPECT_LE(run.invariants.at(0).relative, 1e-15);
  EXPECT_NEAR(run.last("x1"), std::cos(10.0), 1e-3);
}

/// A value that an event sets binds; the others meet the invariant. Where they cannot, the run ends with the reason.
TEST(InvariantRun, EventsBindTheirValues) {
  const solve::Trajectory run =
      solve::simulate(prepared_from(circle("1", "0", "[events]\nkick = { when = \"t - 0.5\", reset = { x = \"0.6\" } }")), {});
  ASSERT_TRUE(run.success()) << run.message;
  EXPECT_LE(run.invariants.at(0).relative, 1e-15);
  const auto at = std::find(run.t.begin(), run.t.end(), 0.5);
  ASSERT_NE(at, run.t.end());
  const auto row = static_cast<std::size_t>(at - run.t.begin()) + 1;  // after the event
  ASSERT_EQ(run.t[row], 0.5);
  EXPECT_EQ(run.value(row, run.column("x")), 0.6);
  EXPECT_NEAR(run.value(row, run.column("y")), -0.8, round_off);
  EXPECT_TRUE(contains(answer(circle("1", "0", "[events]\nkick = { when = \"t - 0.5\", reset = { x = \"2\" } }")),
                       "the new values contradict the invariant 'unit'"));
}

/// A value of [discrete] in an invariant changes with the event that resets it.
TEST(InvariantRun, DiscreteValuesChangeThem) {
  std::string model = circle("1", "0", "[discrete]\nsquare = 1\n[events]\n"
                                       "grow = { when = \"t - 0.5\", reset = { square = \"4\", x = \"2*x\", y = \"2*y\" } }");
  model.replace(model.find("y^2 = 1"), 7, "y^2 = square");
  const solve::Trajectory run = solve::simulate(prepared_from(model), {});
  ASSERT_TRUE(run.success()) << run.message;
  EXPECT_NEAR(std::hypot(run.last("x"), run.last("y")), 2.0, round_off);
  EXPECT_NEAR(run.last("x"), 2.0 * std::cos(1.0), 1e-5);
}

}  // namespace
}  // namespace daedalus::tests
