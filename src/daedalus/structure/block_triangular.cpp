// Dulmage, Mendelsohn: Coverings of bipartite graphs, Canadian J. Math. 10, 1958; Pothen, Fan: Computing the block
// triangular form of a sparse matrix, ACM TOMS 16, 1990. The blocks of the square part are the strongly connected
// components of the graph with an edge i -> k where equation i contains the partner of equation k (Tarjan: Depth-first
// search and linear graph algorithms, SIAM J. Comput. 1, 1972; here without recursion).
#include "daedalus/structure/block_triangular.hpp"

#include <algorithm>

namespace daedalus::structure {

namespace {

struct Reached {
  std::vector<bool> rows, columns;
};

/// What alternating paths reach from the rows without partner: a row reaches its columns, a column its partner.
Reached reached_from_free_rows(const linalg::Sparsity& pattern, const std::vector<std::size_t>& column_of,
                               const std::vector<std::size_t>& row_of) {
  Reached reached{std::vector<bool>(pattern.rows, false), std::vector<bool>(pattern.columns, false)};
  std::vector<std::size_t> waiting;
  for (std::size_t i = 0; i < pattern.rows; ++i)
    if (column_of[i] == unmatched) {
      reached.rows[i] = true;
      waiting.push_back(i);
    }
  while (!waiting.empty()) {
    const std::size_t i = waiting.back();
    waiting.pop_back();
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      const std::size_t column = pattern.column[k], other = row_of[column];
      reached.columns[column] = true;
      if (other == unmatched || reached.rows[other]) continue;
      reached.rows[other] = true;
      waiting.push_back(other);
    }
  }
  return reached;
}

/// Tarjan's search from one row after the other. A frame of the recursion is a row with its next entry.
class Components {
 public:
  Components(const linalg::Sparsity& pattern, const Matching& matching)
      : pattern_(pattern),
        matching_(matching),
        number_(pattern.rows, unmatched),
        low_(pattern.rows),
        next_(pattern.rows),
        open_(pattern.rows, false) {}

  std::vector<Part> operator()() {
    for (std::size_t i = 0; i < pattern_.rows; ++i)
      if (matching_.column_of[i] != unmatched && number_[i] == unmatched) search(i);
    return std::move(blocks_);
  }

 private:
  void enter(std::size_t i) {
    number_[i] = low_[i] = count_++;
    next_[i] = pattern_.row_start[i];
    open_[i] = true;
    stack_.push_back(i);
    frames_.push_back(i);
  }

  void search(std::size_t start) {
    enter(start);
    while (!frames_.empty()) {
      const std::size_t i = frames_.back();
      if (next_[i] < pattern_.row_start[i + 1]) {
        const std::size_t other = matching_.row_of[pattern_.column[next_[i]++]];
        if (other == unmatched) continue;
        if (number_[other] == unmatched)
          enter(other);
        else if (open_[other])
          low_[i] = std::min(low_[i], number_[other]);
        continue;
      }
      frames_.pop_back();
      if (!frames_.empty()) low_[frames_.back()] = std::min(low_[frames_.back()], low_[i]);
      if (low_[i] == number_[i]) close(i);
    }
  }

  void close(std::size_t root) {
    Part block;
    for (bool more = true; more;) {
      const std::size_t i = stack_.back();
      stack_.pop_back();
      open_[i] = false;
      block.rows.push_back(i);
      block.columns.push_back(matching_.column_of[i]);
      more = i != root;
    }
    std::sort(block.rows.begin(), block.rows.end());
    std::sort(block.columns.begin(), block.columns.end());
    blocks_.push_back(std::move(block));
  }

  const linalg::Sparsity& pattern_;
  const Matching& matching_;
  std::vector<std::size_t> number_, low_, next_, stack_, frames_;
  std::vector<bool> open_;
  std::size_t count_ = 0;
  std::vector<Part> blocks_;
};

}  // namespace

CoarseParts coarse_parts(const linalg::Sparsity& pattern, const Matching& matching) {
  const Reached over = reached_from_free_rows(pattern, matching.column_of, matching.row_of);
  const Reached under = reached_from_free_rows(transposed(pattern), matching.row_of, matching.column_of);
  CoarseParts parts;
  for (std::size_t i = 0; i < pattern.rows; ++i)
    (over.rows[i] ? parts.over : under.columns[i] ? parts.under : parts.well).rows.push_back(i);
  for (std::size_t j = 0; j < pattern.columns; ++j)
    (over.columns[j] ? parts.over : under.rows[j] ? parts.under : parts.well).columns.push_back(j);
  return parts;
}

std::vector<Part> solution_order(const linalg::Sparsity& pattern, const Matching& matching) {
  return Components(pattern, matching)();
}

}  // namespace daedalus::structure
