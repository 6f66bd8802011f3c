// A^T P = Q R with the rows of A scaled to equal length. A dependent row d satisfies R11 z = (column of R12), hence
// a_d = sum_i z_i a_{p_i} in scaled rows.
//
// Large sparse matrices: rows that are clearly independent by the pivots of A A^T, whose squares cannot tell more; for
// each of the others the distance r = a_d - A^T z from them, z by the corrected seminormal equations (Bjorck,
// Linear Algebra Appl. 88/89, 1987), which is accurate to round-off. Before that comes what zeros alone decide.
#include "daedalus/linalg/rank.hpp"

#include <cmath>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/dense_kernels.hpp"
#include "daedalus/linalg/gram.hpp"
#include "daedalus/linalg/householder.hpp"
#include "daedalus/linalg/row_selection.hpp"
#include "daedalus/linalg/singletons.hpp"

namespace daedalus::linalg {

namespace {

constexpr std::size_t dense_limit = 1500;       // rows + columns
constexpr std::size_t combination_limit = 3000;  // rows
constexpr double clear_distance = 1e-4;         // from other rows; its square is far above round-off
// A coefficient this small names a row that takes no part: it is what round-off leaves.
constexpr double negligible_coefficient = 1e-9;

// Lengths of the rows, without overflow or underflow of squares.
std::vector<double> row_lengths(const Sparsity& pattern, const double* values) {
  std::vector<double> length(pattern.rows);
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    double largest = 0.0, square = 0.0;
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      largest = std::max(largest, std::abs(values[k]));
    }
    if (largest == 0.0) continue;
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      square += (values[k] / largest) * (values[k] / largest);
    }
    length[i] = largest * std::sqrt(square);
  }
  return length;
}

// c with c^T A = 0 from a_d/|a_d| = sum z_i a_i/|a_i|, scaled to c_d = 1.
std::vector<double> combination(std::size_t d, const std::vector<std::size_t>& independent, const double* z,
                                const std::vector<double>& length) {
  std::vector<double> c(length.size());
  c[d] = 1.0;
  double largest = 1.0;
  for (std::size_t i = 0; i < independent.size(); ++i) largest = std::max(largest, std::abs(z[i]));
  for (std::size_t i = 0; i < independent.size(); ++i) {
    if (std::abs(z[i]) > negligible_coefficient * largest)
      c[independent[i]] = -z[i] * length[d] / length[independent[i]];
  }
  return c;
}

void select_dense(const Sparsity& pattern, const double* values, const std::vector<double>& length, double tolerance,
                  Combinations wanted, RowSelection& selection) {
  const std::size_t m = pattern.rows;
  HouseholderQr qr(m, pattern.columns);
  for (std::size_t i = 0; i < m; ++i) {
    const std::size_t begin = pattern.row_start[i], end = pattern.row_start[i + 1];
    if (length[i] == 0.0) continue;
    double* x = qr.clear(i);
    for (std::size_t k = begin; k < end; ++k) x[pattern.column[k]] = values[k] / length[i];
    qr.set_support(i, pattern.column[begin], pattern.column[end - 1] + 1);
  }
  const std::size_t rank = qr.factor(m, tolerance);
  const auto& order = qr.order();
  selection.kept = qr.kept();
  selection.dropped = qr.dropped();
  selection.independent.assign(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(rank));
  selection.dependent.assign(order.begin() + static_cast<std::ptrdiff_t>(rank), order.end());
  std::sort(selection.dependent.begin(), selection.dependent.end());
  if (wanted == Combinations::none) return;
  std::vector<double> z(rank);
  std::vector<std::size_t> position(m);
  for (std::size_t k = 0; k < m; ++k) position[order[k]] = k;
  for (const std::size_t d : selection.dependent) {
    for (std::size_t i = 0; i < rank; ++i) z[i] = length[d] > 0.0 ? qr.entry(i, position[d]) : 0.0;
    qr.solve_upper(z.data());
    selection.combinations.push_back(combination(d, selection.independent, z.data(), length));
  }
}

