// Too many or too few equations: a maximum matching of equations and unknowns leaves some of them over; what
// alternating paths reach from those is the over- or underdetermined part (Dulmage, Mendelsohn: Coverings of bipartite
// graphs, Canadian J. Math. 10, 1958).

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/walk.hpp"
#include "daedalus/model/checks.hpp"

namespace daedalus::model {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
using Neighbours = Occurrences;

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

  bool perfect() const { return std::ranges::find(of_row, none) == of_row.end(); }
};

Matching match(const Neighbours& rows, std::size_t columns) {
  Matching result{std::vector<std::size_t>(rows.size(), none), std::vector<std::size_t>(columns, none)};
  std::vector<std::size_t> came_from(columns, none), reached;
  for (std::size_t start = 0; start < rows.size(); ++start) {
    for (const std::size_t column : reached) came_from[column] = none;
    reached.clear();
    std::deque<std::size_t> queue{start};
    std::size_t free = none;
    while (!queue.empty() && free == none) {
      const std::size_t row = queue.front();
      queue.pop_front();
      for (const std::size_t column : rows[row]) {
        if (came_from[column] != none) continue;
        came_from[column] = row;
        reached.push_back(column);
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

/// What alternating paths reach from rows (or, with the roles exchanged, from columns) that have no partner.
struct Part {
  std::vector<std::size_t> left_over, rows, columns;
};

Part part_of(const Neighbours& rows, const std::vector<std::size_t>& of_row,
             const std::vector<std::size_t>& of_column) {
  Part part;
  std::vector<bool> row_seen(of_row.size(), false), column_seen(of_column.size(), false);
  std::deque<std::size_t> queue;
  for (std::size_t i = 0; i < of_row.size(); ++i) {
    if (of_row[i] != none) continue;
    part.left_over.push_back(i);
    queue.push_back(i);
    row_seen[i] = true;
  }
  while (!queue.empty()) {
    const std::size_t row = queue.front();
    queue.pop_front();
    for (const std::size_t column : rows[row]) {
      if (column_seen[column]) continue;
      column_seen[column] = true;
      const std::size_t other = of_column[column];
      if (other == none || row_seen[other]) continue;
      row_seen[other] = true;
      queue.push_back(other);
    }
  }
  for (std::size_t i = 0; i < row_seen.size(); ++i)
    if (row_seen[i]) part.rows.push_back(i);
  for (std::size_t j = 0; j < column_seen.size(); ++j)
    if (column_seen[j]) part.columns.push_back(j);
  return part;
}

std::string list(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += fmt::format(", ... ({} in all)", names.size());
  return text;
}

/// Tells in the author's names what a matching leaves over.
class Balance {
 public:
  Balance(const Model& model, const std::vector<Unknown>& unknowns, std::string noun, Occurrences rows)
      : model_(model), unknowns_(unknowns), noun_(std::move(noun)), rows_(std::move(rows)) {}

  void too_many(Faults& faults) const {
    const Part part = over(match(rows_, unknowns_.size()));
    faults.add("too-many-equations",
               fmt::format("{} for {}: too many, for example {}", count(rows_.size(), "equation"),
                           count(unknowns_.size(), noun_), list(equation_names(part.left_over))),
               overdetermined(part), place_of(part.left_over.front()));
  }

  void too_few(Faults& faults) const {
    const Part part = under(match(rows_, unknowns_.size()));
    faults.add("too-few-equations",
               fmt::format("{} for {}: too few, nothing determines for example {}", count(rows_.size(), "equation"),
                           count(unknowns_.size(), noun_), list(unknown_names(part.left_over))),
               fmt::format("underdetermined: {} in {}", unknowns_text(part.rows), equations_text(part.columns)),
               unknowns_[part.left_over.front()].place);
  }

  /// As many equations as unknowns, but no way to give each unknown an equation of its own.
  void square(Faults& faults) const {
    const Matching matching = match(rows_, unknowns_.size());
    if (matching.perfect()) return;
    const Part more = over(matching), less = under(matching);
    const std::size_t equation = more.left_over.front();
    const std::string free = list(unknown_names(less.left_over));
    faults.add("structurally-singular",
               rows_[equation].empty()
                   ? fmt::format("the equation '{}' {}, and nothing determines {}", equation_name(equation),
                                 model_.kind == Kind::dae && model_.equations[equation].residual.is_constant(0.0)
                                     ? "says nothing: its two sides are the same"
                                     : "contains no " + noun_,
                                 free)
                   : fmt::format("the equations leave {} over, and nothing determines {}",
                                 list(equation_names(more.left_over)), free),
               rows_[equation].empty() ? fmt::format("write an equation that determines {}", free)
                                       : overdetermined(more) + "; check which variables they should contain",
               place_of(equation));
  }

 private:
  Part over(const Matching& matching) const { return part_of(rows_, matching.of_row, matching.of_column); }

  Part under(const Matching& matching) const {
    Neighbours columns(unknowns_.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      for (const std::size_t column : rows_[i]) columns[column].push_back(i);
    return part_of(columns, matching.of_column, matching.of_row);
  }

  std::string overdetermined(const Part& part) const {
    return fmt::format("overdetermined: {} for {}", equations_text(part.rows), unknowns_text(part.columns));
  }

  std::string equation_name(std::size_t i) const {
    return model_.kind == Kind::linear ? fmt::format("row {}", i + 1) : model_.equations[i].name;
  }

  Place place_of(std::size_t i) const {
    if (model_.kind != Kind::linear) return model_.equations[i].place;
    const auto found = model_.places.find("E");
    return found == model_.places.end() ? Place{model_.source} : found->second;
  }

  std::vector<std::string> equation_names(const std::vector<std::size_t>& which) const {
    std::vector<std::string> names;
    for (const std::size_t i : which) names.push_back(equation_name(i));
    return names;
  }

  std::vector<std::string> unknown_names(const std::vector<std::size_t>& which) const {
    std::vector<std::string> names;
    for (const std::size_t j : which) names.push_back(unknowns_[j].name);
    return names;
  }

  std::string equations_text(const std::vector<std::size_t>& which) const {
    return which.empty() ? "no equation"
                         : fmt::format("{} ({})", count(which.size(), "equation"), list(equation_names(which)));
  }

  std::string unknowns_text(const std::vector<std::size_t>& which) const {
    return which.empty() ? "no unknown"
                         : fmt::format("{} ({})", count(which.size(), noun_), list(unknown_names(which)));
  }

  const Model& model_;
  const std::vector<Unknown>& unknowns_;
  std::string noun_;
  Neighbours rows_;
};

}  // namespace

void check_balance(const Model& model, Faults& faults) {
  const bool mechanics = model.kind == Kind::lagrangian || model.kind == Kind::mechanical;
  if (model.kind == Kind::linear) return;  // rectangular ones can be analyzed
  // Some constraints too many are found and named by their ranks; for thousands that would take forever.
  constexpr std::size_t many = 1000;
  if (mechanics && model.constraints.size() > many && model.constraints.size() > model.variables.size())
    faults.add("too-many-equations",
               fmt::format("{} for {}", count(model.constraints.size(), "constraint"), count(model.variables.size(), "coordinate")),
               "at most as many constraints as coordinates can be independent: check their bounds",
               model.constraints[model.variables.size()].place);
  const std::vector<Unknown>& unknowns = mechanics ? model.auxiliary : model.variables;
  if (model.equations.size() == unknowns.size()) return;
  if (mechanics && unknowns.empty()) {
    faults.add("too-many-equations",
               fmt::format("{} in [equations], but no auxiliary unknown", count(model.equations.size(), "equation")),
               "[equations] belong to the unknowns in [auxiliary]; connections of coordinates stand in [constraints]",
               model.equations[0].place);
    return;
  }
  const Balance balance(model, unknowns, mechanics ? "auxiliary unknown" : "variable", incidence(model, unknowns));
  if (model.equations.size() > unknowns.size())
    balance.too_many(faults);
  else
    balance.too_few(faults);
}

void check_assignment(const Model& model, const Occurrences& occurrences, Faults& faults) {
  Balance(model, model.variables, "variable", occurrences).square(faults);
}

}  // namespace daedalus::model
