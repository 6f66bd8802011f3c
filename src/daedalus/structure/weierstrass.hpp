#pragma once

#include <cstddef>

#include "daedalus/structure/kronecker.hpp"

namespace daedalus::structure {

/// The Weierstrass form (000, Theorem 4) of a regular pencil, with the finite part first:
///     L E R = [I 0; 0 N],  L A R = [J 0; 0 I],  N nilpotent,
/// so that x = R (x1, x2) and g = L f turn E x' = A x + f into
///     x1' = J x1 + g1,   x2 = -(g2 + N g2' + ... + N^(index - 1) g2^(index - 1)).
/// J and N are not in Jordan form. The columns of R that belong to the finite part are orthonormal where the pencil was
/// scaled, and so are the others: R is as well conditioned as the deflating subspaces are apart.
struct WeierstrassForm {
  std::size_t n = 0, finite = 0, infinite = 0;
  int index = 0;
  DenseMatrix L, R, J, N;
  double condition_L = 1.0, condition_R = 1.0;  ///< in the 2-norm
  double residual = 0.0;  ///< largest error of the two equations above, relative to |L| |E| |R| and |L| |A| |R|
};

/// Decouples a regular pencil: the staircase form, then a generalized Sylvester equation.
WeierstrassForm weierstrass_form(const Pencil& pencil, const Reduction& reduction);
/// The same; the pencil must be regular.
WeierstrassForm weierstrass_form(const Pencil& pencil);

}  // namespace daedalus::structure
