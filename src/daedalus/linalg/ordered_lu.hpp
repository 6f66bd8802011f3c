#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/lanes.hpp"
#include "daedalus/linalg/pivot_order.hpp"
#include "daedalus/linalg/sparsity.hpp"

// Back end of ShiftedLu and ShiftedFamily; not part of this room's interface.
namespace daedalus::linalg {

/// Beyond this an order of pivots takes more room than the matrix.
constexpr std::size_t most_ordered = 40;

/// LU factors of A + shift B for small sparse matrices, with pivots in an order that is kept as long as it suits the values:
/// nothing is searched for and nothing moved, and no zero is computed with. `Number` is double, or Complex of two or four
/// lanes: then there is one matrix in each lane. Allocates nothing after construction.
template <class Number>
class OrderedLu {
 public:
  using Lane = typename LaneOf<Number>::Type;
  static constexpr std::size_t lanes = lane_count<Lane>;
  static constexpr bool complex = sizeof(Number) > sizeof(Lane);

  explicit OrderedLu(const Sparsity& pattern);

  /// Factors with scaled rows and columns, as ShiftedLu does. `size` bounds the shifts of all lanes. False where pivots in no
  /// order are large enough, or where the matrix is not finite: then the last word is with partial pivoting.
  bool factor(const double* A, const double* B, const Number& shift, double size, const double* row_scale,
              const double* column_scale);

  /// The right sides of all lanes by real and imaginary parts, which become the solutions.
  struct Vectors {
    double* re[lanes];
    double* im[lanes];  ///< null for real numbers
  };
  void solve(const Vectors& x);
  /// Solves with the matrix of the first lane alone, whose shift must be real.
  void solve_first(double* x);

  /// Multiplications of a factorization.
  std::size_t operations() const { return order_.operations(); }

 private:
  struct Scale;
  struct Eliminate;
  struct Substitute;

  bool choose(const double* A, const double* B, double size, const double* row_scale, const double* column_scale);
  void set_weights(const double* row_scale, const double* column_scale);
  bool factor_in_order(const double* A, const double* B, const Number& shift, double size);
  bool pivots_stand_out(double size);

  const Sparsity& pattern_;
  std::size_t n_;
  PivotOrder order_;
  bool chosen_ = false;
  std::size_t factorizations_ = 0, choices_ = 0;
  std::vector<double> weight_;               ///< of each entry, by the scales of its row and column
  std::vector<double> row_factor_, column_factor_;
  bool columns_scaled_ = false;
  std::vector<double> A_, B_;                ///< weighted
  double largest_ = 0.0;                     ///< bound of the entries of all lanes
  /// The largest multiplier, the smallest pivot, and what is not zero where something is not finite.
  alignas(sizeof(Lane)) Lane multiplier_{}, pivot_{}, finite_{};
  std::vector<Number> row_, lower_, upper_, inverse_, solution_;  ///< one row of the matrix; the factors; of the pivots
  std::vector<double> first_solution_;  ///< of one lane; and for sizes of columns
};

extern template class OrderedLu<double>;
extern template class OrderedLu<Complex<Two>>;
extern template class OrderedLu<Complex<Four>>;

}  // namespace daedalus::linalg
