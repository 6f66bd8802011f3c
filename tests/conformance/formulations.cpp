// What every formulation must do, whatever it is: the table is iterated, so a new one is tested by being there.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <cstring>
#include <tuple>

#include "conformance/allocations.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::tests {
namespace {

struct Problem {
  std::string name, text;
  double t_end;
  bool independent = true;  ///< no redundant constraints
};

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      {"pendulum", R"toml(
kind = "lagrangian"
[variables]
x = { start = 0.86, fixed = true }
y = 2.35
[lagrangian]
kinetic = "der(x)^2 + der(y)^2"
potential = "2*9.81*y"
[constraints]
rod = "x^2 + y^2 = 2.5^2"
)toml",
       10.0},
      {"low pendulum", R"toml(   # swings through the origin, where q and its constraint's Jacobian product vanish
kind = "lagrangian"
[variables]
x = 1e-4
y = 0
[lagrangian]
kinetic = "der(x)^2 + der(y)^2"
potential = "2*9.81*y"
[constraints]
rod = "x^2 + (y - 1)^2 = 1"
)toml",
       5.0},
      {"rheonomic", R"toml(
kind = "lagrangian"
[variables]
x = { start = 1, fixed = true }
y = 0
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2 + 0.2*x*der(x)*der(y)/(1 + x^2)"
potential = "9.81*y"
[constraints]
rod = "(x - 0.2*sin(3*t))^2 + y^2 = (1 + 0.1*cos(t))^2"
)toml",
       5.0},
      {"nonholonomic", R"toml(
kind = "lagrangian"
[variables]
x = 0
y = 0
phi = 0
"der(x)" = 0.3
"der(phi)" = { start = 1, fixed = true }
[definitions]
cx = "x + 0.5*cos(phi)"
cy = "y + 0.5*sin(phi)"
[lagrangian]
kinetic = "(der(cx)^2 + der(cy)^2 + der(phi)^2)/2"
potential = "y"
[constraints]
skate = "der(x)*sin(phi) = der(y)*cos(phi)"
)toml",
       5.0},
      {"mixed with a massless wheel", R"toml(
kind = "lagrangian"
[variables]
x = 0
y = 0.3
phi = 0
"der(x)" = 0.5
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2"
potential = "9.81*y"
[constraints]
track = "y = 0.3*cos(2*x)"
roll = "der(x) = 0.3*der(phi)"
)toml",
       5.0},
      {"redundant", R"toml(
kind = "lagrangian"
[variables]
x = 0.6
y = -0.8
phi = 0.0
[lagrangian]
kinetic = "der(x)^2 + der(y)^2 + der(phi)^2/4"
potential = "9.81*y"
[constraints]
crank1 = "x^2 + y^2 = 1"
crank2 = "(x + cos(phi) - 1)^2 + (y + sin(phi))^2 = 1"
crank3 = "(x + 2*cos(phi) - 2)^2 + (y + 2*sin(phi))^2 = 1"
)toml",
       2.0, false},
      {"redundant on its manifold only", R"toml(   # off x^2 + y^2 = 1 the second constraint binds z
kind = "lagrangian"
[variables]
x = 0.6
y = -0.8
z = 0.5
"der(x)" = 0.8
"der(y)" = 0.6
"der(z)" = 1.0
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2 + der(z)^2)/2"
potential = "9.81*y + 3*z^2 + x*z"
[constraints]
c1 = "x^2 + y^2 = 1"
c2 = "(x^2 + y^2)^2 + z*(x^2 + y^2 - 1) = 1"
)toml",
       3.0, false},
  };
  return all;
}

solve::Prepared prepared(const Problem& problem) {
  model::Model model = model::read_model_text(problem.text, problem.name);
  return solve::prepare(std::move(model));
}

bool shows(const formulate::FormulationEntry& entry, integrate::View view) {
  return std::ranges::find(entry.views, view) != entry.views.end();
}
bool shows_ode(const formulate::FormulationEntry& entry) { return shows(entry, integrate::View::ode); }

/// A method that takes what the formulation shows.
std::string method_for(const formulate::FormulationEntry& entry) {
  return shows_ode(entry) ? "dop853" : shows(entry, integrate::View::implicit) ? "radau" : "bdf";
}

solve::RunOptions options_for(const formulate::FormulationEntry& entry, double t_end, double rtol) {
  solve::RunOptions options;
  options.formulation = entry.name;
  options.method = method_for(entry);
  options.t_end = t_end;
  options.rtol = rtol;
  return options;
}

