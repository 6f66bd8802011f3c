#pragma once

#include <optional>

#include "daedalus/linalg/rational.hpp"
#include "daedalus/structure/kronecker.hpp"

namespace daedalus::structure {

using linalg::Rational;
using linalg::RationalMatrix;
using RationalPencil = BasicPencil<Rational>;

/// The pencil in fractions, where every entry is a short one (see linalg::short_rational) and neither side has more
/// than `most_exact` lines: then its structure can be found without any rounding. None where most entries have seven digits
/// or more and the ranks show noise: then they were rounded.
inline constexpr std::size_t most_exact = 24;
std::optional<RationalPencil> short_rational(const Pencil& pencil);

/// The structure by the same staircase with eliminations of fractions: every rank is what it is. Eigenvalues are roots
/// of an exact polynomial, correct to the last digits of double, with their true multiplicities.
KroneckerStructure exact_structure(const RationalPencil& pencil);

/// The structure by fractions where the entries are short ones, else with rounding.
KroneckerStructure structure_of(const Pencil& pencil);

/// L E R = [I 0; 0 N], L A R = [J 0; 0 I] as WeierstrassForm has it, in fractions.
struct ExactWeierstrass {
  std::size_t n = 0, finite = 0, infinite = 0;
  int index = 0;
  Rational shift;  ///< the lambda_0 with det(A - lambda_0 E) != 0 that was used
  RationalMatrix L, R, J, N;
};
/// None where the pencil is singular.
std::optional<ExactWeierstrass> exact_weierstrass(const RationalPencil& pencil);

/// 0, 1, -1, 2, ...: the first number at which A - lambda_0 E is regular; none where the pencil is singular, as its
/// determinant has at most n zeros otherwise.
std::optional<Rational> regular_shift(const RationalPencil& pencil);

}  // namespace daedalus::structure
