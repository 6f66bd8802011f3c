#include "daedalus/integrate/loop.hpp"

#include <gtest/gtest.h>

#include "daedalus/base/check.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::controlled;
using problems::distance;
using problems::fixed;
using problems::growth;
using problems::kepler;
using problems::kepler_solution;
using problems::run;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Loop, BackwardInTimeReturns) {
  std::vector<double> x = kepler_solution(0.0);
  const LoopOptions there = controlled(kepler(), 5.0, 1e-10);
  ASSERT_EQ(run("dop853", kepler(), there, x).status, Status::done);
  const double error = distance(x, kepler_solution(5.0));
  LoopOptions back = controlled(kepler(), 0.0, 1e-10);
  back.t_start = 5.0;
  back.output_times = {5.0, 4.0, 2.5, 0.0};
  std::vector<double> times;
  Observer observer;
  observer.output = [&](double t, const double* row) {
    times.push_back(t);
    EXPECT_LT(distance(std::vector<double>(row, row + 5), kepler_solution(t)), 20.0 * error);
  };
  const LoopResult result = run("dop853", kepler(), back, x, observer);
  ASSERT_EQ(result.status, Status::done);
  EXPECT_EQ(result.t, 0.0);
  EXPECT_EQ(times, back.output_times);
  // Errors on an ellipse grow linearly: there and back, twice, each way at most twice that of the other.
  EXPECT_LT(distance(x, kepler_solution(0.0)), 20.0 * error);
}

TEST(Loop, FirstStepIsTakenAndMaxStepObeyed) {
  LoopOptions options = controlled(kepler(), 3.0, 1e-6);
  options.first_step = 1e-3;
  options.max_step = 0.05;
  std::vector<double> times, x = kepler_solution(0.0);
  Observer observer;
  observer.step = [&](double t, const double*) { times.push_back(t); };
  const LoopResult result = run("dop853", kepler(), options, x, observer);
  ASSERT_EQ(result.status, Status::done);
  ASSERT_EQ(times.size(), result.stats.steps + 1);
  EXPECT_EQ(times[1], 1e-3);
  EXPECT_EQ(times.back(), 3.0);
  for (std::size_t i = 1; i < times.size(); ++i) EXPECT_LE(times[i] - times[i - 1], 0.05 * (1 + 1e-13)) << i;
  EXPECT_LE(result.stats.steps, 64u);  // 60 of the longest, and the growth from 1e-3 by 6 in two or three
}

/// Says what it is told to say about its errors and keeps the steps it is asked for.
class Recited final : public Stepper {
 public:
  Recited(std::vector<double> errors, double memory) : errors_(std::move(errors)), memory_(memory) {}
  Evaluation start(double t, const double*) override {
    t_ = t;
    return Evaluation::ok;
  }
  Attempt attempt(double h, const Tolerance*) override {
    steps.push_back(h);
    Attempt result;
    result.error = errors_[std::min(steps.size(), errors_.size()) - 1];
    result.memory = memory_;
    return result;
  }
  double* candidate() override { return &x_; }
  Evaluation accepted(double t_next) override {
    t_ = t_next;
    return Evaluation::ok;
  }
  Evaluation replace_state(const double*) override { return Evaluation::ok; }
  Evaluation interpolate(double, double* x) override {
    *x = x_;
    return Evaluation::ok;
  }
  const double* state() const override { return &x_; }

  std::vector<double> steps;

 private:
  std::vector<double> errors_;
  double memory_, x_ = 1.0;
};

// h_new = h 0.9 err^(-1/q + 0.75 beta) err_0^beta after a good step, err_0 the error of the good step before it, 1e-4 at
// least and at first; after a refused one err_0 does not count, and the step after the next does not grow.
TEST(Loop, StepsFollowTheControlLaw) {
  const System system = growth(0.0);
  const IntegratorEntry& method = integrator("dop853");
  for (const double beta : {0.0, 0.04}) {
    Recited stepper({0.5, 0.2, 3.0, 0.8, 0.3, 0.5}, beta);
    LoopOptions options = controlled(system, 1.0, 1e-6);
    options.first_step = 1e-3;
    options.max_steps = 6;
    std::vector<double> x{1.0};
    ASSERT_EQ(integrate(system, method, stepper, options, {}, x).status, Status::too_many_steps);
    const auto factor = [&](double error, double before) {
      return method.safety * std::pow(error, -1.0 / 8.0 + 0.75 * beta) * std::pow(before, beta);
    };
    const std::vector<double> expected{factor(0.5, 1e-4), factor(0.2, 0.5), factor(3.0, 1.0),
                                       std::min(factor(0.8, 0.2), 1.0), factor(0.3, 0.8)};
    ASSERT_EQ(stepper.steps.size(), 6u);
    // Times are rounded to 1e-16 and steps are 1e-3.
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(stepper.steps[i + 1] / stepper.steps[i], expected[i], 1e-12) << beta << " " << i;
  }
}

