// Scaling after Bottasso, Bauchau and Cardona (2007): with the unknowns (q, h v, h^2 lambda), q' = v times h, the equations
// of motion times h^2 and a constraint of level k times h^k, the matrix of Newton's method has a limit for h -> 0 that is
// regular where the KKT matrix is.
#include "daedalus/mechanics/implicit.hpp"

#include <algorithm>

#include "daedalus/mechanics/motion_equations.hpp"

namespace daedalus::mechanics {

namespace {

Expr constraint_on(const MotionEquations& out, std::size_t i, Level level, const Feedback& feedback) {
  const Constraint& constraint = out.eq.constraints[i];
  if (level == Level::position && constraint.holonomic) return constraint.position;
  if (level != Level::acceleration) return constraint.velocity;
  const Expr sum = out.acceleration_level(i, out.eq.a);
  if (constraint.holonomic) return sum + feedback.velocity * constraint.velocity + feedback.position * constraint.position;
  return sum + feedback.nonholonomic * constraint.velocity;
}

MotionEquations motion_equations(const Functions& functions, Level level, const Feedback& feedback,
                                 const std::vector<std::size_t>& redundant) {
  MotionEquations out(functions);
  const Equations& eq = out.eq;
  const std::size_t n = functions.n, m = functions.m;
  out.state({level == Level::position && functions.holonomic > 0 ? 2 : 1, 1});
  for (std::size_t i = 0; i < m; ++i) {
    // A multiplier acts on velocities through h lambda and is taken afresh from the KKT system where it is shown, so that
    // on the acceleration level, too, an error in it counts times h.
    const bool position = level == Level::position && eq.constraints[i].holonomic;
    out.unknown(eq.lambda[i], Expr(), {position ? 3 : 2, 2});
    int& index = out.motion.system_index;
    index = std::max(index, level == Level::acceleration ? 1 : position ? 3 : 2);
  }

  for (std::size_t i = 0; i < n; ++i) out.equation(out.rate[i] - eq.v[i], 1);
  for (const Expr& sum : out.balance(eq.a)) out.equation(sum, 2);
  out.auxiliary();
  for (std::size_t i = 0; i < m; ++i) {
    const int power = level == Level::acceleration ? 2 : level == Level::velocity || !eq.constraints[i].holonomic ? 1 : 0;
    if (std::ranges::find(redundant, i) != redundant.end())
      out.equation(eq.lambda[i], 2);
    else
      out.equation(constraint_on(out, i, level, feedback), power);
  }
  return out;
}

}  // namespace

ImplicitMotion implicit_motion(const Functions& functions, Level level, const Feedback& feedback,
                               const std::vector<std::size_t>& redundant) {
  return motion_equations(functions, level, feedback, redundant).compiled();
}

compile::ImplicitEquations motion_symbols(const Functions& functions, Level level,
                                          const std::vector<std::size_t>& redundant) {
  return motion_equations(functions, level, {}, redundant).symbols;
}

}  // namespace daedalus::mechanics
