// A minimal conflict by deletion (Chinneck: Feasibility and Infeasibility in Optimization, 2008, section 6.2): begin with
// a part that cannot be satisfied; leave out one element after the other, and for good where the rest still cannot.
// Where |c| is stationary, C_free^T c = 0: the rows with c != 0 and the fixed values in them contradict each other for the
// linearization, which is the part to begin with.
#include "daedalus/solve/start_conflict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/solve/start_level.hpp"
#include "daedalus/structure/conversion.hpp"

namespace daedalus::solve {

namespace {

constexpr std::size_t most_elements = 60;   // that are tried one by one
constexpr std::size_t most_unknowns = 400;  // of a problem that is solved again and again

class Filter {
 public:
  Filter(const StartProblem& problem, const std::vector<double>& unbound) : problem_(problem), unbound_(unbound) {}

  /// Whether these rows and fixed values can hold together.
  bool possible(const std::vector<bool>& rows, const std::vector<bool>& fixed) const {
    const StartProblem part = problem_.part(rows, fixed);
    if (part.rows.empty()) return true;
    if (!unbound_.empty()) {
      std::vector<double> from = unbound_;
      for (std::size_t i = 0; i < from.size(); ++i)
        if (fixed[i]) from[i] = problem_.guess[i];
      if (near_guess(part, &from).outcome == linalg::GaussNewtonOutcome::converged) return true;
    }
    return (everywhere_ ? search(part) : search_along_path(part)).found();
  }

  /// From now on what is possible is looked for from random starts as well.
  void look_everywhere() { everywhere_ = true; }

  void reduce(std::vector<bool>& rows, std::vector<bool>& fixed, bool (*which)(const StartProblem::Row&), bool values) const {
    for (std::size_t i = fixed.size(); values && i-- > 0;) {
      if (!fixed[i]) continue;
      fixed[i] = false;
      fixed[i] = possible(rows, fixed);
    }
    for (std::size_t j = rows.size(); j-- > 0;) {
      if (!rows[j] || !which(problem_.rows[j])) continue;
      rows[j] = false;
      rows[j] = possible(rows, fixed);
    }
  }

 private:
  const StartProblem& problem_;
  const std::vector<double>& unbound_;
  bool everywhere_ = false;
};

bool is_initial(const StartProblem::Row& row) { return row.initial; }
bool is_equation(const StartProblem::Row& row) { return !row.initial; }

}  // namespace

Conflict find_conflict(const StartProblem& problem, const linalg::GaussNewtonResult& failed) {
  Conflict conflict;
  const std::size_t m = problem.rows.size(), n = problem.guess.size();
  std::vector<bool> equations(m), all_rows(m, true), none(n, false);
  for (std::size_t j = 0; j < m; ++j) equations[j] = !problem.rows[j].initial;
  std::vector<bool> fixed = problem.least_change.fixed.empty() ? none : problem.least_change.fixed;
  const bool bound = std::ranges::find(equations, false) != equations.end() || std::ranges::find(fixed, true) != fixed.end();
  if (bound) {
    const StartProblem unbound = problem.part(equations, none);
    if (unbound.rows.empty()) {
      conflict.of_bindings = true;
      conflict.unbound = problem.guess;
    } else if (StartFound found = search_along_path(unbound); found.found()) {
      conflict.of_bindings = true;
      conflict.unbound = std::move(found.result.x);
    }
  }

  // What takes part by the linearization; everything, where that does not contradict itself.
  std::vector<bool> rows(m, false);
  for (const std::size_t j : failed.offending_rows) rows[j] = true;
  if (failed.offending_rows.empty()) rows = all_rows;
  std::vector<bool> held(n, false);
  const linalg::Sparsity& pattern = problem.least_change.jacobian;
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t k = pattern.row_start[j]; rows[j] && k < pattern.row_start[j + 1]; ++k)
      held[pattern.column[k]] = fixed[pattern.column[k]] && conflict.of_bindings;
  Filter filter(problem, conflict.unbound);
  if (!conflict.of_bindings)
    for (std::size_t j = 0; j < m; ++j) rows[j] = rows[j] && equations[j];
  const bool small = n <= most_unknowns;
  if (small && filter.possible(rows, held)) {
    rows = conflict.of_bindings ? all_rows : equations;
    held = conflict.of_bindings ? fixed : none;
  }
  const auto elements = static_cast<std::size_t>(std::count(rows.begin(), rows.end(), true) + std::count(held.begin(), held.end(), true));
  conflict.minimal = small && elements <= most_elements;
  if (conflict.minimal) {
    // Values and [initial] first, with every equation there: the equations hold anyway. Of these then those that it takes.
    const auto reduced = [&] {
      std::pair<std::vector<bool>, std::vector<bool>> left{rows, held};
      if (conflict.of_bindings) {
        std::vector<bool> with_equations = rows;
        for (std::size_t j = 0; j < m; ++j) with_equations[j] = rows[j] || equations[j];
        filter.reduce(with_equations, left.second, is_initial, true);
        for (std::size_t j = 0; j < m; ++j) left.first[j] = with_equations[j] && (rows[j] || !equations[j]);
        if (filter.possible(left.first, left.second)) left.first = with_equations;
      }
      filter.reduce(left.first, left.second, is_equation, false);
      return left;
    };
    auto least = reduced();
    // What is not reached from the guess may be met elsewhere, on another branch: then it is no conflict.
    filter.look_everywhere();
    if (filter.possible(least.first, least.second)) least = reduced();
    std::tie(rows, held) = std::move(least);
  }
  for (std::size_t j = 0; j < m; ++j)
    if (rows[j]) (problem.rows[j].initial ? conflict.initial : conflict.equations).push_back(j);
  for (std::size_t i = 0; i < n; ++i)
    if (held[i]) conflict.fixed.push_back(i);
  return conflict;
}

