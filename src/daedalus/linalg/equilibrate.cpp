#include "daedalus/linalg/equilibrate.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::linalg {

std::vector<double> equilibrate(const Sparsity& pattern, std::vector<double>& values) {
  constexpr int sweeps = 3;
  std::vector<double> column(pattern.columns), factor(pattern.rows, 1.0);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    std::ranges::fill(column, 0.0);
    for (std::size_t k = 0; k < values.size(); ++k)
      column[pattern.column[k]] = std::max(column[pattern.column[k]], std::abs(values[k]));
    for (std::size_t i = 0; i < pattern.rows; ++i) {
      double largest = 0.0;
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        if (column[pattern.column[k]] > 0.0) values[k] /= column[pattern.column[k]];
        largest = std::max(largest, std::abs(values[k]));
      }
      if (largest == 0.0) continue;
      factor[i] /= largest;
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) values[k] /= largest;
    }
  }
  return factor;
}

}  // namespace daedalus::linalg
