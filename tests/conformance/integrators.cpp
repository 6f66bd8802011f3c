// Every method of the table does what its entry says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "conformance/allocations.hpp"
#include "daedalus/base/check.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::distance;
using problems::kepler;
using problems::kepler_solution;
using problems::make_stepper;

class Integrators : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const bool needs_ode = std::string(testing::UnitTest::GetInstance()->current_test_info()->name()).find("Entry") != 0;
    if (needs_ode && !takes(method(), kepler())) GTEST_SKIP() << method().name << " takes no ODE and has tests of its own";
  }

  const IntegratorEntry& method() const { return integrator(GetParam()); }

  LoopResult run(const LoopOptions& options, std::vector<double>& x, const Observer& observer = {}) const {
    return problems::run(GetParam(), kepler(), options, x, observer);
  }

  /// The equations of a long implicit step need not have a solution. Those of Euler's method come down to
  /// r + h^2 / r^2 = |q + h v|, which has no positive root at once where h > 0.39, and before t = 2 where h = 0.125, when
  /// its spiral has fallen in.
  bool unsolvable(bool no_convergence, double h) const { return method().implicit && no_convergence && h > 0.1; }
};

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Observed orders log2(e(h)/e(h/2)) of a sequence of errors for h, h/2, h/4, ...: that of the finest pair whose errors
/// are neither disturbed by round-off (the floor) nor outside the asymptotic range (the ceiling).
double observed_order(const std::vector<double>& errors, double floor, double ceiling) {
  double order = 0.0;
  for (std::size_t i = 1; i < errors.size(); ++i) {
    if (errors[i] > floor && errors[i - 1] < ceiling) order = std::log2(errors[i - 1] / errors[i]);
  }
  return order;
}

// Orders are whole numbers: this leaves the neighbours three times as far away. It corresponds to a next power of h
// that is a third of the leading one at the finest usable pair: log2((1 + 1/3) / (1 + 1/6)) = 0.19.
constexpr double order_slack = 0.25;

/// The order that three halvings of the step show: of the finest pair, where the error before it is below a tenth of the
/// ellipse and the error after it above 1000 round-offs; 0 where there are not four such errors. Each of the N steps rounds
/// with an error uniform in +-eps/2: round-off is eps sqrt(N/12).
double order_after_three_halvings(const std::vector<double>& errors, int first_steps) {
  double order = 0.0, steps = first_steps;
  int usable = 0;
  for (std::size_t i = 0; i < errors.size(); ++i, steps *= 2.0) {
    const double floor = 1000.0 * std::numeric_limits<double>::epsilon() * std::sqrt(steps / 12.0);
    if (errors[i] < floor) break;
    if (errors[i] > 0.1) continue;
    if (++usable >= 4) order = std::log2(errors[i - 1] / errors[i]);
  }
  return order;
}

TEST_P(Integrators, EntryIsComplete) {
  EXPECT_EQ(method().name.find('_'), std::string::npos);
  EXPECT_FALSE(method().summary.empty());
  EXPECT_FALSE(method().citation.empty());
  EXPECT_FALSE(method().accepts.empty());
  EXPECT_GT(method().stages, 0);
  EXPECT_GE(method().dense_order, 1);
  if (method().adaptive) {
    EXPECT_GT(method().estimate_order, 0);
  }
  if (method().tableau) {
    EXPECT_EQ(method().tableau->b.size(), static_cast<std::size_t>(method().stages));
    EXPECT_EQ(method().tableau->c.size(), method().tableau->b.size());
    EXPECT_EQ(method().tableau->a.size(), method().tableau->b.size());
  }
}

