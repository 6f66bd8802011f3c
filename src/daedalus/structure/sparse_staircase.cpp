#include "daedalus/structure/sparse_staircase.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "daedalus/linalg/elimination.hpp"
#include "daedalus/linalg/lapack.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::structure {

namespace {

constexpr double least_pivot = 0.1;  ///< of the largest entry in its column
constexpr double cancelled = 1e-13;  ///< a difference that is smaller beside its terms is a zero
constexpr double least_gap = 1e3;    ///< between singular values that count and others
constexpr double rounding = 1e-12;   ///< of a part of E with lines of size 1: what is larger counts
constexpr std::size_t most_fill = 200;

class SparseMatrix {
 public:
  SparseMatrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns) {}
  const std::map<std::size_t, double>& row(std::size_t i) const { return rows_[i]; }
  const std::set<std::size_t>& column(std::size_t j) const { return columns_[j]; }
  double at(std::size_t i, std::size_t j) const { return rows_[i].at(j); }
  void set(std::size_t i, std::size_t j, double value) {
    rows_[i][j] = value;
    columns_[j].insert(i);
  }
  /// Adds a term; what is left of two that cancel up to rounding is nothing.
  void add(std::size_t i, std::size_t j, double value, double& dropped) {
    const auto [place, fresh] = rows_[i].try_emplace(j, 0.0);
    const double size = std::max(std::abs(place->second), std::abs(value));
    place->second += value;
    if (std::abs(place->second) <= cancelled * size) {
      if (size > 0.0) dropped = std::max(dropped, std::abs(place->second) / size);
      rows_[i].erase(place);
      columns_[j].erase(i);
    } else if (fresh) {
      columns_[j].insert(i);
    }
  }
  void clear_row(std::size_t i) {
    for (const auto& [j, value] : rows_[i]) columns_[j].erase(i);
    rows_[i].clear();
  }
  void clear_column(std::size_t j) {
    for (const std::size_t i : columns_[j]) rows_[i].erase(j);
    columns_[j].clear();
  }

 private:
  std::vector<std::map<std::size_t, double>> rows_;
  std::vector<std::set<std::size_t>> columns_;
};

/// Rows and columns of E that hang together.
struct Part {
  std::vector<std::size_t> rows, columns;
};

bool regular(const Part& part, const SparseMatrix& E) {
  if (part.rows.size() != part.columns.size()) return false;
  std::map<std::size_t, std::size_t> place;
  for (std::size_t k = 0; k < part.columns.size(); ++k) place[part.columns[k]] = k;
  const std::size_t n = part.rows.size();
  linalg::Sparsity pattern{n, n, std::vector<std::size_t>(n + 1, 0), {}};
  std::vector<double> values;
  for (std::size_t k = 0; k < n; ++k) {
    for (const auto& [j, value] : E.row(part.rows[k])) {
      pattern.column.push_back(place.at(j));
      values.push_back(value);
    }
    pattern.row_start[k + 1] = pattern.column.size();
  }
  const std::vector<double> nothing(values.size(), 0.0);
  linalg::ShiftedLu lu(pattern, linalg::ShiftedLu::Numbers::real);
  return lu.factor(nothing.data(), values.data(), 1.0);
}

class Sweeper {
 public:
  Sweeper(const SparsePencil& pencil, std::size_t most_dense)
      : E_(pencil.rows, pencil.columns),
        A_(pencil.rows, pencil.columns),
        row_gone_(pencil.rows, false),
        column_gone_(pencil.columns, false),
        most_dense_(most_dense) {
    fill(E_, pencil, &SparsePencil::Entry::E);
    fill(A_, pencil, &SparsePencil::Entry::A);
  }

