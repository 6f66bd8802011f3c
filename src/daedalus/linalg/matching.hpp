#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::linalg {

inline constexpr std::size_t unmatched = std::numeric_limits<std::size_t>::max();

/// Rows and columns in pairs, each in one pair at most.
struct Matching {
  std::vector<std::size_t> column_of, row_of;  ///< `unmatched` for what has no partner
  std::size_t size = 0;

  bool perfect() const { return size == column_of.size() && size == row_of.size(); }
};

/// Enlarges a matching by shortest augmenting paths, as many as fit beside each other at a time: a row without partner,
/// a column that it contains, the row that had this column, ..., a column without partner (Hopcroft, Karp: An n^5/2
/// algorithm for maximum matchings in bipartite graphs, SIAM J. Comput. 2, 1973). At most about 2 sqrt(n) rounds, each
/// of which looks once at every entry. Without recursion.
class MatchingSearch {
 public:
  explicit MatchingSearch(const Sparsity& pattern);

  /// Uses the entries k of rows i with admitted(i, k), until they give no larger matching.
  template <class Admitted>
  void enlarge(const Admitted& admitted) {
    while (find_levels(admitted)) augment(admitted);
  }

  const Matching& matching() const { return matching_; }
  std::size_t entries_seen() const { return entries_seen_; }

 private:
  static constexpr std::size_t unreached = unmatched;

  /// Distance of every row from the rows without partner, up to those that see a column without partner.
  template <class Admitted>
  bool find_levels(const Admitted& admitted) {
    last_level_ = unreached;
    queue_.clear();
    for (std::size_t i = 0; i < level_.size(); ++i) {
      level_[i] = matching_.column_of[i] == unmatched ? 0 : unreached;
      if (level_[i] == 0) queue_.push_back(i);
    }
    for (std::size_t head = 0; head < queue_.size() && level_[queue_[head]] < last_level_; ++head) {
      const std::size_t i = queue_[head];
      for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k) {
        ++entries_seen_;
        if (!admitted(i, k)) continue;
        const std::size_t other = matching_.row_of[pattern_.column[k]];
        if (other == unmatched) {
          last_level_ = level_[i] + 1;
        } else if (level_[other] == unreached) {
          level_[other] = level_[i] + 1;
          queue_.push_back(other);
        }
      }
    }
    return last_level_ != unreached;
  }

  /// Depth-first along rising levels; a row serves one path at most.
  template <class Admitted>
  void augment(const Admitted& admitted) {
    for (std::size_t i = 0; i < level_.size(); ++i) next_[i] = pattern_.row_start[i];
    for (std::size_t start = 0; start < level_.size(); ++start) {
      if (matching_.column_of[start] != unmatched || level_[start] != 0) continue;
      path_.assign(1, start);
      while (!path_.empty()) {
        const std::size_t i = path_.back();
        if (next_[i] == pattern_.row_start[i + 1]) {
          level_[i] = unreached;
          path_.pop_back();
          continue;
        }
        const std::size_t k = next_[i]++;
        ++entries_seen_;
        if (!admitted(i, k)) continue;
        const std::size_t other = matching_.row_of[pattern_.column[k]];
        if (other == unmatched) {
          exchange();
          break;
        }
        if (level_[other] == level_[i] + 1 && level_[other] < last_level_) path_.push_back(other);
      }
    }
  }

  void exchange();

  const Sparsity& pattern_;
  Matching matching_;
  std::vector<std::size_t> level_, next_, queue_, path_;
  std::size_t last_level_ = 0, entries_seen_ = 0;
};

/// A largest matching.
Matching maximum_matching(const Sparsity& pattern);

/// The same pattern by columns: rows and columns exchanged.
Sparsity transposed(const Sparsity& pattern);

}  // namespace daedalus::linalg
