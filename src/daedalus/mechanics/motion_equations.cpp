#include "daedalus/mechanics/motion_equations.hpp"

namespace daedalus::mechanics {

MotionEquations::MotionEquations(const Functions& given) : functions(given), eq(given.equations) {
  symbols.t = eq.t;
  for (const Expr& q : eq.q) rate.push_back(eq.model->graph->symbol("rate." + q.name()));
  motion.system_index = functions.algebraic.empty() ? 0 : 1;
}

void MotionEquations::unknown(Expr symbol, Expr derivative, Scaling scaling) {
  symbols.y.push_back(symbol);
  symbols.dy.push_back(derivative);
  motion.names.push_back(symbol.name());
  motion.index.push_back(scaling.index);
  motion.column_power.push_back(scaling.power);
}

void MotionEquations::equation(Expr residual, int power) {
  symbols.F.push_back(residual);
  motion.row_power.push_back(power);
}

void MotionEquations::state(Scaling velocity) {
  for (std::size_t i = 0; i < functions.n; ++i) unknown(eq.q[i], rate[i], {1, 0});
  for (std::size_t i = 0; i < functions.n; ++i) unknown(eq.v[i], eq.a[i], velocity);
  for (const std::size_t i : functions.differential) unknown(eq.z[i], eq.z_rate[i], {1, 0});
  for (const std::size_t i : functions.algebraic) unknown(eq.z[i], Expr(), {1, 0});
}

void MotionEquations::auxiliary() {
  for (const Expr& residual : eq.auxiliary) equation(residual, 0);
}

std::vector<Expr> MotionEquations::balance(std::span<const Expr> acceleration) const {
  std::vector<Expr> force(functions.n);
  for (std::size_t i = 0; i < functions.n; ++i) {
    force[i] = -eq.f[i];
    for (std::size_t k = eq.M.row_start[i]; k < eq.M.row_start[i + 1]; ++k)
      force[i] = force[i] + eq.M.value[k] * acceleration[eq.M.column[k]];
  }
  for (std::size_t i = 0; i < functions.m; ++i)
    for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k) {
      Expr& sum = force[eq.G.column[k]];
      sum = sum + eq.G.value[k] * eq.lambda[i];
    }
  return force;
}

Expr MotionEquations::acceleration_level(std::size_t i, std::span<const Expr> acceleration) const {
  Expr sum = -eq.constraints[i].gamma;
  for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k)
    sum = sum + eq.G.value[k] * acceleration[eq.G.column[k]];
  return sum;
}

ImplicitMotion MotionEquations::compiled() && {
  compile::Switches switches = functions.switches;
  motion.function =
      compile::compile_implicit(symbols, eq.model->numbers(), switches, compile::Request::NewSwitches::none);
  return std::move(motion);
}

}  // namespace daedalus::mechanics
