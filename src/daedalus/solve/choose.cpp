#include "daedalus/solve/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "daedalus/solve/tableau_method.hpp"

namespace daedalus::solve {

using formulate::FormulationEntry;
using integrate::IntegratorEntry;
using integrate::View;

namespace {

using Views = std::vector<View>;

bool offers(const Views& views, View view) { return std::ranges::find(views, view) != views.end(); }

/// The view that the method likes best among those of the formulation.
std::optional<View> shared_view(const FormulationEntry& form, const Views& views, const IntegratorEntry& method) {
  for (const View view : method.accepts) {
    if (!offers(views, view)) continue;
    if (view == View::implicit && form.index > method.highest_index) continue;
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

void check_kind(const FormulationEntry& form, const model::Model& model, Need need) {
  const std::string kind(model::name_of(model.kind));
  const auto names = [&](const std::vector<std::string>& kinds) { return std::ranges::find(kinds, kind) != kinds.end(); };
  const bool dae = !is_mechanical(model) && names(form.kinds);
  if (dae && need == Need::array && !form.takes_arrays)
    throw Error("formulation-does-not-fit",
                fmt::format("the formulation '{}' needs equations whose structure shows what to differentiate, and that of '{}' does not",
                            form.name, model.name),
                "leave --formulation out, or choose projection", {model.source});
  if (dae && need == Need::reduction && !form.reduces)
    throw Error("formulation-does-not-fit",
                fmt::format("the formulation '{}' takes equations as they are written, and the index of '{}' is above 1", form.name, model.name),
                "leave --formulation out, or choose one that differentiates, such as projection", {model.source});
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

[[noreturn]] void refuse(const FormulationEntry& form, const Views& views, const IntegratorEntry& method) {
  if (offers(views, View::implicit) && std::ranges::find(method.accepts, View::implicit) != method.accepts.end())
    throw Error("method-does-not-fit",
                fmt::format("the formulation '{}' makes a system of index {}, and the method '{}' takes index {} at most",
                            form.name, form.index, method.name, method.highest_index),
                "choose a formulation of lower index, such as projection, or a method such as radau");
  std::vector<std::string> shown, taken;
  for (const View view : views)
    if (view != View::automatic) shown.push_back(name_of(view));
  for (const View view : method.accepts) taken.push_back(name_of(view));
  throw Error("method-does-not-fit",
              fmt::format("the formulation '{}' makes systems of the form {}, and the method '{}' takes {}", form.name,
                          fmt::join(shown, ", "), method.name, fmt::join(taken, ", ")),
              "leave one of --formulation and --method out, or see `daedalus methods NAME`");
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
    method_reason = used.find(',') != std::string::npos ? "dop853 while the problem is not stiff, radau while it is"
                    : used == "dop853" && view == View::automatic ? "dop853, as no stiffness was found"
                    : used == "radau" && view == View::automatic  ? "radau, as stiffness was there from the start"
                    : view == View::implicit                      ? used + ", as there is no ODE to give to an explicit method"
                    : view == View::overdetermined                ? used + ", which takes more equations than unknowns"
                    : view == View::ode && used == "radau"        ? used + ", which takes stiff equations as well"
                                                                  : used + ", the default with fixed steps";
  }
  return form_reason.empty() || method_reason.empty() ? form_reason + method_reason : form_reason + "; " + method_reason;
}

Chosen choose(const Prepared& prepared, const RunOptions& options) {
  const model::Model& model = *prepared.model;
  const Need need = prepared.array ? Need::array : prepared.reduced ? Need::reduction : Need::nothing;
  const Views by_array{View::ode};
  const auto views_of = [&](const FormulationEntry& form) -> const Views& {
    return need == Need::array ? by_array : form.views_of(model);
  };
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
    if (mechanical) wishes = {"projection", "index3", "index2"};
    if (!mechanical && !model.invariants.empty()) wishes = {"projection", "direct"};
    if (need != Need::nothing) wishes = {"projection"};
    chosen.formulation.name = wishes.front();
    for (const std::string& wish : wishes) {
      const FormulationEntry& form = formulate::formulation(wish);
      if (any_method || shared_view(form, views_of(form), *chosen.integrator)) {
        chosen.formulation.name = wish;
        break;
      }
    }
  }
  chosen.form = &formulate::formulation(chosen.formulation.name);
  check_kind(*chosen.form, model, need);
  const Views& views = views_of(*chosen.form);

  if (any_method) {
    const bool only_implicit = !offers(views, View::ode) && offers(views, View::implicit);
    const bool overdetermined = offers(views, View::overdetermined);
    if (offers(views, View::automatic) && !options.step) {
      chosen.method.name = "auto";
      if (!mechanical && chosen.method.options.empty()) chosen.method.options = {{"first", "implicit"}};
    } else {
      chosen.method.name = overdetermined ? "bdf" : !mechanical || only_implicit ? "radau" : "dop853";
    }
    chosen.integrator = method_named(chosen.method.name);
    if (chosen.method.name != "auto" && !chosen.method.options.empty())
      throw Error("unknown-option",
                  fmt::format("'auto' stands for '{}' {}, so it takes no option '{}'", chosen.method.name,
                              options.step ? "where --step is given" : "with the formulation '" + chosen.form->name + "'",
                              chosen.method.options.front().first),
                  fmt::format("leave the option out, or name the method: --method {}", chosen.method.name));
  }
  const std::optional<View> view = shared_view(*chosen.form, views, *chosen.integrator);
  if (!view) refuse(*chosen.form, views, *chosen.integrator);
  chosen.view = *view;

  if (any_form && mechanical) {
    const bool constrained = !model.constraints.empty(), invariants = !model.invariants.empty();
    chosen.form_reason = !constrained && !invariants ? "no constraints to keep"
                    : chosen.form->projects   ? fmt::format("projection keeps every {}{}{}", constrained ? "constraint" : "",
                                                            constrained && invariants ? " and " : "", invariants ? "invariant" : "")
                                              : fmt::format("{} is what {} takes", chosen.form->name, chosen.integrator->name);
  }
  if (any_form && !mechanical && chosen.form->projects)
    chosen.form_reason = need == Need::nothing        ? "projection keeps every invariant"
                         : model.invariants.empty()   ? "projection keeps every hidden constraint"
                                                      : "projection keeps every hidden constraint and invariant";
  return chosen;
}

}  // namespace daedalus::solve
