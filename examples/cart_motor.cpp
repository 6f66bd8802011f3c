// Physics of two kinds: a cart with a load on a rope, driven by a DC motor whose current is an auxiliary unknown. Built in
// code, and compared with the same model from its file.

#include <fmt/core.h>

#include <daedalus/daedalus.hpp>
#include <string>

using namespace daedalus;

namespace {

Model cart_motor() {
  Builder b("cart_motor");
  const Expr M = b.parameter("M", 4.0), m = b.parameter("m", 1.0), l = b.parameter("l", 0.8), g = b.parameter("g", 9.81),
             c = b.parameter("c", 0.5), r = b.parameter("r", 0.05), k = b.parameter("k", 0.2), R = b.parameter("R", 1.0),
             L = b.parameter("L", 0.05);
  const Expr u = 6.0 * sin(2.0 * b.time());
  const Expr s = b.variable("s"), x = b.variable("x"), y = b.variable("y", {.start = -0.8});
  const Expr current = b.auxiliary("i_m");
  b.kinetic(M / 2.0 * pow(b.der(s), 2.0) + m / 2.0 * (pow(b.der(x), 2.0) + pow(b.der(y), 2.0)));
  b.potential(m * g * y);
  b.dissipation(c / 2.0 * pow(b.der(s), 2.0));
  b.force(s, k / r * current);
  b.equation("motor", L * b.der(current), u - R * current - k / r * b.der(s));
  b.constraint("rope", pow(x - s, 2.0) + pow(y, 2.0), pow(l, 2.0));
  return b.build();
}

}  // namespace

int main(int argc, char** argv) {
  RunOptions options;
  options.t_end = 10.0;
  const Trajectory built = simulate(cart_motor(), options);
  const Trajectory read = simulate(read_model((argc > 1 ? std::string(argv[1]) : "models") + "/cart_motor.toml"), options);
  fmt::print("after {} s the cart is at {:.6f} m and the motor draws {:.6f} A\n", options.t_end.value(), built.last("s"), built.last("i_m"));
  const bool same = built.last("s") == read.last("s") && built.last("i_m") == read.last("i_m");
  fmt::print("same motion as models/cart_motor.toml: {}\n", same ? "yes" : "no");
  return same ? 0 : 1;
}
