#include <fmt/format.h>

#include <algorithm>

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
  return std::ranges::any_of(method.accepts, [&](const std::string& view) {
    if (view == "ode") return static_cast<bool>(system.ode);
    if (view == "second-order") return system.ode && system.coordinates > 0;
    return false;
  });
}

}  // namespace daedalus::integrate
