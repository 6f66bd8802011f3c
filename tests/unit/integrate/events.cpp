// The loop with events, on x'' = -x: x = sin t, v = cos t from (0, 1).
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::controlled;
using problems::run;
using std::numbers::pi;

System oscillator() {
  System system;
  system.dimension = 2;
  system.coordinates = 1;
  system.names = {"x", "der(x)"};
  system.ode = [](double, const double* x, double* dx) {
    dx[0] = x[1];
    dx[1] = -x[0];
    return Evaluation::ok;
  };
  return system;
}

/// Watches x = c for some c and keeps what happens.
struct Levels {
  std::vector<double> levels;
  std::vector<double> side;
  std::vector<std::pair<std::size_t, double>> seen;  ///< which, when
  std::vector<std::size_t> left;
  EventHooks hooks;

  explicit Levels(std::vector<double> at) : levels(std::move(at)), side(levels.size(), -1.0) {
    hooks.count = levels.size();
    hooks.begin = [this](double, double* x) {
      for (std::size_t i = 0; i < levels.size(); ++i) side[i] = x[0] < levels[i] ? -1.0 : 1.0;
      return Reaction{};
    };
    hooks.room = [this](double, const double* x, double* room) {
      for (std::size_t i = 0; i < levels.size(); ++i) room[i] = side[i] * (x[0] - levels[i]);
      return Evaluation::ok;
    };
    hooks.notice = [this](const Happening& happening) {
      left = *happening.left;
      return true;
    };
    hooks.react = [this](double t, double*) {
      for (const std::size_t i : left) {
        seen.emplace_back(i, t);
        side[i] = -side[i];
      }
      left.clear();
      return Reaction{};
    };
  }
};

TEST(Events, AreFoundInOrderWithinOneStep) {
  const System system = oscillator();
  // One step of length 1 has all of them. The polynomial of the step, of order 7, errs by less than h^8/8! = 2.5e-5,
  // and is the same for all.
  Levels watch({0.5, 0.1, 0.3, 0.2, 0.30000001});
  LoopOptions options = problems::fixed(1.0, 1.0);
  options.events = &watch.hooks;
  std::vector<double> x{0.0, 1.0};
  ASSERT_EQ(run("dop853", system, options, x).status, Status::done);
  const std::size_t order[] = {1, 3, 2, 4, 0};
  ASSERT_EQ(watch.seen.size(), 5U);
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_EQ(watch.seen[k].first, order[k]);
    EXPECT_NEAR(watch.seen[k].second, std::asin(watch.levels[order[k]]), 2.5e-5);
  }
}

TEST(Events, AreFoundToRoundOffOfTheDenseOutput) {
  const System system = oscillator();
  Levels watch({0.25});
  LoopOptions options = controlled(system, 100.0, 1e-13);
  options.events = &watch.hooks;
  std::vector<double> x{0.0, 1.0};
  ASSERT_EQ(run("dop853", system, options, x).status, Status::done);
  ASSERT_EQ(watch.seen.size(), 32U);
  for (std::size_t k = 0; k < watch.seen.size(); ++k) {
    const double turn = 2.0 * pi * static_cast<double>(k / 2), a = std::asin(0.25);
    // The phase drifts with the tolerance per unit of time.
    EXPECT_NEAR(watch.seen[k].second, turn + (k % 2 == 0 ? a : pi - a), 1e-13 * (1.0 + turn) * 10.0);
  }
}

TEST(Events, UnknownsBehindTheLeadingOnesFollowAProjection) {
  // y0' = 1, y1 = exp(y0): after one long step a polynomial has y1 with an error of 1e-4 inside, y0 without any.
  auto equations = std::make_shared<ImplicitSystem>();
  equations->pattern = {2, 2, {0, 1, 3}, {0, 0, 1}};
  equations->residual = [](double, const double* y, const double* dy, double* F) {
    F[0] = dy[0] - 1.0;
    F[1] = y[1] - std::exp(y[0]);
    return Evaluation::ok;
  };
  equations->jacobian = [](double, const double* y, const double*, double* F_y, double* F_dy) {
    F_y[0] = 0.0, F_y[1] = -std::exp(y[0]), F_y[2] = 1.0;
    F_dy[0] = 1.0, F_dy[1] = F_dy[2] = 0.0;
    return Evaluation::ok;
  };
  equations->differential = {true, false};
  equations->index = {0, 1};
  equations->system_index = 1;
  System system;
  system.dimension = 2;
  system.leading = 1;
  system.implicit = equations;
  system.project = [](double, double*) { return Evaluation::ok; };
  system.complete = [](double, double* y) {
    y[1] = std::exp(y[0]);
    return Evaluation::ok;
  };
  Levels watch({0.0});
  watch.hooks.room = [&](double, const double* y, double* room) {
    room[0] = watch.side[0] * (y[1] - 4.0);
    return Evaluation::ok;
  };
  watch.hooks.begin = [](double, double*) { return Reaction{}; };
  LoopOptions options = problems::fixed(2.0, 2.0);
  options.events = &watch.hooks;
  std::vector<double> y{0.0, 1.0};
  ASSERT_EQ(run("radau", system, options, y).status, Status::done);
  ASSERT_EQ(watch.seen.size(), 1U);
  EXPECT_NEAR(watch.seen[0].second, std::log(4.0), 1e-14);
}

