#pragma once

#include <memory>
#include <vector>

#include "daedalus/linalg/basis_columns.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::formulate {

/// The unknowns u of r independent rows of G, parted by pivoting: G u = G_D u_D + G_I u_I with a well-conditioned G_D. The
/// columns of N, with N_I = I and N_D = -G_D^-1 G_I, are a basis of the kernel. Allocates nothing after set_rows().
class DependentColumns {
 public:
  explicit DependentColumns(const linalg::Sparsity& jacobian) : jacobian_(jacobian) {}

  /// Takes these rows of the whole G.
  void set_rows(std::vector<std::size_t> rows);
  const std::vector<std::size_t>& rows() const { return rows_; }

  /// Chooses the dependent unknowns for the values of the whole G; unknown j counts divided by scale[j]. False, and the
  /// choice stays what it was, where the rows depend on each other.
  bool choose(const double* G, const double* scale);
  /// Takes these unknowns, as many as rows.
  void take(const std::vector<std::size_t>& dependent);
  /// Takes the choice of another one with the same rows.
  void choose_as(const DependentColumns& other);
  const std::vector<std::size_t>& dependent() const { return dependent_; }
  const std::vector<std::size_t>& independent() const { return independent_; }

  /// Factors G_D; false where it is singular.
  bool factor(const double* G);
  /// u = (u_D, 0) with G u = c, one entry of c per row of this level.
  void lead(const double* c, double* u);
  /// y = N^T b, and `row_factors` so that b - G^T row_factors vanishes in the dependent places: one per row of the whole G.
  void eliminate(const double* G, const double* b, double* y, double* row_factors);
  /// The largest entry of N_D, in units of `scale`: how far dependent unknowns move with independent ones. Needs factors.
  double tilt(const double* G, const double* scale);

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  const linalg::Sparsity& jacobian_;
  std::vector<std::size_t> rows_, dependent_, independent_, place_;
  std::unique_ptr<linalg::BasisColumns> columns_;
  std::unique_ptr<linalg::DenseLu> lu_, transposed_;
  std::vector<double> values_, matrix_, right_;
};

}  // namespace daedalus::formulate
