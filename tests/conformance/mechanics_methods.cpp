// Methods that use the structure of constrained motion do what their entries say: those of the mechanical view on
// systems written by hand, and all that are made for mechanics on models, from the text to the trajectory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "conformance/allocations.hpp"
#include "daedalus/base/check.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "unit/integrate/mechanical_problems.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::distance;
using problems::Ellipse;
using problems::make_stepper;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

class MechanicalMethods : public testing::TestWithParam<std::string> {
 protected:
  const IntegratorEntry& method() const { return integrator(GetParam()); }
  /// Masses that depend on the place and forces that depend on velocities.
  const Ellipse problem{0.3, 0.2};
  const System system = problem.system();

  LoopResult run(const LoopOptions& options, std::vector<double>& x, const Observer& observer = {}) const {
    return problems::run(GetParam(), system, options, x, observer);
  }
};

TEST_P(MechanicalMethods, EntryIsComplete) {
  EXPECT_FALSE(method().summary.empty());
  EXPECT_FALSE(method().citation.empty());
  EXPECT_GT(method().stages, 0);
  EXPECT_GE(method().dense_order, 1);
  if (method().adaptive) {
    EXPECT_GT(method().estimate_order, 0);
  }
}

TEST_P(MechanicalMethods, OrderIsAsDeclared) {
  const auto error = [&](int steps) {
    double largest = 0.0;
    Observer observer;
    observer.step = [&](double t, const double* x) {
      largest = std::max(largest, distance(problem.exact(t), std::vector<double>(x, x + 4)));
    };
    std::vector<double> x = problem.exact(0.0);
    EXPECT_EQ(run(problems::fixed(4.0, 4.0 / steps), x, observer).status, Status::done);
    return largest;
  };
  // Three halvings; the last errors are (4/400)^5 = 1e-10 times a constant of about 0.02 or larger.
  EXPECT_NEAR(std::log2(error(50) / error(400)) / 3.0, method().order, 0.1);
}

TEST_P(MechanicalMethods, DenseOrderIsAtLeastAsDeclared) {
  const auto error = [&](double h) {
    const std::unique_ptr<Stepper> stepper = make_stepper(method(), system);
    EXPECT_EQ(stepper->start(0.4, problem.exact(0.4).data()), Evaluation::ok);
    EXPECT_EQ(stepper->attempt(h, nullptr).outcome, Evaluation::ok);
    EXPECT_EQ(stepper->accepted(0.4 + h), Evaluation::ok);
    double largest = 0.0;
    std::vector<double> row(4);
    for (int i = 1; i < 10; ++i) {
      EXPECT_EQ(stepper->interpolate(0.1 * i, row.data()), Evaluation::ok);
      largest = std::max(largest, distance(row, problem.exact(0.4 + 0.1 * i * h)));
    }
    return largest;
  };
  EXPECT_GT(std::log2(error(0.04) / error(0.02)), method().dense_order + 0.75);
}

TEST_P(MechanicalMethods, InterpolantEndsAtTheProjectedState) {
  const std::vector<double> begin = problem.exact(0.4);
  const std::unique_ptr<Stepper> stepper = make_stepper(method(), system);
  ASSERT_EQ(stepper->start(0.4, begin.data()), Evaluation::ok);
  ASSERT_EQ(stepper->attempt(0.1, nullptr).outcome, Evaluation::ok);
  for (std::size_t i = 0; i < 4; ++i) stepper->candidate()[i] += 1e-3 * static_cast<double>(i + 1);
  const std::vector<double> end(stepper->candidate(), stepper->candidate() + 4);
  ASSERT_EQ(stepper->accepted(0.5), Evaluation::ok);
  EXPECT_EQ(std::vector<double>(stepper->state(), stepper->state() + 4), end);
  std::vector<double> row(4);
  ASSERT_EQ(stepper->interpolate(0.0, row.data()), Evaluation::ok);
  EXPECT_LE(distance(row, begin), 4 * epsilon);
  ASSERT_EQ(stepper->interpolate(1.0, row.data()), Evaluation::ok);
  EXPECT_LE(distance(row, end), 16 * epsilon);
  // And the next step goes on from there.
  ASSERT_EQ(stepper->attempt(0.1, nullptr).outcome, Evaluation::ok);
  const std::vector<double> second(stepper->candidate(), stepper->candidate() + 4);
  const std::unique_ptr<Stepper> other = make_stepper(method(), system);
  ASSERT_EQ(other->start(0.5, end.data()), Evaluation::ok);
  ASSERT_EQ(other->attempt(0.1, nullptr).outcome, Evaluation::ok);
  EXPECT_LE(distance(second, std::vector<double>(other->candidate(), other->candidate() + 4)), 1e-13);
}

