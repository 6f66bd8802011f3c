// Comparisons: errors against a reference made by hand, how references are found or refused, what is left out and why.

#include "daedalus/solve/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/choose.hpp"
#include "unit/solve/start_tools.hpp"

namespace daedalus::tests {
namespace {

using solve::Comparison;
using solve::ComparisonPlan;
using solve::ErrorBy;
using solve::Quantity;
using solve::Samples;

const std::string oscillator =
    "name = \"oscillator\"\nkind = \"dae\"\n[variables]\nx = 0\nv = 1\n"
    "[equations]\na = \"der(x) = v\"\nb = \"der(v) = -x\"\n[simulation]\nt_end = 3\n";
const std::string pendulum =
    "name = \"pendulum\"\n" + planar("x = 0.6\ny = -0.8", "rod = \"x^2 + y^2 = 1\"") + "[simulation]\nt_end = 2\n";

ComparisonPlan plan_of(const std::vector<std::string>& texts) {
  ComparisonPlan plan;
  for (const std::string& text : texts) plan.models.push_back([text] { return model::read_model_text(text, "test"); });
  plan.threads = 2;
  return plan;
}

std::string code_of(const ComparisonPlan& plan) {
  try {
    compare(plan);
  } catch (const Error& error) {
    return error.faults().front().code;
  }
  return "none";
}

TEST(ComparisonErrors, AreTheLargestOverTimesAndComponents) {
  const Samples reference{{"x", "lambda.rod", "y"},
                          {0.0, 1.0, 2.0},
                          {1.0, 10.0, 0.0,  //
                           2.0, 20.0, 1.0,  //
                           3.0, 30.0, 9.0}};
  const Samples run{{"y", "x", "lambda.rod"},
                    {0.0, 0.5, 1.0, 2.0},
                    {0.0, 1.0, 10.0,  //
                     7.0, 7.0, 7.0,   // a time that the reference lacks
                     1.5, 2.0, 20.0,  //
                     9.0, 3.4, 37.0}};
  const std::vector<solve::ComparedColumn> columns{{"x", Quantity::position},
                                                   {"y", Quantity::position},
                                                   {"lambda.rod", Quantity::multiplier},
                                                   {"z", Quantity::auxiliary}};
  const solve::Errors errors = errors_against(reference, run, columns);
  EXPECT_EQ(errors.times, 3U);
  EXPECT_DOUBLE_EQ(*of(errors.over_time, Quantity::position), 0.25);  // y at t = 1: 0.5/(1 + 1)
  EXPECT_DOUBLE_EQ(*of(errors.end, Quantity::position), 0.4 / 4.0);
  EXPECT_DOUBLE_EQ(*of(errors.over_time, Quantity::multiplier), 7.0 / 31.0);
  EXPECT_FALSE(of(errors.over_time, Quantity::velocity));
  EXPECT_FALSE(of(errors.over_time, Quantity::auxiliary));
  EXPECT_DOUBLE_EQ(*solve::of_motion(errors.over_time), 0.25);
}

TEST(ComparisonErrors, TakeWhatIsAfterAnEventAndSeeWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<solve::ComparedColumn> columns{{"x", Quantity::unknown}};
  const Samples reference{{"x"}, {0.0, 1.0, 1.0, 2.0}, {0.0, 5.0, -5.0, 1.0}};
  EXPECT_EQ(*of(errors_against(reference, {{"x"}, {1.0, 1.0}, {5.0, -5.0}}, columns).over_time, Quantity::unknown),
            0.0);
  EXPECT_TRUE(std::isinf(*of(errors_against(reference, {{"x"}, {2.0}, {nan}}, columns).end, Quantity::unknown)));
  EXPECT_FALSE(of(errors_against({{"x"}, {2.0}, {nan}}, {{"x"}, {2.0}, {1.0}}, columns).end, Quantity::unknown));
  EXPECT_EQ(errors_against(reference, {{"x"}, {0.3}, {1.0}}, columns).times, 0U);
}

TEST(Comparison, MeasuresRunsAgainstAGivenReference) {
  ComparisonPlan plan = plan_of({oscillator});
  plan.methods = {"rk4"};
  plan.steps = {0.1, 0.05};
  Samples exact{{"v", "x"}, {}, {}};
  for (const double t : {0.0, 0.7, 1.9, 3.0}) {
    exact.t.push_back(t);
    exact.values.insert(exact.values.end(), {std::cos(t), std::sin(t)});
  }
  plan.reference = exact;
  plan.reference_name = "exact";
  const Comparison result = compare(plan);
  ASSERT_EQ(result.runs.size(), 2U);
  EXPECT_EQ(result.models[0].reference.origin, "exact");
  for (const solve::ComparedRun& run : result.runs) {
    solve::RunOptions options;
    options.method = "rk4";
    options.step = run.step;
    options.at = exact.t;
    const solve::Trajectory alone = simulate(model::read_model_text(oscillator, "test"), options);
    double largest = 0.0, end = 0.0;
    for (std::size_t i = 0; i < exact.t.size(); ++i) {
      end = 0.0;
      for (const auto& [name, r] : {std::pair{"x", std::sin(exact.t[i])}, std::pair{"v", std::cos(exact.t[i])}})
        end = std::max(end, std::abs(alone.value(i, alone.column(name)) - r) / (1.0 + std::abs(r)));
      largest = std::max(largest, end);
    }
    EXPECT_EQ(*of(run.error, Quantity::unknown), largest);
    EXPECT_EQ(*of(run.error_end, Quantity::unknown), end);
    EXPECT_GT(largest, 0.0);
    EXPECT_TRUE(run.trajectory.t.empty()) << "rows are not kept";
  }
  // Order 4: half the step, a sixteenth of the error, up to terms of higher order.
  EXPECT_NEAR(*of(result.runs[0].error, Quantity::unknown) / *of(result.runs[1].error, Quantity::unknown), 16.0, 2.0);
}

TEST(Comparison, ADaeThatIsLinearIsComparedWithItsFormula) {
  const Comparison result = compare(plan_of({oscillator}));
  EXPECT_EQ(result.models[0].reference.origin, "exact, the formula for the solution");
  const solve::Samples& rows = result.models[0].reference.samples;
  for (std::size_t i = 0; i < rows.t.size(); ++i)
    EXPECT_NEAR(rows.values[i * rows.columns.size()], std::sin(rows.t[i]), 2e-16);
}

TEST(Comparison, ComputesAReferenceByTwoMethodsThatAgree) {
  // The same solution, as x^2 + v^2 stays 1; of these equations there is no formula.
  std::string cubic = oscillator;
  cubic.replace(cubic.find("-x\""), 2, "-x*(x^2 + v^2)");
  ComparisonPlan plan = plan_of({cubic});
  plan.methods = {"dop853"};
  const Comparison result = compare(plan);
  const solve::Reference& reference = result.models[0].reference;
  EXPECT_TRUE(reference.computed);
  EXPECT_NE(reference.origin.find("radau"), std::string::npos) << reference.origin;
  EXPECT_NE(reference.origin.find("rodas5p"), std::string::npos) << reference.origin;
  ASSERT_TRUE(of(reference.agreement, Quantity::unknown));
  // The agreement bounds the error of a reference computed with rtol 1e-13 over three units of time.
  double true_error = 0.0;
  for (std::size_t i = 0; i < reference.samples.t.size(); ++i)
    true_error = std::max(true_error, std::abs(reference.samples.values[i * reference.samples.columns.size()] -
                                               std::sin(reference.samples.t[i])));
  EXPECT_LE(true_error, 1e-11);
  EXPECT_LE(*of(reference.agreement, Quantity::unknown), 1e-10);
  ASSERT_EQ(result.runs.size(), 4U);
  for (std::size_t i = 1; i < 4; ++i)
    EXPECT_LT(*of(result.runs[i].error, Quantity::unknown), *of(result.runs[i - 1].error, Quantity::unknown));
}

TEST(Comparison, HasNoReferenceWhereMethodsDisagree) {
  // Lorenz's equations: errors of 1e-15 grow like exp(0.9 t), and after t = 60 nothing is left of what was common.
  ComparisonPlan plan =
      plan_of({"name = \"lorenz\"\nkind = \"dae\"\n[variables]\nx = 1\ny = 1\nz = 20\n[equations]\n"
               "a = \"der(x) = 10*(y - x)\"\nb = \"der(y) = x*(28 - z) - y\"\nc = \"der(z) = x*y - 8/3*z\"\n"
               "[simulation]\nt_end = 60\n"});
  plan.methods = {"dop853"};
  plan.rtol = {1e-6};
  const Comparison result = compare(plan);
  EXPECT_TRUE(result.models[0].reference.samples.t.empty());
  EXPECT_NE(result.models[0].reference.message.find("there is none: "), std::string::npos);
  EXPECT_GT(*solve::of_motion(result.models[0].reference.agreement), 1e-2);
  ASSERT_EQ(result.runs.size(), 1U);
  EXPECT_TRUE(result.runs[0].success);
  EXPECT_FALSE(of(result.runs[0].error, Quantity::unknown)) << "no error without a reference";
}

TEST(Comparison, TakesEveryFormulationThatFits) {
  for (const std::string& text : {pendulum, oscillator}) {
    ComparisonPlan plan = plan_of({text});
    plan.rtol = {1e-5};
    const Comparison result = compare(plan);
    const model::Model model = model::read_model_text(text, "test");
    const std::string kind(model::name_of(model.kind));
    std::set<std::string> expected, found;
    for (const auto& entry : formulate::formulations())
      // Those that keep [invariants] of a DAE have nothing to do where there are none.
      if (std::ranges::find(entry.kinds, kind) != entry.kinds.end() && (kind == "lagrangian" || entry.name == "direct"))
        expected.insert(entry.name);
    for (const solve::ComparedRun& run : result.runs) found.insert(run.formulation);
    for (const solve::LeftOut& one : result.left_out) {
      EXPECT_FALSE(one.reason.empty()) << one.formulation;
      found.insert(one.formulation);
    }
    EXPECT_EQ(found, expected) << kind;
    EXPECT_EQ(result.planned, result.runs.size());
  }
}

TEST(Comparison, GivesTheSameOnOneAndOnSeveralThreads) {
  Comparison results[2];
  for (const unsigned threads : {1U, 3U}) {
    ComparisonPlan plan = plan_of({pendulum});
    plan.rtol = {1e-4, 1e-8};
    plan.threads = threads;
    results[threads == 1 ? 0 : 1] = compare(plan);
  }
  ASSERT_EQ(results[0].runs.size(), results[1].runs.size());
  ASSERT_GE(results[0].runs.size(), 10U);
  for (std::size_t i = 0; i < results[0].runs.size(); ++i) {
    const solve::ComparedRun &one = results[0].runs[i], &other = results[1].runs[i];
    EXPECT_EQ(one.formulation, other.formulation);
    EXPECT_EQ(one.method, other.method);
    EXPECT_EQ(one.error, other.error) << one.formulation << " " << one.method;
    EXPECT_EQ(one.trajectory.stats.rhs, other.trajectory.stats.rhs);
  }
}

TEST(Comparison, LeavesOutWhatDoesNotFit) {
  ComparisonPlan plan = plan_of({pendulum});
  plan.rtol = {1e-4};
  plan.formulations = {"index3", "projection", "direct"};
  plan.methods = {"dop853", "radau"};
  const Comparison result = compare(plan);
  std::set<std::string> run, left;
  for (const auto& one : result.runs) run.insert(one.formulation + "+" + one.method);
  for (const auto& one : result.left_out) {
    left.insert(one.formulation + "+" + one.method);
    EXPECT_FALSE(one.reason.empty());
  }
  EXPECT_EQ(run, (std::set<std::string>{"index3+radau", "projection+dop853", "projection+radau"}));
  EXPECT_EQ(left, (std::set<std::string>{"index3+dop853", "direct+dop853", "direct+radau"}));

  // Named beside defaults: what fits is taken, and only a name for which nothing fits is told.
  plan.methods.clear();
  const Comparison defaults = compare(plan);
  ASSERT_EQ(defaults.left_out.size(), 1U);
  EXPECT_EQ(defaults.left_out[0].formulation, "direct");
  EXPECT_EQ(defaults.left_out[0].method, "");

  // Alone, it is a mistake.
  plan.formulations = {"direct"};
  EXPECT_EQ(code_of(plan), "formulation-does-not-fit");
  plan.formulations = {"index3"};
  plan.methods = {"dop853"};
  EXPECT_EQ(code_of(plan), "method-does-not-fit");
  plan.methods = {"dop852"};
  EXPECT_EQ(code_of(plan), "unknown-method");
  plan.formulations = {"baumgarte:omega=2,alpha=1"};
  plan.methods.clear();
  EXPECT_EQ(code_of(plan), "bad-option-value") << "refused when the formulation is made, in every run";
}

TEST(Comparison, GivesUpRunsThatTakeTooLong) {
  // Not a linear one: the reference of that would be its formula, at once.
  std::string cubic = oscillator;
  cubic.replace(cubic.find("-x\""), 3, "-x^3\"");
  ComparisonPlan plan = plan_of({cubic});
  plan.run.t_end = 1e6;
  plan.methods = {"dop853"};
  plan.rtol = {1e-4, 1e-6};
  plan.threads = 1;
  plan.seconds_per_run = 0.02;
  const Comparison result = compare(plan);
  ASSERT_EQ(result.runs.size(), 2U);
  EXPECT_EQ(result.succeeded(), 0U);
  EXPECT_TRUE(result.runs[0].message.starts_with("given up at t = ")) << result.runs[0].message;
  EXPECT_TRUE(result.runs[0].message.ends_with(" after 0.02 s of processor time, the limit for one run"));
  EXPECT_EQ(result.runs[1].message, "not tried: at a looser tolerance it was given up already");
  EXPECT_FALSE(result.interrupted);
  EXPECT_TRUE(result.models[0].reference.message.starts_with("there is none: ")) << result.models[0].reference.message;
}

TEST(Comparison, GivesUpWhatTakesHundredsOfTimesAsLongAsOthers) {
  ComparisonPlan plan = plan_of({oscillator});
  plan.methods = {"dop853", "radau", "rk4"};
  plan.rtol = {1e-3};
  plan.steps = {1e-8};  // hours
  plan.reference = Samples{{"x"}, {3.0}, {std::sin(3.0)}};
  plan.threads = 1;
  const Comparison result = compare(plan);
  std::size_t given_up = 0;
  for (const solve::ComparedRun& run : result.runs)
    given_up += run.message.ends_with(" after 1 s of processor time, the limit for one run");
  EXPECT_EQ(given_up, result.runs.size() - result.succeeded());
  EXPECT_GT(given_up, 0U);
}

TEST(Comparison, KeepsWhatIsDoneWhenItIsInterrupted) {
  ComparisonPlan plan = plan_of({oscillator});
  plan.methods = {"dop853", "rk4"};
  plan.rtol = {1e-3};
  plan.steps = {1e-8};  // hours
  plan.seconds_per_run = 1e9;
  plan.reference = Samples{{"x"}, {3.0}, {std::sin(3.0)}};
  std::size_t done = 0;
  plan.progress = [&](const solve::ComparisonProgress& now) { done = now.done; };
  plan.interrupt = [&] { return done >= 2; };
  const Comparison result = compare(plan);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.planned, 4U);
  ASSERT_EQ(result.runs.size(), 2U);
  for (const auto& run : result.runs) {
    EXPECT_TRUE(run.success) << run.message;
    EXPECT_TRUE(run.rtol);
    EXPECT_LT(*of(run.error, Quantity::unknown), 1e-2);
  }
}

TEST(Comparison, DoesNotCompareMultipliersThatAreNotUnique) {
  ComparisonPlan plan = plan_of({planar("x = 0.6\ny = -0.8", "rod = \"x^2 + y^2 = 1\"\ntwin = \"2*x^2 + 2*y^2 = 2\"") +
                                 "[simulation]\nt_end = 1\n"});
  plan.formulations = {"projection"};
  plan.methods = {"dop853"};
  plan.rtol = {1e-6};
  const Comparison result = compare(plan);
  EXPECT_EQ(result.quantities, (std::vector<Quantity>{Quantity::position, Quantity::velocity}));
  ASSERT_EQ(result.models[0].notes.size(), 1U);
  EXPECT_NE(result.models[0].notes[0].find("not unique"), std::string::npos);
  EXPECT_LT(*of(result.runs[0].error, Quantity::position), 1e-4);
}

TEST(Comparison, TakesSeveralModelsOfOneMotion) {
  const std::string angle =
      "name = \"angle\"\nkind = \"lagrangian\"\n[variables]\nx = 0.6\n"
      "[lagrangian]\nkinetic = \"der(x)^2/(1 - x^2)/2\"\npotential = \"-9.81*sqrt(1 - x^2)\"\n[simulation]\nt_end = "
      "2\n";
  ComparisonPlan plan = plan_of({pendulum, angle});
  plan.formulations = {"projection"};
  plan.methods = {"dop853"};
  plan.rtol = {1e-6};
  const Comparison result = compare(plan);
  ASSERT_EQ(result.runs.size(), 2U);
  EXPECT_EQ(result.runs[1].model, 1U);
  // x(t) alone is common; both references have it to about 1e-12.
  ASSERT_TRUE(of(result.models[1].from_first, Quantity::position));
  EXPECT_LT(*of(result.models[1].from_first, Quantity::position), 1e-9);
  EXPECT_LT(*of(result.runs[1].error, Quantity::position), 1e-3);

  plan = plan_of({pendulum, oscillator});
  EXPECT_EQ(code_of(plan), "models-differ") << "other times";
  plan.run.t_end = 1.0;
  EXPECT_EQ(code_of(plan), "none") << "x is in both";
  plan = plan_of(
      {pendulum, "kind = \"dae\"\n[variables]\nu = 1\n[equations]\ne = \"der(u) = -u\"\n[simulation]\nt_end = 2\n"});
  EXPECT_EQ(code_of(plan), "models-differ");
}

TEST(Comparison, RefusesAReferenceThatDoesNotFit) {
  ComparisonPlan plan = plan_of({oscillator});
  plan.reference = Samples{{"u"}, {3.0}, {0.0}};
  EXPECT_EQ(code_of(plan), "reference-does-not-fit");
  plan.reference = Samples{{"x"}, {2.0}, {0.0}};
  EXPECT_EQ(code_of(plan), "reference-does-not-fit") << "too short";
  plan.reference = Samples{{"x"}, {-1.0, 7.0}, {0.0, 0.0}};
  EXPECT_EQ(code_of(plan), "reference-does-not-fit") << "nothing between";
  plan.reference = Samples{{"x"}, {3.0}, {std::sin(3.0)}};
  plan.run.samples = 5;
  EXPECT_EQ(code_of(plan), "bad-option-value") << "two sorts of output times";
}

TEST(Comparison, ThrowsWhatConcernsAllRuns) {
  std::string text = oscillator;
  text.erase(text.find("t_end = 3"));
  EXPECT_EQ(code_of(plan_of({text})), "missing-t-end");
}

TEST(Comparison, RecordsResidualsOverTime) {
  ComparisonPlan plan = plan_of({pendulum});
  plan.formulations = {"index1"};
  plan.methods = {"dop853"};
  plan.rtol = {1e-4};
  const Comparison result = compare(plan);
  const solve::ComparedRun& run = result.runs.front();
  ASSERT_EQ(run.residuals.levels.size(), 3U);
  for (std::size_t level = 0; level < 2; ++level) {
    double largest = 0.0;
    for (const double value : run.residuals.levels[level])
      if (!std::isnan(value)) largest = std::max(largest, value);
    EXPECT_EQ(largest, run.trajectory.constraints.absolute[level]);
    EXPECT_GT(largest, 0.0);
  }
}

}  // namespace
}  // namespace daedalus::tests