void select_sparse(const Sparsity& pattern, const double* values, const std::vector<double>& length, double tolerance,
                   Combinations wanted, RowSelection& selection) {
  const std::size_t m = pattern.rows, n = pattern.columns;
  std::vector<double> unit(values, values + pattern.nonzeros());
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      unit[k] = length[i] > 0.0 ? values[k] / length[i] : 0.0;
    }
  }
  GramFactors gram(pattern, unit.data(), std::max(tolerance, clear_distance));
  selection.kept = gram.smallest();

  struct Direction {
    std::vector<double> q;            // of length 1, outside the clearly independent rows
    std::vector<double> combination;  // of rows
  };
  std::vector<Direction> directions;
  std::vector<std::vector<double>> kernel;
  std::vector<double> z(m), b(m), rest(n);
  for (const std::size_t d : gram.weak()) {
    if (tolerance >= clear_distance) {
      selection.dependent.push_back(d);
      continue;
    }
    // rest = a_d - A^T z
    const auto update_rest = [&] {
      std::fill(rest.begin(), rest.end(), 0.0);
      for (std::size_t k = pattern.row_start[d]; k < pattern.row_start[d + 1]; ++k) rest[pattern.column[k]] = unit[k];
      multiply_transposed_add(pattern, unit.data(), -1.0, z.data(), rest.data());
    };
    std::fill(z.begin(), z.end(), 0.0);
    for (int correction = 0; correction < (length[d] > 0.0 ? 3 : 0); ++correction) {
      update_rest();
      std::fill(b.begin(), b.end(), 0.0);
      multiply_add(pattern, unit.data(), 1.0, rest.data(), b.data());
      gram.solve(b.data());
      for (std::size_t i = 0; i < m; ++i) z[i] += b[i];
    }
    update_rest();
    double largest = 1.0;
    for (const double value : z) largest = std::max(largest, std::abs(value));
    std::vector<double> combined(m);
    for (std::size_t i = 0; i < m; ++i) combined[i] = -z[i];
    combined[d] += 1.0;
    for (int pass = 0; pass < 2; ++pass) {
      for (const Direction& direction : directions) {
        const double s = dot(direction.q.data(), rest.data(), n);
        add_multiple(-s, direction.q.data(), rest.data(), n);
        add_multiple(-s, direction.combination.data(), combined.data(), m);
      }
    }
    const double distance = std::sqrt(dot(rest.data(), rest.data(), n));
    if (distance <= tolerance * largest) {
      selection.dependent.push_back(d);
      selection.dropped = std::max(selection.dropped, distance);
      if (wanted == Combinations::all) kernel.push_back(std::move(combined));
      continue;
    }
    selection.kept = std::min(selection.kept, distance);
    Direction direction{rest, std::move(combined)};
    for (double& value : direction.q) value /= distance;
    for (double& value : direction.combination) value /= distance;
    directions.push_back(std::move(direction));
  }
  if (!kernel.empty()) {
    selection.dependent = prefer_later_rows(kernel);
    for (std::size_t k = 0; k < kernel.size(); ++k) {
      const std::size_t d = selection.dependent[k];
      std::vector<std::size_t> others;
      std::vector<double> coefficients;
      for (std::size_t i = 0; i < m; ++i) {
        if (i == d || kernel[k][i] == 0.0) continue;
        others.push_back(i);
        coefficients.push_back(-kernel[k][i]);
      }
      selection.combinations.push_back(combination(d, others, coefficients.data(), length));
    }
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < m; ++i) {
    if (next < selection.dependent.size() && selection.dependent[next] == i) {
      ++next;
    } else {
      selection.independent.push_back(i);
    }
  }
}

// The same, after zeros have decided what they can, part by part of what is left.
void select_by_parts(const Sparsity& pattern, const double* values, const std::vector<double>& length, double tolerance,
                     RowSelection& selection) {
  Peeled peeled = peel(pattern, values, length, std::max(tolerance, clear_distance));
  selection.independent = std::move(peeled.independent);
  selection.dependent = std::move(peeled.dependent);
  selection.kept = peeled.kept;
  std::vector<std::size_t> place(pattern.columns);
  std::vector<std::size_t> placed_in(pattern.columns, peeled.parts.size());
  for (std::size_t p = 0; p < peeled.parts.size(); ++p) {
    const std::vector<std::size_t>& rows = peeled.parts[p];
    // Columns in their order.
    std::vector<std::size_t> columns;
    for (const std::size_t i : rows)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        const std::size_t j = pattern.column[k];
        if (values[k] == 0.0 || peeled.column_gone[j] || placed_in[j] == p) continue;
        placed_in[j] = p;
        columns.push_back(j);
      }
    std::sort(columns.begin(), columns.end());
    for (std::size_t c = 0; c < columns.size(); ++c) place[columns[c]] = c;
    Sparsity part{rows.size(), columns.size(), {0}, {}};
    std::vector<double> part_values, part_length;
    for (const std::size_t i : rows) {
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        if (values[k] == 0.0 || peeled.column_gone[pattern.column[k]]) continue;
        part.column.push_back(place[pattern.column[k]]);
        part_values.push_back(values[k]);
      }
      part.row_start.push_back(part.column.size());
      part_length.push_back(length[i]);
    }
    RowSelection own;
    if (part.rows + part.columns <= dense_limit / 4)
      select_dense(part, part_values.data(), part_length, tolerance, Combinations::none, own);
    else
      select_sparse(part, part_values.data(), part_length, tolerance, Combinations::none, own);
    for (const std::size_t i : own.independent) selection.independent.push_back(rows[i]);
    for (const std::size_t i : own.dependent) selection.dependent.push_back(rows[i]);
    selection.kept = std::min(selection.kept, own.kept);
    selection.dropped = std::max(selection.dropped, own.dropped);
  }
  std::sort(selection.dependent.begin(), selection.dependent.end());
}

}  // namespace

