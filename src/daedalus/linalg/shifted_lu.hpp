#pragma once

#include <complex>
#include <cstddef>
#include <memory>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

/// LU factors of A + shift B for matrices A, B of one pattern and a real or complex shift: the Newton matrices of
/// implicit methods. Dense for small or full patterns, sparse (KLU) otherwise. Allocates nothing after the first factor
/// of a sparse matrix as long as its pivots can be kept.
class ShiftedLu {
 public:
  enum class Numbers { real, complex };
  enum class Backend { automatic, dense, sparse };

  /// `fresh`: the largest ones of these values. `kept`: of small real matrices in an order that keeps the factors sparse, as
  /// long as no multiplier is beyond a hundred; for iterations, which correct the digits that this may cost.
  enum class Pivots { fresh, kept };

  ShiftedLu(const Sparsity& pattern, Numbers numbers, Backend backend = Backend::automatic, Pivots pivots = Pivots::fresh);
  ~ShiftedLu();
  ShiftedLu(ShiftedLu&&) noexcept;
  ShiftedLu& operator=(ShiftedLu&&) noexcept;

  /// Factors A + shift B (values in the order of the pattern). Row i is multiplied by row_scale[i] and column j divided
  /// by column_scale[j] before pivots are chosen (either may be null); solve() undoes it. False where the matrix is
  /// singular to working precision or not finite.
  bool factor(const double* A, const double* B, double shift, const double* row_scale = nullptr,
              const double* column_scale = nullptr);
  bool factor(const double* A, const double* B, std::complex<double> shift, const double* row_scale = nullptr,
              const double* column_scale = nullptr);

  /// Solves in place with the last factors.
  void solve(double* x);
  void solve(std::complex<double>* x);
  /// The same with real and imaginary parts each for themselves.
  void solve(double* re, double* im);

  /// Column (unknown) whose pivot vanished in the last failed factor().
  std::size_t singular_column() const;
  Backend backend() const;  ///< dense or sparse, as chosen
  std::size_t size() const;

  struct Implementation;

 private:
  std::unique_ptr<Implementation> self_;
};

}  // namespace daedalus::linalg
