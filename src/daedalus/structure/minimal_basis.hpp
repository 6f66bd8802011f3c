#pragma once

#include <vector>

#include "daedalus/structure/exact_pencil.hpp"

namespace daedalus::structure {

/// A vector of polynomials: coefficient(k, i) is that of lambda^k in component i.
template <class Number>
using PolynomialVector = linalg::BasicMatrix<Number>;

/// Polynomials x(lambda) of lowest degrees with (A - lambda E) x(lambda) = 0, whose degrees are the column minimal
/// indices: with any function phi, x(d/dt) phi may be added to a solution. `indices` ascend.
std::vector<PolynomialVector<Rational>> right_minimal_basis(const RationalPencil& pencil,
                                                            const std::vector<std::size_t>& indices);
/// Polynomials y(lambda) with y(lambda)^T (A - lambda E) = 0, whose degrees are the row minimal indices: that
/// combination of the equations and their derivatives contains no unknown, so y(d/dt)^T f must vanish.
std::vector<PolynomialVector<Rational>> left_minimal_basis(const RationalPencil& pencil,
                                                           const std::vector<std::size_t>& indices);
/// The same with rounding; pivots of at most `tolerance` count as zero. The matrices have norm 1 or so.
std::vector<PolynomialVector<double>> right_minimal_basis(const Pencil& pencil, const std::vector<std::size_t>& indices,
                                                          double tolerance);
std::vector<PolynomialVector<double>> left_minimal_basis(const Pencil& pencil, const std::vector<std::size_t>& indices,
                                                         double tolerance);

}  // namespace daedalus::structure
