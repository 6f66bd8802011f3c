#pragma once

#include <cstddef>
#include <vector>

namespace daedalus::linalg {

/// A determinant that neither overflows nor underflows.
struct Determinant {
  int sign = 0;            ///< 0: singular to working precision, or not finite
  double logarithm = 0.0;  ///< of its absolute value
};

/// Small dense LU with partial pivoting, row-major, in place; no allocation after construction. Rows are first brought
/// to comparable size by powers of two, so that equations in different units do not look singular.
class DenseLu {
 public:
  explicit DenseLu(std::size_t n) : n_(n), lu_(n * n), row_scale_(n), column_size_(n), pivot_(n) {}
  /// Factors a row-major matrix; false where it is singular to working precision or not finite.
  bool factor(const double* matrix);
  /// Solves in place with the factors of the last successful factor().
  void solve(double* right_side) const;
  /// Of the matrix of the last successful factor().
  Determinant determinant() const;
  /// Column whose pivot vanished in the last failed factor, or that holds a value that is not finite.
  std::size_t singular_column() const { return singular_column_; }
  std::size_t size() const { return n_; }

 private:
  std::size_t n_;
  std::vector<double> lu_;
  std::vector<double> row_scale_, column_size_;
  std::vector<std::size_t> pivot_;
  std::size_t singular_column_ = 0;
};

}  // namespace daedalus::linalg
