#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

// Not part of this room's interface.
namespace daedalus::linalg {

/// Sparse factors L D L^T of A A^T for rows of A of length 1 (or 0), in an order that keeps them sparse. Rows whose
/// part outside the rows before them is at most `threshold` are left out as "weak". Squares limit the threshold to
/// about 1e-6 from below.
class GramFactors {
 public:
  GramFactors(const Sparsity& pattern, const double* unit_rows, double threshold);

  const std::vector<std::size_t>& weak() const { return weak_; }  ///< ascending
  double smallest() const { return smallest_; }                   ///< smallest length counted
  /// Solves A A^T z = b in place over the rows that are not weak; z is 0 on weak ones.
  void solve(double* b);

 private:
  std::vector<int> order_, start_, row_;
  std::vector<double> value_, inverse_, work_;
  std::vector<std::size_t> weak_;
  double smallest_ = 1.0;
};

}  // namespace daedalus::linalg
