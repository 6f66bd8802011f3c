// With a row (0, a_i) and a column (0, a_j) of (E, A) and a_ij != 0, row operations with a_i and column operations with a_j
// change A alone and split the pencil into a_ij and the rest, A_kl - a_kj a_il / a_ij: strict equivalence, a nilpotent block
// of size 1. The order is that of Markowitz (fewest new entries), among pivots that are not small in their row or column.

#include "daedalus/structure/sparse_pencil.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "daedalus/structure/sparse_staircase.hpp"

namespace daedalus::structure {

namespace {

/// A pivot is at least this part of what could be a pivot instead, in its row or in its column. Other entries say nothing:
/// beside those of unknowns with derivatives it is as large as the unit of its own unknown makes it.
constexpr double least_pivot = 0.1;
/// But of all entries of its row or column it is at least this part: less may be noise.
constexpr double least_part = 1e-8;
/// A difference that is smaller than this beside its terms is a zero.
constexpr double cancelled = 1e-13;
/// Eliminations that leave a row this full would leave no sparse pencil.
constexpr std::size_t most_fill = 200;
/// Pencils up to this size are reduced by orthogonal matrices at once: the staircase of a sparse one saves no time.
constexpr std::size_t small = 100;

class Eliminator {
 public:
  explicit Eliminator(const SparsePencil& pencil)
      : rows_(pencil.rows), columns_(pencil.columns), derivative_in_row_(pencil.rows, false),
        derivative_of_(pencil.columns, false), row_gone_(pencil.rows, false), column_gone_(pencil.columns, false) {
    for (const SparsePencil::Entry& entry : pencil.entries) {
      if (entry.A != 0.0) {
        rows_[entry.row][entry.column] = entry.A;
        columns_[entry.column].insert(entry.row);
      }
      if (entry.E != 0.0) derivative_in_row_[entry.row] = derivative_of_[entry.column] = true;
    }
  }

  /// Takes off what can be taken off.
  void run() {
    std::set<std::pair<std::size_t, std::size_t>> queue;  // by number of entries
    const auto put = [&](std::size_t i) {
      if (!derivative_in_row_[i] && !row_gone_[i]) queue.emplace(rows_[i].size(), i);
    };
    for (std::size_t i = 0; i < rows_.size(); ++i) put(i);
    while (!queue.empty()) {
      const auto [size, i] = *queue.begin();
      queue.erase(queue.begin());
      if (row_gone_[i] || rows_[i].size() != size || size > most_fill) continue;  // its new size is in the queue, too
      const std::optional<std::size_t> j = pivot_of(i);
      if (!j) continue;
      const std::set<std::size_t> touched = columns_[*j];
      eliminate(i, *j);
      for (const std::size_t k : touched) put(k);
    }
  }

  std::size_t eliminated() const { return eliminated_; }
  double kept() const { return kept_; }
  double dropped() const { return dropped_; }
  bool gone_row(std::size_t i) const { return row_gone_[i]; }
  bool gone_column(std::size_t j) const { return column_gone_[j]; }
  const std::map<std::size_t, double>& row(std::size_t i) const { return rows_[i]; }

 private:
  /// The largest entry of a line, and the largest that could be a pivot.
  struct Largest {
    double of_all = 0.0, of_pivots = 0.0;
    void see(double value, bool derivative) {
      of_all = std::max(of_all, std::abs(value));
      if (!derivative) of_pivots = std::max(of_pivots, std::abs(value));
    }
  };

  std::optional<std::size_t> pivot_of(std::size_t i) const {
    Largest in_row;
    for (const auto& [j, value] : rows_[i]) in_row.see(value, derivative_of_[j]);
    std::optional<std::size_t> best;
    for (const auto& [j, value] : rows_[i]) {
      if (derivative_of_[j]) continue;
      if (best && columns_[j].size() >= columns_[*best].size()) continue;
      Largest in_column;
      for (const std::size_t k : columns_[j]) in_column.see(rows_[k].at(j), derivative_in_row_[k]);
      if (std::abs(value) >= least_pivot * std::min(in_row.of_pivots, in_column.of_pivots) &&
          std::abs(value) >= least_part * std::min(in_row.of_all, in_column.of_all))
        best = j;
    }
    return best;
  }