  std::optional<SparseStaircase> run() {
    while (true) {
      for (const Part& part : parts())
        if (!compress(part)) return std::nullopt;
      std::vector<std::size_t> kernel;
      for (std::size_t j = 0; j < column_gone_.size(); ++j)
        if (!column_gone_[j] && E_.column(j).empty()) kernel.push_back(j);
      if (kernel.empty()) break;
      for (const std::size_t j : kernel)
        if (!eliminate(j)) return std::nullopt;
      out_.s.push_back(kernel.size());
    }
    fill_rest();
    if (out_.rest.rows != out_.rest.columns) return std::nullopt;
    return std::move(out_);
  }

 private:
  /// What is round-off beside both its row and its column, as 0.1 + 0.2 - 0.3 is, is no entry.
  static void fill(SparseMatrix& matrix, const SparsePencil& pencil, double SparsePencil::Entry::* value) {
    std::vector<double> in_row(pencil.rows, 0.0), in_column(pencil.columns, 0.0);
    for (const SparsePencil::Entry& entry : pencil.entries)
      for (double* largest : {&in_row[entry.row], &in_column[entry.column]}) *largest = std::max(*largest, std::abs(entry.*value));
    for (const SparsePencil::Entry& entry : pencil.entries)
      if (std::abs(entry.*value) > 1e-15 * std::min(in_row[entry.row], in_column[entry.column])) matrix.set(entry.row, entry.column, entry.*value);
  }

  std::vector<Part> parts() const {
    std::vector<Part> all;
    std::vector<bool> seen_row(row_gone_.size(), false), seen_column(column_gone_.size(), false);
    for (std::size_t start = 0; start < column_gone_.size(); ++start) {
      if (seen_column[start] || E_.column(start).empty()) continue;
      Part part{{}, {start}};
      seen_column[start] = true;
      for (std::size_t k = 0; k < part.columns.size(); ++k)
        for (const std::size_t i : E_.column(part.columns[k])) {
          if (seen_row[i]) continue;
          seen_row[i] = true;
          part.rows.push_back(i);
          for (const auto& [j, value] : E_.row(i))
            if (!seen_column[j]) {
              seen_column[j] = true;
              part.columns.push_back(j);
            }
        }
      all.push_back(std::move(part));
    }
    return all;
  }

  /// Gives a part of E columns that are zero, as many as its kernel has dimensions. False where that is not clear.
  bool compress(const Part& part) {
    const std::size_t n = part.columns.size();
    if (n == 1) return true;
    if (std::max(n, part.rows.size()) > most_dense_) return regular(part, E_);
    std::map<std::size_t, std::size_t> place;
    for (std::size_t k = 0; k < n; ++k) place[part.columns[k]] = k;
    Pencil own{DenseMatrix::zero(part.rows.size(), n), DenseMatrix::zero(part.rows.size(), n)};
    for (std::size_t k = 0; k < part.rows.size(); ++k)
      for (const auto& [j, value] : E_.row(part.rows[k])) own.E(k, place.at(j)) = value;
    const PencilScaling scaling = scaling_of(own);
    const DenseMatrix unit = scaled(own, scaling).E;
    const std::vector<double> values = linalg::singular_values(unit);
    std::size_t rank = 0;
    while (rank < values.size() && values[rank] > rounding) ++rank;
    const double kept = rank > 0 ? values[rank - 1] : 1.0, dropped = rank < values.size() ? values[rank] : 0.0;
    if (kept < least_gap * std::max(dropped, rounding)) return false;
    out_.kept = std::min(out_.kept, kept);
    out_.dropped = std::max(out_.dropped, dropped);
    if (rank == n) return true;
    const DenseMatrix K = linalg::kernel(unit, std::sqrt(kept * std::max(dropped, 1e-16)));
    if (K.columns != n - rank) return false;
    // An entry of 1 of each vector stands where all others have 0: that unknown is replaced.
    for (std::size_t v = 0; v < K.columns; ++v) {
      std::size_t own_column = n;
      for (std::size_t k = 0; k < n && own_column == n; ++k) {
        bool alone = K(k, v) != 0.0;
        for (std::size_t w = 0; w < K.columns && alone; ++w) alone = w == v || K(k, w) == 0.0;
        if (alone) own_column = k;
      }
      if (own_column == n) return false;
      const std::size_t target = part.columns[own_column];
      std::map<std::size_t, double> column;  // A times the vector, in the units of the pencil
      for (std::size_t k = 0; k < n; ++k)
        for (const std::size_t i : A_.column(part.columns[k])) {
          const double term = A_.at(i, part.columns[k]) * K(k, v) * scaling.column[k];
          if (term == 0.0) continue;
          const double before = column[i], size = std::max(std::abs(before), std::abs(term));
          column[i] = std::abs(before + term) <= cancelled * size ? 0.0 : before + term;
        }
      A_.clear_column(target);
      E_.clear_column(target);
      for (const auto& [i, value] : column)
        if (value != 0.0) A_.set(i, target, value);
    }
    return true;
  }

