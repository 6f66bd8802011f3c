// Lyapunov stabilization in original coordinates: Theorem 4, (38)-(40), of Di Franco, Scarciotti, Astolfi,
//     x' = f^(x) + (dPhi/dx)^-1 ((S - R) chi, 0),    S = diag(k_i),   chi = (g, G v + g_t),
// which is xi_i' = k_i xi_i, eta' = q(xi, eta) in the coordinates (xi, eta) = Phi(x), see lyapunov_flow.hpp. On the
// constraints nothing is added. A violation decays at least like exp(-epsilon t), and as fast as it disturbs the rest.

#include <fmt/format.h>

#include <memory>

#include "daedalus/formulate/dae_normal_form.hpp"
#include "daedalus/formulate/explicit_motion.hpp"
#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/lyapunov_flow.hpp"
#include "daedalus/formulate/mechanical_normal_form.hpp"
#include "daedalus/formulate/normal_coordinates.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

LyapunovSettings settings_of(const Options& options) {
  LyapunovSettings settings;
  settings.delta = options.number("delta");
  if (options.given("epsilon")) settings.epsilon = options.number("epsilon");
  for (const auto& [name, value] : {std::pair{"delta", settings.delta}, {"epsilon", settings.epsilon}})
    if (!(value > 0.0))
      throw Error("bad-option-value", fmt::format("option '{}' of 'lyapunov' is 0, and must be positive: with 0 nothing makes violations decay", name),
                  "leave it out, or give a positive number");
  settings.path = options.word("path") == "ray" ? Path::ray : Path::sequential;
  return settings;
}

/// Makes the flow of the normal form the system, in the coordinates that the options say: methods of the normal form step xi
/// and eta in either.
template <class Form, class Make>
std::shared_ptr<LyapunovFlow<Form>> stabilize(Formulated& result, integrate::View view, const Make& make, const Options& options) {
  auto flow = std::make_shared<LyapunovFlow<Form>>(make(), settings_of(options));
  integrate::System& system = result.system;
  system.coordinates = 0;  // q' is not v off the constraints
  system.project = nullptr;
  system.project_error = nullptr;
  system.ode = [flow](double t, const double* x, double* dx) { return flow->ode(t, x, dx); };
  system.normal_form = normal_form_of(flow);
  system.explain = [flow, inner = system.explain] { return flow->explain().empty() ? inner() : flow->explain(); };
  system.begin_step = [flow](double t, const double* x, double) { return flow->rechart(t, x); };
  system.room = [flow](double t, const double* x) { return flow->room(t, x); };
  result.freeze = [flow, inner = result.freeze](const double* frozen) {
    flow->form().freeze(frozen);
    inner(frozen);
  };
  if (options.word("coordinates") == "normal" && view != integrate::View::normal) {
    auto normal = std::make_shared<NormalCoordinates<Form>>(flow, make());
    system.local = std::make_shared<const integrate::LocalCoordinates>(coordinates_of(normal));
    system.begin_step = nullptr;
    result.freeze = [normal, inner = result.freeze](const double* frozen) {
      normal->freeze(frozen);
      inner(frozen);
    };
  }
  if (!options.given("epsilon"))
    result.lasts = [flow](double t_start, double t_end) {
      if (t_end > t_start) flow->settings().epsilon = least_decay / (t_end - t_start);
    };
  result.factorizations = [flow] { return flow->form().factorizations(); };
  return flow;
}

Formulated motion(const Equations& equations, integrate::View view, const Options& options) {
  Formulated result = acceleration_level(equations.motion, {});
  const auto make_slope = acceleration_jacobian(equations, {}, result);
  if (equations.motion->m == 0) {
    if (view == integrate::View::normal)
      throw Error("method-does-not-fit", "the model has no constraints: it has no normal form for lyapunov-explicit and lyapunov-implicit",
                  "leave --method out");
    result.system.project = nullptr;
    result.system.project_error = nullptr;
    show_ode(result, view, make_slope);
    return result;
  }
  const auto psi = options.word("psi") == "velocity" ? mechanics::Completion::velocity : mechanics::Completion::momentum;
  const auto flow = stabilize<MechanicalNormalForm>(
      result, view, [&] { return MechanicalNormalForm(equations.motion, psi); }, options);
  result.guess = [flow, inner = result.guess](const std::vector<double>& auxiliary) {
    flow->form().evaluator().guess_auxiliary(auxiliary);
    inner(auxiliary);
  };
  if (result.system.local) return result;  // methods that need a derivative take differences there
  show_ode(result, view, [flow, make_slope]() -> OdeJacobian {
    return [flow, inner = make_slope()](double t, const double* x, double* jacobian) {
      const Evaluation outcome = inner(t, x, jacobian);
      return outcome == Evaluation::ok ? flow->add_slope(t, x, jacobian) : outcome;
    };
  });
  return result;
}

