#include "daedalus/linalg/matching.hpp"

namespace daedalus::linalg {

MatchingSearch::MatchingSearch(const Sparsity& pattern)
    : pattern_(pattern), level_(pattern.rows), next_(pattern.rows) {
  matching_.column_of.assign(pattern.rows, unmatched);
  matching_.row_of.assign(pattern.columns, unmatched);
}

/// Every row of the path takes the column it looked at last.
void MatchingSearch::exchange() {
  for (const std::size_t i : path_) {
    const std::size_t column = pattern_.column[next_[i] - 1];
    matching_.column_of[i] = column;
    matching_.row_of[column] = i;
    level_[i] = unreached;
  }
  ++matching_.size;
  path_.clear();
}

Matching maximum_matching(const Sparsity& pattern) {
  MatchingSearch search(pattern);
  search.enlarge([](std::size_t, std::size_t) { return true; });
  return search.matching();
}

Sparsity transposed(const Sparsity& pattern) {
  Sparsity result{pattern.columns, pattern.rows, std::vector<std::size_t>(pattern.columns + 1, 0),
                          std::vector<std::size_t>(pattern.nonzeros())};
  for (const std::size_t column : pattern.column) ++result.row_start[column + 1];
  for (std::size_t j = 0; j < pattern.columns; ++j) result.row_start[j + 1] += result.row_start[j];
  std::vector<std::size_t> next(result.row_start.begin(), result.row_start.end() - 1);
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      result.column[next[pattern.column[k]]++] = i;
  return result;
}

}  // namespace daedalus::linalg
