// KLU begins with a transversal, which it looks for column by column and depth first: on ladders and other long chains that
// takes a time that grows with the square of their length (Duff, Kaya, Ucar: Design, implementation, and analysis of maximum
// transversal algorithms, ACM TOMS 38, 2011). It takes the first free entry of every column, though; with a transversal found
// by shortest paths in front it has nothing to look for.
#include "daedalus/linalg/transversal_first.hpp"

#include <algorithm>

#include "daedalus/linalg/matching.hpp"

namespace daedalus::linalg {

namespace {

/// Below this its own search takes no time.
constexpr std::size_t small = 300;

}  // namespace

std::vector<int> transversal_first(const std::vector<int>& column_start, const std::vector<int>& row) {
  const std::size_t n = column_start.size() - 1;
  std::vector<int> rows = row;
  if (n <= small) return rows;
  const Sparsity columns{n, n, {column_start.begin(), column_start.end()}, {row.begin(), row.end()}};
  const Matching transversal = maximum_matching(columns);
  for (std::size_t j = 0; j < n; ++j) {
    if (transversal.column_of[j] == unmatched) continue;
    const auto begin = rows.begin() + column_start[j], end = rows.begin() + column_start[j + 1];
    std::iter_swap(begin, std::find(begin, end, static_cast<int>(transversal.column_of[j])));
  }
  return rows;
}

}  // namespace daedalus::linalg
