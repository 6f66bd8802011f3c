#include "daedalus/mechanics/stacked_constraints.hpp"

namespace daedalus::mechanics {

std::shared_ptr<const compile::StateEquations> stack_constraints(const Functions& functions) {
  const Equations& eq = functions.equations;
  std::vector<Expr> h, state = eq.q;
  for (const std::size_t i : functions.holonomic_rows) h.push_back(eq.constraints[i].position);
  for (const Constraint& constraint : eq.constraints) h.push_back(constraint.velocity);
  state.insert(state.end(), eq.v.begin(), eq.v.end());
  compile::Switches switches = functions.switches;
  return std::make_shared<const compile::StateEquations>(
      compile::compile_state_equations(h, eq.t, state, eq.model->numbers(), switches));
}

}  // namespace daedalus::mechanics
