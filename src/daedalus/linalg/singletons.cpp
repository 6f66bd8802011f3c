#include "daedalus/linalg/singletons.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::linalg {

namespace {

class Peeling {
 public:
  Peeling(const Sparsity& pattern, const double* values, const std::vector<double>& lengths, double clear)
      : pattern_(pattern),
        values_(values),
        lengths_(lengths),
        clear_(clear),
        row_count_(pattern.rows, 0),
        column_count_(pattern.columns, 0),
        row_gone_(pattern.rows, false),
        column_start_(pattern.columns + 1, 0),
        column_entries_() {
    peeled_.column_gone.assign(pattern.columns, false);
    each_entry([&](std::size_t i, std::size_t k) {
      ++row_count_[i];
      ++column_count_[pattern.column[k]];
    });
    for (std::size_t j = 0; j < pattern.columns; ++j) column_start_[j + 1] = column_start_[j] + column_count_[j];
    column_entries_.resize(column_start_.back());
    std::vector<std::size_t> next(column_start_.begin(), column_start_.end() - 1);
    each_entry([&](std::size_t i, std::size_t k) { column_entries_[next[pattern.column[k]]++] = {i, k}; });
  }

  Peeled operator()() {
    for (std::size_t i = 0; i < pattern_.rows; ++i) look_at_row(i);
    for (std::size_t j = 0; j < pattern_.columns; ++j) look_at_column(j);
    // Rows in the order in which they were found, so that of two that say the same the first is kept.
    for (std::size_t at_row = 0, at_column = 0; at_row < rows_.size() || at_column < columns_.size();) {
      if (at_row < rows_.size())
        take_row(rows_[at_row++]);
      else
        take_row_of_column(columns_[at_column++]);
    }
    join_parts();
    return std::move(peeled_);
  }

 private:
  struct Entry {
    std::size_t row, at;
  };

  bool there(std::size_t k) const { return values_[k] != 0.0; }
  double share(std::size_t i, std::size_t k) const { return std::abs(values_[k]) / lengths_[i]; }

  template <class Visit>
  void each_entry(Visit visit) const {
    for (std::size_t i = 0; i < pattern_.rows; ++i)
      for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
        if (there(k)) visit(i, k);
  }

  template <class Visit>
  void each_in_row(std::size_t i, Visit visit) const {
    for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
      if (there(k) && !peeled_.column_gone[pattern_.column[k]]) visit(k);
  }

  void look_at_row(std::size_t i) {
    if (!row_gone_[i] && row_count_[i] <= 1) rows_.push_back(i);
  }
  void look_at_column(std::size_t j) {
    if (!peeled_.column_gone[j] && column_count_[j] == 1) columns_.push_back(j);
  }

  void take_row(std::size_t i) {
    if (row_gone_[i]) return;
    if (row_count_[i] == 0) {
      row_gone_[i] = true;
      peeled_.dependent.push_back(i);
      return;
    }
    std::size_t only = 0;
    each_in_row(i, [&](std::size_t k) { only = k; });
    if (share(i, only) < clear_) return;
    keep(i, share(i, only));
    const std::size_t j = pattern_.column[only];
    peeled_.column_gone[j] = true;
    for (std::size_t e = column_start_[j]; e < column_start_[j + 1]; ++e) {
      const std::size_t other = column_entries_[e].row;
      if (row_gone_[other]) continue;
      --row_count_[other];
      look_at_row(other);
    }
  }

  void take_row_of_column(std::size_t j) {
    if (peeled_.column_gone[j] || column_count_[j] != 1) return;
    for (std::size_t e = column_start_[j]; e < column_start_[j + 1]; ++e) {
      const auto [i, at] = column_entries_[e];
      if (row_gone_[i]) continue;
      if (share(i, at) < clear_) return;
      keep(i, share(i, at));
      each_in_row(i, [&](std::size_t k) {
        --column_count_[pattern_.column[k]];
        look_at_column(pattern_.column[k]);
      });
      return;
    }
  }

  void keep(std::size_t i, double entry) {
    row_gone_[i] = true;
    peeled_.independent.push_back(i);
    peeled_.kept = std::min(peeled_.kept, entry);
  }

  /// Rows that share a column belong to one part.
  void join_parts() {
    constexpr auto none = static_cast<std::size_t>(-1);
    std::vector<std::size_t> part_of(pattern_.rows, none), waiting;
    for (std::size_t first = 0; first < pattern_.rows; ++first) {
      if (row_gone_[first] || part_of[first] != none) continue;
      const std::size_t part = peeled_.parts.size();
      peeled_.parts.emplace_back();
      part_of[first] = part;
      waiting.assign(1, first);
      while (!waiting.empty()) {
        const std::size_t i = waiting.back();
        waiting.pop_back();
        peeled_.parts[part].push_back(i);
        each_in_row(i, [&](std::size_t k) {
          const std::size_t j = pattern_.column[k];
          if (column_count_[j] == 0) return;
          column_count_[j] = 0;  // seen
          for (std::size_t e = column_start_[j]; e < column_start_[j + 1]; ++e) {
            const std::size_t other = column_entries_[e].row;
            if (row_gone_[other] || part_of[other] != none) continue;
            part_of[other] = part;
            waiting.push_back(other);
          }
        });
      }
      std::sort(peeled_.parts[part].begin(), peeled_.parts[part].end());
    }
  }

  const Sparsity& pattern_;
  const double* values_;
  const std::vector<double>& lengths_;
  double clear_;
  std::vector<std::size_t> row_count_, column_count_;  ///< entries in what is left
  std::vector<bool> row_gone_;
  std::vector<std::size_t> column_start_;
  std::vector<Entry> column_entries_;
  std::vector<std::size_t> rows_, columns_;  ///< to be looked at
  Peeled peeled_;
};

}  // namespace

Peeled peel(const Sparsity& pattern, const double* values, const std::vector<double>& row_lengths, double clear) {
  return Peeling(pattern, values, row_lengths, clear)();
}

}  // namespace daedalus::linalg
