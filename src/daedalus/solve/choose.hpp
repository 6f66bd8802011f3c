#pragma once

#include <memory>
#include <string>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::solve {

/// A formulation and a method that fit each other and the model.
struct Chosen {
  Choice formulation, method;
  const formulate::FormulationEntry* form = nullptr;
  std::shared_ptr<const integrate::IntegratorEntry> integrator;
  integrate::View view = integrate::View::ode;
  /// Takes the implicit method alone where `auto` would need an ODE and there is none.
  void without_ode();

  bool any_method = false;  ///< "auto" left the method to choose
  bool iterates = false;    ///< and every stage of an explicit one would iterate
  std::string form_reason;  ///< why this formulation, where "auto" left it to choose
  /// Why formulation and method, after a run in which `used` were at work ("dop853", "dop853,radau").
  std::string reason(const std::string& used) const;
};

/// Settles what is "auto" and checks what is not. Throws Error for unknown names and for what does not fit together.
Chosen choose(const Prepared& prepared, const RunOptions& options);

}  // namespace daedalus::solve
