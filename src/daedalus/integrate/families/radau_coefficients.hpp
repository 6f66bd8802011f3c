#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace daedalus::integrate {

/// Coefficients of the collocation method of Radau II A with an odd number s of stages, correct to round-off. Matrices
/// are stored row by row.
struct RadauCoefficients {
  std::size_t stages = 0;
  std::vector<double> node;        ///< c_1 < ... < c_s = 1
  std::vector<double> a, inverse;  ///< A and A^-1
  double gamma = 0.0;              ///< the real eigenvalue of A^-1
  /// One of each pair of complex eigenvalues mu of A^-1, the one below the real axis.
  std::vector<std::complex<double>> mu;
  /// A^-1 T = T Lambda with Lambda = diag(gamma, [Re mu, -Im mu; Im mu, Re mu], ...); the last row of T is (1, 1, 0, 1,
  /// 0, ...).
  std::vector<double> transform, transform_inverse;
  /// The collocation polynomial p with p(0) = 0, p(c_i) = Z_i has the slope sum_i start_slope_i Z_i at 0.
  std::vector<double> start_slope;
  std::vector<double> barycentric;  ///< 1 / prod_(k != j) (x_j - x_k) over the nodes 0, c_1, ..., c_s, that of 0 first

  /// sum_i fewer_defect_i Z_i = p'(0) - p~'(0), where p~' interpolates p' at the nodes of the method with s-2 stages.
  std::vector<double> fewer_defect;
  /// Coefficients of x^1, ..., x^(s+1) in b(x) = int_0^x prod_i (1 - t/c_i) dt. It has slope 1 at 0, slope 0 at all
  /// nodes and value 0 at 0 and 1: with a multiple of it p gets the right slope at 0, too, and one order more in
  /// between.
  std::vector<double> bubble;

  /// Writes the weights w_i, i = 1..s, of p(x) = sum_i w_i Z_i.
  void value_weights(double x, double* weight) const;
  /// The same for p'(x).
  void slope_weights(double x, double* weight) const;
  /// y += p(x), for Z of s blocks of length n.
  void add_value(double x, const double* Z, std::size_t n, double* y) const;
  /// dy = p'(x) / h
  void slope(double x, double h, const double* Z, std::size_t n, double* dy) const;
  /// b(x)
  double bubble_value(double x) const;
};

/// The coefficients for 3, 5 or 7 stages: order 5, 9 or 13. Computed when they are first asked for.
const RadauCoefficients& radau_coefficients(std::size_t stages);

}  // namespace daedalus::integrate
