// Equations that no differentiation makes an ODE: some follow from others, so that unknowns stay open, or contradict them. For
// linear equations the pencil knows which; for others the derivative array, at the start.
#include <fmt/format.h>

#include "daedalus/base/listed.hpp"
#include "daedalus/solve/analysis_index.hpp"
#include "daedalus/solve/analysis_linear.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "daedalus/solve/reduce.hpp"
#include "daedalus/structure/linear_solution.hpp"

namespace daedalus::solve {

namespace {

using Outcome = structure::NumericalIndex::Outcome;

constexpr const char* missing = "write the equation that is missing in place of one of them";

void refuse_singular_pencil(const model::Model& model) {
  const std::optional<LinearFindings> findings = linear_findings(model, 0.0);  // of a singular pencil no time counts
  if (!findings || !findings->structure.decided || findings->structure.regular) return;
  Faults faults;
  for (const LinearFindings::Dependence& one : findings->dependences) {
    if (one.holds)
      faults.add("dependent-equations",
                 fmt::format("the equations {} depend on each other: {} contains no unknown", listed(one.equations), one.combination),
                 missing, {model.source});
    else
      faults.add("contradicting-equations",
                 fmt::format("the equations {} contradict each other: {} contains no unknown and says {} = 0", listed(one.equations),
                             one.combination, one.left),
                 missing, {model.source});
  }
  for (const LinearFindings::Freedom& one : findings->free)
    faults.add("dependent-equations", fmt::format("nothing determines {}", listed(one.unknowns)),
               "see `daedalus analyze` for what may be added to them", {model.source});
  faults.throw_if_any();
}

void refuse_by_array(const structure::DaeFunctions& fn, const structure::NumericalIndex& found) {
  if (found.outcome == Outcome::singular) {
    std::vector<std::string> names;
    for (const std::size_t i : found.undetermined) names.push_back(fn.unknowns[i].name);
    throw Error("dependent-equations",
                fmt::format("no number of differentiations of the equations determines the {} of {}",
                            names.size() == 1 ? "derivative" : "derivatives", listed(names)),
                "an equation follows from others and their derivatives: write the one that is missing in its place", {fn.model->source});
  }
  if (found.outcome == Outcome::inconsistent)
    throw Error("contradicting-equations",
                fmt::format("no values were found that satisfy the equations and their derivatives: {} cannot be met", offending(fn, found)),
                "give start values nearer to a solution; if there is none, one of these equations contradicts the others",
                {fn.model->source});
}

}  // namespace

void refuse_index(const model::Model& model) {
  refuse_singular_pencil(model);
  const auto functions = structure::compile_dae(std::make_shared<const model::Model>(model));
  if (const int times = differentiations(*functions); times > most_differentiations)
    throw Error("index-above-one",
                fmt::format("the equations of the model '{}' must be differentiated {} times, and {} times is the most", model.name, times,
                            most_differentiations),
                "only the formula of linear equations with constant coefficients takes any index: leave --formulation and --method out "
                "where they are linear, or prescribe something nearer to what follows from it",
                {model.source});
  const std::string obstacle = array_obstacle(*functions);
  if (obstacle.empty()) refuse_by_array(*functions, array_at_start(functions).index);
  throw Error("index-above-one",
              fmt::format("the index of the model '{}' is above 1, and which equations must be differentiated cannot be seen "
                          "from where its unknowns stand{}",
                          model.name, obstacle.empty() ? "" : ", nor from its derivative array, as " + obstacle),
              fmt::format("write every equation by itself: sums of equations hide the constraints among them{}",
                          structure::linear_solution(functions) ? "; or leave it to --method exact, as the model is linear" : ""),
              {model.source});
}

}  // namespace daedalus::solve
