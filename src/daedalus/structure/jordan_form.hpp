#pragma once

#include <optional>
#include <vector>

#include "daedalus/linalg/rational_polynomial.hpp"
#include "daedalus/structure/exact_pencil.hpp"

namespace daedalus::structure {

/// T^-1 M T = J in fractions. Rational eigenvalues have Jordan blocks (ones above the diagonal, sizes descending),
/// simple pairs with a rational imaginary part blocks [a -b; b a]. What has no such form in fractions is left as the
/// companion matrix of its polynomial, or as M is on the kernel of a power of that polynomial.
struct JordanForm {
  RationalMatrix T, J;
  struct Block {
    std::size_t begin = 0, size = 0;
    linalg::RationalPolynomial
        factor;             ///< of the characteristic polynomial, whose roots are the eigenvalues of the block
    bool canonical = true;  ///< a Jordan block, or one of a pair
  };
  std::vector<Block> blocks;  ///< eigenvalue 0 first, then the other rational ones ascending, then the others
  bool canonical() const;
};
JordanForm jordan_form(const RationalMatrix& M);

/// The construction in the proof of Theorem 4 of 000, with the inverse that (2.22) lacks:
///     T0 = A - lambda_0 E,   T1^-1 T0^-1 E T1 = [N~ 0; 0 J~],   T2 = [I + lambda_0 N~  0; 0  J~],   T3 = [T31 0; 0
///     T32],
/// where T31 and T32 bring (I + lambda_0 N~)^-1 N~ and J~^-1 (I + lambda_0 J~) to Jordan form;
///     P = (T0 T1 T2 T3)^-1,   Q = T1 T3,   P E Q = [N 0; 0 I],   P A Q = [I 0; 0 J].
struct JordanConstruction {
  Rational shift;
  linalg::RationalPolynomial determinant;  ///< det(A - lambda E)
  RationalMatrix T0, T1, T2, T3, P, Q, N, J;
  RationalMatrix N_tilde, J_tilde;  ///< the two blocks of T1^-1 T0^-1 E T1
  JordanForm nilpotent, finite;     ///< of (I + lambda_0 N~)^-1 N~ and J~^-1 (I + lambda_0 J~)
};
/// None where the pencil is singular.
std::optional<JordanConstruction> jordan_construction(const RationalPencil& pencil);

}  // namespace daedalus::structure
