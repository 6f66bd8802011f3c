#include "daedalus/solve/analysis_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/solve/reduce.hpp"

namespace daedalus::solve {

using structure::DaeFunctions;
using structure::NumericalIndex;

namespace {

/// y of the equations as written, from a start of any form of them.
structure::ArrayPoint point_of(const DaeFunctions& fn, const Start& start) {
  std::unordered_map<std::string, double> known(start.values.begin(), start.values.end());
  structure::ArrayPoint point{start.t, {}};
  for (const DaeFunctions::Unknown& unknown : fn.unknowns) {
    const auto found = known.find(unknown.name);
    point.jets.push_back(found == known.end() ? unknown.start.value : found->second);
  }
  return point;
}

std::string names_of(const DaeFunctions& fn, const std::vector<std::size_t>& unknowns) {
  std::vector<std::string> names;
  for (const std::size_t i : unknowns) names.push_back(fn.unknowns[i].name);
  return listed(names);
}

}  // namespace

std::string offending(const DaeFunctions& fn, const NumericalIndex& found) {
  std::vector<std::string> names;
  for (const auto& [row, level] : found.offending) names.push_back("'" + model::derivative_name(fn.rows[row].name, level) + "'");
  return listed(names);
}

namespace {

void note_found(const NumericalIndex& found, Analysis& analysis) {
  const int index = static_cast<int>(found.index);
  const structure::ArrayRanks& last = found.ranks.back();
  const std::string ground = fmt::format("by the ranks of the derivative array, pivots down to {} against remainders up to {}",
                                         brief(last.kept, 2), brief(last.dropped, 2));
  if (!analysis.structural_index || *analysis.structural_index != index)
    analysis.notes.push_back(fmt::format("the index is {} {}; the structure alone says {}", index, ground,
                                         analysis.structural_index ? std::to_string(*analysis.structural_index) : "nothing"));
  if (!found.elsewhere.empty())
    analysis.notes.push_back(fmt::format("the index depends on the point: at {} of {} points nearby it is another one",
                                         found.elsewhere.size(), found.nearby));
  if (!found.at_start) analysis.notes.push_back("the start is a special point: the index is that of points near it");
}

}  // namespace

void judge_index(const DaeFunctions& as_written, const Start& start, Analysis& analysis) {
  if (as_written.dimension() > most_array_unknowns) return;
  std::vector<double> discrete;
  for (const model::Parameter& value : as_written.model->discrete) discrete.push_back(value.value);
  const std::vector<double> frozen = as_written.switches.free_modes(discrete);
  structure::IndexOptions options;
  options.frozen = frozen.data();
  const auto array =
      std::make_shared<structure::DerivativeArray>(std::shared_ptr<const DaeFunctions>(std::shared_ptr<void>(), &as_written));
  const NumericalIndex found = structure::numerical_index(array, point_of(as_written, start), options);
  analysis.ranks = found.ranks;
  using Outcome = NumericalIndex::Outcome;
  switch (found.outcome) {
    case Outcome::found:
      // Where the author differentiates his unknowns more than once, those of a repaired structure need less.
      if (analysis.index && *analysis.index < static_cast<int>(found.index)) return;
      note_found(found, analysis);
      analysis.index = static_cast<int>(found.index);
      analysis.system_class = fmt::format("differential-algebraic equations of index {}", found.index);
      analysis.free_initial_values = as_written.dimension() - found.algebraic - start.invariant_rank;
      return;
    case Outcome::undecided:
      analysis.notes.push_back(fmt::format("some rank of the derivative array is not clear: pivots down to {} against remainders up to {}",
                                           brief(found.ranks.back().kept, 2), brief(found.ranks.back().dropped, 2)));
      return;
    case Outcome::singular:
      analysis.notes.push_back("no number of differentiations determines the derivatives of " +
                               names_of(as_written, found.undetermined));
      return;
    case Outcome::inconsistent:
      analysis.notes.push_back(
          fmt::format("no point was found that satisfies the equations and their derivatives: {} cannot be met", offending(as_written, found)));
      return;
    case Outcome::not_finite:
    case Outcome::too_large: return;
  }
}

}  // namespace daedalus::solve
