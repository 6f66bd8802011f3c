#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_rk38() {
  IntegratorEntry entry;
  entry.name = "rk38";
  entry.summary = "Kutta's 3/8-rule of order 4";
  entry.citation =
      "W. Kutta, Beitrag zur naeherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 (1901) "
      "435-453";
  entry.order = 4;
  entry.stability_radius = 2.785;
  entry.notes = {"The course notes call (1.35) a method of order 2 with two stages; it has order 4 with four."};
  return explicit_runge_kutta(entry, exact_tableau({.a = {{}, {"1/3"}, {"-1/3", "1"}, {"1", "-1", "1"}},
                                                    .b = {"1/8", "3/8", "3/8", "1/8"},
                                                    .c = {"0", "1/3", "2/3", "1"}}));
}

}  // namespace daedalus::integrate