  void eliminate(std::size_t i, std::size_t j) {
    const std::map<std::size_t, double> own = rows_[i];
    const double pivot = own.at(j);
    double largest = 0.0;
    for (const auto& [l, value] : own) largest = std::max(largest, std::abs(value));
    kept_ = std::min(kept_, std::abs(pivot) / largest);
    for (const auto& [l, value] : own) columns_[l].erase(i);
    for (const std::size_t k : columns_[j]) {
      const double factor = rows_[k].at(j) / pivot;
      rows_[k].erase(j);
      for (const auto& [l, value] : own) {
        if (l == j) continue;
        const auto [place, fresh] = rows_[k].try_emplace(l, 0.0);
        const double before = place->second, size = std::max(std::abs(before), std::abs(factor * value));
        place->second -= factor * value;
        if (std::abs(place->second) <= cancelled * size) {
          if (size > 0.0) dropped_ = std::max(dropped_, std::abs(place->second) / size);
          rows_[k].erase(place);
          columns_[l].erase(k);
        } else if (fresh) {
          columns_[l].insert(k);
        }
      }
    }
    columns_[j].clear();
    rows_[i].clear();
    row_gone_[i] = column_gone_[j] = true;
    ++eliminated_;
  }

  std::vector<std::map<std::size_t, double>> rows_;  // of A
  std::vector<std::set<std::size_t>> columns_;       // which rows have an entry
  std::vector<bool> derivative_in_row_, derivative_of_, row_gone_, column_gone_;
  std::size_t eliminated_ = 0;
  double kept_ = 1.0, dropped_ = 0.0;
};

Pencil dense(const SparsePencil& pencil) {
  Pencil result{DenseMatrix::zero(pencil.rows, pencil.columns), DenseMatrix::zero(pencil.rows, pencil.columns)};
  for (const SparsePencil::Entry& entry : pencil.entries) {
    result.E(entry.row, entry.column) = entry.E;
    result.A(entry.row, entry.column) = entry.A;
  }
  return result;
}

}  // namespace

std::optional<KroneckerStructure> sparse_structure(const SparsePencil& pencil, std::size_t most_dense) {
  Eliminator eliminator(pencil);
  eliminator.run();
  // Numbers of the rows and columns that are left.
  const auto numbered = [](std::size_t count, auto&& gone) {
    std::vector<std::size_t> number(count, 0);
    std::size_t next = 0;
    for (std::size_t k = 0; k < count; ++k)
      if (!gone(k)) number[k] = next++;
    return number;
  };
  const auto row_of = numbered(pencil.rows, [&](std::size_t i) { return eliminator.gone_row(i); });
  const auto column_of = numbered(pencil.columns, [&](std::size_t j) { return eliminator.gone_column(j); });
  const std::size_t m = pencil.rows - eliminator.eliminated(), n = pencil.columns - eliminator.eliminated();
  std::vector<SparsePencil::Entry> rest;
  for (const SparsePencil::Entry& entry : pencil.entries)
    if (entry.E != 0.0) rest.push_back({row_of[entry.row], column_of[entry.column], entry.E, 0.0});

  SparsePencil left{m, n, std::move(rest)};
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> place;
  for (std::size_t k = 0; k < left.entries.size(); ++k) place[{left.entries[k].row, left.entries[k].column}] = k;
  for (std::size_t i = 0; i < pencil.rows; ++i)
    for (const auto& [j, value] : eliminator.row(i)) {
      const auto [found, fresh] = place.try_emplace({row_of[i], column_of[j]}, left.entries.size());
      if (fresh) left.entries.push_back({row_of[i], column_of[j], 0.0, 0.0});
      left.entries[found->second].A = value;
    }

  KroneckerStructure out;
  std::optional<SparseStaircase> stairs;
  if (m == n && m > small) stairs = sparse_staircase(left, most_dense);
  if (stairs) {
    out.regular = true;
    out.nilpotent_blocks = stairs->blocks();
    out.index = static_cast<int>(stairs->s.size());
    out.differential_dimension = stairs->rest.rows;
    out.kept = stairs->kept;
    out.dropped = stairs->dropped;
    if (out.differential_dimension <= most_dense)
      out.finite = finite_spectrum(dense(stairs->rest));
    else
      out.spectrum_known = false;
  } else if (std::max(m, n) <= most_dense) {
    out = kronecker_structure(dense(left));
  } else {
    return std::nullopt;
  }
  out.rows = pencil.rows;
  out.columns = pencil.columns;
  out.eliminated = eliminator.eliminated();
  out.nilpotent_blocks.insert(out.nilpotent_blocks.end(), out.eliminated, 1);
  if (out.regular && out.eliminated > 0) out.index = std::max(*out.index, 1);
  out.kept = std::min(out.kept, eliminator.kept());
  out.dropped = std::max(out.dropped, eliminator.dropped());
  return out;
}

}  // namespace daedalus::structure
