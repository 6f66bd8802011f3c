#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "daedalus/integrate/system.hpp"

namespace daedalus::integrate {

/// The view of a stabilized DAE in its normal form, beside those of system.hpp: see NormalForm.
inline constexpr View normal_view = View{1000};

/// Coordinates (xi, eta) of states x in which xi_i' = k_i xi_i and eta' = q(xi, eta): xi = 0 are the constraints of a DAE,
/// eta' = q(0, eta) its zero dynamics.
struct NormalForm {
  std::function<std::size_t()> xi_count, eta_count;
  std::function<Evaluation(double t, const double* x, double* xi, double* eta)> reduce;
  /// Finds the state near x, which it replaces.
  std::function<Evaluation(double t, const double* xi, const double* eta, double* x)> expand;
  /// Writes q at x.
  std::function<Evaluation(double t, const double* x, double* q)> rates;
  /// Writes the gains k at x, of which (xi, eta) are the coordinates.
  std::function<Evaluation(double t, const double* xi, const double* eta, const double* x, double* k)> gains;
};

/// What System::ode is where the system has a normal form.
struct NormalOde {
  std::shared_ptr<const NormalForm> form;
  std::function<Evaluation(double t, const double* x, double* dx)> ode;
  Evaluation operator()(double t, const double* x, double* dx) const { return ode(t, x, dx); }
};

/// The normal form of a system, or null.
inline std::shared_ptr<const NormalForm> normal_form(const System& system) {
  const NormalOde* known = system.ode.target<NormalOde>();
  return known != nullptr ? known->form : nullptr;
}

}  // namespace daedalus::integrate