/// The choices to run: each formulation by itself, and once with every word that an option of it knows. Distances in the
/// mass metric need masses that measure every motion.
std::vector<std::string> choices(const formulate::FormulationEntry& entry, const Problem& problem) {
  std::vector<std::string> all{entry.name};
  for (const OptionSpec& option : entry.options)
    for (const std::string& word : option.words) all.push_back(entry.name + ":" + option.name + "=" + word);
  if (problem.name == "mixed with a massless wheel") std::erase(all, "ascher-chin-reich:metric=mass");
  return all;
}

bool holds(const formulate::FormulationEntry& entry, const std::string& choice) {
  return holds_constraints(entry, Options(parse_choice(choice), entry.options));
}

/// Those that take the problems of this file.
std::vector<formulate::FormulationEntry> mechanical_formulations() {
  std::vector<formulate::FormulationEntry> fitting;
  for (const formulate::FormulationEntry& entry : formulate::formulations())
    if (std::ranges::find(entry.kinds, "lagrangian") != entry.kinds.end()) fitting.push_back(entry);
  return fitting;
}

TEST(Formulations, TellWhatTheyAre) {
  std::string last;
  for (const formulate::FormulationEntry& entry : formulate::formulations()) {
    EXPECT_LT(last, entry.name);
    last = entry.name;
    EXPECT_FALSE(entry.summary.empty() || entry.citation.empty() || entry.kinds.empty()) << entry.name;
    EXPECT_EQ(&formulate::formulation(entry.name), &entry);
  }
  try {
    formulate::formulation("projektion");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.faults().front().code, "unknown-formulation");
    EXPECT_NE(error.faults().front().advice.find("projection"), std::string::npos);
  }
}

/// All formulations describe the same motion. At rtol 1e-9 it agrees with that of projection at 1e-11 to a few thousand
/// tolerances, the factor that long runs need (pendulum over 50 s: up to 3,500); unprojected ones may need 1e5.
TEST(Formulations, RunEveryProblem) {
  for (const Problem& problem : problems()) {
    const solve::Prepared model = prepared(problem);
    solve::RunOptions fine = options_for(formulate::formulation("projection"), problem.t_end, 1e-11);
    fine.rows = solve::Rows::ends;
    const solve::Trajectory reference = solve::simulate(model, fine);
    ASSERT_TRUE(reference.success()) << problem.name << ": " << reference.message;
    for (const formulate::FormulationEntry& entry : mechanical_formulations())
      for (const std::string& choice : choices(entry, problem)) {
        SCOPED_TRACE(problem.name + ", " + choice);
        solve::RunOptions options = options_for(entry, problem.t_end, 1e-9);
        options.formulation = choice;
        options.rows = solve::Rows::ends;
        const solve::Trajectory run = solve::simulate(model, options);
        ASSERT_TRUE(run.success()) << run.message;
        ASSERT_EQ(run.t.size(), 2u);
        const double bound = holds(entry, choice) ? 3.5e3 * 1e-9 : 1e5 * 1e-9;
        for (std::size_t c = 0; c < 2 * model.functions->n; ++c)
          EXPECT_NEAR(run.value(1, c), reference.value(1, c), bound * (1.0 + std::abs(reference.value(1, c))))
              << run.columns[c];
      }
  }
}

/// Those that project hold positions and velocities to round-off at any tolerance, in output rows between steps too.
/// Judged twice: by the summary of the run, and row by row by the residual columns.
TEST(Formulations, ProjectionHoldsTheConstraintsAtEveryTolerance) {
  for (const Problem& problem : problems()) {
    const solve::Prepared model = prepared(problem);
    for (const formulate::FormulationEntry& entry : mechanical_formulations()) {
      for (const std::string& choice : choices(entry, problem))
        for (int digits = 3; digits <= 12 && holds(entry, choice); ++digits) {
          SCOPED_TRACE(problem.name + ", " + choice + ", rtol 1e-" + std::to_string(digits));
          solve::RunOptions options = options_for(entry, problem.t_end, std::pow(10.0, -digits));
          options.formulation = choice;
          options.samples = 101;
          options.residuals = true;
          const solve::Trajectory run = solve::simulate(model, options);
          ASSERT_TRUE(run.success()) << run.message;
          EXPECT_EQ(run.t.size(), 101u);
          EXPECT_LE(run.constraints.relative[0], 1e-12);
          EXPECT_LE(run.constraints.relative[1], 1e-12);
          // terms of size 1 to 10 and velocities below 10
          for (std::size_t c = 0; c < run.columns.size(); ++c) {
            if (run.columns[c].find("residual.") == std::string::npos) continue;
            for (std::size_t row = 0; row < run.t.size(); ++row)
              ASSERT_LE(std::abs(run.value(row, c)), 1e-11) << run.columns[c];
          }
        }
    }
  }
}