std::vector<std::size_t> prefer_later_rows(std::vector<std::vector<double>>& kernel) {
  // Gauss-Jordan elimination from the last row on, with pivots that are at least a third of their vector's largest.
  const std::size_t count = kernel.size(), m = count > 0 ? kernel[0].size() : 0;
  std::vector<std::size_t> pivots, best(count);
  const auto find_best = [&](std::size_t v) {
    double largest = 0.0;
    for (const double value : kernel[v]) largest = std::max(largest, std::abs(value));
    best[v] = m - 1;
    while (best[v] > 0 && 3.0 * std::abs(kernel[v][best[v]]) < largest) --best[v];
  };
  for (std::size_t v = 0; v < count; ++v) find_best(v);
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t chosen = k, pivot = 0;
    for (std::size_t v = k; v < count; ++v) {
      if (best[v] < pivot) continue;
      chosen = v;
      pivot = best[v];
    }
    std::swap(best[k], best[chosen]);
    std::swap(kernel[k], kernel[chosen]);
    const double scale = kernel[k][pivot];
    for (double& value : kernel[k]) value /= scale;
    kernel[k][pivot] = 1.0;
    for (std::size_t v = 0; v < count; ++v) {
      if (v == k) continue;
      const double factor = kernel[v][pivot];
      if (factor == 0.0) continue;
      add_multiple(-factor, kernel[k].data(), kernel[v].data(), m);
      kernel[v][pivot] = 0.0;
      if (v > k) find_best(v);
    }
    pivots.push_back(pivot);
  }
  std::vector<std::pair<std::size_t, std::size_t>> order;
  for (std::size_t k = 0; k < count; ++k) order.emplace_back(pivots[k], k);
  std::sort(order.begin(), order.end());
  std::vector<std::vector<double>> sorted;
  for (std::size_t k = 0; k < count; ++k) {
    pivots[k] = order[k].first;
    sorted.push_back(std::move(kernel[order[k].second]));
  }
  kernel = std::move(sorted);
  return pivots;
}

RowSelection select_rows(const Sparsity& pattern, const double* values, double tolerance, Combinations wanted) {
  DAEDALUS_CHECK(all_finite(values, pattern.nonzeros()), "a value of a {} by {} matrix is not finite", pattern.rows,
                 pattern.columns);
  RowSelection selection;
  if (pattern.rows == 0) return selection;
  const std::vector<double> length = row_lengths(pattern, values);
  if (pattern.rows + pattern.columns <= dense_limit) {
    select_dense(pattern, values, length, tolerance, wanted, selection);
  } else if (wanted == Combinations::none) {
    select_by_parts(pattern, values, length, tolerance, selection);
  } else {
    select_sparse(pattern, values, length, tolerance, wanted, selection);
  }
  return selection;
}

RankDecision row_rank(const Sparsity& pattern, const double* values) {
  RankDecision decision;
  if (!all_finite(values, pattern.nonzeros())) {
    decision.kept = decision.dropped = std::numeric_limits<double>::quiet_NaN();
    return decision;
  }
  const Combinations wanted = pattern.rows <= combination_limit ? Combinations::all : Combinations::none;
  RowSelection selection = select_rows(pattern, values, rank_tolerance(pattern.rows, pattern.columns), wanted);
  decision.rank = selection.independent.size();
  decision.kept = selection.kept;
  decision.dropped = selection.dropped;
  decision.dependent_rows = std::move(selection.dependent);
  decision.combinations = std::move(selection.combinations);
  return decision;
}

}  // namespace daedalus::linalg
