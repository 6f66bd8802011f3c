// Pantelides: The consistent initialization of differential-algebraic systems, SIAM J. Sci. Stat. Comput. 9, 1988. One
// equation after the other is given a highest derivative of an unknown by an augmenting path. Where none exists, the
// equations that the search reached are more than the unknowns that it reached: they are differentiated, which raises
// the highest derivatives of those unknowns, and the search begins again.
//
// A differentiated equation takes the place of the equation itself, c_i counts how often; d_j is the highest derivative
// of unknown j. Equation i, differentiated c_i times, contains it where sigma_ij + c_i = d_j. (Pantelides has equations
// of first order and makes new nodes for derivatives; the graph of highest derivatives is the same.)
//
// No differentiation is idle. Let c*, d* be any offsets with d*_j - c*_i >= sigma_ij and equality on a transversal, and
// c <= c*, d <= d* so far. Those reached equations for which c_i = c*_i have partners on that transversal that were
// reached too, since equality holds for them already; the present partners of these unknowns are such equations again.
// Both sets are equally many and closed, also against the path by which the search came: but it began at an equation
// without partner. So there is no such equation, c_i + 1 <= c*_i: the result is the smallest of all.
#include "daedalus/structure/pantelides.hpp"

#include <algorithm>

namespace daedalus::structure {

std::optional<Offsets> pantelides(const Signature& signature) {
  const linalg::Sparsity& pattern = signature.pattern;
  if (!maximum_matching(pattern).perfect()) return std::nullopt;
  Offsets offsets{std::vector<int>(pattern.rows, 0), std::vector<int>(pattern.columns, 0)};
  for (std::size_t k = 0; k < signature.order.size(); ++k)
    offsets.d[pattern.column[k]] = std::max(offsets.d[pattern.column[k]], signature.order[k]);

  std::vector<std::size_t> column_of(pattern.rows, unmatched), row_of(pattern.columns, unmatched);
  std::vector<std::size_t> came_from(pattern.columns, unmatched), rows, columns;
  for (std::size_t start = 0; start < pattern.rows; ++start) {
    for (std::size_t found = unmatched; found == unmatched;) {
      rows.assign(1, start);
      columns.clear();
      for (std::size_t head = 0; head < rows.size() && found == unmatched; ++head) {
        const std::size_t i = rows[head];
        for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
          const std::size_t j = pattern.column[k];
          if (came_from[j] != unmatched || signature.order[k] + offsets.c[i] != offsets.d[j]) continue;
          came_from[j] = i;
          columns.push_back(j);
          if (row_of[j] == unmatched) {
            found = j;
            break;
          }
          rows.push_back(row_of[j]);
        }
      }
      if (found == unmatched) {
        for (const std::size_t i : rows) ++offsets.c[i];
        for (const std::size_t j : columns) ++offsets.d[j];
      }
      for (std::size_t j = found; j != unmatched;) {
        const std::size_t i = came_from[j], before = column_of[i];
        column_of[i] = j;
        row_of[j] = i;
        j = before;
      }
      for (const std::size_t j : columns) came_from[j] = unmatched;
    }
  }
  return offsets;
}

}  // namespace daedalus::structure
