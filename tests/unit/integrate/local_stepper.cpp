// A point on the unit circle at the angle t + 0.3 (1 - cos t), in coordinates x or y of which each is good on two quarters.

#include "daedalus/integrate/families/local_stepper.hpp"

#include <gtest/gtest.h>

#include "unit/integrate/multistep_problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::controlled;
using problems::fixed;
using problems::run;

double angle(double t) { return t + 0.3 * (1.0 - std::cos(t)); }

enum class Charts { change, stay };

/// Knows the point by one coordinate and the sign of the other.
struct Circle {
  explicit Circle(Charts given) : charts(given) {}

  static double rate(double t) { return 1.0 + 0.3 * std::sin(t); }

  Evaluation expand(std::size_t chart, const double* y, double* x) const {
    if (!(std::abs(y[0]) < 1.0)) return Evaluation::no_convergence;
    x[chart] = y[0];
    x[1 - chart] = std::copysign(std::sqrt((1.0 - y[0]) * (1.0 + y[0])), near[1 - chart]);
    return Evaluation::ok;
  }

  Charts charts;
  std::size_t used = 0, changes = 0;
  double near[2] = {1.0, 1.0};
};

System circle_system(const std::shared_ptr<Circle>& circle) {
  System system;
  system.dimension = 2;
  system.names = {"x", "y"};
  system.ode = [](double t, const double* x, double* dx) {
    dx[0] = -x[1] * Circle::rate(t);
    dx[1] = x[0] * Circle::rate(t);
    return Evaluation::ok;
  };
  LocalCoordinates local;
  local.choose = [circle](double, const double* x) {
    circle->used = std::abs(x[0]) < std::abs(x[1]) ? 0 : 1;
    return Evaluation::ok;
  };
  local.dimension = [] { return std::size_t{1}; };
  local.ode = [circle](double t, const double* y, double* dy) {
    double x[2];
    if (const Evaluation outcome = circle->expand(circle->used, y, x); outcome != Evaluation::ok) return outcome;
    dy[0] = (circle->used == 0 ? -x[1] : x[0]) * Circle::rate(t);
    return Evaluation::ok;
  };
  local.expand = [circle](double, const double* y, double* x) { return circle->expand(circle->used, y, x); };
  local.reduce = [circle](const double* x, double* y) { y[0] = x[circle->used]; };
  local.near = [circle](double, const double* x) { std::copy_n(x, 2, circle->near); };
  local.rechart = [circle](double, const double* x, double, LocalCoordinates::Change) {
    if (circle->charts == Charts::stay || std::abs(x[circle->used]) < 0.75) return false;
    circle->used = 1 - circle->used;
    ++circle->changes;
    return true;
  };
  local.transfer = [circle](double, const double* before, double* y) {
    double x[2];
    const Evaluation outcome = circle->expand(1 - circle->used, before, x);
    y[0] = x[circle->used];
    return outcome;
  };
  local.tolerances = [circle](double, const double*, const double* bound, double* of_y) { of_y[0] = bound[circle->used]; };
  local.component = [circle](std::size_t) { return circle->used; };
  local.describe = [circle] { return std::string(circle->used == 0 ? "x" : "y"); };
  system.local = std::make_shared<const LocalCoordinates>(local);
  return system;
}

struct Measured {
  LoopResult result;
  std::size_t changes = 0;
  double error = 0.0;   ///< at steps and outputs
  double length = 0.0;  ///< how far off the circle
};

Measured measure(const std::string& method, LoopOptions options, Charts charts = Charts::change) {
  auto circle = std::make_shared<Circle>(charts);
  const System system = circle_system(circle);
  for (int i = 0; i <= 97; ++i) options.output_times.push_back(options.t_end * i / 97.0);
  Measured measured;
  Observer observer;
  observer.step = observer.output = [&](double t, const double* x) {
    measured.error = std::max(measured.error, std::hypot(x[0] - std::cos(angle(t)), x[1] - std::sin(angle(t))));
    measured.length = std::max(measured.length, std::abs(std::hypot(x[0], x[1]) - 1.0));
  };
  std::vector<double> x{1.0, 0.0};
  if (!options.step) options.tolerance.atol.assign(2, options.tolerance.rtol);
  measured.result = run(method, system, options, x, observer);
  measured.changes = circle->changes;
  return measured;
}

LoopOptions to_tolerance(double t_end, double tolerance) {
  LoopOptions options;
  options.t_end = t_end;
  options.tolerance.rtol = tolerance;
  return options;
}