  /// Takes a column without E off, with the row that determines its unknown.
  bool eliminate(std::size_t j) {
    double largest = 0.0;
    for (const std::size_t i : A_.column(j)) largest = std::max(largest, std::abs(A_.at(i, j)) / size_of(i));
    if (!(largest > 0.0)) return false;
    std::optional<std::size_t> pivot;
    const auto filled = [&](std::size_t i) { return E_.row(i).size() + A_.row(i).size(); };
    for (const std::size_t i : A_.column(j))
      if (std::abs(A_.at(i, j)) / size_of(i) >= least_pivot * largest && (!pivot || filled(i) < filled(*pivot))) pivot = i;
    if (filled(*pivot) > most_fill) return false;
    out_.kept = std::min(out_.kept, std::abs(A_.at(*pivot, j)) / size_of(*pivot));
    const std::set<std::size_t> others = A_.column(j);
    const double divisor = A_.at(*pivot, j);
    for (const std::size_t i : others) {
      if (i == *pivot) continue;
      const double factor = A_.at(i, j) / divisor;
      for (const auto& [k, value] : A_.row(*pivot))
        if (k != j) A_.add(i, k, -factor * value, out_.dropped);
      for (const auto& [k, value] : E_.row(*pivot)) E_.add(i, k, -factor * value, out_.dropped);
    }
    A_.clear_column(j);
    A_.clear_row(*pivot);
    E_.clear_row(*pivot);
    row_gone_[*pivot] = column_gone_[j] = true;
    return true;
  }

  /// The largest entry of a row of A.
  double size_of(std::size_t i) const {
    double largest = 0.0;
    for (const auto& [j, value] : A_.row(i)) largest = std::max(largest, std::abs(value));
    return largest;
  }

  void fill_rest() {
    std::vector<std::size_t> number(column_gone_.size(), 0);
    for (std::size_t j = 0; j < number.size(); ++j)
      if (!column_gone_[j]) number[j] = out_.rest.columns++;
    for (std::size_t i = 0; i < row_gone_.size(); ++i) {
      if (row_gone_[i]) continue;
      std::map<std::size_t, SparsePencil::Entry> row;
      for (const auto& [j, value] : E_.row(i)) row[j].E = value;
      for (const auto& [j, value] : A_.row(i)) row[j].A = value;
      for (const auto& [j, entry] : row) out_.rest.entries.push_back({out_.rest.rows, number[j], entry.E, entry.A});
      ++out_.rest.rows;
    }
  }

  SparseMatrix E_, A_;
  std::vector<bool> row_gone_, column_gone_;
  std::size_t most_dense_;
  SparseStaircase out_;
};

}  // namespace

std::vector<std::size_t> SparseStaircase::blocks() const {
  std::vector<std::size_t> sizes;
  for (std::size_t size = s.size(); size > 0; --size)
    sizes.insert(sizes.end(), s[size - 1] - (size < s.size() ? s[size] : 0), size);
  return sizes;
}

std::optional<SparseStaircase> sparse_staircase(const SparsePencil& pencil, std::size_t most_dense) {
  return Sweeper(pencil, most_dense).run();
}

}  // namespace daedalus::structure