// What PI control is for: where the size of the solution's derivatives changes all the time, fewer steps are refused.
TEST(Loop, PiControlRefusesFewerSteps) {
  const auto run_with = [](const char* beta) {
    const System system = kepler();
    const IntegratorEntry& method = integrator("dopri5");
    const Options options(Choice{"dopri5", {{"beta", beta}}}, method.options);
    const auto stepper = make_stepper(method, system, options, Control::adaptive);
    std::vector<double> x = kepler_solution(0.0, 0.9);
    return integrate(system, method, *stepper, controlled(system, 100.0, 1e-7), {}, x).stats;
  };
  const Stats plain = run_with("0"), smooth = run_with("0.04");
  EXPECT_LT(smooth.rejected, plain.rejected);
  EXPECT_LT(static_cast<double>(smooth.rhs), 1.1 * static_cast<double>(plain.rhs));
}

TEST(Loop, NoTinyLastStep) {
  for (const double t_end : {2.9, 3.0, 3.1, 3.2, 3.3}) {
    std::vector<double> times, x = kepler_solution(0.0);
    Observer observer;
    observer.step = [&](double t, const double*) { times.push_back(t); };
    ASSERT_EQ(run("dop853", kepler(), controlled(kepler(), t_end, 1e-8), x, observer).status, Status::done);
    const std::size_t last = times.size() - 1;
    ASSERT_GE(last, 3u);
    EXPECT_EQ(times[last], t_end);
    // Two equal last steps are at least half of the regular one, and that is similar to its predecessor.
    EXPECT_GT(times[last] - times[last - 1], 0.3 * (times[last - 1] - times[last - 2]));
  }
}

TEST(Loop, FixedStepsDoNotAccumulateRoundOff) {
  std::vector<double> times, x{1.0};
  Observer observer;
  observer.step = [&](double t, const double*) { times.push_back(t); };
  const LoopResult result = run("rk4", growth(-1.0), fixed(10.0, 0.025), x, observer);
  EXPECT_EQ(result.stats.steps, 400u);
  EXPECT_EQ(result.stats.rhs, 1600u);
  ASSERT_EQ(times.size(), 401u);
  for (std::size_t k = 0; k < 400; ++k) EXPECT_EQ(times[k], static_cast<double>(k) * 0.025);
  EXPECT_EQ(times.back(), 10.0);
}

TEST(Loop, FixedStepThatDoesNotDivideEndsWithAShorterOne) {
  std::vector<double> times, x{1.0};
  Observer observer;
  observer.step = [&](double t, const double*) { times.push_back(t); };
  run("rk4", growth(-1.0), fixed(1.0, 0.3), x, observer);
  EXPECT_EQ(times, (std::vector<double>{0.0, 0.3, 0.6, 3 * 0.3, 1.0}));
  times.clear();
  run("rk4", growth(-1.0), fixed(1.0, 5.0), x, observer);
  EXPECT_EQ(times, (std::vector<double>{0.0, 1.0}));
}

TEST(Loop, MethodWithoutEstimateDoublesItsSteps) {
  std::vector<double> x{1.0};
  const LoopResult result = run("rk4", growth(-1.0), controlled(growth(-1.0), 1.0, 1e-6), x);
  EXPECT_EQ(result.status, Status::done);
  // Some ten steps of at most the tolerance each, on a way on which errors decay.
  EXPECT_NEAR(x[0], std::exp(-1.0), 1e-5);
}

TEST(Loop, OutputTimesDoNotChangeTheSteps) {
  std::vector<double> plain = kepler_solution(0.0), sampled = plain;
  const LoopResult without = run("dop853", kepler(), controlled(kepler(), 6.0, 1e-8), plain);
  LoopOptions options = controlled(kepler(), 6.0, 1e-8);
  for (int i = 0; i <= 200; ++i) options.output_times.push_back(6.0 * i / 200);
  std::vector<double> times;
  double largest = 0.0;
  Observer observer;
  observer.output = [&](double t, const double* row) {
    times.push_back(t);
    largest = std::max(largest, distance(std::vector<double>(row, row + 5), kepler_solution(t)));
  };
  const LoopResult with = run("dop853", kepler(), options, sampled, observer);
  EXPECT_EQ(with.stats.steps, without.stats.steps);
  EXPECT_EQ(with.stats.rejected, without.stats.rejected);
  EXPECT_EQ(sampled, plain);
  EXPECT_EQ(times, options.output_times);
  EXPECT_GT(with.stats.rhs, without.stats.rhs);
  EXPECT_LE(with.stats.rhs, without.stats.rhs + 3 * with.stats.steps);
  // The dense output has order 7 against 8: at this tolerance its error is of the size of the global one.
  EXPECT_LT(largest, 1e-6);
}

