#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/structure/derivative_array.hpp"

namespace daedalus::structure {

/// A time h and sizes s of the unknowns, in which jets become Taylor coefficients of size 1:
///     u_j = h^j/j! y^(j) / s.
struct TaylorScale {
  double h = 1.0;
  std::vector<double> s;
};

/// The h that balances F_y'/h and F_y in rows that have both, with the larger of |y| and its nominal size for s.
TaylorScale taylor_scale(const DerivativeArray& array, double t, const double* jets, const double* frozen);

/// The first levels of a derivative array in Taylor coefficients: with
///     E_k = h^k/k! D^k F,   A_i = h^i/i! D^i F_y,   B_i = h^i/i! D^i F_y'
/// the Jacobian has the blocks dE_k/du_j = (A_(k-j) + j/h B_(k-j+1)) diag(s). Owns its workspace: evaluating allocates
/// nothing.
class ArrayValues {
 public:
  ArrayValues(std::shared_ptr<const DerivativeArray> array, std::size_t levels, TaylorScale scale);

  std::size_t levels() const { return levels_; }
  std::size_t dimension() const { return n_; }
  std::size_t rows() const { return levels_ * n_; }
  std::size_t columns() const { return (levels_ + 1) * n_; }
  const TaylorScale& scale() const { return scale_; }
  void freeze(const double* frozen) { frozen_ = frozen; }

  /// Taylor coefficients of jets y, ..., y^(levels), and back.
  void to_taylor(const double* jets, double* u) const;
  void to_jets(const double* u, double* jets) const;

  /// Evaluates E and its derivatives at u; false where some value is not finite.
  bool evaluate(double t, const double* u);
  const std::vector<double>& E() const { return E_; }
  /// Writes column i of dE/du_j, of length rows(), at the point evaluated last.
  void column(std::size_t j, std::size_t i, double* out) const;

  /// The pattern of dE/du, and its values in that order.
  linalg::Sparsity pattern() const;
  void values(double* out) const;

 private:
  double entry(std::size_t k, std::size_t j, std::size_t i, std::size_t in_y, std::size_t in_dy) const;

  std::shared_ptr<const DerivativeArray> array_;
  std::size_t levels_, n_;
  TaylorScale scale_;
  const double* frozen_ = nullptr;
  /// An entry of F_y or F_y' in one column: its row and its places in both, `none` where it is zero there.
  struct Entry {
    std::size_t row, in_y, in_dy;
  };
  std::vector<std::vector<Entry>> by_column_;
  std::vector<double> jets_, E_, factor_;    ///< factor_[k] = h^k/k!
  std::vector<std::vector<double>> values_;  ///< of every level: D^k F, A_k, B_k
  std::vector<compile::Function::Scratch> scratch_;
};

}  // namespace daedalus::structure