TEST_P(MechanicalMethods, AllocatesNothingPerStep) {
  const auto allocations = [&](LoopOptions options) {
    options.output_times = {0.1 * options.t_end, 0.5 * options.t_end, options.t_end};
    const std::unique_ptr<Stepper> stepper =
        make_stepper(method(), system, options.step ? Control::fixed : Control::adaptive);
    std::vector<double> x = problem.exact(0.0);
    const std::size_t before = allocations::counted();
    EXPECT_EQ(integrate(system, method(), *stepper, options, {}, x).status, Status::done);
    return allocations::counted() - before;
  };
  EXPECT_EQ(allocations(problems::fixed(0.1, 0.01)), allocations(problems::fixed(2.0, 0.01)));
  EXPECT_EQ(allocations(problems::controlled(system, 0.5, 1e-5)), allocations(problems::controlled(system, 5.0, 1e-5)));
}

TEST_P(MechanicalMethods, SameRunTwiceIsTheSameToTheLastBit) {
  const auto rows = [&](LoopOptions options) {
    options.output_times = {0.3, 1.1, 2.0};
    std::vector<double> all, x = problem.exact(0.0);
    Observer observer;
    observer.output = [&](double, const double* row) { all.insert(all.end(), row, row + 4); };
    EXPECT_EQ(run(options, x, observer).status, Status::done);
    return all;
  };
  EXPECT_EQ(rows(problems::fixed(2.0, 0.01)), rows(problems::fixed(2.0, 0.01)));
  EXPECT_EQ(rows(problems::controlled(system, 2.0, 1e-5)), rows(problems::controlled(system, 2.0, 1e-5)));
}

TEST_P(MechanicalMethods, BackwardRunReturns) {
  std::vector<double> x = problem.exact(0.0);
  ASSERT_EQ(run(problems::fixed(2.0, 0.01), x).status, Status::done);
  const double there = distance(x, problem.exact(2.0));
  LoopOptions back = problems::fixed(0.0, 0.01);
  back.t_start = 2.0;
  const LoopResult result = run(back, x);
  ASSERT_EQ(result.status, Status::done);
  EXPECT_EQ(result.t, 0.0);
  // The way back makes an error like the way there and carries that one along, growing by less than 5.
  EXPECT_LT(distance(x, problem.exact(0.0)), 10.0 * there + 1e-13);
}

TEST_P(MechanicalMethods, RefusesWhatItCannotTake) {
  System empty;
  empty.dimension = 1;
  EXPECT_FALSE(takes(method(), empty));
  EXPECT_THROW(make_stepper(method(), empty), InternalError);
  EXPECT_FALSE(takes(method(), problems::kepler()));
  EXPECT_THROW(make_stepper(method(), problems::kepler()), InternalError);
  EXPECT_TRUE(takes(method(), system));
}

TEST_P(MechanicalMethods, FailureInsideAStepIsReported) {
  System failing = system;
  auto view = std::make_shared<MechanicalSystem>(*system.mechanical);
  view->geometry = [inner = view->geometry](double t, const double* q, double* M, double* G, double* g) {
    return t > 0.995 ? Evaluation::singular : inner(t, q, M, G, g);
  };
  failing.mechanical = view;
  failing.explain = [] { return std::string("the matrix of 'rod' is singular"); };
  std::vector<double> x = problem.exact(0.0);
  const LoopResult result = problems::run(GetParam(), failing, problems::fixed(2.0, 0.1), x);
  EXPECT_EQ(result.status, Status::singular);
  EXPECT_NE(result.message.find("the matrix of 'rod' is singular"), std::string::npos) << result.message;
  EXPECT_NEAR(result.t, 0.95, 0.06);
}

std::string letters(std::string name) {
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const IntegratorEntry& entry : integrators())
    if (std::ranges::find(entry.accepts, View::mechanical) != entry.accepts.end()) result.push_back(entry.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Table, MechanicalMethods, testing::ValuesIn(names()),
                         [](const auto& instance) { return letters(instance.param); });

struct ModelProblem {
  std::string name, text;
  bool for_rattle = true;
};

