#include <cmath>
#include <cstdio>
#include <daedalus/daedalus.hpp>

int main() {
  daedalus::Builder pendulum("pendulum");
  const auto x = pendulum.variable("x", {.start = 1.0}), y = pendulum.variable("y", {.start = 0.0});
  pendulum.kinetic((pow(pendulum.der(x), 2.0) + pow(pendulum.der(y), 2.0)) / 2.0);
  pendulum.potential(9.81 * y);
  pendulum.constraint("rod", pow(x, 2.0) + pow(y, 2.0) - 1.0);
  daedalus::RunOptions options;
  options.t_end = 10.0;
  const daedalus::Trajectory run = daedalus::simulate(pendulum.build(), options);
  std::printf("length at t = %g: %.9f\n", run.t.back(), std::hypot(run.last("x"), run.last("y")));
}
