#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "daedalus/structure/decoupling.hpp"
#include "daedalus/structure/staircase.hpp"

// What decoupling with rounding and without it share; not part of this room's interface.
namespace daedalus::structure {

using linalg::BasicMatrix;

/// Powers of two that bring the entries of E and A to size 1: of rows, columns and time, in which E is 2^time times as
/// large.
struct Balance {
  std::vector<int> row, column;
  int time = 0;
};

inline Balance balance_of(const Pencil& pencil) {
  const PencilScaling scaling = scaling_of(pencil);
  const auto powers = [](const std::vector<double>& factors) {
    std::vector<int> result;
    for (const double factor : factors) result.push_back(std::ilogb(factor));
    return result;
  };
  return {powers(scaling.row), powers(scaling.column), std::ilogb(scaling.time)};
}

/// Back to the units of the unknowns, the equations and the time as they are given.
template <class T>
void unscale(const Balance& scale, Decoupling<T>& out) {
  using std::ldexp;
  for (std::size_t i = 0; i < out.n(); ++i) {
    for (BasicMatrix<T>* basis : {&out.V, &out.W})
      for (std::size_t j = 0; j < basis->columns; ++j) (*basis)(i, j) = ldexp((*basis)(i, j), scale.column[i]);
    for (std::size_t j = 0; j < out.L1.rows; ++j) out.L1(j, i) = ldexp(out.L1(j, i), scale.row[i] + scale.time);
    for (std::size_t j = 0; j < out.L2.rows; ++j) out.L2(j, i) = ldexp(out.L2(j, i), scale.row[i]);
  }
  for (T& entry : out.J.entries) entry = ldexp(entry, scale.time);
  for (T& entry : out.N.entries) entry = ldexp(entry, -scale.time);
}

/// Which parts of a matrix act on each other, directly or through others, by entries above `least`: a number for each row.
template <class T>
std::vector<std::size_t> parts_of(const BasicMatrix<T>& M, double least) {
  const std::size_t n = M.rows;
  std::vector<char> acts(n * n, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) acts[i * n + j] = i == j || std::abs(double(M(i, j))) > least;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n && acts[i * n + k]; ++j) acts[i * n + j] |= acts[k * n + j];
  std::vector<std::size_t> part(n);
  for (std::size_t i = 0; i < n; ++i)
    for (part[i] = 0; !(acts[i * n + part[i]] && acts[part[i] * n + i]);) ++part[i];
  return part;
}

/// Powers of two as units of x1 in which rows and columns of J are alike (E. E. Osborne, J. ACM 7, 1960): exponentials
/// of J, and what is said of their errors, are as good as its eigenvalues allow, whatever the units of the unknowns
/// are. Entries that may be `noise` beside the largest do not count. Parts of J of which only one acts on the other, or
/// none, have no units in common: what is made alike is each part by itself, and its mean unit stays.
template <class T>
void balance_dynamics(Decoupling<T>& out, double noise) {
  using std::ldexp;
  constexpr int most = 30;
  const std::size_t n1 = out.n1();
  double largest = 0.0;
  for (const T& entry : out.J.entries) largest = std::max(largest, std::abs(double(entry)));
  const std::vector<std::size_t> part = parts_of(out.J, noise * largest);
  std::vector<int> units(n1, 0);
  const auto change = [&](std::size_t k, int power) {
    units[k] += power;
    for (std::size_t i = 0; i < n1; ++i) {
      out.J(k, i) = ldexp(out.J(k, i), -power);
      out.J(i, k) = ldexp(out.J(i, k), power);
    }
    for (std::size_t i = 0; i < out.n(); ++i) {
      out.V(i, k) = ldexp(out.V(i, k), power);
      out.L1(k, i) = ldexp(out.L1(k, i), -power);
    }
  };
  for (int sweep = 0; sweep < 20; ++sweep) {
    bool moved = false;
    for (std::size_t k = 0; k < n1; ++k) {
      double row = 0.0, column = 0.0;
      for (std::size_t i = 0; i < n1; ++i) {
        if (i == k || part[i] != part[k]) continue;
        row = std::max(row, std::abs(double(out.J(k, i))));
        column = std::max(column, std::abs(double(out.J(i, k))));
      }
      if (!(std::min(row, column) > noise * largest)) continue;
      const double wanted = std::round(0.5 * (std::log2(row) - std::log2(column)));
      const int power = std::clamp(static_cast<int>(wanted), -most - units[k], most - units[k]);
      if (power == 0) continue;
      moved = true;
      change(k, power);
    }
    if (!moved) break;
  }
  std::vector<int> sum(n1, 0), count(n1, 0);
  for (std::size_t k = 0; k < n1; ++k) {
    sum[part[k]] += units[k];
    ++count[part[k]];
  }
  for (std::size_t k = 0; k < n1; ++k)
    if (const int mean = sum[part[k]] / count[part[k]]; mean != 0) change(k, -mean);
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
