#include "daedalus/structure/staircase.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/linalg/lapack.hpp"

namespace daedalus::structure {

namespace {

double power_of_two(double value) { return std::exp2(std::round(std::log2(value))); }

/// m(:, from:) = m(:, from:) * V
void turn_columns(DenseMatrix& m, std::size_t from, const DenseMatrix& V) {
  m.set_block(0, from, m.block(0, from, m.rows, V.rows) * V);
}
/// m(from:, :) = U^T * m(from:, :)
void turn_rows(DenseMatrix& m, std::size_t from, const DenseMatrix& U) {
  m.set_block(from, 0, linalg::transposed(U) * m.block(from, 0, U.rows, m.columns));
}

/// The columns [k, end) of V, then those before.
DenseMatrix rolled(const DenseMatrix& V, std::size_t k) {
  DenseMatrix result = DenseMatrix::zero(V.rows, V.columns);
  result.set_block(0, 0, V.block(0, k, V.rows, V.columns - k));
  result.set_block(0, V.columns - k, V.block(0, 0, V.rows, k));
  return result;
}

struct Sweep {
  Pencil form;
  DenseMatrix Q, Z;
  std::vector<std::size_t> s, r;
  std::size_t row = 0, column = 0;  ///< where the rest begins
};

class Sweeper {
 public:
  Sweeper(double tolerance, Staircase& record) : tolerance_(tolerance), record_(record) {}

  /// Takes the kernel of E off until E has full column rank.
  Sweep run(const Pencil& pencil, bool left) {
    Sweep w{pencil, DenseMatrix::identity(pencil.rows()), DenseMatrix::identity(pencil.columns()), {}, {}};
    while (w.column < pencil.columns()) {
      const std::size_t height = pencil.rows() - w.row, width = pencil.columns() - w.column;
      const linalg::Svd e = linalg::svd(w.form.E.block(w.row, w.column, height, width));
      const std::size_t rank = decide(e.values, 'E', left, w.s.size() + 1, height, width);
      const std::size_t s = width - rank;
      if (s == 0) break;
      const DenseMatrix V = rolled(e.V, rank);
      for (DenseMatrix* m : {&w.form.E, &w.form.A, &w.Z}) turn_columns(*m, w.column, V);
      w.form.E.set_block(w.row, w.column, DenseMatrix::zero(height, s));

      const linalg::Svd a = linalg::svd(w.form.A.block(w.row, w.column, height, s));
      const std::size_t r = decide(a.values, 'A', left, w.s.size() + 1, height, s);
      for (DenseMatrix* m : {&w.form.E, &w.form.A, &w.Z}) turn_columns(*m, w.column, a.V);
      for (DenseMatrix* m : {&w.form.E, &w.form.A}) turn_rows(*m, w.row, a.U);
      turn_columns(w.Q, w.row, a.U);
      for (std::size_t i = 0; i < height; ++i)
        for (std::size_t j = 0; j < s; ++j)
          if (i != j || j >= r) w.form.A(w.row + i, w.column + j) = 0.0;
      w.form.E.set_block(w.row, w.column, DenseMatrix::zero(height, s));
      w.s.push_back(s);
      w.r.push_back(r);
      w.row += r;
      w.column += s;
    }
    return w;
  }

 private:
  std::size_t decide(const std::vector<double>& values, char of, bool left, std::size_t step, std::size_t rows,
                     std::size_t columns) {
    std::size_t rank = 0;
    while (rank < values.size() && values[rank] > tolerance_) ++rank;
    const StaircaseRank decision{of,
                                 left,
                                 step,
                                 left ? columns : rows,
                                 left ? rows : columns,
                                 rank,
                                 rank > 0 ? values[rank - 1] : 1.0,
                                 rank < values.size() ? values[rank] : 0.0};
    record_.kept = std::min(record_.kept, decision.kept);
    record_.dropped = std::max(record_.dropped, decision.dropped);
    record_.ranks.push_back(decision);
    return rank;
  }

  double tolerance_;
  Staircase& record_;
};

/// from[i] - to[i + shift] times the number i + first.
std::vector<std::size_t> listed_sizes(const std::vector<std::size_t>& from, const std::vector<std::size_t>& to,
                                      std::size_t shift, std::size_t first) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t next = i + shift < to.size() ? to[i + shift] : 0;
    for (std::size_t k = next; k < from[i]; ++k) sizes.push_back(i + first);
  }
  return sizes;
}

