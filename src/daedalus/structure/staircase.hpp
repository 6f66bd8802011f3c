#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/structure/pencil.hpp"

namespace daedalus::structure {

/// One rank that the staircase rests on.
struct StaircaseRank {
  char of = 'E';      ///< whose columns or rows were compressed: 'E' or 'A'
  bool left = false;  ///< of the second sweep, which takes off the dependent rows
  std::size_t step = 1, rows = 0, columns = 0, rank = 0;
  double kept = 1.0;     ///< the smallest singular value counted (1 where there is none), E and A scaled to norm 1
  double dropped = 0.0;  ///< the largest one not counted
};

/// Row and column factors (powers of two) and a factor of E that make the entries of a pencil comparable:
/// E_scaled = time * diag(row) E diag(column), A_scaled = diag(row) A diag(column), both of norm between 1/2 and 2 or
/// zero.
struct PencilScaling {
  std::vector<double> row, column;
  double time = 1.0;  ///< lambda = time * lambda of the scaled pencil
  /// What was blown up: the shortest row or column beside the longest one, as they were given; and E beside A.
  double shortest_line = 1.0, share_of_E = 1.0;
  /// How many of the entries are smaller than a hundredth of those in the shortest line: noise that is as large as that
  /// line, and the same everywhere, would cover them.
  double smaller = 0.0;
};
PencilScaling scaling_of(const Pencil& pencil);
Pencil scaled(const Pencil& pencil, const PencilScaling& scaling);

/// The generalized staircase form (Van Dooren 1979; Demmel, Kagstroem 1993) by orthogonal transformations,
///     Q^T (A - lambda E) Z = [ A_r - lambda E_r     *                   *                ]
///                            [ 0                    A_f - lambda E_f    *                ]
///                            [ 0                    0                   A_l - lambda E_l ]
/// with the infinite eigenvalues and column minimal indices in the first block, the finite eigenvalues in the second
/// (E_f regular) and the row minimal indices in the third. Singular values of at most `tolerance` count as zero.
///
/// The columns of E that vanish after a rotation of columns, s of them, are the first step; the rank of A in these
/// columns, r, the second; then both are left away. With s_i and r_i the numbers of step i, there are s_i - r_i column
/// minimal indices i - 1 and r_i - s_(i+1) infinite blocks of size i. The transposed rest gives the row minimal
/// indices.
///
/// In the first block A_r has square diagonal blocks on its steps, diagonal ones, if the pencil is regular.
struct Staircase {
  Pencil form;
  DenseMatrix Q, Z;
  std::vector<std::size_t> s, r;                              ///< of the first sweep
  std::vector<std::size_t> left_s, left_r;                    ///< of the second, on the transposed rest
  std::size_t finite_row = 0, finite_column = 0, finite = 0;  ///< where the second block begins, and its size
  std::vector<StaircaseRank> ranks;
  double kept = 1.0,
         dropped = 0.0;  ///< the smallest and largest of all `ranks`: the form is the same for any tolerance between

  bool regular() const;
  std::vector<std::size_t> column_minimal_indices() const;  ///< ascending
  std::vector<std::size_t> row_minimal_indices() const;     ///< ascending
  std::vector<std::size_t> infinite_blocks() const;         ///< sizes, descending
};

/// Reduces a pencil whose matrices have norm 1 (or 0).
Staircase staircase(const Pencil& pencil, double tolerance);

}  // namespace daedalus::structure
