#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "daedalus/structure/decoupling.hpp"

// What decoupling with rounding and without it share; not part of this room's interface.
namespace daedalus::structure {

using linalg::BasicMatrix;

/// Powers of two that bring the rows of [E, A] and the columns of E and A to size 1.
struct Balance {
  std::vector<int> row, column;
};

template <class T>
Balance balance(BasicMatrix<T>& E, BasicMatrix<T>& A) {
  const std::size_t n = E.rows;
  Balance out{std::vector<int>(n, 0), std::vector<int>(n, 0)};
  for (int sweep = 0; sweep < 8; ++sweep) {
    bool moved = false;
    for (const bool rows : {true, false})
      for (std::size_t i = 0; i < n; ++i) {
        double largest = 0.0;
        for (std::size_t j = 0; j < n; ++j)
          for (const BasicMatrix<T>* M : {&E, &A})
            largest = std::max(largest, std::abs(double(rows ? (*M)(i, j) : (*M)(j, i))));
        if (!(largest > 0.0) || !std::isfinite(largest)) continue;
        const int power = -std::ilogb(largest);
        if (power == 0) continue;
        moved = moved || std::abs(power) > 1;
        (rows ? out.row : out.column)[i] += power;
        for (std::size_t j = 0; j < n; ++j)
          for (BasicMatrix<T>* M : {&E, &A}) {
            T& value = rows ? (*M)(i, j) : (*M)(j, i);
            value = ldexp(value, power);
          }
      }
    if (!moved) break;
  }
  return out;
}

/// Back to the units of the unknowns and equations as they are given.
template <class T>
void unscale(const Balance& scale, Decoupling<T>& out) {
  using std::ldexp;
  for (std::size_t i = 0; i < out.n(); ++i) {
    for (BasicMatrix<T>* basis : {&out.V, &out.W})
      for (std::size_t j = 0; j < basis->columns; ++j) (*basis)(i, j) = ldexp((*basis)(i, j), scale.column[i]);
    for (BasicMatrix<T>* rows : {&out.L1, &out.L2})
      for (std::size_t j = 0; j < rows->rows; ++j) (*rows)(j, i) = ldexp((*rows)(j, i), scale.row[i]);
  }
}

/// Sizes, descending, from the numbers of blocks of at least 1, 2, ...
inline std::vector<std::size_t> block_sizes(const std::vector<std::size_t>& blocks_of_size) {
  std::vector<std::size_t> blocks;
  for (std::size_t size = blocks_of_size.size(); size > 0; --size) {
    const std::size_t larger = size < blocks_of_size.size() ? blocks_of_size[size] : 0;
    blocks.insert(blocks.end(), blocks_of_size[size - 1] - std::min(larger, blocks_of_size[size - 1]), size);
  }
  return blocks;
}

}  // namespace daedalus::structure
