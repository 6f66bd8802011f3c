#include "daedalus/solve/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "daedalus/linalg/lapack.hpp"
#include "daedalus/linalg/matrix_parts.hpp"
#include "daedalus/solve/reduce.hpp"
#include "daedalus/solve/tableau_method.hpp"
#include "daedalus/structure/linear_solution.hpp"

namespace daedalus::solve {

using formulate::FormulationEntry;
using integrate::IntegratorEntry;
using integrate::View;

namespace {

using Views = std::vector<View>;

bool offers(const Views& views, View view) { return std::ranges::find(views, view) != views.end(); }

/// What a formulation makes of a model.
struct Offer {
  Views views;
  int index = 0;  ///< of the system in the implicit view
};

/// The view that the method likes best among those of the formulation.
std::optional<View> shared_view(const Offer& offer, const IntegratorEntry& method) {
  for (const View view : method.accepts) {
    if (!offers(offer.views, view)) continue;
    if (view == View::implicit && offer.index > method.highest_index) continue;
    return view;
  }
  return std::nullopt;
}

bool is_mechanical(const model::Model& model) {
  return model.kind == model::Kind::lagrangian || model.kind == model::Kind::mechanical;
}

/// Whether a model can be solved as it is written, or needs its equations differentiated: the index of a DAE is above 1.
/// With a misleading structure the derivative array says what to differentiate.
enum class Need { nothing, reduction, array };

Offer offer_of(const FormulationEntry& form, const Prepared& prepared, Need need) {
  if (offers(form.views, View::flow)) return {form.views, form.index};
  if (need == Need::array) return {{View::ode}, form.index};
  if (need == Need::reduction && form.takes_any_index)
    return {{View::implicit}, structure::index_of_differentiated(*prepared.reduced)};
  return {form.views_of(*prepared.model), form.index};
}

/// The largest modulus of an eigenvalue of J. Its norm may be a thousand times larger: it depends on the basis.
double fastest_mode(const linalg::BasicMatrix<structure::LinearSolution::Number>& J) {
  double largest = 0.0;
  for (const auto& pair : linalg::generalized_eigen(linalg::converted<double>(J), linalg::DenseMatrix::identity(J.rows)).pairs)
    largest = std::max(largest, std::abs(pair.alpha) / pair.beta);
  return largest;
}

/// Where f is no polynomial, exponential or wave, its integral needs panels as short as the fastest mode is, or exponentials of
/// large matrices: a method for stiff equations is better where both are many.
bool formula_is_quick(const Prepared& prepared, const RunOptions& options) {
  constexpr double most_times = 1e4;  // of the fastest mode in the run
  constexpr std::size_t most_large = 20;
  const structure::LinearSolution& solution = *prepared.linear;
  if (solution.forcing || solution.n1() <= most_large) return true;
  const double length = options.t_end.value_or(prepared.model->simulation.t_end.value_or(1.0)) - start_time(*prepared.model, options);
  return fastest_mode(solution.parts.J) * length < most_times;
}

void check_kind(const FormulationEntry& form, const Prepared& prepared, Need need) {
  const model::Model& model = *prepared.model;
  const std::string kind(model::name_of(model.kind));
  const auto names = [&](const std::vector<std::string>& kinds) { return std::ranges::find(kinds, kind) != kinds.end(); };
  const bool dae = !is_mechanical(model) && names(form.kinds);
  if (dae && offers(form.views, View::flow)) {
    if (has_formula(prepared)) return;
    throw Error("formulation-does-not-fit",
                fmt::format("the formulation '{}' takes equations that are linear with constant coefficients, with a regular pencil, "
                            "at most {} unknowns and neither [initial] nor [invariants], and those of '{}' are not",
                            form.name, structure::most_decoupled, model.name),
                "leave --formulation and --method exact out: other methods take any equations", {model.source});
  }
  if (dae && prepared.only_formula) throw *prepared.only_formula;
  if (dae && ((need == Need::array && !form.takes_arrays) || (prepared.converted && form.takes_any_index)))
    throw Error("formulation-does-not-fit",
                fmt::format("the formulation '{}' needs equations whose structure shows what to differentiate, and that of '{}' does not",
                            form.name, model.name),
                "leave --formulation out, or choose projection", {model.source});
  if (dae && need == Need::reduction && !form.reduces && !form.takes_any_index)
    throw Error("formulation-does-not-fit",
                fmt::format("the formulation '{}' takes equations as they are written, and the index of '{}' is above 1", form.name, model.name),
                "leave --formulation out, or choose one that differentiates, such as projection", {model.source});
  if (dae && need == Need::nothing && (form.reduces || !form.keeps_invariants_of.empty()) &&
      (prepared.linear ? prepared.linear->parts.index > 1 : index_above_one(prepared.dae)))
    refuse_index(model);
  if (dae && need == Need::nothing && form.reduces && form.keeps_invariants_of.empty())
    throw Error("formulation-does-not-fit",
                fmt::format("the formulation '{}' differentiates equations, and the index of '{}' is 1 at most", form.name, model.name),
                "leave --formulation out, or write --formulation direct", {model.source});
  if (dae && need == Need::nothing && model.invariants.empty() && names(form.keeps_invariants_of))
    throw Error("formulation-does-not-fit",
                fmt::format("the formulation '{}' keeps [invariants], and the model '{}' has none", form.name, model.name),
                "leave --formulation out, or write what the solution keeps into [invariants]", {model.source});
  if (names(form.kinds)) return;
  throw Error("formulation-does-not-fit",
              fmt::format("the formulation '{}' does not take models of kind \"{}\"", form.name, kind),
              fmt::format("it takes {}; leave --formulation out, or see `daedalus formulations`", fmt::join(form.kinds, ", ")),
              {model.source});
}

/// Whether every value of the ODE that a model stands for comes from an iteration. An explicit step costs more than an implicit
/// one then: the wheelset takes eight times as long with dop853 as with radau. For a few unknowns both cost little, and algebraic
/// ones that are solved for show where they end: at the fold of z^3 - 3 z = t to 1e-8 in time, where radau shows it to 1e-5.
bool stages_iterate(const Prepared& prepared) {
  constexpr std::size_t a_few = 4;
  const auto& equations = prepared.solvable_dae();
  return equations && !prepared.array && !equations->linear_in_solved && equations->dimension() > a_few;
}

[[noreturn]] void refuse(const FormulationEntry& form, const Offer& offer, const IntegratorEntry& method) {
  if (offers(offer.views, View::implicit) && std::ranges::find(method.accepts, View::implicit) != method.accepts.end()) {
    int most = 0;
    for (const IntegratorEntry& any : integrate::integrators())
      if (std::ranges::find(any.accepts, View::implicit) != any.accepts.end()) most = std::max(most, any.highest_index);
    throw Error("method-does-not-fit",
                fmt::format("the formulation '{}' makes a system of index {}, and the method '{}' takes index {} at most",
                            form.name, offer.index, method.name, method.highest_index),
                offer.index > most ? "no method takes it as it is: choose a formulation of lower index, such as projection"
                                   : "choose a formulation of lower index, such as projection, or a method such as radau");
  }
  std::vector<std::string> shown, taken;
  for (const View view : offer.views)
    if (view != View::automatic) shown.push_back(name_of(view));
  for (const View view : method.accepts) taken.push_back(name_of(view));
  throw Error("method-does-not-fit",
              fmt::format("the formulation '{}' makes systems of the form {}, and the method '{}' takes {}", form.name,
                          fmt::join(shown, ", "), method.name, fmt::join(taken, ", ")),
              form.takes_any_index && offer.index > 1
                  ? fmt::format("for a system of index {} take an implicit method, such as radau or bdf, or a formulation of lower "
                                "index, such as projection",
                                offer.index)
                  : "leave one of --formulation and --method out, or see `daedalus methods NAME`");
}

}  // namespace

void Chosen::without_ode() {
  if (view != View::automatic) return;
  method = {"radau", {}};
  integrator = method_named(method.name);
  view = View::implicit;
}

std::string Chosen::reason(const std::string& used) const {
  std::string method_reason;
  if (any_method) {
    const std::string not_stiff = used.find("taylor") == std::string::npos ? "dop853" : "taylor";
    method_reason = used.find(',') != std::string::npos ? not_stiff + " while the problem is not stiff, radau while it is"
                    : used == "dop853" && view == View::automatic ? "dop853, as no stiffness was found"
                    : used == "taylor" && view == View::automatic ? "taylor, as no stiffness was found and rtol asks for many digits"
                    : used == "radau" && view == View::automatic  ? "radau, as stiffness was there from the start"
                    : view == View::implicit && iterates          ? used + ", as every stage of an explicit method would iterate"
                    : view == View::implicit                      ? used + ", as there is no ODE to give to an explicit method"
                    : view == View::flow                          ? used + ", as the model is linear with constant coefficients"
                    : view == View::overdetermined                ? used + ", which takes more equations than unknowns"
                    : view == View::ode && used == "radau"        ? used + ", which takes stiff equations as well"
                                                                  : used + ", the default with fixed steps";
  }
  return form_reason.empty() || method_reason.empty() ? form_reason + method_reason : form_reason + "; " + method_reason;
}

Chosen choose(const Prepared& prepared, const RunOptions& options) {
  const model::Model& model = *prepared.model;
  const Need need = prepared.array ? Need::array : prepared.reduced ? Need::reduction : Need::nothing;
  const model::Simulation& given = model.simulation;
  Chosen chosen;
  chosen.formulation = parse_choice(options.formulation.value_or(given.formulation.value_or("auto")));
  chosen.method = parse_choice(options.method.value_or(given.method.value_or("auto")));
  const bool mechanical = is_mechanical(model);
  const bool any_form = chosen.formulation.name == "auto", any_method = chosen.method.name == "auto";
  chosen.any_method = any_method;
  if (!any_method) chosen.integrator = method_named(chosen.method.name);

  if (any_form) {
    // What keeps constraints and invariants first; methods for constrained motion want the constraints themselves.
    std::vector<std::string> wishes{"direct"};
    if (mechanical) wishes = {"projection", "index3", "index2", "lyapunov"};
    if (!mechanical && !model.invariants.empty()) wishes = {"projection", "direct"};
    if (need != Need::nothing) wishes = {"projection", "lyapunov"};
    const bool asked = !any_method && offers(chosen.integrator->accepts, View::flow);
    const bool quick = model.kind == model::Kind::linear && has_formula(prepared) && formula_is_quick(prepared, options);
    if ((any_method && (quick || prepared.only_formula)) || (asked && !mechanical)) wishes = {"weierstrass"};
    chosen.formulation.name = wishes.front();
    for (const std::string& wish : wishes) {
      const FormulationEntry& form = formulate::formulation(wish);
      if (any_method || shared_view(offer_of(form, prepared, need), *chosen.integrator)) {
        chosen.formulation.name = wish;
        break;
      }
    }
  }
  chosen.form = &formulate::formulation(chosen.formulation.name);
  check_kind(*chosen.form, prepared, need);
  const Offer offer = offer_of(*chosen.form, prepared, need);
  const Views& views = offer.views;

  if (any_method) {
    const bool only_implicit = !offers(views, View::ode) && offers(views, View::implicit);
    const bool overdetermined = offers(views, View::overdetermined);
    chosen.iterates = !options.step && chosen.method.options.empty() && offers(views, View::implicit) && stages_iterate(prepared);
    if (chosen.iterates) {
      chosen.method.name = "radau";
    } else if (offers(views, View::automatic) && !options.step) {
      chosen.method.name = "auto";
      const bool may_be_stiff = !mechanical || (chosen.form->stiffens && !model.constraints.empty());
      if (may_be_stiff && chosen.method.options.empty()) chosen.method.options = {{"first", "implicit"}};
    } else {
      chosen.method.name = offers(views, View::flow) ? "exact" : overdetermined ? "bdf" : !mechanical || only_implicit ? "radau" : "dop853";
    }
    chosen.integrator = method_named(chosen.method.name);
    if (chosen.method.name != "auto" && !chosen.method.options.empty())
      throw Error("unknown-option",
                  fmt::format("'auto' stands for '{}' {}, so it takes no option '{}'", chosen.method.name,
                              options.step ? "where --step is given" : "with the formulation '" + chosen.form->name + "'",
                              chosen.method.options.front().first),
                  fmt::format("leave the option out, or name the method: --method {}", chosen.method.name));
  }
  const std::optional<View> view = shared_view(offer, *chosen.integrator);
  if (!view) refuse(*chosen.form, offer, *chosen.integrator);
  chosen.view = *view;

  if (any_form && mechanical) {
    const bool constrained = !model.constraints.empty(), invariants = !model.invariants.empty();
    chosen.form_reason = !constrained && !invariants ? "no constraints to keep"
                    : chosen.form->projects   ? fmt::format("projection keeps every {}{}{}", constrained ? "constraint" : "",
                                                            constrained && invariants ? " and " : "", invariants ? "invariant" : "")
                                              : fmt::format("{} is what {} takes", chosen.form->name, chosen.integrator->name);
  }
  if (any_form && !mechanical && chosen.form->projects && chosen.view != View::flow)
    chosen.form_reason = need == Need::nothing        ? "projection keeps every invariant"
                         : model.invariants.empty()   ? "projection keeps every hidden constraint"
                                                      : "projection keeps every hidden constraint and invariant";
  return chosen;
}

}  // namespace daedalus::solve
