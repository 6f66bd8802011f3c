#pragma once

#include <span>

#include "daedalus/mechanics/implicit.hpp"

// The parts from which equations of motion in unknowns y are put together; not part of this room's interface.
namespace daedalus::mechanics {

/// F(t, y, y') = 0 in symbols, with what methods must know about unknowns and equations.
class MotionEquations {
 public:
  explicit MotionEquations(const Functions& functions);

  const Functions& functions;
  const Equations& eq;
  compile::ImplicitEquations symbols;
  ImplicitMotion motion;   ///< all but the function
  std::vector<Expr> rate;  ///< q'

  /// How an unknown counts in the norms, and the power of h that belongs to it.
  struct Scaling {
    int index, power;
  };
  void unknown(Expr symbol, Expr derivative, Scaling scaling);
  void equation(Expr residual, int power);

  /// Adds q, v and the auxiliary unknowns.
  void state(Scaling velocity);
  /// Adds the auxiliary equations.
  void auxiliary();
  /// M a - f + G^T lambda
  std::vector<Expr> balance(std::span<const Expr> acceleration) const;
  /// G a - gamma of constraint i
  Expr acceleration_level(std::size_t i, std::span<const Expr> acceleration) const;

  ImplicitMotion compiled() &&;
};

}  // namespace daedalus::mechanics
