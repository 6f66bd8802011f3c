#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

// Not part of this room's interface.
namespace daedalus::linalg {

/// U^T U = A for symmetric A, row by row up to the last nonzero entry of each row of U: a banded matrix costs what its
/// band costs. Allocates nothing after construction.
class EnvelopeCholesky {
 public:
  /// `extent[i]` is one past the last column in which row i of the upper triangle of A may have an entry, at least i
  /// + 1.
  explicit EnvelopeCholesky(std::vector<std::size_t> extent);

  std::size_t size() const { return extent_.size(); }
  std::size_t extent(std::size_t i) const { return extent_[i]; }  ///< the same for U
  /// Row i from its diagonal on: the entry of column j is row(i)[j - i].
  double* row(std::size_t i) { return values_.data() + start_[i]; }
  const double* row(std::size_t i) const { return values_.data() + start_[i]; }
  double inverse(std::size_t i) const { return inverse_[i]; }  ///< 1 / U_ii
  const std::vector<double>& inverses() const { return inverse_; }

  void clear();                                             ///< A = 0
  void add(const Sparsity& pattern, const double* values);  ///< A += a symmetric matrix that is stored whole
  /// A += sum_j weight_j g_j g_j^T over the rows g_j of G
  void add_squares(const Sparsity& jacobian, const double* G, const double* weight);

  /// Factors A in place. Returns a measure of definiteness between 0 (not positive definite) and 1: the smallest pivot
  /// relative to its diagonal entry, and where that is small the smallest eigenvalue of A scaled to unit diagonal.
  double factor();
  void substitute_forward(double* x) const;   ///< U^T y = x in place
  void substitute_backward(double* x) const;  ///< U y = x in place
  void solve(double* x) const {
    substitute_forward(x);
    substitute_backward(x);
  }
  /// U^T y = x in place for an x that is zero outside [begin, end); returns the end of y.
  std::size_t substitute_forward(double* x, std::size_t begin, std::size_t end) const;

 private:
  double smallest_eigenvalue();

  std::vector<std::size_t> extent_, start_;
  std::vector<double> values_, inverse_, diagonal_, work_;
};

/// Extents of M, and of M + G^T S G with diagonal S.
std::vector<std::size_t> extents_of(const Sparsity& mass);
std::vector<std::size_t> extents_of(const Sparsity& mass, const Sparsity& jacobian);

/// For every row of G the mass that moving along it costs: the largest mass that it touches over its length squared. A
/// mean would follow the direction of the row, along which M may be next to nothing (a quaternion's own).
void row_masses(const Sparsity& mass, const double* M, const Sparsity& jacobian, const double* G, double* result);

/// At or below this measure of definiteness a matrix of order n is singular up to round-off.
double singular_pivot(std::size_t n);

}  // namespace daedalus::linalg
