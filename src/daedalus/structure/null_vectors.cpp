// u^T [A_1 A_2 ...] = 0 by one rank decision, with columns of equal size: one matrix alone may have entries of very different
// size, as derivatives of exponentials have, of which the small ones say nothing, or wrong things. Where its tolerance was
// wider than that of sums here, elimination in the rows of N^T A_k follows: what stays are the vectors that are left when every
// column of N^T A_k has lost its pivot.

#include "daedalus/structure/null_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daedalus/linalg/rank.hpp"

namespace daedalus::structure {

namespace {

// Sums this small beside their terms are round-off: a rank decision leaves 1e-16 times the length of a combination,
// which is at most some thousands in matrices that are not singular for another reason.
constexpr double nothing = 1e-10;

/// b -= factor a, without what cancels up to round-off.
void subtract(double factor, const std::vector<double>& a, std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == 0.0) continue;
    const double before = b[i];
    b[i] -= factor * a[i];
    if (std::abs(b[i]) <= 1e-13 * (std::abs(before) + std::abs(factor * a[i]))) b[i] = 0.0;
  }
}

/// The value, or the fraction with a small denominator from which it differs by round-off.
double tidied(double value) {
  for (const double denominator : {1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 10.0}) {
    const double whole = std::round(value * denominator);
    if (std::abs(whole) <= 1000.0 && std::abs(value * denominator - whole) <= 1e-14 * std::max(1.0, std::abs(whole)))
      return whole / denominator;
  }
  return value;
}

/// [A_1 A_2 ...], every column divided by its largest entry.
std::pair<linalg::Sparsity, std::vector<double>> beside_each_other(const linalg::Sparsity& pattern,
                                                                   const std::vector<std::vector<double>>& matrices) {
  const std::size_t n = pattern.columns;
  std::vector<double> largest(n * matrices.size(), 0.0), values;
  for (std::size_t p = 0; p < matrices.size(); ++p)
    for (std::size_t k = 0; k < pattern.nonzeros(); ++k) {
      double& column = largest[p * n + pattern.column[k]];
      column = std::max(column, std::abs(matrices[p][k]));
    }
  linalg::Sparsity all{pattern.rows, largest.size(), {0}, {}};
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    for (std::size_t p = 0; p < matrices.size(); ++p)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        const std::size_t j = p * n + pattern.column[k];
        all.column.push_back(j);
        values.push_back(largest[j] > 0.0 ? matrices[p][k] / largest[j] : 0.0);
      }
    all.row_start.push_back(all.column.size());
  }
  return {std::move(all), std::move(values)};
}

}  // namespace

std::vector<std::vector<double>> common_null_vectors(const linalg::Sparsity& pattern,
                                                     const std::vector<std::vector<double>>& matrices) {
  if (matrices.empty()) return {};
  const auto [together, values] = beside_each_other(pattern, matrices);
  std::vector<std::vector<double>> basis = linalg::row_rank(together, values.data()).combinations;
  std::vector<double> sum(pattern.columns), size(pattern.columns);
  for (const std::vector<double>& A : matrices) {
    while (!basis.empty()) {
      std::vector<std::vector<double>> sums;
      double most = 0.0;
      std::size_t vector = 0, column = 0;
      for (std::size_t b = 0; b < basis.size(); ++b) {
        std::ranges::fill(sum, 0.0);
        std::ranges::fill(size, 0.0);
        for (std::size_t i = 0; i < pattern.rows; ++i)
          for (std::size_t k = pattern.row_start[i]; basis[b][i] != 0.0 && k < pattern.row_start[i + 1]; ++k) {
            sum[pattern.column[k]] += basis[b][i] * A[k];
            size[pattern.column[k]] += std::abs(basis[b][i] * A[k]);
          }
        for (std::size_t j = 0; j < sum.size(); ++j)
          if (size[j] > 0.0 && std::abs(sum[j]) > most * size[j]) {
            most = std::abs(sum[j]) / size[j];
            vector = b;
            column = j;
          }
        sums.push_back(sum);
      }
      if (!(most > nothing)) break;
      for (std::size_t b = 0; b < basis.size(); ++b)
        if (b != vector && sums[b][column] != 0.0)
          subtract(sums[b][column] / sums[vector][column], basis[vector], basis[b]);
      basis.erase(basis.begin() + static_cast<std::ptrdiff_t>(vector));
    }
  }
  return basis;
}

std::vector<std::size_t> reduce_to_pivots(std::vector<std::vector<double>>& basis, const std::vector<int>& cost) {
  std::vector<std::size_t> pivots;
  for (std::size_t k = 0; k < basis.size(); ++k) {
    // The cheapest entry of all vectors that have none yet; of equals the one that is largest in its vector.
    std::size_t chosen = k, pivot = 0;
    int least = std::numeric_limits<int>::max();
    double weight = 0.0;
    for (std::size_t b = k; b < basis.size(); ++b) {
      double largest = 0.0;
      for (const double value : basis[b]) largest = std::max(largest, std::abs(value));
      for (std::size_t i = 0; i < cost.size(); ++i) {
        if (basis[b][i] == 0.0 || cost[i] > least) continue;
        const double here = std::abs(basis[b][i]) / largest;
        if (cost[i] == least && here <= weight) continue;
        least = cost[i];
        weight = here;
        chosen = b;
        pivot = i;
      }
    }
    std::swap(basis[k], basis[chosen]);
    const double scale = basis[k][pivot];
    for (double& value : basis[k]) value /= scale;
    for (std::size_t b = 0; b < basis.size(); ++b) {
      if (b == k || basis[b][pivot] == 0.0) continue;
      subtract(basis[b][pivot], basis[k], basis[b]);
      basis[b][pivot] = 0.0;
    }
    pivots.push_back(pivot);
  }
  for (std::vector<double>& vector : basis)
    for (double& value : vector) value = tidied(value);
  return pivots;
}

}  // namespace daedalus::structure
