// `auto` may lose at most a factor of 30 in accuracy against the single choice that fits: projection + dop853, or radau
// where the model is stiff or a DAE, at the same tolerance. Errors are max |e|/(1 + |y|) over all unknowns and
// derivatives at ten times, against a tight run that a second method confirms.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "folders.hpp"
#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

struct Shape {
  std::string single;             ///< the method that fits
  std::string tight, confirming;  ///< two methods for the reference
  std::optional<double> t_end;    ///< shorter than the model's own
  double tight_rtol = 1e-12, confirming_rtol = 1e-12;
};

Shape shape_of(const std::string& name, model::Kind kind) {
  Shape shape{"dop853", "dop853", "radau", {}};
  // Round-off in the amplifier is 1e-15 of six volts, and its small voltages have no own size: 1e-11 is what can be
  // asked.
  if (kind == model::Kind::dae || kind == model::Kind::linear) shape = {"radau", "radau", "rodas5p", {}, 1e-11, 1e-11};
  if (name == "kepler" || name == "rigid_body_euler" || name == "pendulum_dae") shape.single = "dop853";  // not stiff
  if (name == "flexible_slider_crank") shape.single = "radau";
  // Errors of these grow by more than 1e4 in their whole time, and with them those of the reference.
  if (name == "double_pendulum") shape.t_end = 5.0;
  if (name == "example21_differentiated") shape = {"radau", "dop853", "radau", {}, 1e-14, 1e-13};
  // Ten seconds of hunting meet the limit of friction hundreds of times.
  if (name == "wheelset") shape.t_end = 1.0;
  // The whole run takes minutes at these tolerances; until here one gate has switched.
  if (name == "two_bit_adder") shape = {"radau", "radau", "bdf", 4.0, 1e-11, 1e-10};
  return shape;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(tests::source_folder() + "/models"))
    // That model starts off its constraints on purpose, where every formulation solves another problem.
    if (entry.path().extension() == ".toml" && entry.path().stem() != "finite_escape")
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

class Automatic : public testing::TestWithParam<std::string> {};

TEST_P(Automatic, IsAsAccurateAsTheChoiceThatFits) {
  const solve::Prepared model = prepared(GetParam());
  const Shape shape = shape_of(GetParam(), model.model->kind);
  const double t_end = shape.t_end.value_or(*model.model->simulation.t_end);
  const auto run = [&](const std::string& method, double rtol) {
    solve::RunOptions options;
    options.t_end = t_end;
    for (int k = 1; k <= 10; ++k) options.at.push_back(t_end * k / 10.0);
    options.rtol = rtol;
    options.method = method;
    options.formulation = "auto";
    solve::Trajectory result = solve::simulate(model, options);
    EXPECT_TRUE(result.success()) << method << " " << rtol << ": " << result.message;
    return result;
  };
  std::set<std::string> names;
  for (const auto* unknowns : {&model.model->variables, &model.model->auxiliary})
    for (const model::Unknown& unknown : *unknowns) {
      names.insert(unknown.name);
      if (!model.dae) names.insert("der(" + unknown.name + ")");
    }
  const auto difference = [&](const solve::Trajectory& one, const solve::Trajectory& other) {
    double most = one.t.size() == other.t.size() ? 0.0 : INFINITY;
    for (std::size_t column = 0; column < one.columns.size(); ++column)
      for (std::size_t row = 0; names.contains(one.columns[column]) && row < std::min(one.t.size(), other.t.size());
           ++row) {
        const double value = other.value(row, other.column(one.columns[column]));
        most = std::max(most, std::abs(one.value(row, column) - value) / (1.0 + std::abs(value)));
      }
    return most;
  };
  const solve::Trajectory exact = run(shape.tight, shape.tight_rtol);
  const double doubt = difference(run(shape.confirming, shape.confirming_rtol), exact);
  for (const double rtol : {model.model->simulation.rtol.value_or(1e-6), 1e-9}) {
    const solve::Trajectory chosen = run("auto", rtol);
    const double error = difference(chosen, exact), fitting = difference(run(shape.single, rtol), exact);
    // An error below a tenth of the tolerance is never too much.
    const double allowed = std::max(30.0 * fitting, 0.1 * rtol);
    std::printf("%s rtol %.0e: auto (%s) %.1e, %s %.1e, doubt %.0e\n", GetParam().c_str(), rtol, chosen.method.c_str(),
                error, shape.single.c_str(), fitting, doubt);
    EXPECT_LE(error, allowed) << rtol;
    EXPECT_LE(doubt, 0.01 * allowed) << "the reference cannot decide at " << rtol;
  }
}

