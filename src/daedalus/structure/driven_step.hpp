#pragma once

#include <vector>

#include "daedalus/linalg/dense_matrix.hpp"
#include "daedalus/linalg/double_double.hpp"

namespace daedalus::structure {

/// The polynomial of degree 11 at most that comes nearest to functions given at the nodes of Kronrod's rule.
struct PolynomialFit {
  linalg::BasicMatrix<linalg::DoubleDouble> powers;  ///< (i, k): coefficient of theta^k in function i, theta from 0 to 1
  double rest = 0.0;   ///< the largest part of the two highest degrees: what is left out is smaller where f is smooth
  double slope = 0.0;  ///< no derivative by theta is larger
};
/// `values` has a column per node. Degrees that contribute less than `least` are left away.
PolynomialFit polynomial_fit(const linalg::BasicMatrix<linalg::DoubleDouble>& values, double least);

/// A step of x' = J x + g(t) with a polynomial g.
struct DrivenStep {
  std::vector<linalg::DoubleDouble> end;
  double reach = 0.0;  ///< an upper estimate of the integral of ||exp(J s)|| over the step: what an error of g can do to x
};
/// x at the end of a step of length h, g(theta h) = sum_k powers(:, k) theta^k, to round-off however large J h is: by
/// halving h until it is small beside J, and doubling.
DrivenStep driven_step(const linalg::BasicMatrix<linalg::DoubleDouble>& J,
                       const linalg::BasicMatrix<linalg::DoubleDouble>& powers, double h,
                       const std::vector<linalg::DoubleDouble>& x);

}  // namespace daedalus::structure
