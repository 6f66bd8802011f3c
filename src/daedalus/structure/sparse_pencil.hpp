#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "daedalus/structure/kronecker.hpp"

namespace daedalus::structure {

/// A pencil A - lambda E by its entries, each position once.
struct SparsePencil {
  struct Entry {
    std::size_t row = 0, column = 0;
    double E = 0.0, A = 0.0;
  };
  std::size_t rows = 0, columns = 0;
  std::vector<Entry> entries;
};

/// The structure of a pencil too large for dense matrices. An equation without derivatives is solved for an unknown whose
/// derivative does not occur, and the unknown is put into the others: that takes a nilpotent block of size 1 off and
/// leaves a smaller pencil of the same structure otherwise. What remains is judged as a dense pencil if it has at most
/// `most_dense` lines, else by a sparse staircase, and its eigenvalues are not computed if they are more than that. Nothing
/// where that finds no clear answer.
std::optional<KroneckerStructure> sparse_structure(const SparsePencil& pencil, std::size_t most_dense);

}  // namespace daedalus::structure
