// M is positive definite on ker G if and only if M + s G^T G is positive definite for all large s (Debreu 1952);
// where G^T G would be dense, the inertia of [M G^T; G -1/s] is (n, m, 0) instead (Haynsworth).
#include "daedalus/linalg/definite.hpp"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <vector>

namespace daedalus::linalg {

namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

// Pivots of the scaled matrix at or below this come from round-off.
constexpr double singular_pivot = 1e-13;
constexpr double doubtful_pivot = 1e-4;
constexpr double product_limit = 2e7;  // entries of G^T G before merging

std::vector<Eigen::Triplet<double, int>> triplets(const Sparsity& pattern, const double* values) {
  std::vector<Eigen::Triplet<double, int>> entries;
  entries.reserve(pattern.nonzeros());
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      entries.emplace_back(static_cast<int>(i), static_cast<int>(pattern.column[k]), values[k]);
    }
  }
  return entries;
}

// Whether the LDL^T of A exists with exactly `negative` negative pivots and none near zero.
bool has_inertia(const Matrix& A, Eigen::Index negative) {
  Eigen::SimplicialLDLT<Matrix> ldlt(A);
  if (ldlt.info() != Eigen::Success) return false;
  Eigen::Index count = 0;
  double smallest = 1.0;
  for (const double d : ldlt.vectorD()) {
    if (!(std::abs(d) > singular_pivot)) return false;
    smallest = std::min(smallest, std::abs(d));
    if (d < 0.0) ++count;
  }
  if (count != negative) return false;
  if (smallest > doubtful_pivot) return true;
  // A pivot may exceed the smallest eigenvalue by any factor: inverse iteration.
  Eigen::VectorXd x(A.rows());
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    x(i) = (i % 2 == 0 ? 1.0 : -1.0) * (1.0 + 0.5 * static_cast<double>(i % 7));
  }
  for (int iteration = 0; iteration < 4; ++iteration) {
    const Eigen::VectorXd unit = x.normalized();
    x = ldlt.solve(unit);
    if (!(x.norm() < 1.0 / singular_pivot)) return false;
  }
  return true;
}

}  // namespace

bool definite_on_kernel(const Sparsity& mass, const double* M, const Sparsity& jacobian, const double* G) {
  const int n = static_cast<int>(mass.rows), m = static_cast<int>(jacobian.rows);
  auto entries = triplets(mass, M);
  Matrix mass_matrix(n, n);
  mass_matrix.setFromTriplets(entries.begin(), entries.end());
  if (has_inertia(mass_matrix, 0)) return true;
  if (m == 0) return false;

  double product = 0.0;
  for (std::size_t j = 0; j < jacobian.rows; ++j) {
    const double length = static_cast<double>(jacobian.row_start[j + 1] - jacobian.row_start[j]);
    product += length * length;
  }
  const auto rows = triplets(jacobian, G);
  Matrix shift;
  if (product <= product_limit) {
    Matrix jacobian_matrix(m, n);
    jacobian_matrix.setFromTriplets(rows.begin(), rows.end());
    shift = jacobian_matrix.transpose() * jacobian_matrix;
  }
  for (const double s : {1.0, 1e2, 1e4, 1e6}) {
    if (product <= product_limit) {
      const Matrix shifted = mass_matrix + s * shift;
      if (has_inertia(shifted, 0)) return true;
      continue;
    }
    auto all = entries;
    for (const auto& entry : rows) {
      all.emplace_back(n + entry.row(), entry.col(), entry.value());
      all.emplace_back(entry.col(), n + entry.row(), entry.value());
    }
    for (int j = 0; j < m; ++j) all.emplace_back(n + j, n + j, -1.0 / s);
    Matrix K(n + m, n + m);
    K.setFromTriplets(all.begin(), all.end());
    if (has_inertia(K, m)) return true;
  }
  return false;
}

}  // namespace daedalus::linalg
