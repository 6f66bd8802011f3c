// Systems that change at places of their motion. Between the places y decays to sin t at a rate of its own,
//   p' = 1 + 0.3 sin t,   y' = cos t - a_k (y - sin t),   a_k = 1/2, 3, 1/2, ...   while 1.3 k <= p < 1.3 (k + 1),
// so that y' jumps. Whatever its steps are, a method is to find this motion, at the ends of steps and between them.
#include <gtest/gtest.h>

#include "unit/integrate/multistep_problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::controlled;
using problems::fixed;
using problems::run;

constexpr double distance_of_places = 1.3;

double rate(int k) { return k % 2 == 0 ? 0.5 : 3.0; }
double place(double t) { return t + 0.3 * (1.0 - std::cos(t)); }

double passing_time(int k) {
  double t = distance_of_places * k;
  for (int i = 0; i < 50; ++i) t -= (place(t) - distance_of_places * k) / (1.0 + 0.3 * std::sin(t));
  return t;
}

double solution(double t) {
  double excess = 1.0;
  for (int k = 0;; ++k) {
    const double begin = passing_time(k), end = passing_time(k + 1);
    if (t <= end) return std::sin(t) + excess * std::exp(-rate(k) * (t - begin));
    excess *= std::exp(-rate(k) * (end - begin));
  }
}

System changing(const std::shared_ptr<int>& k) {
  System system;
  system.dimension = 2;
  system.names = {"p", "y"};
  system.ode = [k](double t, const double* x, double* dx) {
    dx[0] = 1.0 + 0.3 * std::sin(t);
    dx[1] = std::cos(t) - rate(*k) * (x[1] - std::sin(t));
    return Evaluation::ok;
  };
  system.room = [k](double, const double* x) { return distance_of_places * (*k + 1) - x[0]; };
  system.begin_step = [k, room = system.room](double t, const double* x, double) {
    if (room(t, x) > 0.0) return false;
    ++*k;
    return true;
  };
  return system;
}

struct Measured {
  LoopResult result;
  double error = 0.0;  ///< of y, at steps and rows between them
  int changes = 0;
};

Measured measure(const std::string& method, LoopOptions options) {
  const auto k = std::make_shared<int>(0);
  const System system = changing(k);
  for (int i = 0; i <= 311; ++i) options.output_times.push_back(options.t_end * i / 311.0);
  Measured measured;
  Observer observer;
  observer.step = observer.output = [&](double t, const double* x) {
    measured.error = std::max(measured.error, std::abs(x[1] - solution(t)));
  };
  std::vector<double> x{0.0, 1.0};
  measured.result = run(method, system, options, x, observer);
  measured.changes = *k;
  return measured;
}

/// Within some hundred tolerances, as on a system that does not change.
TEST(ChangingSystems, AreFollowedWithinTheTolerance) {
  for (const std::string method : {"dopri5", "dop853", "radau", "rodas5p", "bdf", "mebdf", "auto"}) {
    System system = changing(std::make_shared<int>(0));
    const Measured measured = measure(method, controlled(system, 8.0, 1e-8));
    EXPECT_EQ(measured.result.status, Status::done) << method << ": " << measured.result.message;
    EXPECT_EQ(measured.changes, 6) << method;
    EXPECT_LE(measured.error, 3e-6) << method;
  }
}

/// Steps that meet a place in their middle would leave every method at order one. The lower order of steps and dense output
/// shows, but for one: the parts before and behind a place are of any size, and halved steps have others.
TEST(ChangingSystems, AreFollowedWithTheOrderOfTheMethod) {
  for (const auto& [method, steps] : std::vector<std::pair<std::string, int>>{{"heun2", 100},
                                                                              {"rk4", 60},
                                                                              {"dopri5", 40},
                                                                              {"dop853", 8},
                                                                              {"implicit-midpoint", 60},
                                                                              {"gauss4", 40},
                                                                              {"radau", 40},
                                                                              {"rodas5p", 40},
                                                                              {"bdf", 200}}) {
    const IntegratorEntry& entry = integrator(method);
    const Measured wide = measure(method, fixed(8.0, 8.0 / steps)), narrow = measure(method, fixed(8.0, 2.0 / steps));
    for (const Measured* one : {&wide, &narrow}) {
      EXPECT_EQ(one->result.status, Status::done) << method << ": " << one->result.message;
      EXPECT_EQ(one->changes, 6) << method;
    }
    EXPECT_GT(std::log2(wide.error / narrow.error) / 2.0, std::min(entry.order, entry.dense_order + 1) - 1.0) << method;
  }
}

}  // namespace
}  // namespace daedalus::integrate