/// Squares of the entries of such lines are no numbers: their largest entries are brought to 1 first.
bool out_of_range(const Pencil& pencil) {
  constexpr double most = 1e100;
  for (const DenseMatrix* m : {&pencil.E, &pencil.A})
    for (const double entry : m->entries)
      if (entry != 0.0 && !(std::abs(entry) < most && std::abs(entry) > 1.0 / most)) return true;
  return false;
}

PencilScaling scaling_by_largest(const Pencil& pencil) {
  PencilScaling scaling{std::vector<double>(pencil.rows(), 1.0), std::vector<double>(pencil.columns(), 1.0)};
  for (int sweep = 0; sweep < 8; ++sweep)
    for (const bool rows : {true, false}) {
      std::vector<double> largest((rows ? scaling.row : scaling.column).size(), 0.0);
      for (std::size_t i = 0; i < pencil.rows(); ++i)
        for (std::size_t j = 0; j < pencil.columns(); ++j)
          for (const DenseMatrix* m : {&pencil.E, &pencil.A})
            largest[rows ? i : j] =
                std::max(largest[rows ? i : j], std::abs((*m)(i, j) * scaling.row[i] * scaling.column[j]));
      for (std::size_t k = 0; k < largest.size(); ++k)
        if (largest[k] > 0.0) (rows ? scaling.row : scaling.column)[k] *= power_of_two(1.0 / largest[k]);
    }
  return scaling;
}

/// How many of the entries that are not zero are below a hundredth of those in the given line.
double share_below(const DenseMatrix& m, std::size_t line, bool row) {
  double sum = 0.0;
  std::size_t in_line = 0, all = 0, below = 0;
  for (std::size_t k = 0; k < (row ? m.columns : m.rows); ++k)
    if (const double entry = row ? m(line, k) : m(k, line); entry != 0.0) {
      sum += entry * entry;
      ++in_line;
    }
  if (in_line == 0) return 0.0;
  const double size = 0.01 * std::sqrt(sum / static_cast<double>(in_line));
  for (const double entry : m.entries) {
    all += entry != 0.0 ? 1 : 0;
    below += entry != 0.0 && std::abs(entry) < size ? 1 : 0;
  }
  return static_cast<double>(below) / static_cast<double>(all);
}

PencilScaling scaling_by_length(const Pencil& pencil) {
  const std::size_t m = pencil.rows(), n = pencil.columns();
  PencilScaling scaling{std::vector<double>(m, 1.0), std::vector<double>(n, 1.0), 1.0};
  const double size_E = linalg::norm(pencil.E), size_A = linalg::norm(pencil.A);
  double weight = size_E > 0.0 && size_A > 0.0 ? size_A / size_E : 1.0;
  const auto square = [&](std::size_t i, std::size_t j) {
    const double e = weight * pencil.E(i, j), a = pencil.A(i, j), factor = scaling.row[i] * scaling.column[j];
    return (e * e + a * a) * factor * factor;
  };
  // A few sweeps of rows and columns; those that are zero stay.
  const auto row_length = [&](std::size_t i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < n; ++j) sum += square(i, j);
    return std::sqrt(sum);
  };
  const auto column_length = [&](std::size_t j) {
    double sum = 0.0;
    for (std::size_t i = 0; i < m; ++i) sum += square(i, j);
    return std::sqrt(sum);
  };
  const auto lengths_of = [](std::size_t count, const auto& length) {
    std::vector<double> lengths(count);
    for (std::size_t i = 0; i < count; ++i) lengths[i] = length(i);
    return lengths;
  };
  const auto equalize = [&](std::vector<double>& factors, const std::vector<double>& lengths) {
    for (std::size_t i = 0; i < factors.size(); ++i)
      if (lengths[i] > 0.0) factors[i] *= power_of_two(1.0 / lengths[i]);
  };
  for (const bool rows : {true, false}) {
    const std::vector<double> lengths = rows ? lengths_of(m, row_length) : lengths_of(n, column_length);
    const double largest = lengths.empty() ? 0.0 : *std::max_element(lengths.begin(), lengths.end());
    for (std::size_t k = 0; k < lengths.size(); ++k)
      if (lengths[k] > 0.0 && lengths[k] / largest < scaling.shortest_line) {
        scaling.shortest_line = lengths[k] / largest;
        scaling.smaller = std::max(share_below(pencil.E, k, rows), share_below(pencil.A, k, rows));
      }
  }
  for (int sweep = 0; sweep < 8; ++sweep) {
    equalize(scaling.row, lengths_of(m, row_length));
    equalize(scaling.column, lengths_of(n, column_length));
    // The unit of time, in lines that are alike: before, the longest ones alone told it.
    const Pencil lines = scaled(pencil, scaling);
    if (const double e = linalg::norm(lines.E), a = linalg::norm(lines.A); e > 0.0 && a > 0.0) weight = a / e;
  }
  // One factor for both brings A to norm 1, `time` then E.
  const Pencil lines = scaled(pencil, scaling);
  const double a = linalg::norm(lines.A), e = linalg::norm(lines.E);
  const double both = a > 0.0 ? power_of_two(1.0 / a) : 1.0;
  for (double& factor : scaling.row) factor *= both;
  scaling.time = e > 0.0 ? power_of_two(1.0 / (both * e)) : 1.0;
  if (a > 0.0 && e > 0.0) scaling.share_of_E = e / a;
  return scaling;
}

}  // namespace

