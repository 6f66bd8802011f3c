// A nonholonomic constraint: Chaplygin's sleigh on its knife edge, against its exact solution.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <daedalus/daedalus.hpp>

using namespace daedalus;

int main() {
  Builder b("sleigh");
  const double mass = 1.0, inertia = 1.0, ahead = 0.5, rate = 1.0;
  const Expr m = b.parameter("m", mass), J = b.parameter("J", inertia), a = b.parameter("a", ahead);
  const Expr x = b.variable("x"), y = b.variable("y"), phi = b.variable("phi");
  b.fix(b.der(phi), rate);
  const Expr cx = x + a * cos(phi), cy = y + a * sin(phi);
  b.kinetic(m / 2.0 * (pow(b.der(cx), 2.0) + pow(b.der(cy), 2.0)) + J / 2.0 * pow(b.der(phi), 2.0));
  b.constraint("skate", b.der(x) * sin(phi), b.der(y) * cos(phi));
  b.output("speed", b.der(x) * cos(phi) + b.der(y) * sin(phi));

  RunOptions options;
  options.t_end = 10.0;
  options.rtol = options.atol = 1e-11;
  options.samples = 101;
  const Trajectory run = simulate(b.build(), options);

  const double A = inertia + mass * ahead * ahead, V = rate * std::sqrt(A / mass), k = mass * ahead * V / A;
  double error = 0.0;
  for (std::size_t row = 0; row < run.t.size(); ++row) {
    error = std::max(error, std::abs(run.value(row, run.column("speed")) - V * std::tanh(k * run.t[row])));
    error = std::max(error, std::abs(run.value(row, run.column("der(phi)")) - rate / std::cosh(k * run.t[row])));
  }
  fmt::print("largest error against the exact solution: {:.1e}\n", error);
}
