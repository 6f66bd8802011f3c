#include "daedalus/integrate/families/multistep.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_mebdf() {
  IntegratorEntry entry;
  entry.name = "mebdf";
  entry.summary =
      "Modified extended backward differentiation of variable order 2 to 8 and variable step for F(t, y, y') = 0, index "
      "up to 3";
  entry.citation =
      "J. R. Cash, S. Considine, An MEBDF code for stiff initial value problems, ACM Trans. Math. Software 18 (1992) "
      "142-155";
  entry.order = 8;
  entry.stages = 3;
  entry.adaptive = true;
  entry.implicit = true;
  entry.accepts = {View::implicit, View::ode};
  entry.highest_index = 3;
  entry.properties = {"A-stable up to order 4", "stiffly stable", "variable order"};
  entry.index1_orders = {8, 8};
  entry.index2_orders = {8, 8};
  entry.index3_orders = {8, 8, 8};
  entry.dense_order = 7;
  entry.options = {{.name = "order", .summary = "largest order; fixed steps use it", .standard = 8, .least = 2, .most = 8}};
  // The first steps are of order 1, and later ones propose their own size.
  entry.estimate_order = 2;
  entry.make = [](const System& system, const Options& options) {
    return make_multistep(system, {.formula = MultistepFormula::extended,
                                   .most_points = static_cast<int>(options.number("order")) - 1,
                                   .start_stages = 7});
  };
  return entry;
}

}  // namespace daedalus::integrate