TEST(Loop, OutputAtAStepEndIsTheStep) {
  std::vector<double> x{1.0}, ends, rows;
  LoopOptions options = fixed(1.0, 0.25);
  options.output_times = {0.0, 0.25, 0.5, 0.75, 1.0};
  Observer observer;
  observer.step = [&](double, const double* state) { ends.push_back(*state); };
  observer.output = [&](double, const double* row) { rows.push_back(*row); };
  const LoopResult result = run("rk4", growth(-1.0), options, x, observer);
  EXPECT_EQ(rows, ends);
  EXPECT_EQ(result.stats.rhs, 16u);  // no interpolation took place
}

TEST(Loop, CountsEveryEvaluation) {
  System system = kepler();
  std::size_t calls = 0;
  system.ode = [&calls, inner = system.ode](double t, const double* x, double* dx) {
    ++calls;
    return inner(t, x, dx);
  };
  LoopOptions options = controlled(system, 6.0, 1e-8);
  options.output_times = {1.0, 2.0, 3.0};
  std::vector<double> x = kepler_solution(0.0);
  Observer observer;
  observer.output = [](double, const double*) {};
  const LoopResult result = run("dop853", system, options, x, observer);
  EXPECT_EQ(result.stats.rhs, calls);
  // 12 per step, 11 per rejected one, one at the start, one for the first step, three per interpolated step.
  EXPECT_EQ(calls, 12 * result.stats.steps + 11 * result.stats.rejected + 2 + 9);
}

TEST(Loop, ZeroLengthIntervalDeliversTheStart) {
  LoopOptions options = controlled(kepler(), 0.0, 1e-8);
  options.output_times = {0.0};
  std::vector<double> x = kepler_solution(0.0);
  int steps = 0, outputs = 0;
  Observer observer;
  observer.step = [&](double, const double*) { ++steps; };
  observer.output = [&](double, const double*) { ++outputs; };
  const LoopResult result = run("dop853", kepler(), options, x, observer);
  EXPECT_EQ(result.status, Status::done);
  EXPECT_EQ(result.stats.steps, 0u);
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(outputs, 1);
}

TEST(Loop, EmptySystemRuns) {
  System system;
  system.ode = [](double, const double*, double*) { return Evaluation::ok; };
  std::vector<double> x;
  const LoopResult result = run("dop853", system, controlled(system, 1.0, 1e-6), x);
  EXPECT_EQ(result.status, Status::done);
  EXPECT_EQ(result.t, 1.0);
}

TEST(Loop, AtRestTheStepGrows) {
  System system = growth(0.0);
  std::vector<double> x{0.0};
  const LoopResult result = run("dop853", system, controlled(system, 1000.0, 1e-6), x);
  EXPECT_EQ(result.status, Status::done);
  // From 1e-6 by the factor 6 in each step: 1e-6 (6^n - 1)/5 = 1000 for n = 12.5; the last step may be halved.
  EXPECT_LE(result.stats.steps, 14u);
}

/// x' = -sqrt(1 - t), which has no value after t = 1.
System leaking() {
  System system;
  system.dimension = 1;
  system.names = {"level"};
  system.ode = [](double t, const double*, double* dx) {
    dx[0] = -std::sqrt(1.0 - t);
    return std::isfinite(dx[0]) ? Evaluation::ok : Evaluation::not_finite;
  };
  system.explain = [] { return std::string("der(level) is not finite"); };
  return system;
}

TEST(Loop, FailingRightHandSideKeepsWhatWasDelivered) {
  LoopOptions options = controlled(leaking(), 2.0, 1e-8);
  options.output_times = {0.0, 0.5, 0.9, 0.99, 1.5};
  std::vector<double> times, x{1.0};
  Observer observer;
  observer.output = [&](double t, const double* row) {
    times.push_back(t);
    // x = 1 - 2/3 (1 - (1 - t)^(3/2))
    EXPECT_NEAR(*row, 1.0 - 2.0 / 3.0 * (1.0 - std::pow(1.0 - t, 1.5)), 1e-6);
  };
  const LoopResult result = run("dop853", leaking(), options, x, observer);
  EXPECT_EQ(result.status, Status::not_finite);
  EXPECT_TRUE(contains(result.message, "der(level) is not finite")) << result.message;
  EXPECT_TRUE(contains(result.message, "t = 1")) << result.message;
  EXPECT_NEAR(result.t, 1.0, 1e-12);
  EXPECT_LE(result.t, 1.0);
  EXPECT_EQ(times, (std::vector<double>{0.0, 0.5, 0.9, 0.99}));
  EXPECT_NEAR(x[0], 1.0 / 3.0, 1e-6);
  EXPECT_LT(result.stats.steps + result.stats.rejected, 1000u);
}