PencilScaling scaling_of(const Pencil& pencil) {
  if (!out_of_range(pencil)) return scaling_by_length(pencil);
  const PencilScaling first = scaling_by_largest(pencil);
  PencilScaling scaling = scaling_by_length(scaled(pencil, first));
  for (std::size_t i = 0; i < first.row.size(); ++i) scaling.row[i] *= first.row[i];
  for (std::size_t j = 0; j < first.column.size(); ++j) scaling.column[j] *= first.column[j];
  return scaling;
}

Pencil scaled(const Pencil& pencil, const PencilScaling& scaling) {
  Pencil result = pencil;
  for (std::size_t i = 0; i < pencil.rows(); ++i)
    for (std::size_t j = 0; j < pencil.columns(); ++j) {
      result.E(i, j) = result.E(i, j) * scaling.row[i] * scaling.column[j] * scaling.time;
      result.A(i, j) = result.A(i, j) * scaling.row[i] * scaling.column[j];
    }
  return result;
}

Staircase staircase(const Pencil& pencil, double tolerance) {
  Staircase out;
  Sweeper sweeper(tolerance, out);
  Sweep right = sweeper.run(pencil, false);
  const std::size_t height = pencil.rows() - right.row, width = pencil.columns() - right.column;
  out.s = std::move(right.s);
  out.r = std::move(right.r);
  out.form = std::move(right.form);
  out.Q = std::move(right.Q);
  out.Z = std::move(right.Z);
  out.finite_row = right.row;
  out.finite_column = right.column;
  out.finite = width;
  if (height == width) return out;  // E is square and regular in the rest

  const Pencil rest{linalg::transposed(out.form.E.block(right.row, right.column, height, width)),
                    linalg::transposed(out.form.A.block(right.row, right.column, height, width))};
  Sweep left = sweeper.run(rest, true);
  // The rest has become [X 0; Y F]; with F before X it is upper block triangular.
  const DenseMatrix U = rolled(left.Z, left.column), V = rolled(left.Q, left.row);
  for (DenseMatrix* m : {&out.form.E, &out.form.A, &out.Z}) turn_columns(*m, right.column, V);
  for (DenseMatrix* m : {&out.form.E, &out.form.A}) turn_rows(*m, right.row, U);
  turn_columns(out.Q, right.row, U);
  out.left_s = std::move(left.s);
  out.left_r = std::move(left.r);
  out.finite = width - left.row;
  return out;
}

bool Staircase::regular() const { return form.E.square() && s == r && left_s.empty(); }

std::vector<std::size_t> Staircase::column_minimal_indices() const { return listed_sizes(s, r, 0, 0); }
std::vector<std::size_t> Staircase::row_minimal_indices() const { return listed_sizes(left_s, left_r, 0, 0); }
std::vector<std::size_t> Staircase::infinite_blocks() const {
  std::vector<std::size_t> sizes = listed_sizes(r, s, 1, 1);
  std::reverse(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace daedalus::structure
