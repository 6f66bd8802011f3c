// The equations of a DAE differentiated as often as their offsets say, and all lower derivatives kept, are more equations
// than there are derivatives to integrate. S. E. Mattsson and G. Soederlind, Index reduction in differential-algebraic
// equations using dummy derivatives, SIAM J. Sci. Comput. 14 (1993) 677-692, make as many derivatives algebraic unknowns
// ("dummies") as there are additional equations: with b(t, x) = 0 the lower equations, these are chosen so that the
// columns of db/dx that belong to them are regular, and the other components of x are the states that are integrated.
//
// Which ones are good changes on the way. Here they are chosen by pivoting, in units of their nominal values, watched, and
// chosen anew while the method goes on: see local_motion.hpp.

#include "daedalus/expr/substitute.hpp"
#include "daedalus/formulate/dae_chart.hpp"
#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/local_motion.hpp"

namespace daedalus::formulate {

namespace {

/// Beyond this tilt other states are looked for: as for coordinate partition (state_space.cpp), of which this is the general
/// case.
constexpr double limit = 1.2;

bool driven(const structure::DaeFunctions& fn) {
  const std::vector<bool> depends = expr::dependence(fn.hidden_residuals, {fn.equations.t.id()});
  return std::ranges::find(depends, true) != depends.end();
}

}  // namespace

FormulationEntry formulation_dummy_derivatives() {
  FormulationEntry entry;
  entry.name = "dummy-derivatives";
  entry.summary = "equations of a DAE differentiated, as many states integrated as it has freedoms, chosen by pivoting while running";
  entry.citation = "Mattsson, Soederlind 1993";
  entry.kinds = {"dae", "linear"};
  entry.reduces = true;
  entry.index = 0;
  entry.projects = true;
  entry.views = {integrate::View::ode, integrate::View::automatic};
  entry.make = [](const Equations& equations, integrate::View, const Options&) {
    const std::shared_ptr<const structure::DaeFunctions> functions = equations.dae;
    Formulated result = first_order(equations, integrate::View::ode);
    integrate::System& system = result.system;
    const Dynamics dynamics{functions->differential, system.ode, system.explain, result.factorizations};
    auto motion = std::make_shared<LocalMotion<DaeChart>>(
        dynamics, [&] { return DaeChart(functions); },
        LocalMotion<DaeChart>::Manner{limit, driven(*functions) ? functions->differential : 0});
    system.ode = [motion](double t, const double* x, double* dx) { return motion->whole_ode(t, x, dx); };
    system.explain = [motion] { return motion->explain(); };
    system.local = std::make_shared<const integrate::LocalCoordinates>(coordinates_of(motion));
    result.freeze = [motion, inner = result.freeze](const double* frozen) {
      motion->freeze(frozen);
      inner(frozen);
    };
    result.factorizations = [motion] { return motion->factorizations(); };
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
