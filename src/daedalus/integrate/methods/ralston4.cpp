#include "daedalus/integrate/families/explicit_runge_kutta.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_ralston4() {
  IntegratorEntry entry;
  entry.name = "ralston4";
  entry.summary = "Ralston's method of order 4, with the least bound of the error";
  entry.citation = "A. Ralston, Runge-Kutta methods with minimum error bounds, Math. Comp. 16 (1962) 431-437";
  entry.order = 4;
  entry.stability_radius = 2.785;
  entry.notes = {"The course notes call (1.34) a method of order 2 with two stages; it has order 4 with four."};
  return explicit_runge_kutta(entry,
                              exact_tableau({.a = {{},
                                                   {"2/5"},
                                                   {"-2889/1024 + 357/256*sqrt(5)", "3785/1024 - 405/256*sqrt(5)"},
                                                   {"-673/1208 + 1047/3020*sqrt(5)", "-975/2552 - 1523/1276*sqrt(5)",
                                                    "93408/48169 + 203968/240845*sqrt(5)"}},
                                             .b = {"263/1812 + 2/151*sqrt(5)", "125/3828 - 250/957*sqrt(5)",
                                                   "3426304/5924787 + 553984/1974929*sqrt(5)", "10/41 - 4/123*sqrt(5)"},
                                             .c = {"0", "2/5", "7/8 - 3/16*sqrt(5)", "1"}}));
}

}  // namespace daedalus::integrate
