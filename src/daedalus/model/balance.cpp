// Too many or too few equations: a maximum matching of equations and unknowns leaves some of them over; what
// alternating paths reach from those is the over- or underdetermined part (Dulmage, Mendelsohn: Coverings of bipartite
// graphs, Canadian J. Math. 10, 1958).

#include <fmt/format.h>

#include <deque>
#include <limits>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/walk.hpp"
#include "daedalus/model/checks.hpp"

namespace daedalus::model {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
using Neighbours = std::vector<std::vector<std::size_t>>;

/// Which unknowns stand in which equation.
Neighbours incidence(const Model& model, const std::vector<Unknown>& unknowns) {
  std::unordered_map<NodeId, std::size_t> column;
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    column[unknowns[j].symbol.id()] = j;
    for (const Expr rate : unknowns[j].rates) column[rate.id()] = j;
  }
  expr::Walk walk;
  Neighbours rows(model.equations.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Expr residual = model.equations[i].residual;
    const NodeId root[] = {residual.id()};
    for (const NodeId id : walk.from(residual.graph(), root)) {
      const auto found = column.find(id);
      if (found != column.end()) rows[i].push_back(found->second);
    }
  }
  return rows;
}

struct Matching {
  std::vector<std::size_t> of_row, of_column;
};

Matching match(const Neighbours& rows, std::size_t columns) {
  Matching result{std::vector<std::size_t>(rows.size(), none), std::vector<std::size_t>(columns, none)};
  for (std::size_t start = 0; start < rows.size(); ++start) {
    std::vector<std::size_t> came_from(columns, none);
    std::deque<std::size_t> queue{start};
    std::size_t free = none;
    while (!queue.empty() && free == none) {
      const std::size_t row = queue.front();
      queue.pop_front();
      for (const std::size_t column : rows[row]) {
        if (came_from[column] != none) continue;
        came_from[column] = row;
        if (result.of_column[column] == none) {
          free = column;
          break;
        }
        queue.push_back(result.of_column[column]);
      }
    }
    while (free != none) {
      const std::size_t row = came_from[free], next = result.of_row[row];
      result.of_row[row] = free;
      result.of_column[free] = row;
      free = next;
    }
  }
  return result;
}

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += fmt::format(", ... ({} in all)", names.size());
  return text;
}

}  // namespace

void check_balance(const Model& model, Faults& faults) {
  const bool mechanics = model.kind == Kind::lagrangian || model.kind == Kind::mechanical;
  if (model.kind == Kind::linear) return;
  const std::vector<Unknown>& unknowns = mechanics ? model.auxiliary : model.variables;
  if (model.equations.size() == unknowns.size()) return;
  const std::string noun = mechanics ? "auxiliary unknown" : "variable";
  if (mechanics && unknowns.empty()) {
    faults.add("too-many-equations",
               fmt::format("{} in [equations], but no auxiliary unknown", count(model.equations.size(), "equation")),
               "[equations] belong to the unknowns in [auxiliary]; connections of coordinates stand in [constraints]",
               model.equations[0].place);
    return;
  }
  const Neighbours rows = incidence(model, unknowns);
  const Matching matching = match(rows, unknowns.size());
  std::vector<std::string> equations, names, left_over;
  Place place;
  if (model.equations.size() > unknowns.size()) {
    // Equations that are left over, and all that compete with them.
    std::vector<bool> row_seen(rows.size(), false), column_seen(unknowns.size(), false);
    std::deque<std::size_t> queue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (matching.of_row[i] != none) continue;
      left_over.push_back(model.equations[i].name);
      if (place.line == 0) place = model.equations[i].place;
      queue.push_back(i);
      row_seen[i] = true;
    }
    while (!queue.empty()) {
      const std::size_t row = queue.front();
      queue.pop_front();
      for (const std::size_t column : rows[row]) {
        if (column_seen[column]) continue;
        column_seen[column] = true;
        const std::size_t other = matching.of_column[column];
        if (other == none || row_seen[other]) continue;
        row_seen[other] = true;
        queue.push_back(other);
      }
    }
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (row_seen[i]) equations.push_back(model.equations[i].name);
    for (std::size_t j = 0; j < unknowns.size(); ++j)
      if (column_seen[j]) names.push_back(unknowns[j].name);
    faults.add(
        "too-many-equations",
        fmt::format("{} for {}: too many, for example {}", count(model.equations.size(), "equation"),
                    count(unknowns.size(), noun), list(left_over)),
        fmt::format("overdetermined: {} ({}) for {}", count(equations.size(), "equation"), list(equations),
                    names.empty() ? "no unknown" : fmt::format("{} ({})", count(names.size(), noun), list(names))),
        place);
    return;
  }
  std::vector<std::vector<std::size_t>> columns(unknowns.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const std::size_t column : rows[i]) columns[column].push_back(i);
  std::vector<bool> row_seen(rows.size(), false), column_seen(unknowns.size(), false);
  std::deque<std::size_t> queue;
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    if (matching.of_column[j] != none) continue;
    left_over.push_back(unknowns[j].name);
    if (place.line == 0) place = unknowns[j].place;
    queue.push_back(j);
    column_seen[j] = true;
  }
  while (!queue.empty()) {
    const std::size_t column = queue.front();
    queue.pop_front();
    for (const std::size_t row : columns[column]) {
      if (row_seen[row]) continue;
      row_seen[row] = true;
      const std::size_t other = matching.of_row[row];
      if (other == none || column_seen[other]) continue;
      column_seen[other] = true;
      queue.push_back(other);
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (row_seen[i]) equations.push_back(model.equations[i].name);
  for (std::size_t j = 0; j < unknowns.size(); ++j)
    if (column_seen[j]) names.push_back(unknowns[j].name);
  faults.add(
      "too-few-equations",
      fmt::format("{} for {}: too few, nothing determines for example {}", count(model.equations.size(), "equation"),
                  count(unknowns.size(), noun), list(left_over)),
      fmt::format("underdetermined: {} ({}) in {}", count(names.size(), noun), list(names),
                  equations.empty() ? "no equation"
                                    : fmt::format("{} ({})", count(equations.size(), "equation"), list(equations))),
      place);
}

}  // namespace daedalus::model
