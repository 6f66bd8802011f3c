#include "daedalus/formulate/coordinate_metric.hpp"

#include <algorithm>

namespace daedalus::formulate {

/// A coordinate that neither mass nor constraint holds counts as this much of the heaviest.
constexpr double least_mass = 1e-12;

void coordinate_metric(const mechanics::Functions& functions, const std::vector<std::size_t>& rows, const double* M,
                       const double* G, std::vector<double>& W) {
  const linalg::Sparsity &mass = functions.mass, &jacobian = functions.jacobian;
  const auto own_mass = [&](std::size_t i) {
    for (std::size_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k)
      if (mass.column[k] == i) return std::max(M[k], 0.0);
    return 0.0;
  };
  for (std::size_t i = 0; i < mass.rows; ++i) W[i] = own_mass(i);
  for (const std::size_t i : rows) {
    double masses = 0.0, squares = 0.0;
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k) {
      masses += own_mass(jacobian.column[k]);
      squares += G[k] * G[k];
    }
    if (squares == 0.0) continue;
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k)
      W[jacobian.column[k]] += masses / squares * G[k] * G[k];
  }
  const double most = *std::ranges::max_element(W);
  for (double& w : W) w = most > 0.0 ? std::max(w, least_mass * most) : 1.0;
}

}  // namespace daedalus::formulate
