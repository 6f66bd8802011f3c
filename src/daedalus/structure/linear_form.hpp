#pragma once

#include <optional>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::structure {

/// A DAE that is linear with constant coefficients, E y' = A y + f(t), with y as in DaeFunctions.
struct LinearForm {
  linalg::Sparsity pattern;    ///< of E and A together
  std::vector<double> E, A;    ///< values in its order
  std::vector<expr::Expr> f;   ///< of t, parameters and discrete values
};

/// Brings a DAE to this form; nothing where some coefficient depends on time, on an unknown or on a discrete value.
std::optional<LinearForm> linear_form(const DaeFunctions& functions);

}  // namespace daedalus::structure
