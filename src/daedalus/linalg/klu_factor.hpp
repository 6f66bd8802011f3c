#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/lu.hpp"

// Wrapper of SuiteSparse's KLU; not part of this room's interface.
namespace daedalus::linalg {

/// Sparse LU of square matrices with one pattern, in compressed columns.
class KluFactor {
 public:
  /// Orders for the pattern; `row` ascends within a column.
  /// `largest` takes the largest entry of a column as its pivot, `diagonal` prefers the diagonal where it is not tiny: better
  /// for matrices that are made definite by a shift, and worse by two digits where a block of the diagonal is zero.
  enum class Pivots { largest, diagonal };
  KluFactor(std::vector<int> column_start, std::vector<int> row, Pivots pivots = Pivots::largest);
  ~KluFactor();
  KluFactor(const KluFactor&) = delete;
  KluFactor& operator=(const KluFactor&) = delete;

  /// The values to factor, to be filled by the caller in the order of the pattern.
  double* values() { return values_.data(); }
  const std::vector<int>& column_start() const { return column_start_; }
  const std::vector<int>& row() const { return row_; }
  std::size_t size() const { return column_start_.size() - 1; }

  /// Chooses pivots afresh; false where a pivot vanishes. Allocates.
  bool factor();
  /// Keeps the pivots of the last factor(); false where there is none, where a pivot vanishes, or where the ratio of
  /// the pivots fell so far below that of factor() that they may no longer suit. Allocates nothing.
  bool refactor();
  /// Estimates the condition in the 1-norm.
  double condition();
  /// Of the matrix of the last factors.
  Determinant determinant();
  /// Solves in place.
  void solve(double* x);
  /// residual = b - A x; returns the largest componentwise backward error |residual| / (|A| |x| + |b|).
  double residual(const double* b, const double* x, double* residual);

  /// Nonzeros and operations of the factors as predicted by the ordering.
  double predicted_nonzeros() const;
  double predicted_operations() const;

 private:
  struct Klu;
  std::unique_ptr<Klu> klu_;
  std::vector<int> column_start_, row_;
  std::vector<double> values_, size_;
  std::vector<char> seen_;
  double fresh_ratio_ = 0.0;
};

}  // namespace daedalus::linalg
