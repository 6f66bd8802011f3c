// The methods of order 2 with two stages, for every alpha != 0:
//   c2 = a21 = alpha,   b = (1 - 1/(2 alpha), 1/(2 alpha)).
// The course notes restrict (1.27) to 0 < alpha < 1; b1 + b2 = 1 and b2 c2 = 1/2 hold for every alpha that is not 0.
#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {
namespace {

Tableau tableau(const Options& options) {
  const double alpha = options.number("alpha");
  if (alpha == 0.0) {
    throw Error("bad-option-value", "option 'alpha' of 'rk2' is 0: the second weight 1/(2 alpha) does not exist",
                "every other number gives order 2: 0.5 is the midpoint rule, 1 Heun's method, 2/3 Ralston's");
  }
  const double second = 1.0 / (2.0 * alpha);
  return {.a = {{}, {alpha}}, .b = {1.0 - second, second}, .c = {0.0, alpha}};
}

}  // namespace

IntegratorEntry integrator_rk2() {
  IntegratorEntry entry;
  entry.name = "rk2";
  entry.summary = "The family of methods of order 2 with two stages, by the node alpha of the second";
  entry.citation =
      "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section "
      "II.1";
  entry.order = 2;
  entry.stability_radius = 2.0;
  entry.options = {{.name = "alpha", .summary = "node of the second stage, not 0", .standard = 0.5}};
  entry.notes = {
      "c2 = a21 = alpha, b = (1 - 1/(2 alpha), 1/(2 alpha)) for every alpha except 0. The course notes restrict "
      "(1.27) to alpha between 0 and 1 without need."};
  return explicit_runge_kutta(entry, exact_tableau({.a = {{}, {"1/2"}}, .b = {"0", "1"}, .c = {"0", "1/2"}}), tableau);
}

}  // namespace daedalus::integrate