/// A long chain at few digits: explicit steps would be held by stability, a thousand of them.
TEST(LongChain, IsBegunImplicitlyWhereThatPays) {
  struct Case {
    const char* links;
    double rtol, t_end;
    const char* method;
  };
  const Json exact = reference("chain_1000").at("y");
  for (const Case& one : {Case{"1000", 1e-4, 1.0, "radau"}, Case{"1000", 1e-8, 0.02, "dop853"}, Case{"100", 1e-4, 1.0, "dop853"}}) {
    SCOPED_TRACE(fmt::format("{} links, rtol {}", one.links, one.rtol));
    model::Overrides overrides;
    overrides.set.emplace_back("N", one.links);
    solve::RunOptions options;
    options.rtol = one.rtol;
    options.t_end = one.t_end;
    options.rows = solve::Rows::ends;
    const solve::Trajectory run = solve::simulate(prepared("chain", overrides), options);
    ASSERT_TRUE(run.success()) << run.message;
    EXPECT_EQ(run.method, one.method);
    if (run.method != "radau") continue;
    EXPECT_LT(run.stats.steps, 100U);
    double error = 0.0;
    for (std::size_t i = 0; i < 1000; ++i)
      for (std::size_t axis = 0; axis < 2; ++axis) {
        const double value = number(exact[2 * i + axis]);
        error = std::max(error, std::abs(run.last(fmt::format("{}[{}]", axis == 0 ? "x" : "y", i + 1)) - value) / (1.0 + std::abs(value)));
      }
    EXPECT_LE(error, one.rtol);
  }
}

/// Multipliers, which the implicit view has beside the state, have no say in the first step or in any other.
TEST(ShortRun, TakesTheStepsOfTheExplicitMethod) {
  model::Overrides overrides;
  overrides.set.emplace_back("N", "10");
  const solve::Prepared model = prepared("chain", overrides);
  const auto run = [&](const std::string& method) {
    solve::RunOptions options;
    options.rtol = options.atol = 1e-4;
    options.formulation = "projection";
    options.method = method;
    options.rows = solve::Rows::ends;
    return solve::simulate(model, options);
  };
  const solve::Trajectory chosen = run("auto"), alone = run("dop853");
  ASSERT_TRUE(chosen.success() && alone.success()) << chosen.message << alone.message;
  EXPECT_EQ(chosen.stats.steps, alone.stats.steps);
  EXPECT_EQ(chosen.stats.rhs, alone.stats.rhs);  // no look at the spectral radius in so few steps
  EXPECT_EQ(chosen.last("x[10]"), alone.last("x[10]"));
}

/// Asked for many digits, the first implicit steps are short, and explicit ones after them far from the border of stability
/// keep their size for ever.
TEST(ManyDigits, DoNotKeepRobertsonExplicit) {
  const solve::Prepared model = prepared("robertson");
  for (const double rtol : {1e-8, 1e-10, 1e-12, 1e-13}) {
    SCOPED_TRACE(rtol);
    solve::RunOptions options;
    options.rtol = rtol;
    options.atol = rtol;
    options.rows = solve::Rows::ends;
    const auto steps = [&](const char* method) {
      options.method = method;
      const solve::Trajectory run = solve::simulate(model, options);
      EXPECT_TRUE(run.success()) << run.message;
      return run.stats.steps;
    };
    EXPECT_LE(steps("auto"), 3 * steps("radau"));
  }
}

/// Multipliers of stiff mechanics change by much where a projection moves the state by little. An implicit step that began with
/// those of before the projection was off by as much, however short it was.
TEST(FewDigits, DoNotEndStiffRuns) {
  const solve::Prepared model = prepared("flexible_slider_crank");
  for (const char* method : {"auto", "radau", "rodas5p"})
    for (const double rtol : {1.25e-2, 1.12e-2, 1e-2, 4e-3, 3e-3}) {
      SCOPED_TRACE(fmt::format("{} {}", method, rtol));
      solve::RunOptions options;
      options.formulation = "projection";
      options.method = method;
      options.rtol = options.atol = rtol;
      options.rows = solve::Rows::ends;
      const solve::Trajectory run = solve::simulate(model, options);
      EXPECT_TRUE(run.success()) << run.message;
      EXPECT_LE(run.stats.steps + run.stats.rejected, 400u);
    }
}

INSTANTIATE_TEST_SUITE_P(Models, Automatic, testing::ValuesIn(model_names()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace daedalus::tests
