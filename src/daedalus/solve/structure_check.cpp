#include "daedalus/solve/structure_check.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "daedalus/base/listed.hpp"
#include "daedalus/structure/system_jacobian.hpp"

namespace daedalus::solve {

using Verdict = StructureCheck::Verdict;

StructureCheck check_structure(const structure::EquationSet& system, const structure::StructuralAnalysis& analysis,
                               double t, const NamedValues& values) {
  constexpr int points = 5;
  StructureCheck check;
  if (!analysis.regular()) return check;
  structure::SystemJacobian jacobian(system, analysis);
  const std::unordered_map<std::string, double> known(values.begin(), values.end());
  std::vector<double> start = jacobian.guess();
  for (std::size_t place = 0; const structure::EquationSet::Unknown& unknown : system.unknowns)
    for (std::size_t k = 0; k < unknown.derivatives.size(); ++k, ++place)
      if (const auto found = known.find(model::derivative_name(unknown.name, k)); found != known.end())
        start[place] = found->second;

  const auto here = jacobian.at(t, start);
  check.verdict = here.regular ? Verdict::regular : here.finite ? Verdict::singular : Verdict::not_finite;
  check.dependent = analysis.equation_names(here.dependent);
  for (int number = 1; number <= points && check.verdict != Verdict::regular; ++number) {
    const auto near = jacobian.at(t, jacobian.near(start, number));
    if (near.regular) {
      check.verdict = here.finite ? Verdict::singular_at_start : Verdict::regular;
      break;
    }
    if (near.finite && check.verdict == Verdict::not_finite) {
      check.verdict = Verdict::singular;
      check.dependent = analysis.equation_names(near.dependent);
    }
  }
  return check;
}

std::string note_on(const StructureCheck& check) {
  switch (check.verdict) {
    case Verdict::singular:
      return fmt::format(
          "the structure does not tell the index: the system Jacobian is singular wherever it was tried, its rows for {} "
          "follow from others",
          listed(check.dependent));
    case Verdict::singular_at_start:
      return fmt::format("the system Jacobian is singular at the start, its rows for {} follow from others; nearby it is not",
                         listed(check.dependent));
    case Verdict::not_finite: return "the system Jacobian has no finite values at the start nor nearby";
    default: return {};
  }
}

std::string note_on_start(const model::Model& model, double t, const NamedValues& values) {
  const structure::EquationSet system = structure::equations_of(model);
  const StructureCheck check = check_structure(system, structure::structural_analysis(system), t, values);
  if (check.verdict != Verdict::singular_at_start) return {};
  return note_on(check) + ": more than one solution may go on from here; begin beside it to choose one";
}

structure::EquationSet equations_of(const mechanics::Equations& motion) {
  structure::EquationSet result;
  structure::add_numbers(result, *motion.model);
  for (std::size_t i = 0; i < motion.q.size(); ++i) {
    structure::add_unknown(result, motion.model->variables[i]);
    result.unknowns.back().derivatives = {motion.q[i], motion.v[i], motion.a[i]};
    result.unknowns.back().guess.resize(3, 0.0);
  }
  for (const model::Unknown& auxiliary : motion.model->auxiliary) structure::add_unknown(result, auxiliary);
  for (std::size_t k = 0; k < motion.constraints.size(); ++k)
    result.unknowns.push_back({motion.lambda[k].name(), {motion.lambda[k]}, {0.0}, 1.0});

  std::vector<expr::Expr> balance;
  for (const expr::Expr& force : motion.f) balance.push_back(-force);
  for (std::size_t i = 0; i < motion.q.size(); ++i)
    for (std::size_t k = motion.M.row_start[i]; k < motion.M.row_start[i + 1]; ++k)
      balance[i] = balance[i] + motion.M.value[k] * motion.a[motion.M.column[k]];
  for (std::size_t m = 0; m < motion.constraints.size(); ++m)
    for (std::size_t k = motion.G.row_start[m]; k < motion.G.row_start[m + 1]; ++k) {
      expr::Expr& sum = balance[motion.G.column[k]];
      sum = sum + motion.G.value[k] * motion.lambda[m];
    }
  for (std::size_t i = 0; i < balance.size(); ++i)
    result.equations.push_back(
        {"motion of " + motion.model->variables[i].name, balance[i], motion.model->variables[i].place});
  for (std::size_t i = 0; i < motion.auxiliary.size(); ++i)
    result.equations.push_back(
        {motion.model->equations[i].name, motion.auxiliary[i], motion.model->equations[i].place});
  for (const mechanics::Constraint& constraint : motion.constraints)
    result.equations.push_back(
        {constraint.name, constraint.holonomic ? constraint.position : constraint.velocity, constraint.place});
  return result;
}

}  // namespace daedalus::solve
