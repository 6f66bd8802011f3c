#pragma once

#include <unordered_map>
#include <vector>

#include "daedalus/compile/compile.hpp"
#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::compile {

/// F(t, y, y') = 0 in symbols.
struct ImplicitEquations {
  expr::Expr t;
  std::vector<expr::Expr> y, dy;  ///< as many; dy[i] is invalid where the derivative of y[i] does not occur
  std::vector<expr::Expr> F;
};

/// The same as functions of numbers, with their partial derivatives. All take the blocks t, y, y'.
struct ImplicitFunction {
  linalg::Sparsity pattern;   ///< of dF/dy and dF/dy' together
  Function residual;          ///< F
  Function jacobian;          ///< dF/dy, then dF/dy', both in the order of `pattern`
  Function time_derivative;   ///< dF/dt
  std::vector<bool> differential;  ///< whether the derivative of y_i occurs
  bool constant_leading = false;   ///< dF/dy' is constant, F linear in y'
  bool autonomous = false;         ///< dF/dt vanishes
};

/// Differentiates and compiles. The time is proportional to the size of F and of its Jacobians.
ImplicitFunction compile_implicit(const ImplicitEquations& equations,
                                  const std::unordered_map<expr::NodeId, double>& numbers, Switches& switches,
                                  Request::NewSwitches new_switches = Request::NewSwitches::added);

}  // namespace daedalus::compile
