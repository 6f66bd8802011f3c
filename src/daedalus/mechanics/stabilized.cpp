// C. Fuehrer, B. J. Leimkuhler, Numerical solution of differential-algebraic equations for constrained mechanical
// motion, Numer. Math. 59 (1991) 55-69 (001). The overdetermined forms are
//     q' = v,   M v' = f - G^T lambda,   G v + g_t = 0,    g = 0                                              (47)
//     q' = v,   M v' = f - G^T lambda,   G M^-1 (f - G^T lambda) = gamma,    g = 0,   G v + g_t = 0           (17)
// with the square part before the gap. With C(t, y) = 0 the rows behind it, the stabilized forms add C_y^T (mu, eta) to
// the square part, whose row i belongs to unknown i; for (47) these are (43)-(46) with q' = v - G^T mu, after
// C. W. Gear, G. K. Gupta, B. Leimkuhler, Automatic integration of Euler-Lagrange equations with constraints, J.
// Comput. Appl. Math. 12 & 13 (1985) 77-90, and for (17) they are (31)-(35),
//     q' = v - G^T mu - (G v + g_t)_q^T eta,   M v' = f - G^T lambda - G^T eta.
//
// The equation for lambda must not contain v', which carries the errors of velocities divided by h. No inverse of M is
// formed: with the accelerations a as unknowns
//     M (v' - a) = 0,   M a - f + G^T lambda = 0,   G a - gamma = 0
// are (2) and (35).
//
// Violations on the velocity level change v and, through (G v + g_t)_q^T eta, q as well: which of them how much depends
// on the unit of time. The first of the three rows is multiplied by T^2, T = 1 in 001; for T -> 0 the term vanishes.
//
// Scaling: with rows q' and v' times h and the multipliers that stand in them divided by h, the limit of Newton's
// matrix for h -> 0 is diag(1, M) bordered by constraints of full rank.
#include "daedalus/mechanics/stabilized.hpp"

#include <algorithm>

#include "daedalus/mechanics/motion_equations.hpp"

namespace daedalus::mechanics {

namespace {

/// Rows of the levels below the highest, and the names of their multipliers.
struct LowerLevels {
  std::vector<Expr> rows;
  std::vector<std::string> multipliers;
};

LowerLevels lower_levels(const Equations& eq, const SeveralLevels& form) {
  LowerLevels out;
  const auto add = [&](const std::string& multiplier, const Constraint& constraint, Expr residual) {
    out.rows.push_back(residual);
    out.multipliers.push_back(multiplier + "." + constraint.name);
  };
  const auto kept = [&](std::size_t i) { return std::ranges::find(form.redundant, i) == form.redundant.end(); };
  for (std::size_t i = 0; i < eq.constraints.size(); ++i)
    if (kept(i) && eq.constraints[i].holonomic) add("mu", eq.constraints[i], eq.constraints[i].position);
  for (std::size_t i = 0; i < eq.constraints.size() && form.highest == Level::acceleration; ++i)
    if (kept(i)) add("eta", eq.constraints[i], eq.constraints[i].velocity);
  return out;
}

/// q' - v, or W (q' - v) with W = M + sum of the squares of nonholonomic rows of G: definite where positions are free,
/// even if M is so only where velocities are.
std::vector<Expr> kinematics(const MotionEquations& out, SeveralLevels::Weight weight) {
  const Equations& eq = out.eq;
  const std::size_t n = out.functions.n;
  std::vector<Expr> difference;
  for (std::size_t i = 0; i < n; ++i) difference.push_back(out.rate[i] - eq.v[i]);
  if (weight == SeveralLevels::Weight::euclidean) return difference;
  std::vector<Expr> weighted(n, eq.model->graph->constant(0.0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = eq.M.row_start[i]; k < eq.M.row_start[i + 1]; ++k)
      weighted[i] = weighted[i] + eq.M.value[k] * difference[eq.M.column[k]];
  for (std::size_t i = 0; i < eq.constraints.size(); ++i) {
    if (eq.constraints[i].holonomic) continue;
    Expr along = eq.model->graph->constant(0.0);
    for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k)
      along = along + eq.G.value[k] * difference[eq.G.column[k]];
    for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k)
      weighted[eq.G.column[k]] = weighted[eq.G.column[k]] + eq.G.value[k] * along;
  }
  return weighted;
}

/// The square part.
MotionEquations square_part(const Functions& functions, const SeveralLevels& form) {
  MotionEquations out(functions);
  const Equations& eq = out.eq;
  const std::size_t n = functions.n, m = functions.m;
  const bool accelerations = form.highest == Level::acceleration && m > 0;
  // An error of lambda or a enters velocities times h.
  constexpr int index = 2;
  const int power = accelerations ? 0 : 1;
  out.state({1, 0});
  for (std::size_t i = 0; i < m; ++i) out.unknown(eq.lambda[i], Expr(), {index, power});
  std::vector<Expr> a = eq.a;
  if (accelerations) {
    out.motion.accelerations = true;
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = eq.model->graph->symbol("acceleration." + eq.q[i].name());
      out.unknown(a[i], Expr(), {index, 0});
    }
  }
  if (m > 0) out.motion.system_index = std::max(out.motion.system_index, accelerations ? 1 : 2);

  for (const Expr& row : kinematics(out, form.weight)) out.equation(row, 1);
  const std::vector<Expr> balance = out.balance(a);
  for (std::size_t i = 0; i < n; ++i) {
    Expr row = balance[i];
    if (accelerations) {
      row = eq.model->graph->constant(0.0);
      for (std::size_t k = eq.M.row_start[i]; k < eq.M.row_start[i + 1]; ++k)
        row = row + eq.M.value[k] * (eq.a[eq.M.column[k]] - a[eq.M.column[k]]);
      row = form.time * form.time * row;
    }
    out.equation(row, 1);
  }
  out.auxiliary();
  for (std::size_t i = 0; i < m; ++i) {
    const bool redundant = std::ranges::find(form.redundant, i) != form.redundant.end();
    out.equation(redundant       ? eq.lambda[i]
                 : accelerations ? out.acceleration_level(i, a)
                                 : eq.constraints[i].velocity,
                 redundant ? power : 0);
  }
  if (accelerations)
    for (const Expr& row : balance) out.equation(row, 0);
  return out;
}

}  // namespace

ImplicitMotion overdetermined_motion(const Functions& functions, const SeveralLevels& form) {
  MotionEquations out = square_part(functions, form);
  for (const Expr& row : lower_levels(out.eq, form).rows) out.equation(row, 0);
  return std::move(out).compiled();
}

ImplicitMotion stabilized_motion(const Functions& functions, const SeveralLevels& form) {
  MotionEquations out = square_part(functions, form);
  const LowerLevels lower = lower_levels(out.eq, form);
  const SparseExpr C_y = expr::jacobian(lower.rows, out.symbols.y);
  out.motion.ignored.assign(out.symbols.y.size(), false);
  for (std::size_t i = 0; i < lower.rows.size(); ++i) {
    const Expr multiplier = out.eq.model->graph->symbol(lower.multipliers[i]);
    for (std::size_t k = C_y.row_start[i]; k < C_y.row_start[i + 1]; ++k) {
      Expr& row = out.symbols.F[C_y.column[k]];
      row = row + C_y.value[k] * multiplier;
    }
    out.unknown(multiplier, Expr(), {2, 1});
    out.motion.ignored.push_back(true);
    out.equation(lower.rows[i], 0);
    out.motion.system_index = 2;
  }
  return std::move(out).compiled();
}

}  // namespace daedalus::mechanics
