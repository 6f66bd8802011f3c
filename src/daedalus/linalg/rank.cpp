// A^T P = Q R with the rows of A scaled to equal length. A dependent row d satisfies R11 z = (column of R12), hence
// a_d = sum_i z_i a_{p_i} in scaled rows. Large sparse matrices: left-looking sparse QR with a column ordering, which
// moves columns without a pivot to the end (Heath, Some extensions of an algorithm for sparse linear least squares
// problems, SIAM J. Sci. Stat. Comput. 3, 1982).
#include "daedalus/linalg/rank.hpp"

#include <btf.h>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <Eigen/SparseQR>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/dense_kernels.hpp"
#include "daedalus/linalg/householder.hpp"
#include "daedalus/linalg/row_selection.hpp"

namespace daedalus::linalg {

namespace {

constexpr std::size_t dense_limit = 1500;        // rows + columns
constexpr std::size_t combination_limit = 500;   // rows
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
    if (std::abs(z[i]) > negligible_coefficient * largest) c[independent[i]] = -z[i] * length[d] / length[independent[i]];
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
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  // Zero rows are set aside: the sparse QR takes columns with at least one entry.
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    if (length[i] > 0.0) {
      rows.push_back(i);
    } else {
      selection.dependent.push_back(i);
      if (wanted == Combinations::all) selection.combinations.push_back(combination(i, {}, nullptr, length));
    }
  }
  Matrix A(static_cast<int>(pattern.columns), static_cast<int>(rows.size()));
  std::vector<Eigen::Triplet<double, int>> entries;
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const std::size_t i = rows[j];
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      if (values[k] == 0.0) continue;
      entries.emplace_back(static_cast<int>(pattern.column[k]), static_cast<int>(j), values[k] / length[i]);
    }
  }
  A.setFromTriplets(entries.begin(), entries.end());
  Eigen::SparseQR<Matrix, Eigen::COLAMDOrdering<int>> qr;
  qr.setPivotThreshold(tolerance);
  qr.compute(A);
  DAEDALUS_CHECK(qr.info() == Eigen::Success, "sparse QR of {} by {}", pattern.rows, pattern.columns);
  const Eigen::Index rank = qr.rank();
  const auto& permutation = qr.colsPermutation().indices();
  for (Eigen::Index k = 0; k < rank; ++k) {
    selection.independent.push_back(rows[static_cast<std::size_t>(permutation(k))]);
    selection.kept = std::min(selection.kept, std::abs(qr.matrixR().coeff(k, k)));
  }
  if (rank == A.cols()) return;
  const Matrix R11 = qr.matrixR().topLeftCorner(rank, rank);
  std::vector<std::pair<std::size_t, std::vector<double>>> found;
  for (std::size_t i = 0; i < selection.combinations.size(); ++i) {
    found.emplace_back(selection.dependent[i], selection.combinations[i]);
  }
  for (Eigen::Index k = rank; k < A.cols(); ++k) {
    const std::size_t d = rows[static_cast<std::size_t>(permutation(k))];
    selection.dependent.push_back(d);
    Eigen::VectorXd z = Eigen::VectorXd(qr.matrixR().col(k)).head(rank);
    R11.triangularView<Eigen::Upper>().solveInPlace(z);
    Eigen::VectorXd rest = A.col(permutation(k));
    for (Eigen::Index i = 0; i < rank; ++i) {
      if (z(i) != 0.0) rest -= z(i) * A.col(permutation(i));
    }
    selection.dropped = std::max(selection.dropped, rest.norm());
    if (wanted == Combinations::all) found.emplace_back(d, combination(d, selection.independent, z.data(), length));
  }
  std::sort(selection.dependent.begin(), selection.dependent.end());
  if (wanted == Combinations::none) return;
  std::sort(found.begin(), found.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
  selection.combinations.clear();
  for (auto& [row, c] : found) selection.combinations.push_back(std::move(c));
}

}  // namespace

RowSelection select_rows(const Sparsity& pattern, const double* values, double tolerance, Combinations wanted) {
  DAEDALUS_CHECK(all_finite(values, pattern.nonzeros()), "a value of a {} by {} matrix is not finite", pattern.rows,
                 pattern.columns);
  RowSelection selection;
  if (pattern.rows == 0) return selection;
  const std::vector<double> length = row_lengths(pattern, values);
  if (pattern.rows + pattern.columns <= dense_limit) {
    select_dense(pattern, values, length, tolerance, wanted, selection);
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

std::size_t structural_rank(const Sparsity& pattern) {
  if (pattern.rows == 0 || pattern.columns == 0) return 0;
  // The rows of A are the columns of A^T, which has the same largest matching.
  std::vector<int> start(pattern.rows + 1), entry(pattern.nonzeros()), match(pattern.columns), work(5 * pattern.rows);
  for (std::size_t i = 0; i <= pattern.rows; ++i) start[i] = static_cast<int>(pattern.row_start[i]);
  for (std::size_t k = 0; k < entry.size(); ++k) entry[k] = static_cast<int>(pattern.column[k]);
  double operations = 0.0;
  const int matched = btf_maxtrans(static_cast<int>(pattern.columns), static_cast<int>(pattern.rows), start.data(),
                                   entry.data(), 0.0, &operations, match.data(), work.data());
  return static_cast<std::size_t>(matched);
}

}  // namespace daedalus::linalg
