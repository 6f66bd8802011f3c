#pragma once

#include <cstddef>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

// Not part of this room's interface.
namespace daedalus::linalg {

/// L L^T = P A P^T for symmetric positive definite sparse A: P keeps L sparse, and neighbouring columns of L with like
/// rows, "supernodes", are full blocks. Allocates nothing after construction.
class SupernodalCholesky {
 public:
  /// The pattern is that of A, stored whole (both triangles).
  explicit SupernodalCholesky(const Sparsity& pattern);

  std::size_t size() const { return n_; }
  double nonzeros() const { return static_cast<double>(values_.size()); }  ///< of L, with the zeros in its blocks
  double operations() const { return operations_; }                        ///< multiplications of factor()

  /// Where A_ij is to be added to, for either triangle.
  std::size_t place(std::size_t i, std::size_t j) const;
  void clear();  ///< A = 0
  void add(std::size_t place, double value) { values_[place] += value; }

  /// Factors A in place. Returns the smallest pivot relative to its diagonal entry; 0 where A is not positive definite.
  double factor();
  void solve(double* x);  ///< A y = x in place

 private:
  struct Block {
    std::size_t first = 0, width = 0;  ///< columns
    std::size_t rows = 0, count = 0;   ///< where its rows begin in rows_, those of its own columns first
    std::size_t at = 0;                ///< where its entries begin in values_, column by column
  };
  void order(const Sparsity& pattern);
  void find_blocks(std::vector<std::vector<std::size_t>>& below);
  void join(Block& block, std::size_t from);
  double factor_block(Block& block);
  void queue(std::size_t block);

  std::size_t n_;
  std::vector<std::size_t> old_, new_;  ///< by place in the order, and back
  std::vector<Block> blocks_;
  std::vector<std::size_t> block_of_, rows_;
  std::vector<double> values_, update_, diagonal_, x_;
  std::vector<std::size_t> relative_;            ///< places of rows in the block at work
  std::vector<std::size_t> next_, head_, done_;  ///< lists of blocks that still change a block, and how far they got
  double operations_ = 0.0;
};

}  // namespace daedalus::linalg
