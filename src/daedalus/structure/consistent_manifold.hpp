#pragma once

#include <vector>

#include "daedalus/structure/exact_pencil.hpp"
#include "daedalus/structure/gauss_like.hpp"
#include "daedalus/structure/weierstrass.hpp"

namespace daedalus::structure {

/// One equation that every solution satisfies at every time: sum of unknowns[j] x_j + forcing = 0; the coefficient of
/// `pivot` is 1, and no other equation of the manifold contains it.
template <class Number>
struct ManifoldEquation {
  std::size_t pivot = 0;
  std::vector<Number> unknowns;
  ForcingTerms<Number> forcing;
};

/// The consistent values of a regular pencil, (2.32) of 000: x2 = -(g2 + N g2' + ...) with x2 the last rows of R^-1 x
/// and g2 those of L f, solved for as many unknowns as there are equations. The dimension is that of the finite part.
std::vector<ManifoldEquation<Rational>> consistent_manifold(const ExactWeierstrass& form);
/// The same with rounding; coefficients that are zero to within it are zero.
std::vector<ManifoldEquation<double>> consistent_manifold(const WeierstrassForm& form);

/// The projector onto the space of the finite part along that of the other: a start x(0-) that is not consistent leaps to
/// Pi x(0-) + p with p the value that f asks for, and with f = 0 the range of Pi is the manifold.
RationalMatrix consistent_projector(const ExactWeierstrass& form);
DenseMatrix consistent_projector(const WeierstrassForm& form);

/// The point of the manifold that is nearest to x, each unknown in units of its own; `sides` are the values of what
/// stands opposite the unknowns: sum of unknowns[j] x_j = side.
std::vector<double> nearest_consistent(const std::vector<ManifoldEquation<double>>& manifold, const std::vector<double>& sides,
                                       const std::vector<double>& x, const std::vector<double>& units);

}  // namespace daedalus::structure