std::string text_of(const Conflict& conflict, const StartProblem& problem) {
  std::vector<std::string> values, initial, equations;
  for (const std::size_t i : conflict.fixed) values.push_back(fmt::format("{} = {}", problem.unknowns[i], brief(problem.guess[i])));
  for (const std::size_t j : conflict.initial) initial.push_back(quoted(problem.rows[j].name));
  for (const std::size_t j : conflict.equations)
    if (!problem.rows[j].name.starts_with(structure::definition_of)) equations.push_back(quoted(problem.rows[j].name));
  std::vector<std::string> parts;
  if (!values.empty()) parts.push_back(fmt::format("the fixed {} {}", values.size() == 1 ? "value" : "values", listed(values)));
  if (!initial.empty())
    parts.push_back(fmt::format("the [initial] {} {}", initial.size() == 1 ? "equation" : "equations", listed(initial)));
  const std::size_t subjects = values.size() + initial.size();
  if (parts.empty()) return fmt::format("{} cannot be met{}", listed(equations), equations.size() > 1 ? " together" : "");
  const std::string who = fmt::format("{}", fmt::join(parts, ", together with "));
  if (equations.empty())
    return subjects > 1 ? fmt::format("{} contradict each other", who) : fmt::format("{} cannot be met", who);
  return fmt::format("{} contradict{} {}", who, subjects == 1 ? "s" : "", listed(equations));
}

void refuse(const Conflict& conflict, const StartProblem& problem, const std::string& choice) {
  std::string advice = conflict.fixed.empty() ? conflict.initial.size() + conflict.equations.size() > 1 ? "drop one of the [initial] equations, or change it"
                                                                                                        : "change it or drop it"
                       : conflict.initial.empty() ? "drop `fixed` (or --fix) from one of the values, so that it can move"
                                                  : "drop `fixed` (or --fix) from one of the values, so that it can move, or drop an [initial] equation";
  if (!choice.empty()) advice += "; " + choice;
  const std::size_t row = !conflict.initial.empty() ? conflict.initial.front() : conflict.equations.empty() ? 0 : conflict.equations.front();
  throw Error("contradicting-fixed", text_of(conflict, problem), advice, problem.rows[row].place);
}

}  // namespace daedalus::solve
