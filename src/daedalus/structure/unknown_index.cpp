// Let (c, d) be the offsets of the first-order form, sigma_ij the order (0 or 1) of unknown j in equation i, and i(j) the
// equation with which unknown j is paired. A perturbation delta_i of equation i reaches x_j^(d_j) through the equation
// f_i^(c_i), differentiated c_i times, and what reaches another unknown l of that equation goes the same way:
//     r_j = max(c_i, max_l r_l - s_il),   i = i(j),   s_il = d_l - c_i - sigma_il >= 0,
// where x_j^(d_j) depends on r_j derivatives of perturbations, and x_j itself, d_j integrations below, on r_j - d_j. So
//     index of x_j = 1 + max(0, r_j - d_j):
// 1, 2, 3 for positions, velocities and multipliers of constrained motion, 1 for an ODE beside it, and one less than an
// unknown for its integral. No s is negative, so that the least solution of these equations exists; it is found from the
// largest r down, as shortest paths are.
//
// With row i times h^(K - c_i) and column j divided by h^(K - d_j) an entry of order sigma in F_y + F_y'/h becomes
// h^(s_ij): what has s_ij = 0 stays, and that is the system Jacobian. For K = max d this is the scaling of Bottasso, Bauchau
// and Cardona (2007) where they have one.

#include "daedalus/structure/unknown_index.hpp"

#include <algorithm>
#include <queue>

#include "daedalus/base/check.hpp"

namespace daedalus::structure {

namespace {

EquationSet first_order_form(const DaeFunctions& written) {
  EquationSet system;
  add_numbers(system, *written.model);
  const compile::ImplicitEquations& eq = written.equations;
  for (std::size_t j = 0; j < eq.y.size(); ++j) {
    EquationSet::Unknown unknown{written.unknowns[j].name, {eq.y[j]}, {0.0}};
    if (eq.dy[j].valid()) unknown.derivatives.push_back(eq.dy[j]);
    unknown.guess.resize(unknown.derivatives.size());
    system.unknowns.push_back(std::move(unknown));
  }
  for (std::size_t i = 0; i < eq.F.size(); ++i)
    system.equations.push_back({written.rows[i].name, eq.F[i], written.rows[i].place});
  return system;
}

/// r of every unknown.
std::vector<int> reached(const Signature& signature, const SigmaMethod& sigma) {
  const std::vector<int>&c = sigma.offsets.c, &d = sigma.offsets.d;
  const linalg::Sparsity by_unknown = transposed(signature.pattern);
  // Where entry (i, j) stands among those of row i.
  std::vector<int> order(signature.order.size());
  std::vector<std::size_t> next(by_unknown.row_start.begin(), by_unknown.row_start.end() - 1);
  for (std::size_t i = 0; i < signature.pattern.rows; ++i)
    for (std::size_t k = signature.pattern.row_start[i]; k < signature.pattern.row_start[i + 1]; ++k)
      order[next[signature.pattern.column[k]]++] = signature.order[k];
  std::vector<int> r(d.size());
  using Entry = std::pair<int, std::size_t>;
  std::priority_queue<Entry> open;
  for (std::size_t j = 0; j < d.size(); ++j) {
    r[j] = c[sigma.transversal.row_of[j]];
    open.emplace(r[j], j);
  }
  while (!open.empty()) {
    const auto [value, l] = open.top();
    open.pop();
    if (value < r[l]) continue;
    for (std::size_t k = by_unknown.row_start[l]; k < by_unknown.row_start[l + 1]; ++k) {
      const std::size_t i = by_unknown.column[k], j = sigma.transversal.column_of[i];
      const int through = value - (d[l] - c[i] - order[k]);
      if (through <= r[j]) continue;
      r[j] = through;
      open.emplace(through, j);
    }
  }
  return r;
}

}  // namespace

UnknownIndices unknown_indices(const DaeFunctions& written) {
  const Signature signature = signature_of(first_order_form(written));
  const auto sigma = sigma_method(signature);
  DAEDALUS_CHECK(sigma, "{} equations are structurally singular", written.dimension());
  const std::vector<int>&c = sigma->offsets.c, &d = sigma->offsets.d;
  const std::vector<int> r = reached(signature, *sigma);
  const int most = *std::ranges::max_element(d);
  UnknownIndices result;
  for (std::size_t j = 0; j < d.size(); ++j) {
    result.index.push_back(1 + std::max(0, r[j] - d[j]));
    result.column_power.push_back(most - d[j]);
  }
  for (const int offset : c) result.row_power.push_back(most - offset);
  result.system_index = std::max(1, sigma->offsets.structural_index());
  return result;
}

}  // namespace daedalus::structure
