#include "daedalus/solve/derivation.hpp"

#include <fmt/format.h>

#include "daedalus/base/text.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/structure_check.hpp"
#include "daedalus/structure/linear_derivation.hpp"
#include "daedalus/structure/substitution.hpp"

namespace daedalus::solve {

using structure::DaeFunctions;
using structure::Derivation;

namespace {

/// The consistent start by the names of unknowns and derivatives; nothing where none is found.
NamedValues values_at_start(const Prepared& prepared, double t_start) {
  try {
    const Start start = consistent_start(prepared, t_start, Initialize::project);
    if (!start.found) return {};
    if (!prepared.dae) return start.values;
    const DaeFunctions& fn = *prepared.solvable_dae();
    NamedValues values;
    for (std::size_t i = 0; i < fn.dimension(); ++i) {
      const DaeFunctions::Unknown& unknown = fn.unknowns[i];
      values.emplace_back(model::derivative_name(unknown.of->name, unknown.times), start.guess[i]);
      values.emplace_back(model::derivative_name(unknown.of->name, unknown.times + 1), start.guess[fn.dimension() + i]);
    }
    return values;
  } catch (const Error&) {  // the start is told by analyze and init
    return {};
  }
}

/// What is known of the index where the steps do not lead to it.
std::string index_otherwise(const Analysis& analysis) {
  if (!analysis.index) return "The index is not found in another way either; daedalus analyze says more.";
  if (analysis.linear && analysis.linear->structure.decided)
    return fmt::format("The index is {} nevertheless, by the pencil of these linear equations.", *analysis.index);
  if (analysis.ranks.empty())
    return fmt::format("The index is {} nevertheless, by the rank of the differentiated equations at the start.", *analysis.index);
  const structure::ArrayRanks& last = analysis.ranks.back();
  return fmt::format(
      "The index is {} nevertheless, by the ranks of the derivative array at the start: pivots down to {} against "
      "remainders up to {}.",
      *analysis.index, brief(last.kept, 2), brief(last.dropped, 2));
}

}  // namespace

Derivation derivation(const model::Model& linear) {
  Derivation result = structure::linear_derivation(linear);
  result.model = linear.name;
  result.kind = model::name_of(linear.kind);
  return result;
}

Derivation derivation(const Prepared& prepared, double t_start) {
  const structure::EquationSet system =
      prepared.dae ? structure::equations_of(*prepared.model) : equations_of(prepared.functions->equations);
  Derivation result = structure::substitution(system, t_start, values_at_start(prepared, t_start));
  result.model = prepared.model->name;
  result.kind = model::name_of(prepared.model->kind);
  if (result.complete) return result;
  const Analysis analysis = analyze(prepared, t_start);
  result.steps.push_back({"the index", {{index_otherwise(analysis)}}});
  if (analysis.index) result.index = static_cast<std::size_t>(*analysis.index);
  return result;
}

}  // namespace daedalus::solve
