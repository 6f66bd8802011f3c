#include "daedalus/integrate/families/multistep.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/stability.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_bdf() {
  IntegratorEntry entry;
  entry.name = "bdf";
  entry.summary =
      "Backward differentiation of variable order 1 to 5 and variable step for F(t, y, y') = 0, index up to 3";
  entry.citation =
      "K. E. Brenan, S. L. Campbell, L. R. Petzold, Numerical Solution of Initial-Value Problems in "
      "Differential-Algebraic Equations, SIAM, 1996, chapter 5";
  entry.order = 5;
  entry.stages = 1;
  entry.adaptive = true;
  entry.implicit = true;
  entry.accepts = {View::implicit, View::overdetermined, View::ode};
  entry.highest_index = 3;
  entry.properties = {"multistep", "A-stable up to order 2", "stiffly stable", "variable order"};
  entry.index1_orders = {5, 5};
  entry.index2_orders = {5, 5};
  entry.index3_orders = {5, 5, 5};
  entry.dense_order = 5;
  entry.options = {
      {.name = "order", .summary = "largest order; fixed steps use it", .standard = 5, .least = 1, .most = 5}};
  // The first steps are of order 1, and later ones propose their own size.
  entry.estimate_order = 2;
  for (int order = 1; order <= entry.order; ++order) entry.multistep.push_back(bdf_formula(order));
  entry.make = [](const System& system, const Options& options) {
    const int order = static_cast<int>(options.number("order"));
    return make_multistep(
        system, {.formula = MultistepFormula::bdf, .most_points = order, .fixed_points = order, .start_stages = 5});
  };
  return entry;
}

}  // namespace daedalus::integrate
