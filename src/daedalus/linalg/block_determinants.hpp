#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "daedalus/linalg/klu_factor.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

/// Determinants of square blocks of sparse matrices with one pattern. Small blocks are dense, others sparse. Allocates
/// nothing after construction as long as pivots of the sparse ones can be kept.
class BlockDeterminants {
 public:
  struct Block {
    std::vector<std::size_t> rows, columns;  ///< ascending, as many
  };
  BlockDeterminants(const Sparsity& pattern, std::vector<Block> blocks);

  std::size_t count() const { return blocks_.size(); }
  const Block& block(std::size_t which) const { return blocks_[which]; }
  /// The determinant of one block for the values of a matrix, in the order of the pattern.
  Determinant of(std::size_t which, const double* values);

  /// The combinations that vanish, or nearly, where a block is singular, or nearly: of its rows, in units of their lengths,
  /// and of its columns. The largest entry of each is 1. Empty for blocks too large to tell. Allocates.
  struct NullVectors {
    std::vector<double> rows, columns;
  };
  NullVectors null_vectors(std::size_t which, const double* values) const;

 private:
  struct Entry {
    std::size_t source, row, column;  ///< in the matrix; in the block
  };
  struct Part {
    std::vector<Entry> entries;         ///< by columns
    std::unique_ptr<DenseLu> dense;     ///< one of the two
    std::unique_ptr<KluFactor> sparse;
  };
  std::vector<Block> blocks_;
  std::vector<Part> parts_;
  std::vector<double> matrix_;
};

}  // namespace daedalus::linalg
