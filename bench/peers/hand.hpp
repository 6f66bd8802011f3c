#pragma once

// Programs for one problem each, as an expert writes them in C++: equations derived by hand, multipliers eliminated by a
// linear solve, plain DOP853, no control of drift. What Daedalus makes of a text file is measured against them. They are
// compiled with -O3 -march=native.

#include <cstddef>

#include "peers/hand_dop853.hpp"

namespace daedalus::bench {

/// The pendulum of 50 s; x = (x, y, x', y'). The multiplier is one division.
HandRun hand_pendulum(double tolerance);
/// The seven-body mechanism; x = (q, q'). LU of the 13 x 13 KKT matrix.
HandRun hand_andrews(double tolerance);
/// The car axis; x = (xl, yl, xr, yr and their derivatives). LU of the 6 x 6 KKT matrix.
HandRun hand_car_axis(double tolerance);
/// The chain of so many links; x = (x1, y1, x2, ..., and their derivatives). A tridiagonal system for the multipliers.
HandRun hand_chain(std::size_t links, double t_end, double tolerance);

/// Solves A x = b for n unknowns by LU with row pivoting, A row by row; x replaces b. n is known when compiled.
template <std::size_t n>
inline bool hand_solve(double (&A)[n][n], double (&b)[n]) {
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i)
      if (std::abs(A[i][k]) > std::abs(A[pivot][k])) pivot = i;
    if (A[pivot][k] == 0.0) return false;
    if (pivot != k) {
      for (std::size_t j = k; j < n; ++j) std::swap(A[k][j], A[pivot][j]);
      std::swap(b[k], b[pivot]);
    }
    const double inverse = 1.0 / A[k][k];
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = A[i][k] * inverse;
      if (factor == 0.0) continue;
      for (std::size_t j = k + 1; j < n; ++j) A[i][j] -= factor * A[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    double sum = b[k];
    for (std::size_t j = k + 1; j < n; ++j) sum -= A[k][j] * b[j];
    b[k] = sum / A[k][k];
  }
  return true;
}

}  // namespace daedalus::bench
