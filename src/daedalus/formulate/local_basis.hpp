#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "daedalus/linalg/basis_columns.hpp"
#include "daedalus/linalg/householder.hpp"
#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::formulate {

/// Directions at a point of the constraints, for r independent rows of G and n unknowns u (positions or velocities): n - r
/// along which the local coordinates y run, and r in which dependent parts are found,
///     u = B y + C mu,     y = D u,     D B = I,  D C = 0.
class LocalBasis {
 public:
  /// `coordinates`: y are some of the u themselves, C picks the others. `tangent`: B is an orthonormal basis of the
  /// tangent space ker G in the metric W, C = W^-1 G^T is normal to it.
  enum class Kind { coordinates, tangent };
  LocalBasis(Kind kind, linalg::Sparsity rows);

  /// Chooses for the values of the rows at a point and the diagonal of the metric W there. False where the rows depend on
  /// each other.
  bool choose(const double* G, const double* W);

  Kind kind() const { return kind_; }
  std::size_t size() const { return n_ - r_; }  ///< of y
  void take(const double* u, double* y);        ///< y = D u
  void add(const double* y, double* u);         ///< u += B y
  /// Takes u with the coordinates `from` along the directions B to the coordinates `to`.
  void move(const double* from, const double* to, double* u);

  /// C transposed, r by n.
  const linalg::Sparsity& normal() const { return normal_; }
  const std::vector<double>& normal_values() const { return normal_values_; }

  /// Length of the k-th direction of B in the metric W of the last choice.
  double length(std::size_t k) const { return kind_ == Kind::tangent ? 1.0 : root_[order_[r_ + k]]; }
  /// Size of the terms of y = D u.
  void magnitudes(const double* u, double* y);
  /// How far y_k may change so that B y changes no u_j by much more than bound[j].
  void bounds(const double* bound, double* y);
  /// The unknown that changes most with y_k.
  std::size_t nearest(std::size_t k);

 private:
  /// Sets column_ to the k-th column of Q_2, in the order order_.
  void find_direction(std::size_t k);

  Kind kind_;
  linalg::Sparsity rows_;
  std::size_t n_, r_;
  std::vector<std::size_t> order_;  ///< coordinates: first dependent, then independent ones; tangent: by constraints
  std::vector<std::size_t> place_;  ///< its inverse
  std::vector<double> root_;        ///< of the diagonal of W
  std::optional<linalg::BasisColumns> columns_;
  std::optional<linalg::HouseholderQr> qr_;  ///< of W^-1/2 G^T
  linalg::Sparsity normal_;
  std::vector<double> normal_values_, column_, difference_;
};

}  // namespace daedalus::formulate
