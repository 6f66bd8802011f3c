// Methods of order 3 with three stages and c = (0, alpha, 1), alpha not 0, 2/3 or 1:
//   a21 = alpha,   a31 = 1 + (1 - alpha)/(alpha (3 alpha - 2)),   a32 = -(1 - alpha)/(alpha (3 alpha - 2)),
//   b = (1/2 - 1/(6 alpha), 1/(6 alpha (1 - alpha)), (2 - 3 alpha)/(6 (1 - alpha))).
// The course notes, (1.32), divide b3 by alpha as well; then the weights do not even add up to 1.
#include <fmt/format.h>

#include <cmath>

#include "daedalus/base/text.hpp"
#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {
namespace {

/// Nearer to an excluded value than this the coefficients are so large that half of the digits are lost.
constexpr double least_distance = 1e-8;

Tableau tableau(const Options& options) {
  const double alpha = options.number("alpha");
  for (const auto& [excluded, name] : {std::pair{0.0, "0"}, std::pair{2.0 / 3.0, "2/3"}, std::pair{1.0, "1"}}) {
    if (std::abs(alpha - excluded) >= least_distance) continue;
    throw Error(
        "bad-option-value",
        fmt::format("option 'alpha' of 'rk3-family' is {}: at {} the coefficients do not exist", shortest(alpha), name),
        "choose a number away from 0, 2/3 and 1; 0.5 is Kutta's method");
  }
  const double ratio = (1.0 - alpha) / (alpha * (3.0 * alpha - 2.0));
  return {.a = {{}, {alpha}, {1.0 + ratio, -ratio}},
          .b = {0.5 - 1.0 / (6.0 * alpha), 1.0 / (6.0 * alpha * (1.0 - alpha)),
                (2.0 - 3.0 * alpha) / (6.0 * (1.0 - alpha))},
          .c = {0.0, alpha, 1.0}};
}

}  // namespace

IntegratorEntry integrator_rk3_family() {
  IntegratorEntry entry;
  entry.name = "rk3-family";
  entry.summary = "A family of methods of order 3 with three stages, by the node alpha of the second";
  entry.citation =
      "J. C. Butcher, Numerical Methods for Ordinary Differential Equations, 3rd ed., Wiley 2016, section 233";
  entry.order = 3;
  entry.stability_radius = 2.512;
  entry.options = {{.name = "alpha", .summary = "node of the second stage, not 0, 2/3 or 1", .standard = 0.5}};
  entry.notes = {
      "c = (0, alpha, 1), a32 = -(1 - alpha)/(alpha (3 alpha - 2)), a31 = 1 - a32, b = (1/2 - 1/(6 alpha), 1/(6 alpha "
      "(1 - "
      "alpha)), (2 - 3 alpha)/(6 (1 - alpha))). The course notes misprint b3 in (1.32): divided by alpha as well, the "
      "weights do not add up to 1."};
  return explicit_runge_kutta(
      entry, exact_tableau({.a = {{}, {"1/2"}, {"-1", "2"}}, .b = {"1/6", "2/3", "1/6"}, .c = {"0", "1/2", "1"}}),
      tableau);
}

}  // namespace daedalus::integrate