const std::vector<ModelProblem>& models() {
  static const std::vector<ModelProblem> all = {{"pendulum", R"toml(
kind = "lagrangian"
[variables]
x = { start = 0.86, fixed = true }
y = 2.35
[lagrangian]
kinetic = "der(x)^2 + der(y)^2"
potential = "2*9.81*y"
[constraints]
rod = "x^2 + y^2 = 2.5^2"
)toml"},
                                                {"moving pivot, masses that depend on the place", R"toml(
kind = "lagrangian"
[variables]
x = { start = 1, fixed = true }
y = 0
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2 + 0.2*x*der(x)*der(y)/(1 + x^2)"
potential = "9.81*y"
[constraints]
rod = "(x - 0.2*sin(3*t))^2 + y^2 = (1 + 0.1*cos(t))^2"
)toml"},
                                                {"friction and a redundant constraint", R"toml(
kind = "mechanical"
[variables]
x = { start = 1, fixed = true }
y = 0
[mechanical]
mass = [["1 + x^2/4", "x/10"], ["x/10", "2"]]
force = ["-0.3*der(x)", "-9.81 - 0.1*der(y)*x"]
[constraints]
rod = "x^2 + y^2 = 1"
again = "2*x^2 + 2*y^2 = 2"
)toml"},
                                                {"skate and current", R"toml(
kind = "lagrangian"
[variables]
x = 0
y = 0
angle = { start = 0.3, fixed = true }
"der(angle)" = { start = 0.8, fixed = true }
[auxiliary]
current = { start = 0.5, fixed = true }
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2 + der(angle)^2/4"
[lagrangian.forces]
angle = "0.3*current"
x = "0.2"
[equations]
coil = "der(current) + 2*current + 0.1*der(angle) = sin(t)"
[constraints]
skate = "der(x)*sin(angle) - der(y)*cos(angle) = 0"
)toml",
                                                 false}};
  return all;
}

struct Combination {
  std::string formulation, method;
  double step;   ///< of the coarser of two runs
  double order;  ///< that their errors show
};

std::vector<Combination> combinations() {
  return {{"projection", "rodas5p", 0.01, 5.0},
          {"index1", "rodas5p", 0.01, 5.0},
          {"projection", "half-explicit", 0.02, 5.0},
          {"index2", "half-explicit", 0.02, 5.0},
          {"index3", "rattle", 0.01, 2.0},
          {"index3", "rattle:order=4", 0.01, 4.0},
          {"projection", "rattle", 0.01, 2.0},
          {"index3", "generalized-alpha", 0.01, 2.0},
          {"index2", "generalized-alpha", 0.01, 2.0},
          {"index1", "generalized-alpha", 0.01, 2.0}};
}

class OnModels : public testing::TestWithParam<Combination> {};

TEST_P(OnModels, ErrorsFallWithTheirOrder) {
  const Combination& chosen = GetParam();
  for (const ModelProblem& problem : models()) {
    if (chosen.method.starts_with("rattle") && !problem.for_rattle) continue;
    const bool redundant = problem.name.find("redundant") != std::string::npos;
    // Newton's matrices of whole systems with redundant constraints are singular.
    if (redundant && !chosen.method.starts_with("rattle") && chosen.method != "half-explicit") continue;
    const auto prepared = solve::prepare(model::read_model_text(problem.text, problem.name + ".toml"));
    const auto end = [&](const std::string& formulation, const std::string& method, double step) {
      solve::RunOptions options;
      options.t_end = 1.0;
      options.formulation = formulation;
      options.method = method;
      options.rows = solve::Rows::ends;
      if (step > 0.0)
        options.step = step;
      else
        options.rtol = 1e-13;
      const solve::Trajectory trajectory = solve::simulate(prepared, options);
      EXPECT_TRUE(trajectory.success()) << problem.name << ": " << trajectory.message;
      return trajectory;
    };
    const solve::Trajectory reference = end("projection", "dop853", 0.0);
    const std::size_t count = reference.columns.size();
    const auto error = [&](const solve::Trajectory& trajectory) {
      double largest = 0.0;
      for (std::size_t i = 0; i < count; ++i) {
        // Multipliers of redundant constraints are what they are chosen to be.
        if (redundant && trajectory.columns[i].starts_with("lambda")) continue;
        largest = std::max(largest, std::abs(trajectory.values[trajectory.values.size() - count + i] -
                                             reference.values[reference.values.size() - count + i]));
      }
      return largest;
    };
    const solve::Trajectory fine = end(chosen.formulation, chosen.method, 0.5 * chosen.step);
    const double coarse_error = error(end(chosen.formulation, chosen.method, chosen.step)), fine_error = error(fine);
    // Errors below 1e-10 are partly those of the reference.
    if (fine_error > 1e-10) {
      EXPECT_NEAR(std::log2(coarse_error / fine_error), chosen.order, 0.5) << problem.name << ", error " << fine_error;
    }
    EXPECT_LT(fine_error, 1e-2) << problem.name;
    if (chosen.formulation == "projection" || chosen.formulation == "index3") {
      EXPECT_LT(fine.constraints.relative[0], 1e-13) << problem.name;
    }
    if (chosen.formulation == "index2" || chosen.method.starts_with("rattle")) {
      EXPECT_LT(fine.constraints.relative[1], 1e-12) << problem.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, OnModels, testing::ValuesIn(combinations()), [](const auto& instance) {
  return letters(instance.param.formulation + "_" + instance.param.method);
});

}  // namespace
}  // namespace daedalus::integrate
