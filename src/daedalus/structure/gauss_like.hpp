#pragma once

#include <vector>

#include "daedalus/linalg/elimination.hpp"
#include "daedalus/structure/exact_pencil.hpp"

namespace daedalus::structure {

/// L M U = [Lambda 0; 0 0] with Lambda diagonal (000, Theorem 6).
template <class Number>
struct Diagonalization {
  linalg::BasicMatrix<Number> L, U, form;
  std::size_t rank = 0;
};
/// Takes pivots column by column as Theorem 6 does, so that its Example 5 comes out as printed.
Diagonalization<Rational> diagonalized(const RationalMatrix& matrix);

/// A sum of multiples of f_i and its derivatives: coefficient(k, i) belongs to the k-th derivative of f_i.
template <class Number>
using ForcingTerms = linalg::BasicMatrix<Number>;

/// The method of section 2.3 of 000, with the signs, orders and transformations that its text mixes up put right.
/// Step k has E x' = A x + g in coordinates x of its own, where g is made of f and its derivatives:
///     L E U = [Lambda 0; 0 0],   x = U z,   L A U = [A11 A12; A21 A22],   L g = (g1, g2),
/// so that Lambda z1' = A11 z1 + A12 z2 + g1 and 0 = A21 z1 + A22 z2 + g2. The second part is differentiated, which
/// moves its blocks to the left ("shift"):
///     E <- [Lambda 0; -A21 -A22],   A <- [A11 A12; 0 0],   g <- (g1, g2').
/// It ends with a regular E: the number of shifts is the index. The rank need not grow at every shift (E = diag(1, 0),
/// A = [0 1; 1 0] stays at 1 once); the index of a regular pencil is at most n, so a pencil whose E is singular after n
/// shifts is singular, as is one with a row in which nothing but g2 is left. With fewer equations than unknowns it ends when
/// every row has a derivative of its own.
template <class Number>
struct GaussLikeStep {
  BasicPencil<Number> before;                 ///< E and A at the beginning of the step
  linalg::BasicMatrix<Number> L, U;           ///< products of the eliminations of rows and of columns
  BasicPencil<Number> after;                  ///< L E U and L A U
  std::size_t rank = 0;                       ///< of E
  linalg::BasicMatrix<Number> coordinates;    ///< x of the author = coordinates * z
  std::vector<ForcingTerms<Number>> forcing;  ///< L g, row by row
};

template <class Number>
struct GaussLikeReduction {
  std::vector<GaussLikeStep<Number>> steps;
  bool regular = true;
  /// Of a singular pencil: combinations of f and its derivatives that must vanish; they may be none where the bound n
  /// was reached, and are none where unknowns are too many alone.
  std::vector<ForcingTerms<Number>> conditions;
  int index() const { return static_cast<int>(steps.size()) - 1; }
  /// The ODE at the end, in the author's unknowns: x' = matrix x + forcing.
  linalg::BasicMatrix<Number> ode;
  std::vector<ForcingTerms<Number>> ode_forcing;
  std::size_t derivatives = 0;  ///< of f: the highest that enters
};

/// Reduces a pencil.
GaussLikeReduction<Rational> gauss_like_reduction(const RationalPencil& pencil);
/// The same with rounding: pivots of at most `tolerance` count as zero.
GaussLikeReduction<double> gauss_like_reduction(const Pencil& pencil, double tolerance);

}  // namespace daedalus::structure
