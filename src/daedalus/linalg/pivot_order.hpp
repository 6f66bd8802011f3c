#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

// Not part of this room's interface.
namespace daedalus::linalg {

/// In which order the rows and columns of small square matrices of one pattern are eliminated, and where the factors then
/// have entries. Chosen for values, so that pivots are not small, and for the pattern, so that factors stay sparse: rows as
/// x' = v cost next to nothing. The choice suits other values as long as the multipliers stay moderate.
class PivotOrder {
 public:
  using Place = std::uint32_t;

  explicit PivotOrder(const Sparsity& pattern);

  /// Chooses for a matrix with its values in the order of the pattern. False where nothing is left to divide by. Allocates
  /// nothing.
  bool choose(const double* values);

  std::size_t size() const { return n_; }
  /// Row and column of the k-th pivot.
  const std::vector<Place>& row() const { return row_; }
  const std::vector<Place>& column() const { return column_; }
  /// The power of two that brings the largest entry of row i, of the values chosen for, into [1, 2).
  const std::vector<double>& row_scale() const { return row_scale_; }

  /// The row of the k-th pivot, by the places of columns in the order: where L has entries (ascending), where U has behind
  /// the pivot, and what neither has a number for before the elimination.
  struct Places {
    const Place *begin, *end;
  };
  Places lower(std::size_t k) const { return part(lower_start_, lower_, k); }
  Places upper(std::size_t k) const { return part(upper_start_, upper_, k); }
  Places fill(std::size_t k) const { return part(fill_start_, fill_, k); }
  std::size_t lower_begin(std::size_t k) const { return lower_start_[k]; }
  std::size_t upper_begin(std::size_t k) const { return upper_start_[k]; }
  /// The place in the order of each entry of the pattern within its row.
  const std::vector<Place>& place() const { return place_; }
  /// Multiplications of one factorization.
  std::size_t operations() const { return operations_; }

 private:
  static Places part(const std::vector<std::size_t>& start, const std::vector<Place>& places, std::size_t k) {
    return {places.data() + start[k], places.data() + start[k + 1]};
  }
  void spread(const double* values);
  void find_column_sizes(std::size_t k);
  bool find_pivot(std::size_t k);
  void eliminate(std::size_t k);
  void list_places();

  const Sparsity& pattern_;
  std::size_t n_;
  std::vector<Place> row_, column_;  ///< behind the pivots chosen so far those that are left
  std::vector<double> row_scale_;
  std::vector<std::size_t> lower_start_, upper_start_, fill_start_;
  std::vector<Place> lower_, upper_, fill_, place_;
  std::size_t operations_ = 0;

  std::vector<double> work_, column_size_;     ///< the matrix as it is eliminated, row by row
  std::vector<char> there_;                    ///< whether it has an entry: 1 given, 2 filled in
  std::vector<Place> in_row_, in_column_, at_; ///< entries left; the place of a column in the order
};

}  // namespace daedalus::linalg
