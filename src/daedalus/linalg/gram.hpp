#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

// Not part of this room's interface.
namespace daedalus::linalg {

/// Sparse factors L D L^T of A A^T for rows of A of length 1 (or 0), in an order that keeps them sparse. Rows whose
/// part outside the rows before them is at most `threshold` are left out as "weak", and further ones until what remains
/// is not nearly singular. Squares limit the threshold to about 1e-6 from below.
class GramFactors {
 public:
  GramFactors(const Sparsity& pattern, const double* unit_rows, double threshold);

  const std::vector<std::size_t>& weak() const { return weak_; }  ///< ascending
  double smallest() const { return smallest_; }                   ///< smallest length counted
  /// Solves A A^T z = b in place over the rows that are not weak; z is 0 on weak ones.
  void solve(double* b);

 private:
  struct Matrix;
  void analyze(const Matrix& S);
  void factor(const Matrix& S, double threshold);
  std::size_t superfluous();
  template <class Visit>
  void walk(const Matrix& S, int k, Visit visit);

  std::vector<int> order_, position_, parent_, mark_, start_, row_;
  std::vector<double> value_, inverse_, work_;
  std::vector<char> left_out_;  ///< rows of which the factors have told that they depend on others
  std::vector<std::size_t> weak_;
  double smallest_ = 1.0;
};

}  // namespace daedalus::linalg