/// A redundant constraint must not bind where the stages of a step leave the manifold: the run costs the same steps
/// with it and without it, give or take a rejected one.
TEST(Formulations, ARedundantConstraintCostsNoSteps) {
  const Problem& with = problems().back();
  Problem without = with;
  without.text.erase(without.text.find("c2 ="));
  for (const formulate::FormulationEntry& entry : mechanical_formulations()) {
    // Where multipliers are unknowns, the constraint that is kept may be the other one, and the steps are not
    // comparable.
    if (!shows_ode(entry)) continue;
    for (const double rtol : {1e-3, 1e-6, 1e-10}) {
      SCOPED_TRACE(entry.name);
      const solve::Trajectory one = solve::simulate(prepared(without), options_for(entry, with.t_end, rtol));
      const solve::Trajectory two = solve::simulate(prepared(with), options_for(entry, with.t_end, rtol));
      ASSERT_TRUE(one.success() && two.success()) << two.message;
      const std::size_t without_it = one.stats.steps + one.stats.rejected;
      EXPECT_LE(two.stats.steps + two.stats.rejected, without_it + 2);
    }
  }
}

/// Without rows to keep, a run twice or four times as long allocates no more often.
TEST(Formulations, StepsAllocateNothing) {
  for (const Problem& problem : problems()) {
    if (!problem.independent) continue;
    const solve::Prepared model = prepared(problem);
    for (const formulate::FormulationEntry& entry : mechanical_formulations())
      for (const std::string& choice : choices(entry, problem)) {
        SCOPED_TRACE(problem.name + ", " + choice);
        // Normal coordinates change some time after the start, and a note at the end says so: what their steps allocate is counted by itself.
        const bool notes_changes = choice == "lyapunov:coordinates=normal";
        std::size_t looks = 0, first = 0, last = 0;
        const auto count = [&](double t_end) {
          solve::RunOptions options = options_for(entry, t_end, 1e-8);
          options.formulation = choice;
          if (!shows_ode(entry)) options.method = "bdf";  // many steps
          options.rows = solve::Rows::ends;
          if (notes_changes) {  // fixed steps, as `auto` has notes of its own
            options.method = "radau2a5";
            options.step = t_end / 1000.0;
            options.on_residuals = [&, t_end](double t, std::span<const double>) {
              if (t >= t_end) return;
              last = allocations::counted();
              if (++looks == 20) first = last;
            };
          }
          const std::size_t before = allocations::counted();
          const solve::Trajectory run = solve::simulate(model, options);
          const std::size_t used = allocations::counted() - before;
          EXPECT_TRUE(run.success()) << run.message;
          return std::tuple{used, run.stats.steps, run.notes.size()};
        };
        // What happens once, such as the growth of a table of expressions that runs share, happens in one of three runs.
        const auto least = [&](double t_end) { return std::min({count(t_end), count(t_end), count(t_end)}); };
        if (notes_changes) {
          EXPECT_GE(std::get<1>(count(problem.t_end)), 1000u);
          EXPECT_GE(looks, 999u);
          EXPECT_EQ(last, first);
          continue;
        }
        const auto [long_count, long_steps, long_notes] = least(problem.t_end);
        auto [short_count, short_steps, short_notes] = least(problem.t_end / 4);
        // A note that coordinates have changed has its own.
        if (short_notes != long_notes) std::tie(short_count, short_steps, short_notes) = least(problem.t_end / 2);
        EXPECT_EQ(long_notes, short_notes);
        EXPECT_GT(long_steps, short_steps + 10);
        EXPECT_EQ(long_count, short_count);
      }
  }
}

TEST(Formulations, TheSameRunTwiceIsTheSameToTheLastBit) {
  for (const Problem& problem : problems())
    for (const formulate::FormulationEntry& entry : mechanical_formulations()) {
      SCOPED_TRACE(problem.name + ", " + entry.name);
      const auto run = [&] { return solve::simulate(prepared(problem), options_for(entry, problem.t_end, 1e-7)); };
      const solve::Trajectory one = run(), two = run();
      ASSERT_TRUE(one.success()) << one.message;
      ASSERT_EQ(one.t.size(), two.t.size());
      ASSERT_EQ(one.values.size(), two.values.size());
      EXPECT_EQ(std::memcmp(one.t.data(), two.t.data(), one.t.size() * sizeof(double)), 0);
      EXPECT_EQ(std::memcmp(one.values.data(), two.values.data(), one.values.size() * sizeof(double)), 0);
    }
}

