#include <fmt/format.h>

#include <algorithm>

#include "daedalus/integrate/families/local_stepper.hpp"
#include "daedalus/integrate/families/step_doubling.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

const IntegratorEntry& integrator(const std::string& name) {
  const std::vector<IntegratorEntry>& table = integrators();
  const auto found = std::ranges::find(table, name, &IntegratorEntry::name);
  if (found != table.end()) return *found;
  std::vector<std::string> known;
  for (const IntegratorEntry& entry : table) known.push_back(entry.name);
  throw Error("unknown-method", fmt::format("there is no integration method '{}'", name), suggest(name, known));
}

bool takes(const IntegratorEntry& method, const System& system) {
  return std::ranges::any_of(method.accepts, [&](View view) {
    if (view == View::implicit && system.implicit && system.implicit->system_index > method.highest_index) return false;
    return shows(system, view);
  });
}

std::unique_ptr<Stepper> make_stepper(const IntegratorEntry& method, const System& system, const Options& options,
                                      Control control) {
  if (system.local)
    return in_local_coordinates(system, [&method, options, control](const System& inner) {
      return make_stepper(method, inner, options, control);
    });
  if (control == Control::adaptive && !method.adaptive) return step_doubling(method, system, options);
  return method.make(system, options);
}

OptionSpec error_memory_option() {
  return {.name = "beta",
          .summary = "PI step control: power with which the error of the step before counts; 0.04 makes steps smoother",
          .standard = 0.0,
          .least = 0.0,
          .most = 0.1};
}

int estimate_power(const IntegratorEntry& method) { return method.adaptive ? method.estimate_order : method.order + 1; }

bool has_property(const IntegratorEntry& method, const std::string& property) {
  return std::ranges::find(method.properties, property) != method.properties.end();
}

std::string name_of(View view) {
  switch (view) {
    case View::ode:
      return "ode";
    case View::second_order:
      return "second-order";
    case View::implicit:
      return "implicit";
    case View::mechanical:
      return "mechanical";
    case View::automatic:
      return "automatic";
    case View::overdetermined:
      return "overdetermined";
    case View::flow:
      return "linear";
    case View::normal:
      return "normal";
    case View::series:
      return "series";
  }
  return "";
}

}  // namespace daedalus::integrate