TEST_P(Integrators, OrderIsAsDeclared) {
  // Methods of order 1 turn the ellipse into a spiral on a whole turn.
  const double t_end = method().order == 1 ? 2.0 : 6.0;
  constexpr int first_steps = 8;
  std::vector<double> errors;
  for (int steps = first_steps; steps <= 4096; steps *= 2) {
    // The largest error of the whole way: at a single time the error of one h may happen to vanish.
    double largest = 0.0;
    Observer observer;
    observer.step = [&](double t, const double* x) {
      largest = std::max(largest, distance(kepler_solution(t), std::vector<double>(x, x + 5)));
    };
    std::vector<double> start = kepler_solution(0.0);
    const Status status = run(problems::fixed(t_end, t_end / steps), start, observer).status;
    // Long implicit steps need not have a solution; four shorter ones in a row must.
    if (method().implicit && status == Status::no_convergence) {
      errors.push_back(infinity);
      continue;
    }
    ASSERT_EQ(status, Status::done);
    errors.push_back(largest);
  }
  const double order = order_after_three_halvings(errors, first_steps);
  RecordProperty("measured_order", std::to_string(order));
  if (method().order <= 6)
    EXPECT_NEAR(order, method().order, 0.1);
  else
    EXPECT_GT(order, method().order - 0.3);
}

TEST_P(Integrators, DenseOrderIsAsDeclared) {
  const System system = kepler();
  const double t0 = 0.4;
  std::vector<double> errors, row(system.dimension);
  for (double h = 0.8; h > 1e-3; h *= 0.5) {
    const std::unique_ptr<Stepper> stepper = make_stepper(method(), system);
    ASSERT_EQ(stepper->start(t0, kepler_solution(t0).data()), Evaluation::ok);
    const Evaluation outcome = stepper->attempt(h, nullptr).outcome;
    if (unsolvable(outcome == Evaluation::no_convergence, h)) {
      errors.push_back(infinity);
      continue;
    }
    ASSERT_EQ(outcome, Evaluation::ok);
    ASSERT_EQ(stepper->accepted(t0 + h), Evaluation::ok);
    double largest = 0.0;
    for (int i = 1; i < 10; ++i) {
      ASSERT_EQ(stepper->interpolate(0.1 * i, row.data()), Evaluation::ok);
      largest = std::max(largest, distance(row, kepler_solution(t0 + 0.1 * i * h)));
    }
    errors.push_back(largest);
  }
  // One step has a round-off of 1e-15.
  const double order = observed_order(errors, 1e-14, 1e-2);
  if (method().dense_order <= 6)
    EXPECT_NEAR(order, method().dense_order + 1, order_slack);
  else
    EXPECT_GT(order, method().dense_order + 1 - order_slack);
}

TEST_P(Integrators, InterpolantEndsAtTheProjectedState) {
  const System system = kepler();
  const std::vector<double> begin = kepler_solution(0.0);
  const std::unique_ptr<Stepper> stepper = make_stepper(method(), system);
  ASSERT_EQ(stepper->start(0.0, begin.data()), Evaluation::ok);
  ASSERT_EQ(stepper->attempt(0.1, nullptr).outcome, Evaluation::ok);
  for (std::size_t i = 0; i < system.dimension; ++i) stepper->candidate()[i] += 1e-3 * static_cast<double>(i + 1);
  const std::vector<double> end(stepper->candidate(), stepper->candidate() + system.dimension);
  ASSERT_EQ(stepper->accepted(0.1), Evaluation::ok);
  EXPECT_EQ(std::vector<double>(stepper->state(), stepper->state() + system.dimension), end);

  // Sums of a few terms of size 1: some units of round-off 1.1e-16.
  std::vector<double> row(system.dimension), near(system.dimension), slope(system.dimension);
  ASSERT_EQ(stepper->interpolate(0.0, row.data()), Evaluation::ok);
  EXPECT_LE(distance(row, begin), 1e-15);
  ASSERT_EQ(stepper->interpolate(1.0, row.data()), Evaluation::ok);
  EXPECT_LE(distance(row, end), 1e-15);

  // The slope at the end is that of the system at the projected state. A difference quotient over 1e-6 of the step
  // errs by 1e-6 h |x''| / 2 < 1e-6, the second derivative of the correction by 1e-3 / h included, and by round-off
  // 1e-16 / 1e-7.
  const double theta = 1.0 - 1e-6;
  ASSERT_EQ(stepper->interpolate(theta, near.data()), Evaluation::ok);
  system.ode(0.1, end.data(), slope.data());
  for (std::size_t i = 0; i < system.dimension; ++i) EXPECT_NEAR((row[i] - near[i]) / 1e-7, slope[i], 2e-6) << i;
}