/// Different formulations are different computations, down to the last bit, explicit and implicit: none is another under a
/// new name. Without holonomic constraints index3 is index2, as its page says. In exact arithmetic index1, underlying-ode and udwadia-kalaba:stabilization=none are one ODE.
TEST(Formulations, NoTwoRunsAreTheSameToTheLastBit) {
  for (const std::size_t p : {std::size_t{0}, std::size_t{2}, std::size_t{3}, std::size_t{4}})
    for (const char* method : {"dop853", "radau"}) {
      const Problem& problem = problems()[p];
      const solve::Prepared model = prepared(problem);
      std::vector<std::pair<std::string, std::vector<double>>> seen;
      for (const formulate::FormulationEntry& entry : mechanical_formulations()) {
        if (!shows_ode(entry) && std::string(method) == "dop853") continue;
        solve::RunOptions options = options_for(entry, problem.t_end, 1e-7);
        if (method_for(entry) != "bdf") options.method = method;
        options.rows = solve::Rows::ends;
        const solve::Trajectory run = solve::simulate(model, options);
        ASSERT_TRUE(run.success()) << problem.name << ", " << entry.name << ": " << run.message;
        if (model.functions->holonomic == 0 && entry.name == "index3") continue;
        for (const auto& [name, values] : seen)
          EXPECT_NE(values, run.values) << problem.name << ", " << method << ": " << name << " and " << entry.name;
        seen.emplace_back(entry.name, run.values);
      }
      EXPECT_GE(seen.size(), 7U);
    }
}

/// The parts of a projection: what is projected holds to round-off, what is not drifts; the norm decides where a point goes;
/// a bound is kept.
TEST(Formulations, ProjectionTakesWhatItIsTold) {
  const solve::Prepared model = prepared(problems()[2]);
  const auto run = [&](const std::string& choice) {
    solve::RunOptions options = options_for(formulate::formulation("projection"), 5.0, 1e-6);
    options.formulation = choice;
    const solve::Trajectory result = solve::simulate(model, options);
    EXPECT_TRUE(result.success()) << result.message;
    return result;
  };
  const auto position = run("projection:what=position").constraints.relative;
  EXPECT_LE(position[0], 1e-12);
  EXPECT_GT(position[1], 1e-9);
  const auto velocity = run("projection:what=velocity").constraints.relative;
  EXPECT_GT(velocity[0], 1e-9);
  EXPECT_LE(velocity[1], 1e-12);
  EXPECT_NE(run("projection:norm=euclidean").last("x"), run("projection").last("x"));
  EXPECT_EQ(run("projection:above=0").values, run("projection").values);
  // The bound is on what a step leaves; rows may show what the last step before it left.
  const solve::Trajectory seldom = run("projection:above=1e-5"), always = run("projection");
  EXPECT_LE(seldom.constraints.relative[0], 1e-5);
  EXPECT_LE(seldom.constraints.relative[1], 1e-5);
  EXPECT_GT(seldom.constraints.relative[0], 1e-9);
  EXPECT_LT(seldom.stats.factorizations, always.stats.factorizations);
}

/// The textbook's index reduction drifts: its constraint is violated by far more than round-off.
TEST(Formulations, IndexOneDriftsAndBaumgarteDoesNotRunAway) {
  const solve::Prepared model = prepared(problems().front());
  solve::RunOptions options = options_for(formulate::formulation("index1"), 50.0, 1e-6);
  options.rows = solve::Rows::ends;
  const solve::Trajectory drifting = solve::simulate(model, options);
  ASSERT_TRUE(drifting.success()) << drifting.message;
  EXPECT_GT(drifting.constraints.absolute[0], 1e-9);
  options.formulation = "baumgarte";
  const solve::Trajectory held = solve::simulate(model, options);
  ASSERT_TRUE(held.success()) << held.message;
  EXPECT_LT(held.constraints.absolute[0], drifting.constraints.absolute[0] / 10.0);
}

/// alpha and beta, or omega and xi with alpha = xi omega, beta = omega.
TEST(Formulations, BaumgarteTakesEitherPairOfOptions) {
  const solve::Prepared model = prepared(problems().front());
  const auto end = [&](const std::string& choice) {
    solve::RunOptions options = options_for(formulate::formulation("baumgarte"), 1.0, 1e-8);
    options.formulation = choice;
    options.initialize = "off";  // a violation to be damped
    options.rows = solve::Rows::ends;
    return solve::simulate(model, options).last("x");
  };
  EXPECT_EQ(end("baumgarte:omega=2,xi=0.5"), end("baumgarte:alpha=1,beta=2"));
  EXPECT_EQ(end("baumgarte"), end("baumgarte:omega=10"));
  EXPECT_NE(end("baumgarte:omega=2"), end("baumgarte:omega=3"));
  EXPECT_THROW(end("baumgarte:omega=2,alpha=1"), Error);
  EXPECT_THROW(end("baumgarte:omega=-1"), Error);
  EXPECT_THROW(end("baumgarte:omgea=1"), Error);
}

}  // namespace
}  // namespace daedalus::tests