TEST(Events, ShortDipsAreSeen) {
  const System system = oscillator();
  // x exceeds 1 - d for 2 sqrt(2 d) = 2.8e-3 around pi/2, between the samples of a step that is a hundred times longer.
  Levels watch({1.0 - 1e-6});
  LoopOptions options = problems::fixed(3.0, 0.5);
  options.events = &watch.hooks;
  std::vector<double> x{0.0, 1.0};
  ASSERT_EQ(run("dop853", system, options, x).status, Status::done);
  ASSERT_EQ(watch.seen.size(), 2U);
  // An error of 1e-10 in x moves a crossing with slope 1.4e-3 by 1e-7.
  EXPECT_NEAR(watch.seen[0].second, std::asin(1.0 - 1e-6), 1e-6);
  EXPECT_NEAR(watch.seen[1].second, pi - std::asin(1.0 - 1e-6), 1e-6);
}

TEST(Events, BackwardsInTimeComeInTheirOrder) {
  const System system = oscillator();
  Levels watch({-0.4, -0.2});
  LoopOptions options = controlled(system, -1.0, 1e-11);
  options.events = &watch.hooks;
  std::vector<double> x{0.0, 1.0};
  ASSERT_EQ(run("dop853", system, options, x).status, Status::done);
  ASSERT_EQ(watch.seen.size(), 2U);
  EXPECT_NEAR(watch.seen[0].second, std::asin(-0.2), 1e-10);
  EXPECT_NEAR(watch.seen[1].second, std::asin(-0.4), 1e-10);
}

TEST(Events, StepsEndAtKnownTimesAndOutputsShowWhatIsAfter) {
  const System system = oscillator();
  EventHooks hooks;
  hooks.begin = [](double, double*) { return Reaction{}; };
  hooks.next_time = [](double t) { return t < 0.3 ? 0.3 : t < 0.7 ? 0.7 : 99.0; };
  std::vector<double> times;
  hooks.react = [&](double t, double* x) {
    times.push_back(t);
    x[1] += 1.0;
    return Reaction{};
  };
  LoopOptions options = controlled(system, 1.0, 1e-10);
  options.events = &hooks;
  options.output_times = {0.0, 0.3, 0.5, 0.7, 1.0};
  std::vector<std::pair<double, double>> steps, outputs;
  Observer observer;
  observer.step = [&](double t, const double* x) { steps.emplace_back(t, x[1]); };
  observer.output = [&](double t, const double* x) { outputs.emplace_back(t, x[1]); };
  std::vector<double> x{0.0, 1.0};
  ASSERT_EQ(run("dop853", system, options, x, observer).status, Status::done);
  EXPECT_EQ(times, (std::vector<double>{0.3, 0.7}));
  ASSERT_EQ(outputs.size(), 5U);
  EXPECT_NEAR(outputs[1].second, std::cos(0.3) + 1.0, 1e-9);
  EXPECT_NEAR(outputs[2].second, std::cos(0.5) + std::cos(0.2), 1e-9);
  const double end = std::cos(1.0) + std::cos(0.7) + std::cos(0.3);
  EXPECT_NEAR(x[1], end, 1e-9);
  int both = 0;
  for (std::size_t k = 1; k < steps.size(); ++k)
    if (steps[k].first == steps[k - 1].first) {
      ++both;
      EXPECT_NEAR(steps[k].second - steps[k - 1].second, 1.0, 1e-15);
    }
  EXPECT_EQ(both, 2);
}

TEST(Events, MayEndTheRun) {
  const System system = oscillator();
  Levels watch({0.5});
  watch.hooks.react = [](double, double* x) {
    x[0] = 7.0;
    return Reaction{Reaction::Kind::stop, Status::stopped, "enough"};
  };
  LoopOptions options = controlled(system, 3.0, 1e-10);
  options.events = &watch.hooks;
  std::vector<double> x{0.0, 1.0};
  const LoopResult result = run("dop853", system, options, x);
  EXPECT_EQ(result.status, Status::stopped);
  EXPECT_EQ(result.message, "enough");
  EXPECT_NEAR(result.t, pi / 6.0, 1e-9);
  EXPECT_EQ(x[0], 7.0);
}

TEST(Events, ThatGoOnForEverAtOneMomentEndTheRun) {
  const System system = oscillator();
  Levels watch({0.5});
  watch.hooks.react = [](double, double*) { return Reaction{}; };  // does not get away
  LoopOptions options = controlled(system, 3.0, 1e-10);
  options.events = &watch.hooks;
  std::vector<double> x{0.0, 1.0};
  EXPECT_EQ(run("dop853", system, options, x).status, Status::too_many_events);
}

TEST(Events, NothingWatchedChangesNothing) {
  const System system = problems::kepler();
  std::vector<double> plain = problems::kepler_solution(0.0), watched = plain;
  LoopOptions options = controlled(system, 6.0, 1e-9);
  const LoopResult without = run("dop853", system, options, plain);
  EventHooks hooks;
  hooks.begin = [](double, double*) { return Reaction{}; };
  options.events = &hooks;
  const LoopResult with = run("dop853", system, options, watched);
  EXPECT_EQ(plain, watched);
  EXPECT_EQ(without.stats.rhs, with.stats.rhs);
}

}  // namespace
}  // namespace daedalus::integrate