Formulated dae(const Equations& equations, integrate::View view, const Options& options) {
  if (options.given("psi"))
    throw Error("bad-option-value", "psi chooses among velocities of mechanics, and this model is a DAE",
                "leave psi out: a DAE is completed by what its algebraic unknowns do not move");
  Formulated result = first_order(equations, integrate::View::ode);
  const auto flow =
      stabilize<DaeNormalForm>(result, view, [&] { return DaeNormalForm(equations.dae); }, options);
  result.guess = [flow, inner = result.guess](const std::vector<double>& y_dy) {
    inner(y_dy);
    const auto middle = y_dy.begin() + static_cast<std::ptrdiff_t>(y_dy.size() / 2);
    flow->form().evaluator().guess({y_dy.begin(), middle}, {middle, y_dy.end()});
  };
  if (result.system.local) return result;
  show_ode(result, view, [flow]() -> OdeJacobian {
    return [flow](double t, const double* x, double* jacobian) {
      const Evaluation outcome = flow->form().motion_slope(t, x, jacobian);
      return outcome == Evaluation::ok ? flow->add_slope(t, x, jacobian) : outcome;
    };
  });
  return result;
}

}  // namespace

FormulationEntry formulation_lyapunov() {
  FormulationEntry entry;
  entry.name = "lyapunov";
  entry.summary = "nonlinear stabilization: violations decay as fast as they disturb the motion, from far away too";
  entry.citation = "Di Franco, Scarciotti, Astolfi, (21), (22), (34), Theorem 4";
  entry.kinds = {"lagrangian", "mechanical", "dae", "linear"};
  entry.reduces = true;
  entry.index = 0;
  entry.stiffens = true;  // measured: implicit from the start takes fewer steps on every constrained model
  entry.views = {integrate::View::ode, integrate::View::implicit, integrate::View::automatic, integrate::View::normal};
  entry.dae_views = entry.views;
  entry.options = {
      {"delta", "how strongly a violation is damped for what it does to the rest of the motion", 1.0, 0.0},
      {"epsilon", "least rate at which violations decay; default 20/(t_end - t_start): by 2e-9 over the run", std::nullopt,
       0.0},
      {"psi",
       "what completes the constraints to coordinates: momenta that no reaction changes, or velocities",
       std::nullopt,
       0.0,
       0.0,
       {"momentum", "velocity"}},
      {"path",
       "along which the gains are integrated: to all constraints at once, or to velocities first, then to positions",
       std::nullopt,
       0.0,
       0.0,
       {"ray", "sequential"}},
      {.name = "W",
       .summary = "a function of the motion on the constraints that is 0 at rest; what it promises is checked, and delta and epsilon follow",
       .standard = std::nullopt,
       .text = true},
      {.name = "box", .summary = "where W is checked, as in x in -1..1 and der(x) in -2..2", .standard = std::nullopt, .text = true},
      {"gamma", "rate in (25), W_eta q0 <= gamma W + gamma0; default: the least that holds on the box", std::nullopt},
      {"gamma0", "constant in (25); default 0, or the least that is needed", std::nullopt, 0.0},
      {"beta", "what of -gamma violations may use up where W decays; default -gamma/2", std::nullopt, 0.0},
      {"coordinates",
       "in which methods work: those of the model, or those in which violations and the rest are apart",
       std::nullopt,
       0.0,
       0.0,
       {"original", "normal"}},
  };
  entry.make = [](const Equations& equations, integrate::View view, const Options& options) {
    return equations.motion ? motion(equations, view, options) : dae(equations, view, options);
  };
  return entry;
}

}  // namespace daedalus::formulate
