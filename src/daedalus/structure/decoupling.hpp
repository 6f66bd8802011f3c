#pragma once

#include <optional>
#include <vector>

#include "daedalus/linalg/double_double.hpp"
#include "daedalus/linalg/dense_matrix.hpp"
#include "daedalus/structure/exact_pencil.hpp"

namespace daedalus::structure {

/// A regular pencil taken apart: L E [V, W] = diag(I, N), L A [V, W] = diag(J, I), N nilpotent. With x = V x1 + W x2,
///     E x' = A x + f    is    x1' = J x1 + L1 f,    N x2' = x2 + L2 f.
template <class T>
struct Decoupling {
  linalg::BasicMatrix<T> V, W;    ///< n x n1, n x n2: where smooth solutions of f = 0 live, and where none does
  linalg::BasicMatrix<T> L1, L2;  ///< n1 x n, n2 x n
  linalg::BasicMatrix<T> J, N;
  int index = 0;             ///< nilpotency of N; 0 where there is no N
  std::vector<std::size_t> nilpotent_blocks = {};  ///< sizes, descending
  double kept = 1.0, dropped = 0.0;  ///< of the rank decisions, the least sure ones
  bool decided = true;               ///< false: the ranks are not clear, and this is the likeliest structure

  std::size_t n() const { return V.rows; }
  std::size_t n1() const { return V.columns; }
  std::size_t n2() const { return W.columns; }
  /// ||[V, W]|| ||L|| (||E|| + ||A||) in units in which rows and columns of E and A are of size 1.
  double condition = 1.0;
};

/// How many nilpotent blocks are of size 1 at least, of size 2 at least, ...
using BlockCounts = std::vector<std::size_t>;

/// Takes a pencil apart; nothing where it is singular. Where the blocks are known, every rank follows from them: entries that
/// were rounded have none of their own.
template <class T>
std::optional<Decoupling<T>> decouple(linalg::BasicMatrix<T> E, linalg::BasicMatrix<T> A, const std::optional<BlockCounts>& known = {});
/// The same without any rounding until the end: no rank is in doubt, and every entry is right to its last digit.
std::optional<Decoupling<linalg::DoubleDouble>> decouple(const RationalPencil& pencil);
/// By fractions where the entries are short ones, else with the structure that the staircase of the pencil shows.
std::optional<Decoupling<linalg::DoubleDouble>> decouple(const Pencil& pencil);

}  // namespace daedalus::structure
