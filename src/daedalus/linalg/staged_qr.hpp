#pragma once

#include <cstddef>
#include <vector>

namespace daedalus::linalg {

/// QR with column pivoting of a dense matrix whose columns come in groups: the columns of one group are used up before
/// the next has its turn, so that one factorization gives the rank of A_1, of A_2 outside the range of A_1, and so on.
/// With row and column scales: what is factored is R A C.
class StagedQr {
 public:
  /// `groups`: how many columns each has.
  StagedQr(std::size_t rows, const std::vector<std::size_t>& groups);

  std::size_t rows() const { return m_; }
  std::size_t columns() const { return n_; }
  std::size_t group_begin(std::size_t g) const { return begin_[g]; }
  std::size_t group_end(std::size_t g) const { return begin_[g + 1]; }

  /// Storage of column j of A, rows() entries.
  double* column(std::size_t j) { return entries_.data() + j * m_; }

  /// Chooses R and C so that rows and columns have entries up to about 1, and applies them. Columns are not raised by
  /// more than `most`, so that one that holds nothing but round-off stays small.
  void balance(double most);
  /// Applies R and C chosen before to a new A.
  void apply_scales();
  const std::vector<double>& row_scales() const { return row_scale_; }
  const std::vector<double>& column_scales() const { return column_scale_; }

  struct Stage {
    std::size_t rank = 0;
    double kept = 1.0;     ///< length of the shortest pivot, 1 where there is none
    double dropped = 0.0;  ///< of the longest remainder not counted
  };
  /// Factors the first `groups` groups; the columns of the others are transformed with them. A group ends where every
  /// remainder is at most `tolerance` long.
  void factor(std::size_t groups, double tolerance);
  /// Goes on with the next groups.
  void factor_more(std::size_t groups, double tolerance);
  /// The same as factor() with known ranks.
  void factor(const std::vector<std::size_t>& ranks);
  const Stage& stage(std::size_t g) const { return stages_[g]; }
  std::size_t rank() const { return order_.size(); }

  /// The columns that were pivots, in their order.
  const std::vector<std::size_t>& order() const { return order_; }
  /// Row i of the transformed column j, Q^T R A C; for a pivot, no further than its diagonal entry.
  double entry(std::size_t i, std::size_t j) const;

  /// x = Q^T R x
  void reduce(double* x) const;
  /// Solves T y = x in place for the first `count` pivots, T their triangle.
  void solve(double* x, std::size_t count) const;

 private:
  void restart();
  void factor_group(std::size_t g, double tolerance, std::size_t most);
  void eliminate(std::size_t pivot, std::size_t end);

  std::size_t m_, n_, factored_ = 0;  ///< groups
  std::vector<std::size_t> begin_;
  std::vector<double> entries_, row_scale_, column_scale_, remaining_, reference_, diagonal_, tau_;
  std::vector<std::size_t> order_;
  std::vector<bool> used_;
  std::vector<Stage> stages_;
};

}  // namespace daedalus::linalg
