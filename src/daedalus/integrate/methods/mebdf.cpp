#include "daedalus/integrate/families/multistep.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_mebdf() {
  IntegratorEntry entry;
  entry.name = "mebdf";
  entry.summary =
      "Modified extended backward differentiation of variable order 2 to 8 and variable step for F(t, y, y') = 0, "
      "index "
      "up to 3";
  entry.citation =
      "J. R. Cash, S. Considine, An MEBDF code for stiff initial value problems, ACM Trans. Math. Software 18 (1992) "
      "142-155";
  // Without error control nothing lowers the order where a high one is unstable: fixed steps take the highest order
  // that is A-stable unless another one is asked for.
  entry.order = 4;
  entry.stages = 3;
  entry.adaptive = true;
  entry.implicit = true;
  entry.accepts = {View::implicit, View::overdetermined, View::ode};
  entry.highest_index = 3;
  entry.properties = {"multistep", "A-stable up to order 4", "stiffly stable", "variable order"};
  entry.index1_orders = {4, 4};
  entry.index2_orders = {4, 3};
  entry.index3_orders = {3, 3, 2};
  entry.dense_order = 5;
  entry.options = {{.name = "order",
                    .summary = "largest order (8 unless given), and the order of fixed steps (4 unless given)",
                    .standard = std::nullopt,
                    .least = 2,
                    .most = 8}};
  // The first steps are of order 1, and later ones propose their own size.
  entry.estimate_order = 2;
  entry.make = [](const System& system, const Options& options) {
    const bool given = options.given("order");
    const int order = given ? static_cast<int>(options.number("order")) : 8;
    const bool high_index = system.implicit && system.implicit->system_index > 1;
    return make_multistep(system, {.formula = MultistepFormula::extended,
                                   .most_points = order - 1,
                                   .fixed_points = given ? order - 1 : 3,
                                   .start_stages = high_index ? 7u : 5u});
  };
  return entry;
}

}  // namespace daedalus::integrate
