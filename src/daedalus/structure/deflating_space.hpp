#pragma once

#include "daedalus/structure/exact_pencil.hpp"
#include "daedalus/structure/weierstrass.hpp"

namespace daedalus::structure {

/// A pair of deflating subspaces of a regular pencil: E and A map what the columns of `right` span into what those of `left`
/// span, which are as many.
struct DeflatingSpace {
  DenseMatrix right, left;
};
struct DeflatingSpaces {
  DeflatingSpace finite, infinite;  ///< of the finite eigenvalues, left E V; of the infinite ones, left A W
};

/// Each basis with an identity in as many of its rows; from fractions, its columns are whole numbers.
DeflatingSpaces deflating_spaces(const RationalPencil& pencil, const ExactWeierstrass& form);
/// The same with rounding, of a pencil of which rows and columns are of size 1; nothing where rounding leaves no basis.
DeflatingSpaces deflating_spaces(const Pencil& pencil, const WeierstrassForm& form);

}  // namespace daedalus::structure