TEST_P(Integrators, AllocatesNothingPerStep) {
  const auto allocations = [&](const LoopOptions& options) {
    const System system = kepler();
    const std::unique_ptr<Stepper> stepper =
        make_stepper(method(), system, options.step ? Control::fixed : Control::adaptive);
    std::vector<double> x = kepler_solution(0.0);
    std::size_t rows = 0, steps = 0;
    Observer observer;
    observer.step = [&](double, const double*) { ++steps; };
    observer.output = [&](double, const double*) { ++rows; };
    const std::size_t before = allocations::counted();
    const LoopResult result = integrate(system, method(), *stepper, options, observer, x);
    const std::size_t after = allocations::counted();
    EXPECT_EQ(result.status, Status::done);
    EXPECT_EQ(rows, 3u);
    return std::pair(after - before, steps);
  };
  const auto with_outputs = [](LoopOptions options) {
    options.output_times = {0.1 * options.t_end, 0.5 * options.t_end, options.t_end};
    return options;
  };
  allocations(with_outputs(problems::fixed(0.01, 0.001)));  // coefficients that are computed once in a process
  const auto [few, short_run] = allocations(with_outputs(problems::fixed(0.01, 0.001)));
  const auto [many, long_run] = allocations(with_outputs(problems::fixed(1.0, 0.001)));
  EXPECT_EQ(long_run, 100 * (short_run - 1) + 1);
  EXPECT_EQ(few, many);
  // Methods of low order take a thousand times more steps for the same tolerance.
  const double tolerance = method().order >= 5 ? 1e-9 : 1e-6;
  const auto [few_controlled, short_controlled] =
      allocations(with_outputs(problems::controlled(kepler(), 3.0, tolerance)));
  const auto [many_controlled, long_controlled] =
      allocations(with_outputs(problems::controlled(kepler(), method().order >= 3 ? 100.0 : 30.0, tolerance)));
  EXPECT_GT(long_controlled, 3 * short_controlled);
  EXPECT_EQ(few_controlled, many_controlled);
}

TEST_P(Integrators, SameRunTwiceIsTheSameToTheLastBit) {
  const auto rows = [&](LoopOptions options) {
    options.output_times = {0.3, 1.1, 2.0};
    std::vector<double> all, x = kepler_solution(0.0);
    Observer observer;
    observer.output = [&](double t, const double* row) {
      all.push_back(t);
      all.insert(all.end(), row, row + 5);
    };
    EXPECT_EQ(run(options, x, observer).status, Status::done);
    return all;
  };
  EXPECT_EQ(rows(problems::fixed(2.0, 0.01)), rows(problems::fixed(2.0, 0.01)));
  EXPECT_EQ(rows(problems::controlled(kepler(), 2.0, 1e-5)), rows(problems::controlled(kepler(), 2.0, 1e-5)));
}

// Every method keeps a tolerance, by an estimate of its own or by step doubling: the error follows the tolerance, and dense
// output does, too.
TEST_P(Integrators, ErrorFollowsTheTolerance) {
  // A step may err by tol (1 + |x|) <= 3 tol. An error of the semi-axis a grows with the time t like 3 t/2, 9 on this way. So n
  // steps make at most 27 n tol; the estimate may be wrong by a factor of 2 where the tolerance is loose.
  const auto errors = [&](double tolerance) {
    LoopOptions options = problems::controlled(kepler(), 6.0, tolerance);
    for (int i = 1; i < 50; ++i) options.output_times.push_back(0.12 * i);
    double largest = 0.0;
    Observer observer;
    observer.output = [&](double t, const double* row) {
      largest = std::max(largest, distance(kepler_solution(t), std::vector<double>(row, row + 5)));
    };
    std::vector<double> x = kepler_solution(0.0);
    const LoopResult result = run(options, x, observer);
    EXPECT_EQ(result.status, Status::done) << result.message;
    EXPECT_LT(largest, 54.0 * tolerance * static_cast<double>(result.stats.steps)) << "between steps";
    EXPECT_LT(distance(x, kepler_solution(6.0)), 54.0 * tolerance * static_cast<double>(result.stats.steps));
    return largest;
  };
  // An error per step of tol makes a global one of tol^(p/(p+1)): for p = 1 a factor of 10 for 100.
  EXPECT_LT(errors(1e-6), 0.2 * errors(1e-4));
}

