#include "daedalus/mechanics/normal_functions.hpp"

#include <fmt/format.h>

namespace daedalus::mechanics {

namespace {

linalg::Sparsity pattern_of(const SparseExpr& matrix) {
  return {matrix.rows, matrix.columns, matrix.row_start, matrix.column};
}

void append(std::vector<Expr>& to, const std::vector<Expr>& from) { to.insert(to.end(), from.begin(), from.end()); }

/// One symbol per constraint, which no author can name.
std::vector<Expr> factors(const Equations& eq, const char* letter) {
  std::vector<Expr> symbols;
  for (const Constraint& constraint : eq.constraints)
    symbols.push_back(eq.t.graph().symbol(fmt::format("{} of {}", letter, constraint.name)));
  return symbols;
}

/// y_i += sign sum_j A_ij x_j
void add_product(const SparseExpr& A, const std::vector<Expr>& x, double sign, std::vector<Expr>& y) {
  for (std::size_t i = 0; i < A.rows; ++i)
    for (std::size_t k = A.row_start[i]; k < A.row_start[i + 1]; ++k) y[i] = y[i] + sign * (A.value[k] * x[A.column[k]]);
}

/// y_j += sign sum_i A_ij x_i
void add_transposed(const SparseExpr& A, const std::vector<Expr>& x, double sign, std::vector<Expr>& y) {
  for (std::size_t i = 0; i < A.rows; ++i)
    for (std::size_t k = A.row_start[i]; k < A.row_start[i + 1]; ++k)
      y[A.column[k]] = y[A.column[k]] + sign * (A.value[k] * x[i]);
}

}  // namespace

NormalFunctions compile_normal_functions(const Functions& functions, Completion completion) {
  const Equations& eq = functions.equations;
  NormalFunctions out;
  const auto numbers = eq.model->numbers();
  compile::Switches switches = functions.switches;
  const auto make = [&](std::vector<std::vector<Expr>> inputs, std::vector<Expr> outputs) {
    return compile::compile({std::move(inputs), std::move(outputs), &numbers, compile::Request::NewSwitches::none},
                            switches);
  };
  const std::vector<Expr> nu = factors(eq, "nu"), rho = factors(eq, "rho"), time{eq.t};
  std::vector<Expr> z_d, w, velocity;
  for (std::size_t i = 0; i < eq.z.size(); ++i) {
    if (eq.z_differential[i]) z_d.push_back(eq.z[i]);
    w.push_back(eq.z_differential[i] ? eq.z_rate[i] : eq.z[i]);
  }
  for (const Constraint& constraint : eq.constraints) velocity.push_back(constraint.velocity);

  std::vector<Expr> P(functions.n, eq.t.graph().constant(0.0));
  add_product(eq.M, eq.v, 1.0, P);
  add_transposed(eq.G, nu, -1.0, P);
  const SparseExpr P_q = expr::jacobian(P, eq.q), velocity_q = expr::jacobian(velocity, eq.q);
  out.momentum_by_q = pattern_of(P_q);
  out.velocity_by_q = pattern_of(velocity_q);
  std::vector<Expr> shape = P_q.value;
  append(shape, velocity_q.value);
  out.shape = make({time, eq.q, eq.v, nu}, shape);

  std::vector<Expr> state = eq.q, load = eq.f;
  append(state, eq.v);
  const std::vector<Expr> motion = state;
  append(state, w);
  append(state, nu);
  std::vector<std::vector<Expr>> inputs{time, eq.q, eq.v, z_d, w};
  if (completion == Completion::momentum) {
    expr::Direction along{{eq.t.id(), eq.t.graph().constant(1.0)}};
    for (std::size_t i = 0; i < functions.n; ++i) along.emplace(eq.q[i].id(), eq.v[i]);
    const std::vector<Expr> rate = expr::derivative_along(P, along);
    for (std::size_t i = 0; i < functions.n; ++i) load[i] = load[i] + rate[i];
    inputs.push_back(nu);
    out.load = make(inputs, load);
    add_transposed(eq.G, rho, -1.0, load);
    inputs.push_back(rho);
  } else {
    add_product(eq.M, eq.a, -1.0, load);
    add_transposed(eq.G, eq.lambda, -1.0, load);
    std::vector<Expr> rest;
    for (const Constraint& constraint : eq.constraints) rest.push_back(constraint.gamma);
    add_product(eq.G, eq.a, -1.0, rest);
    append(load, rest);
    inputs.push_back(eq.a);
    inputs.push_back(eq.lambda);
  }
  const SparseExpr load_slope = expr::jacobian(load, state);
  out.load_by_state = pattern_of(load_slope);
  out.load_slope = make(inputs, load_slope.value);

  const SparseExpr auxiliary = expr::jacobian(eq.auxiliary, motion);
  out.auxiliary_by_state = pattern_of(auxiliary);
  out.auxiliary_slope = make({time, eq.q, eq.v, z_d, w}, auxiliary.value);
  return out;
}

}  // namespace daedalus::mechanics
