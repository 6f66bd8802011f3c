// The textbook form of the force side, (3.22) of the notes 000:
//     M a + C v + dV/dq = Q - G^T lambda,     C_ij = sum_k c_ijk v_k,
//     c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2        (3.25), Christoffel symbols of the first kind,
// with which (sum_k v_k dM/dq_k) - 2 C is skew-symmetric.

#include <map>

#include "daedalus/expr/substitute.hpp"
#include "daedalus/mechanics/derive.hpp"

namespace daedalus::mechanics {

using expr::Direction;
using expr::NodeId;

ForceTerms force_terms(const Equations& equations) {
  const model::Model& model = *equations.model;
  expr::Graph& graph = *model.graph;
  const Expr zero = graph.constant(0.0);
  const std::size_t n = equations.q.size();
  ForceTerms terms;
  terms.C.rows = terms.C.columns = n;
  terms.gradient.assign(n, zero);
  if (model.kind == model::Kind::mechanical) {
    terms.C.row_start.assign(n + 1, 0);
    terms.Q = equations.f;
    return terms;
  }

  // Every derivative D = dM_ij/dq_l goes with weight 1/2 to three Christoffel symbols. Halves of the same D are counted
  // before anything is written down, so that what cancels does not appear.
  const SparseExpr derivative = expr::jacobian(equations.M.value, equations.q);
  std::vector<std::map<std::size_t, std::map<std::size_t, std::map<NodeId, int>>>> halves(
      n);  // row, column, velocity, D
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = equations.M.row_start[i]; k < equations.M.row_start[i + 1]; ++k) {
      const std::size_t j = equations.M.column[k];
      for (std::size_t e = derivative.row_start[k]; e < derivative.row_start[k + 1]; ++e) {
        const std::size_t l = derivative.column[e];
        const expr::Node& node = derivative.value[e].node();
        const bool negative = node.op == expr::Op::neg;
        const NodeId D = negative ? node.a : derivative.value[e].id();
        const int sign = negative ? -1 : 1;
        halves[i][j][l][D] += sign;  // c_ijl v_l
        halves[i][l][j][D] += sign;  // c_ilj v_j: the roles of j and l exchanged
        halves[l][j][i][D] -= sign;  // c_lji v_i: the derivative by the row's own coordinate
      }
    }
  for (const auto& row : halves) {
    for (const auto& [j, velocities] : row) {
      Expr entry = zero;
      for (const auto& [l, parts] : velocities) {
        Expr symbol = zero;
        for (const auto& [D, count] : parts)
          if (count != 0) symbol = symbol + (count / 2.0) * Expr(&graph, D);
        entry = entry + symbol * equations.v[l];
      }
      if (entry.is_constant(0.0)) continue;
      terms.C.column.push_back(j);
      terms.C.value.push_back(entry);
    }
    terms.C.row_start.push_back(terms.C.column.size());
  }

  // V is minus the part of L without velocities; b = dL/dv at rest is the linear part.
  std::unordered_map<NodeId, Expr> rest;
  for (const Expr& v : equations.v) rest.emplace(v.id(), zero);
  terms.gradient = expr::gradient(*equations.potential, equations.q);
  const std::vector<Expr> b = expr::substitute(expr::gradient(equations.lagrangian, equations.v), rest);

  terms.Q.assign(n, zero);
  for (const model::Named& force : model.forces)
    for (std::size_t i = 0; i < n; ++i)
      if (model.variables[i].name == force.name) terms.Q[i] = terms.Q[i] + force.value;
  if (model.dissipation) {
    const std::vector<Expr> drag = expr::gradient(*model.dissipation, equations.v);
    for (std::size_t i = 0; i < n; ++i) terms.Q[i] = terms.Q[i] - drag[i];
  }
  // d/dt b - d(b^T v)/dq, and the explicit time derivative of M v
  Direction along;
  for (std::size_t i = 0; i < n; ++i) along.emplace(equations.q[i].id(), equations.v[i]);
  along.emplace(equations.t.id(), graph.constant(1.0));
  Direction time{{equations.t.id(), graph.constant(1.0)}};
  for (std::size_t i = 0; i < equations.z.size(); ++i)
    if (equations.z_differential[i]) {
      along.emplace(equations.z[i].id(), equations.z_rate[i]);
      time.emplace(equations.z[i].id(), equations.z_rate[i]);
    }
  const std::vector<Expr> b_dot = expr::derivative_along(b, along);
  Expr b_v = zero;
  for (std::size_t i = 0; i < n; ++i) b_v = b_v + b[i] * equations.v[i];
  const std::vector<Expr> b_v_q = expr::gradient(b_v, equations.q);
  const std::vector<Expr> M_dot = expr::derivative_along(equations.M.value, time);
  for (std::size_t i = 0; i < n; ++i) {
    terms.Q[i] = terms.Q[i] + b_v_q[i] - b_dot[i];
    for (std::size_t k = equations.M.row_start[i]; k < equations.M.row_start[i + 1]; ++k)
      terms.Q[i] = terms.Q[i] - M_dot[k] * equations.v[equations.M.column[k]];
  }
  return terms;
}

}  // namespace daedalus::mechanics
