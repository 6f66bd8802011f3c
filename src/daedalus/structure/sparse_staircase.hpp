#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "daedalus/structure/sparse_pencil.hpp"

namespace daedalus::structure {

/// What the staircase of a regular pencil says, found without losing sparsity.
struct SparseStaircase {
  std::vector<std::size_t> s;  ///< in every round the dimension of the kernel of E: blocks of size 1 at least, 2 at least, ...
  SparsePencil rest;           ///< the finite part: E regular
  double kept = 1.0, dropped = 0.0;

  std::vector<std::size_t> blocks() const;  ///< sizes of the nilpotent blocks, descending
};

/// Takes the kernel of E off, round after round, as `staircase` does: the kernel of each part of E by itself, where parts share
/// no row and no column, as the capacitors and inductors of a circuit do not; then as many rows by elimination. Nothing where
/// the pencil is singular, where a part of more than `most_dense` lines has a kernel, or where a rank is not clear.
std::optional<SparseStaircase> sparse_staircase(const SparsePencil& pencil, std::size_t most_dense);

}  // namespace daedalus::structure