TEST(Loop, FailingRightHandSideEndsAFixedStepRunAtOnce) {
  std::vector<double> x{1.0};
  const LoopResult result = run("rk4", leaking(), fixed(2.0, 0.3), x);
  EXPECT_EQ(result.status, Status::not_finite);
  EXPECT_EQ(result.stats.steps, 3u);
  EXPECT_NEAR(result.t, 0.9, 1e-15);
  EXPECT_TRUE(contains(result.message, "from t = 0.9 to t = 1.2")) << result.message;
}

TEST(Loop, NumberThatIsNotFiniteIsNeverDelivered) {
  System system = growth(1.0);
  system.ode = [](double t, const double* x, double* dx) {
    dx[0] = t > 0.5 ? std::nan("") : x[0];
    return Evaluation::ok;
  };
  std::vector<double> x{1.0};
  Observer observer;
  observer.step = [](double, const double* state) { EXPECT_TRUE(std::isfinite(*state)); };
  for (const LoopOptions& options : {controlled(system, 1.0, 1e-6), fixed(1.0, 0.1)}) {
    x = {1.0};
    const LoopResult result = run("dop853", system, options, x, observer);
    EXPECT_EQ(result.status, Status::not_finite);
    EXPECT_NEAR(result.t, 0.5, 0.11);
    EXPECT_TRUE(std::isfinite(x[0]));
  }
  x = {std::nan("")};
  EXPECT_EQ(run("dop853", growth(1.0), controlled(system, 1.0, 1e-6), x).status, Status::not_finite);
}

TEST(Loop, BlowUpEndsWithTheStepTooSmallAndNamesTheUnknown) {
  // x' = x^2 from 1 has a pole at t = 1.
  System system = growth(1.0);
  system.dimension = 2;
  system.names = {"calm", "wild"};
  system.ode = [](double, const double* x, double* dx) {
    dx[0] = 1.0;
    dx[1] = x[1] * x[1];
    return Evaluation::ok;
  };
  std::vector<double> x{0.0, 1.0};
  const LoopResult result = run("dop853", system, controlled(system, 2.0, 1e-6), x);
  EXPECT_EQ(result.status, Status::step_too_small) << result.message;
  EXPECT_TRUE(contains(result.message, "'wild'")) << result.message;
  EXPECT_TRUE(contains(result.message, "t = 1")) << result.message;
  EXPECT_NEAR(result.t, 1.0, 1e-6);
}

TEST(Loop, TooManySteps) {
  LoopOptions options = controlled(kepler(), 1000.0, 1e-8);
  options.max_steps = 50;
  std::vector<double> x = kepler_solution(0.0);
  const LoopResult result = run("dop853", kepler(), options, x);
  EXPECT_EQ(result.status, Status::too_many_steps);
  EXPECT_EQ(result.stats.steps + result.stats.rejected, 50u);
  EXPECT_TRUE(contains(result.message, "50 steps")) << result.message;
  EXPECT_TRUE(contains(result.message, "max-steps")) << result.message;
}

TEST(Loop, InterruptEndsTheRun) {
  std::vector<double> x = kepler_solution(0.0);
  int asked = 0, steps = 0;
  Observer observer;
  observer.interrupt = [&] { return ++asked > 7; };
  observer.step = [&](double, const double*) { ++steps; };
  const LoopResult result = run("dop853", kepler(), fixed(10.0, 0.1), x, observer);
  EXPECT_EQ(result.status, Status::interrupted);
  EXPECT_EQ(result.stats.steps, 7u);
  EXPECT_EQ(steps, 8);
  EXPECT_NEAR(result.t, 0.7, 1e-15);
  EXPECT_LT(distance(x, kepler_solution(0.7)), 1e-9);
}

TEST(Loop, ProgressIsRare) {
  std::vector<double> x{1.0};
  int calls = 0;
  Observer observer;
  observer.progress = [&](double, double h) {
    ++calls;
    EXPECT_DOUBLE_EQ(h, 0.001);
  };
  run("rk4", growth(-1.0), fixed(1.0, 0.001), x, observer);
  EXPECT_EQ(calls, 1000 / 64);
}