/// Two turns, so that every quarter is passed twice, with steps and output between them. Errors of the ends and of the
/// dense output are both seen, so the lower order of the two shows. Halved steps end up in other places of the charts, so
/// that the constant of the error varies; over two halvings that is less than half an order.
TEST(LocalStepper, MethodsKeepTheirOrderAcrossChanges) {
  const auto seen = [](const std::string& method, int steps) {
    const Measured measured = measure(method, fixed(12.0, 12.0 / steps));
    EXPECT_EQ(measured.result.status, Status::done) << method << ": " << measured.result.message;
    EXPECT_GE(measured.changes, 7u) << method;
    EXPECT_LE(measured.length, 4e-16) << method;
    return measured.error;
  };
  for (const auto& [method, steps] : std::vector<std::pair<std::string, int>>{{"explicit-euler", 400},
                                                                              {"rk4", 60},
                                                                              {"dopri5", 60},
                                                                              {"dop853", 40},
                                                                              {"implicit-midpoint", 100},
                                                                              {"radau", 40},
                                                                              {"rodas5p", 60},
                                                                              {"bdf", 150},
                                                                              {"mebdf", 150}}) {
    const IntegratorEntry& entry = integrator(method);
    const double order = std::log2(seen(method, steps) / seen(method, 4 * steps)) / 2.0;
    EXPECT_GT(order, std::min(entry.order, entry.dense_order + 1) - 0.5) << method;
  }
}

/// A method with a history takes it along: the steps are those of the same method on the same motion in coordinates that
/// never change, give or take those after a new Jacobian. One that starts anew needs about fifteen per change to grow its
/// order and step again.
TEST(LocalStepper, HistoriesGoAlong) {
  for (const std::string method : {"bdf", "mebdf"}) {
    const Measured changing = measure(method, to_tolerance(30.0, 1e-8));
    ASSERT_EQ(changing.result.status, Status::done) << changing.result.message;
    EXPECT_GE(changing.changes, 18u);
    EXPECT_LE(changing.error, 1e3 * 1e-8) << method;

    System flat = circle_system(std::make_shared<Circle>(Charts::stay));
    flat.local = nullptr;
    std::vector<double> x{1.0, 0.0};
    const LoopResult plain = run(method, flat, controlled(flat, 30.0, 0.1e-8), x);
    ASSERT_EQ(plain.status, Status::done);
    EXPECT_LE(changing.result.stats.steps, plain.stats.steps + 5 * changing.changes) << method;
  }
}

TEST(LocalStepper, TellsOfTheChanges) {
  const Measured measured = measure("dop853", to_tolerance(3.0, 1e-8));
  ASSERT_EQ(measured.result.status, Status::done);
  ASSERT_EQ(measured.changes, 2u);
  ASSERT_EQ(measured.result.notes.size(), 1u);
  EXPECT_EQ(measured.result.notes[0].find("local coordinates changed 2 times: first y, from t = "), 0u)
      << measured.result.notes[0];
  EXPECT_NE(measured.result.notes[0].find(" on x, and so on"), std::string::npos) << measured.result.notes[0];
}

/// Coordinates that are never changed end at 90 degrees. Runs end there, too, whatever step the method proposes after a
/// point that only expand() refuses: it cannot be passed.
TEST(LocalStepper, EndsWhereTheCoordinatesEnd) {
  for (const std::string method : {"rk4", "dop853", "radau", "bdf"}) {
    LoopOptions options = to_tolerance(6.0, 1e-6);
    options.max_steps = 5000;
    const Measured measured = measure(method, options, Charts::stay);
    EXPECT_TRUE(measured.result.status == Status::no_convergence || measured.result.status == Status::step_too_small ||
                measured.result.status == Status::too_many_steps)
        << method << ": " << measured.result.message;
    EXPECT_NEAR(angle(measured.result.t), std::numbers::pi / 2, 0.01) << method;
    EXPECT_LT(measured.error, 1e-3) << method;
  }
}

/// What is asked between the steps leaves no trace in them.
TEST(LocalStepper, OutputsDoNotChangeTheSteps) {
  const auto end = [](bool outputs) {
    const System system = circle_system(std::make_shared<Circle>(Charts::change));
    LoopOptions options = controlled(system, 10.0, 1e-7);
    if (outputs)
      for (int i = 0; i <= 1000; ++i) options.output_times.push_back(0.01 * i);
    Observer observer;
    observer.output = [](double, const double*) {};
    std::vector<double> x{1.0, 0.0};
    EXPECT_EQ(run("radau", system, options, x, observer).status, Status::done);
    return x;
  };
  EXPECT_EQ(end(true), end(false));
}

}  // namespace
}  // namespace daedalus::integrate
