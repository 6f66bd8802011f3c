// Signature matrices for tests, given densely (-1: does not occur) or at random.
#pragma once

#include <random>
#include <vector>

#include "daedalus/structure/signature.hpp"

namespace daedalus::structure {

using Dense = std::vector<std::vector<int>>;

inline Signature signature(const Dense& sigma, std::size_t columns) {
  Signature result{{sigma.size(), columns, {0}, {}}, {}, {}};
  for (const auto& row : sigma) {
    for (std::size_t j = 0; j < row.size(); ++j)
      if (row[j] >= 0) {
        result.pattern.column.push_back(j);
        result.order.push_back(row[j]);
      }
    result.pattern.row_start.push_back(result.pattern.column.size());
  }
  return result;
}

inline Signature signature(const Dense& sigma) { return signature(sigma, sigma.size()); }

/// About `filled` entries in a row, with derivatives up to `highest`.
inline Dense random_signature(std::mt19937& random, std::size_t rows, std::size_t columns, double filled, int highest) {
  std::bernoulli_distribution occurs(std::min(1.0, filled / static_cast<double>(columns)));
  std::uniform_int_distribution<int> order(0, highest);
  Dense sigma(rows, std::vector<int>(columns, -1));
  for (auto& row : sigma)
    for (int& entry : row)
      if (occurs(random)) entry = order(random);
  return sigma;
}

}  // namespace daedalus::structure
