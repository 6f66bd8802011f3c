// Sets of columns that may be free are the bases of a matroid, the dual of that of the columns of C. With one basis Q and
// d_P = A d_Q, exchanging Q' in Q for P' in P gives another if and only if the square matrix A[P', Q'] is regular (Oxley:
// Matroid Theory, 2nd ed. 2011, section 2.2).
#include "daedalus/linalg/free_columns.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "daedalus/base/check.hpp"

namespace daedalus::linalg {

namespace {

constexpr double negligible = 1e-9;  // of rows whose largest entry is 1

/// Whether a dense square matrix is regular, by elimination with complete pivoting.
bool regular(std::vector<double> a, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t row = k, column = k;
    for (std::size_t i = k; i < n; ++i)
      for (std::size_t j = k; j < n; ++j)
        if (std::abs(a[i * n + j]) > std::abs(a[row * n + column])) {
          row = i;
          column = j;
        }
    if (!(std::abs(a[row * n + column]) > negligible)) return false;
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[row * n + j]);
    for (std::size_t i = 0; i < n; ++i) std::swap(a[i * n + k], a[i * n + column]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return true;
}

}  // namespace

FreeColumns free_columns(const Sparsity& pattern, const double* values, const std::vector<double>& sizes,
                         const std::vector<int>& turn) {
  const std::size_t m = pattern.rows, n = pattern.columns;
  DAEDALUS_CHECK(sizes.size() == n && turn.size() == n, "{} sizes, {} turns, {} columns", sizes.size(), turn.size(), n);
  std::vector<double> a(m * n, 0.0);
  for (std::size_t i = 0; i < m; ++i) {
    double top = 0.0;
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      double& entry = a[i * n + pattern.column[k]];
      entry += values[k] * sizes[pattern.column[k]];
      top = std::max(top, std::abs(entry));
    }
    for (std::size_t j = 0; j < n && top > 0.0; ++j) a[i * n + j] /= top;
  }

  FreeColumns result;
  std::vector<bool> used(m, false), pivot(n, false);
  std::vector<std::size_t> row_of;
  std::vector<int> turns(turn);
  std::sort(turns.begin(), turns.end());
  turns.erase(std::unique(turns.begin(), turns.end()), turns.end());
  for (const int now : turns) {
    for (;;) {
      std::size_t row = m, column = n;
      double largest = negligible;
      for (std::size_t i = 0; i < m; ++i) {
        if (used[i]) continue;
        for (std::size_t j = 0; j < n; ++j)
          if (turn[j] == now && !pivot[j] && std::abs(a[i * n + j]) > largest) {
            largest = std::abs(a[i * n + j]);
            row = i;
            column = j;
          }
      }
      if (row == m) break;
      used[row] = true;
      pivot[column] = true;
      row_of.push_back(row);
      result.determined.push_back(column);
      const double scale = 1.0 / a[row * n + column];
      for (std::size_t j = 0; j < n; ++j) a[row * n + j] *= scale;
      for (std::size_t i = 0; i < m; ++i) {
        const double factor = a[i * n + column];
        if (i == row || factor == 0.0) continue;
        for (std::size_t j = 0; j < n; ++j) a[i * n + j] -= factor * a[row * n + j];
        a[i * n + column] = 0.0;
      }
    }
    // What is left of this turn in other rows is round-off.
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n && !used[i]; ++j)
        if (turn[j] == now) a[i * n + j] = 0.0;
  }
  for (std::size_t j = 0; j < n; ++j)
    if (!pivot[j]) result.free.push_back(j);
  for (const std::size_t row : row_of)
    for (const std::size_t j : result.free) {
      const double value = -a[row * n + j];
      result.A.push_back(std::abs(value) > negligible ? value : 0.0);
    }
  return result;
}

bool may_be_free(const FreeColumns& columns, const std::vector<bool>& in_set) {
  std::vector<std::size_t> in, out;
  for (std::size_t p = 0; p < columns.determined.size(); ++p)
    if (in_set[columns.determined[p]]) in.push_back(p);
  for (std::size_t q = 0; q < columns.free.size(); ++q)
    if (!in_set[columns.free[q]]) out.push_back(q);
  if (in.size() != out.size()) return false;
  std::vector<double> exchanged;
  for (const std::size_t p : in)
    for (const std::size_t q : out) exchanged.push_back(columns.entry(p, q));
  return regular(std::move(exchanged), in.size());
}

}  // namespace daedalus::linalg
