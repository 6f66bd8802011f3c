// Scaling after Bottasso, Bauchau and Cardona (2007): with the unknowns (q, h v, h^2 lambda), q' = v times h, the equations
// of motion times h^2 and a constraint of level k times h^k, the matrix of Newton's method has a limit for h -> 0 that is
// regular where the KKT matrix is.
#include "daedalus/mechanics/implicit.hpp"

#include <algorithm>

namespace daedalus::mechanics {

namespace {

Expr constraint_on(const Equations& eq, std::size_t i, Level level, const Feedback& feedback) {
  const Constraint& constraint = eq.constraints[i];
  if (level == Level::position && constraint.holonomic) return constraint.position;
  if (level != Level::acceleration) return constraint.velocity;
  Expr sum = -constraint.gamma;
  for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k) sum = sum + eq.G.value[k] * eq.a[eq.G.column[k]];
  if (constraint.holonomic) return sum + feedback.velocity * constraint.velocity + feedback.position * constraint.position;
  return sum + feedback.nonholonomic * constraint.velocity;
}

}  // namespace

ImplicitMotion implicit_motion(const Functions& functions, Level level, const Feedback& feedback,
                               const std::vector<std::size_t>& redundant) {
  const Equations& eq = functions.equations;
  const std::size_t n = functions.n, m = functions.m;
  expr::Graph& graph = *eq.model->graph;
  ImplicitMotion out;
  compile::ImplicitEquations equations;
  equations.t = eq.t;
  const auto unknown = [&](Expr symbol, Expr rate, int index, int power) {
    equations.y.push_back(symbol);
    equations.dy.push_back(rate);
    out.names.push_back(symbol.name());
    out.index.push_back(index);
    out.column_power.push_back(power);
  };
  const auto equation = [&](Expr residual, int power) {
    equations.F.push_back(residual);
    out.row_power.push_back(power);
  };

  const bool holonomic = functions.holonomic > 0;
  std::vector<Expr> rate;
  for (const Expr& q : eq.q) {
    rate.push_back(graph.symbol("rate." + q.name()));
    unknown(q, rate.back(), 1, 0);
  }
  for (std::size_t i = 0; i < n; ++i) unknown(eq.v[i], eq.a[i], level == Level::position && holonomic ? 2 : 1, 1);
  for (const std::size_t i : functions.differential) unknown(eq.z[i], eq.z_rate[i], 1, 0);
  for (const std::size_t i : functions.algebraic) unknown(eq.z[i], Expr(), 1, 0);
  out.system_index = functions.algebraic.empty() ? 0 : 1;
  for (std::size_t i = 0; i < m; ++i) {
    // A multiplier acts on velocities through h lambda and is taken afresh from the KKT system where it is shown, so that
    // on the acceleration level, too, an error in it counts times h.
    const bool position = level == Level::position && eq.constraints[i].holonomic;
    unknown(eq.lambda[i], Expr(), position ? 3 : 2, 2);
    out.system_index = std::max(out.system_index, level == Level::acceleration ? 1 : position ? 3 : 2);
  }

  for (std::size_t i = 0; i < n; ++i) equation(rate[i] - eq.v[i], 1);
  std::vector<Expr> force(n);
  for (std::size_t i = 0; i < n; ++i) {
    force[i] = -eq.f[i];
    for (std::size_t k = eq.M.row_start[i]; k < eq.M.row_start[i + 1]; ++k)
      force[i] = force[i] + eq.M.value[k] * eq.a[eq.M.column[k]];
  }
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k) {
      Expr& sum = force[eq.G.column[k]];
      sum = sum + eq.G.value[k] * eq.lambda[i];
    }
  for (const Expr& sum : force) equation(sum, 2);
  for (const Expr& residual : eq.auxiliary) equation(residual, 0);
  for (std::size_t i = 0; i < m; ++i) {
    const int power = level == Level::acceleration ? 2 : level == Level::velocity || !eq.constraints[i].holonomic ? 1 : 0;
    if (std::ranges::find(redundant, i) != redundant.end())
      equation(eq.lambda[i], 2);
    else
      equation(constraint_on(eq, i, level, feedback), power);
  }

  compile::Switches switches = functions.switches;
  out.function = compile::compile_implicit(equations, eq.model->numbers(), switches, compile::Request::NewSwitches::none);
  return out;
}

}  // namespace daedalus::mechanics