TEST_P(Integrators, BackwardRunReturns) {
  std::vector<double> x = kepler_solution(0.0);
  ASSERT_EQ(run(problems::fixed(2.0, 0.01), x).status, Status::done);
  const double there = distance(x, kepler_solution(2.0));
  LoopOptions back = problems::fixed(0.0, 0.01);
  back.t_start = 2.0;
  const LoopResult result = run(back, x);
  ASSERT_EQ(result.status, Status::done);
  EXPECT_EQ(result.t, 0.0);
  EXPECT_EQ(result.stats.steps, 200u);
  // The way back makes an error like the way there and carries that one along; on less than a third of the ellipse an
  // error grows by less than 5.
  EXPECT_LT(distance(x, kepler_solution(0.0)), 10.0 * there + 1e-13);
}

TEST_P(Integrators, RefusesWhatItCannotTake) {
  System empty;
  empty.dimension = 1;
  EXPECT_FALSE(takes(method(), empty));
  EXPECT_THROW(make_stepper(method(), empty), InternalError);
  const System first_order = problems::growth(-1.0);
  const bool suits = std::ranges::find(method().accepts, View::ode) != method().accepts.end();
  EXPECT_EQ(takes(method(), first_order), suits);
  if (!suits) {
    EXPECT_THROW(make_stepper(method(), first_order), InternalError);
  }
}

TEST_P(Integrators, FailureInsideAStepIsReported) {
  System system = kepler();
  system.ode = [inner = system.ode](double t, const double* x, double* dx) {
    return t > 0.995 ? Evaluation::singular : inner(t, x, dx);
  };
  system.series = [inner = system.series](double t, const double* x, std::size_t order, double* series) {
    return t > 0.995 ? Evaluation::singular : inner(t, x, order, series);
  };
  system.explain = [] { return std::string("the matrix of 'rod' is singular"); };
  std::vector<double> x = kepler_solution(0.0);
  double last = 0.0;
  Observer observer;
  observer.step = [&](double t, const double*) { last = t; };
  const LoopResult result = problems::run(GetParam(), system, problems::fixed(2.0, 0.1), x, observer);
  EXPECT_EQ(result.status, Status::singular);
  EXPECT_NE(result.message.find("the matrix of 'rod' is singular"), std::string::npos) << result.message;
  EXPECT_EQ(result.t, last);
  EXPECT_NEAR(result.t, 0.95, 0.06);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const IntegratorEntry& entry : integrators()) result.push_back(entry.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Table, Integrators, testing::ValuesIn(names()), [](const auto& instance) {
  std::string name = instance.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(IntegratorTable, NamesAreUniqueAndOrdered) {
  const std::vector<std::string> all = names();
  EXPECT_EQ(std::set(all.begin(), all.end()).size(), all.size());
  EXPECT_TRUE(std::ranges::is_sorted(all));
}

TEST(IntegratorTable, UnknownNameIsAnsweredWithTheNearest) {
  try {
    integrator("dop835");
    FAIL() << "accepted";
  } catch (const Error& error) {
    ASSERT_EQ(error.faults().size(), 1u);
    EXPECT_EQ(error.faults()[0].code, "unknown-method");
    EXPECT_NE(error.faults()[0].message.find("'dop835'"), std::string::npos);
    EXPECT_NE(error.faults()[0].advice.find("'dop853'"), std::string::npos);
  }
}

}  // namespace
}  // namespace daedalus::integrate
