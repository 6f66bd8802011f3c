#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/shifted_lu.hpp"
#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

/// LU factors of A + shift B for one real and up to three complex shifts of comparable size: the Newton matrices of an implicit
/// Runge-Kutta step. Where they are small all are factored and solved with at once, each in a lane of the same vectors.
/// Allocates as ShiftedLu does.
class ShiftedFamily {
 public:
  static constexpr std::size_t most_complex = 3;

  ShiftedFamily(const Sparsity& pattern, std::size_t most_complex_shifts);
  ~ShiftedFamily();
  ShiftedFamily(ShiftedFamily&&) noexcept;
  ShiftedFamily& operator=(ShiftedFamily&&) noexcept;

  struct Shifts {
    double real = 0.0;
    std::size_t count = 0;  ///< of complex ones
    std::complex<double> complex[most_complex];
  };
  /// As ShiftedLu::factor, for all shifts. False where one of the matrices is singular.
  bool factor(const double* A, const double* B, const Shifts& shifts, const double* row_scale = nullptr,
              const double* column_scale = nullptr);

  /// Solves in place with all matrices of the last factor(): x has a right side for the real shift, then for each complex one
  /// a real and an imaginary part.
  void solve(double* x);
  /// Solves in place with the matrix of the real shift.
  void solve_real(double* x);

  /// Column (unknown) whose pivot vanished in the last failed factor().
  std::size_t singular_column() const;

 private:
  struct Lanes;
  enum class Together { none, two, four };

  std::size_t size_, singular_column_ = 0;
  std::unique_ptr<Lanes> lanes_;  ///< none for large matrices
  ShiftedLu real_;                ///< where they are not factored together
  std::vector<ShiftedLu> complex_;
  std::size_t count_ = 0;              ///< of complex shifts in the last factor()
  Together together_ = Together::none; ///< how the last ones were factored
};

}  // namespace daedalus::linalg
