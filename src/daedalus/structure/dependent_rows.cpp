#include "daedalus/structure/dependent_rows.hpp"

#include <algorithm>
#include <limits>

#include "daedalus/linalg/rank.hpp"

namespace daedalus::structure {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// The parts of a matrix that share no column: rows of each, ascending.
std::vector<std::vector<std::size_t>> connected_rows(const linalg::Sparsity& pattern) {
  std::vector<std::size_t> leader(pattern.rows), first(pattern.columns, none);
  for (std::size_t i = 0; i < leader.size(); ++i) leader[i] = i;
  const auto find = [&](std::size_t i) {
    while (leader[i] != i) i = leader[i] = leader[leader[i]];
    return i;
  };
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      std::size_t& other = first[pattern.column[k]];
      if (other == none)
        other = i;
      else
        leader[find(i)] = find(other);
    }
  std::vector<std::vector<std::size_t>> parts;
  std::vector<std::size_t> part_of(pattern.rows, none);
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    std::size_t& part = part_of[find(i)];
    if (part == none) {
      part = parts.size();
      parts.emplace_back();
    }
    parts[part].push_back(i);
  }
  return parts;
}

}  // namespace

DependentRows dependent_rows(const linalg::Sparsity& pattern, const double* values) {
  // Entries that are zero here must not connect.
  linalg::Sparsity present{pattern.rows, pattern.columns, {0}, {}};
  std::vector<double> entries;
  for (std::size_t i = 0; i < pattern.rows; ++i) {
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      if (values[k] == 0.0) continue;
      present.column.push_back(pattern.column[k]);
      entries.push_back(values[k]);
    }
    present.row_start.push_back(present.column.size());
  }
  DependentRows result;
  std::vector<std::size_t> place(pattern.columns, none);
  for (const std::vector<std::size_t>& rows : connected_rows(present)) {
    linalg::Sparsity part{rows.size(), 0, {0}, {}};
    std::vector<double> own;
    std::vector<std::size_t> columns;
    for (const std::size_t i : rows) {
      for (std::size_t k = present.row_start[i]; k < present.row_start[i + 1]; ++k)
        columns.push_back(present.column[k]);
    }
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (std::size_t k = 0; k < columns.size(); ++k) place[columns[k]] = k;
    part.columns = columns.size();
    for (const std::size_t i : rows) {
      for (std::size_t k = present.row_start[i]; k < present.row_start[i + 1]; ++k) {
        part.column.push_back(place[present.column[k]]);
        own.push_back(entries[k]);
      }
      part.row_start.push_back(part.column.size());
    }
    const linalg::RankDecision decision = linalg::row_rank(part, own.data());
    result.complete = result.complete && decision.combinations.size() == decision.dependent_rows.size() &&
                      decision.kept == decision.kept;
    for (std::size_t d = 0; d < decision.combinations.size(); ++d) {
      result.rows.push_back(rows[decision.dependent_rows[d]]);
      result.combinations.emplace_back();
      for (std::size_t i = 0; i < rows.size(); ++i)
        if (decision.combinations[d][i] != 0.0)
          result.combinations.back().emplace_back(rows[i], decision.combinations[d][i]);
    }
  }
  return result;
}

}  // namespace daedalus::structure
