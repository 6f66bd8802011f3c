#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

/// Chooses as many columns of a matrix as it has rows, so that they form a well-conditioned square matrix A_D: none of
/// the entries of A_D^-1 A is much larger than 1. Small matrices allocate nothing after construction.
class BasisColumns {
 public:
  explicit BasisColumns(const Sparsity& pattern);

  /// Chooses for these values, in the order of the pattern; column j counts divided by column_scale[j]. Returns the
  /// columns in ascending order; fewer than rows where the rows depend on each other.
  const std::vector<std::size_t>& choose(const double* values, const double* column_scale);

 private:
  using Entry = std::pair<std::size_t, double>;  ///< column, value
  struct Row {
    std::vector<Entry> entries;  ///< by column
    std::size_t pivot = 0;       ///< position of the largest
    double largest = 0.0;
  };
  static void find_largest(Row& row);
  /// Takes the multiple of the pivot row from a row that makes its entry `at` vanish.
  void eliminate(const Row& pivot, std::size_t at, Row& row);

  Sparsity pattern_;
  std::vector<Row> rows_;
  std::vector<std::size_t> left_;
  std::vector<Entry> merged_;
  std::vector<std::size_t> chosen_;
};

}  // namespace daedalus::linalg