TEST(Loop, StiffProblemGetsOneNote) {
  // x' = -1e4 (x - cos t): a smooth solution and a fast decay towards it.
  System system = growth(0.0);
  system.ode = [](double t, const double* x, double* dx) {
    dx[0] = -1e4 * (x[0] - std::cos(t));
    return Evaluation::ok;
  };
  std::vector<double> x{1.0};
  const LoopResult result = run("dop853", system, controlled(system, 1.0, 1e-6), x);
  ASSERT_EQ(result.status, Status::done);
  ASSERT_EQ(result.notes.size(), 1u);
  EXPECT_TRUE(contains(result.notes[0], "looks stiff at t = ")) << result.notes[0];
  EXPECT_TRUE(contains(result.notes[0], "implicit")) << result.notes[0];
  // x = cos t + 1e-4 sin t + O(1e-8); near the bound of stability the error stays of the size of the tolerance.
  EXPECT_NEAR(x[0], std::cos(1.0) + 1e-4 * std::sin(1.0), 1e-5);
}

TEST(Loop, OrdinaryProblemGetsNoNote) {
  for (const double tolerance : {1e-3, 1e-6, 1e-12}) {
    std::vector<double> x = kepler_solution(0.0);
    EXPECT_TRUE(run("dop853", kepler(), controlled(kepler(), 100.0, tolerance), x).notes.empty());
  }
}

/// A point on the unit circle driven around it, with a slow drift that the projection must remove.
System circle() {
  System system;
  system.dimension = 2;
  system.ode = [](double, const double* x, double* dx) {
    dx[0] = -x[1] + 1e-3 * x[0];
    dx[1] = x[0] + 1e-3 * x[1];
    return Evaluation::ok;
  };
  system.project = [](double, double* x) {
    const double r = std::hypot(x[0], x[1]);
    x[0] /= r;
    x[1] /= r;
    return Evaluation::ok;
  };
  return system;
}

TEST(Loop, ProjectionHoldsInEveryStepAndRow) {
  const System system = circle();
  for (const std::string method : {"dop853", "rk4"}) {
    LoopOptions options = method == "rk4" ? fixed(10.0, 0.1) : controlled(system, 10.0, 1e-6);
    for (int i = 0; i <= 37; ++i) options.output_times.push_back(10.0 * i / 37);
    std::size_t rows = 0;
    const auto check = [&](double, const double* x) {
      EXPECT_NEAR(std::hypot(x[0], x[1]), 1.0, 4e-16);
      ++rows;
    };
    Observer observer;
    observer.step = observer.output = check;
    std::vector<double> x{1.0, 0.0};
    const LoopResult result = run(method, system, options, x, observer);
    ASSERT_EQ(result.status, Status::done);
    EXPECT_EQ(rows, 38 + result.stats.steps + 1);
    EXPECT_GE(result.stats.projections, result.stats.steps + 36);
    // The angle is t up to the method's error: rk4 makes h^4/120 per unit of time, 1e-5 in all.
    EXPECT_NEAR(x[0], std::cos(10.0), 2e-5) << method;
  }
}

TEST(Loop, FailingProjectionShrinksTheStepOrEndsTheRun) {
  System system = circle();
  int failures = 0;
  system.project = [&failures, inner = system.project](double t, double* x) {
    if (failures > 0) return inner(t, x);
    ++failures;
    return Evaluation::no_convergence;
  };
  std::vector<double> x{1.0, 0.0};
  LoopResult result = run("dop853", system, controlled(system, 1.0, 1e-6), x);
  EXPECT_EQ(result.status, Status::done);
  EXPECT_GE(result.stats.rejected, 1u);
  failures = 0;
  x = {1.0, 0.0};
  result = run("dop853", system, fixed(1.0, 0.1), x);
  EXPECT_EQ(result.status, Status::no_convergence);
  EXPECT_EQ(result.t, 0.0);
  EXPECT_EQ(x, (std::vector<double>{1.0, 0.0}));
}

TEST(Loop, OutputTimesMustBeOrderedAndInside) {
  std::vector<double> x{1.0};
  LoopOptions options = fixed(1.0, 0.1);
  options.output_times = {0.5, 0.2};
  EXPECT_THROW(run("rk4", growth(1.0), options, x), InternalError);
  options.output_times = {0.5, 1.2};
  EXPECT_THROW(run("rk4", growth(1.0), options, x), InternalError);
}

}  // namespace
}  // namespace daedalus::integrate
