// Whether what the author declares is an invariant: along every solution c(t, x) = 0 must stay, so
//     c' = c_t + C f(t, x) = 0   at every x with c(t, x) = 0.
// It is tried at the start and at points near it, brought onto constraints and invariants. A c' that is not small beside
// its parts is told; the points differ from the start by a tenth of its values, so what vanishes at the start alone (a
// motion that begins at rest) is seen.

#include "daedalus/solve/start_invariants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/formulate/invariant_projection.hpp"
#include "daedalus/linalg/gauss_newton.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/solve/start_level.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::solve {

using formulate::Kept;
using integrate::Evaluation;

namespace {

constexpr int points = 4;              ///< beside the start
constexpr double distance = 0.1;       ///< of the points from the start
constexpr double negligible = 1e-6;    ///< c' beside its parts: far above round-off, far below what an error of the author does

/// What differs between constrained motion and other DAEs.
struct Ground {
  Kept kept;
  std::function<Evaluation(double t, const double* x, double* dx)> slope;
  std::function<Evaluation(double t, double* x)> project;  ///< onto what holds beside the invariants; may be empty
  std::vector<double> nominal;
  const double* frozen = nullptr;
};

void note_rates(const Ground& ground, Start& start) {
  formulate::InvariantProjection projection(ground.kept);
  compile::StateValues values(ground.kept.equations);
  projection.freeze(ground.frozen);
  values.freeze(ground.frozen);
  const std::size_t count = ground.kept.invariants.size(), before = values.equations().rows() - count;
  std::mt19937_64 random(20240601);
  std::uniform_real_distribution<double> any(-distance, distance);
  std::vector<double> x = start.x, dx(start.x.size());
  for (const std::string& name : ground.kept.invariants) start.invariants.push_back({name});
  for (int point = 0; point <= points; ++point) {
    if (point > 0) {
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = start.x[i] + any(random) * std::max(std::abs(start.x[i]), ground.nominal[i]);
      if (projection(start.t, x.data(), ground.project) != Evaluation::ok) continue;
    }
    if (ground.slope(start.t, x.data(), dx.data()) != Evaluation::ok) continue;
    if (!values.rates(start.t, x.data(), dx.data())) continue;
    for (std::size_t i = 0; i < count; ++i) {
      const double rate = values.rate()[before + i], scale = values.rate_scale()[before + i];
      InvariantCheck& check = start.invariants[i];
      if (scale > 0.0 && std::abs(rate) > check.relative * scale) check.relative = std::abs(rate) / scale;
      if (std::abs(rate) > std::abs(check.rate)) check.rate = rate;
    }
  }
  for (const InvariantCheck& check : start.invariants)
    if (check.relative > negligible)
      start.notes.push_back(fmt::format(
          "'{}' is no invariant of the equations: near the start it changes at the rate {}, which is {} of what its terms "
          "change; where it is kept, the motion is another one",
          check.name, brief(check.rate, 3), brief(check.relative, 2)));
}

void note_dependence(const Ground& ground, Start& start) {
  compile::StateValues values(ground.kept.equations);
  values.freeze(ground.frozen);
  if (!values.jacobian(start.t, start.x.data())) return;
  const linalg::Sparsity& all = values.equations().pattern;
  const std::size_t count = ground.kept.invariants.size(), before = all.rows - count;
  const linalg::RankDecision whole = linalg::row_rank(all, values.jacobian().data());
  linalg::Sparsity others{before, all.columns, {all.row_start.begin(), all.row_start.begin() + static_cast<std::ptrdiff_t>(before) + 1}, {}};
  others.column.assign(all.column.begin(), all.column.begin() + static_cast<std::ptrdiff_t>(all.row_start[before]));
  start.invariant_rank = whole.rank - linalg::row_rank(others, values.jacobian().data()).rank;
  for (std::size_t k = 0; k < whole.combinations.size(); ++k) {
    const std::size_t row = whole.dependent_rows[k];
    if (row < before) continue;
    std::vector<std::string> names;
    for (std::size_t i = before; i < all.rows; ++i)
      if (i != row && std::abs(whole.combinations[k][i]) > 1e-8) names.push_back(quoted(ground.kept.invariants[i - before]));
    if (!names.empty())
      start.notes.push_back(fmt::format("the invariant '{}' says nothing at the start that {} {} not say",
                                        ground.kept.invariants[row - before], listed(names),
                                        names.size() == 1 ? "does" : "do"));
  }
}

void judge(const Ground& ground, Start& start) {
  note_rates(ground, start);
  note_dependence(ground, start);
}

}  // namespace

void judge_invariants(const std::shared_ptr<const structure::DaeFunctions>& functions, const double* frozen, Start& start) {
  Ground ground{formulate::kept_by(functions), {}, {}, {}, frozen};
  if (ground.kept.invariants.empty() || !start.found || !start.solvable) return;
  auto evaluator = std::make_shared<structure::DaeEvaluator>(functions);
  evaluator->freeze(frozen);
  const auto middle = start.guess.begin() + static_cast<std::ptrdiff_t>(functions->dimension());
  const std::vector<double> y(start.guess.begin(), middle), dy(middle, start.guess.end());
  ground.slope = [&](double t, const double* x, double* dx) {
    evaluator->guess(y, dy);
    const auto outcome = static_cast<Evaluation>(evaluator->solve(t, x));
    std::copy_n(evaluator->dy().begin(), functions->differential, dx);
    return outcome;
  };
  for (std::size_t i = 0; i < functions->differential; ++i) ground.nominal.push_back(functions->unknowns[i].of->nominal);
  judge(ground, start);
}

void judge_invariants(const std::shared_ptr<const mechanics::Functions>& functions, Start& start) {
  Ground ground{formulate::kept_by(functions), {}, {}, {}, nullptr};
  if (!ground.kept.equations || !start.found) return;
  auto evaluator = std::make_shared<mechanics::Evaluator>(functions);
  evaluator->guess_auxiliary(start.w);
  ground.slope = [&](double t, const double* x, double* dx) { return static_cast<Evaluation>(evaluator->ode(t, x, dx)); };
  ground.project = [&](double t, double* x) { return static_cast<Evaluation>(evaluator->project(t, x)); };
  const model::Model& model = *functions->equations.model;
  for (int level = 0; level < 2; ++level)
    for (const model::Unknown& unknown : model.variables) ground.nominal.push_back(unknown.nominal);
  for (const std::size_t i : functions->differential) ground.nominal.push_back(model.auxiliary[i].nominal);
  judge(ground, start);
}

namespace {

/// The first rows of a pattern.
linalg::Sparsity first_rows(const linalg::Sparsity& pattern, std::size_t rows) {
  const auto end = [](const std::vector<std::size_t>& v, std::size_t count) { return v.begin() + static_cast<std::ptrdiff_t>(count); };
  return {rows, pattern.columns, {pattern.row_start.begin(), end(pattern.row_start, rows + 1)},
          {pattern.column.begin(), end(pattern.column, pattern.row_start[rows])}};
}

}  // namespace

std::string meet_invariants(const Kept& kept, std::size_t rows, double t, double* x, const std::vector<bool>& fixed,
                            const double* frozen) {
  compile::StateValues values(kept.equations);
  values.freeze(frozen);
  const auto finite = values.residuals(t, x);
  linalg::LeastChangeProblem problem;
  const std::size_t n = kept.equations->pattern.columns;
  problem.weight = formulate::diagonal_pattern(n);
  for (std::size_t i = 0; i < n; ++i) problem.weight_values.push_back(1.0 / std::pow(std::max(std::abs(x[i]), 1e-3), 2));
  problem.jacobian = first_rows(kept.equations->pattern, rows);
  std::vector<bool> untouched(rows, false);
  problem.residual = [&, rows](const double* at, double* c) {
    const bool good = values.residuals(t, at);
    for (std::size_t row = 0; row < rows; ++row) c[row] = untouched[row] ? 0.0 : values.residual()[row];
    return good;
  };
  problem.jacobian_values = [&, entries = problem.jacobian.nonzeros()](const double* at, double* C) {
    const bool good = values.jacobian(t, at);
    std::copy_n(values.jacobian().begin(), entries, C);
    return good;
  };
  for (std::size_t row = 0; row < rows; ++row)
    problem.scales.push_back(finite && values.scale()[row] > 0.0 ? values.scale()[row] : 1.0);
  // Equations without new values hold as well as before. Their unknowns stay, if that is possible: velocities leap where a
  // body hits something, and not its place.
  problem.fixed = fixed;
  const linalg::Sparsity& pattern = problem.jacobian;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto begin = pattern.column.begin() + static_cast<std::ptrdiff_t>(pattern.row_start[row]);
    const auto end = pattern.column.begin() + static_cast<std::ptrdiff_t>(pattern.row_start[row + 1]);
    if (std::any_of(begin, end, [&](std::size_t j) { return fixed[j]; })) continue;
    std::for_each(begin, end, [&](std::size_t j) { problem.fixed[j] = true; });
    untouched[row] = true;
  }
  linalg::GaussNewtonResult result = linalg::GaussNewton(problem).solve(x);
  if (result.outcome != linalg::GaussNewtonOutcome::converged && problem.fixed != fixed) {
    problem.fixed = fixed;
    untouched.assign(rows, false);
    result = linalg::GaussNewton(problem).solve(x);
  }
  if (result.outcome == linalg::GaussNewtonOutcome::converged) {
    std::ranges::copy(result.x, x);
    return {};
  }
  std::vector<std::string> names;
  for (const std::size_t row : result.offending_rows)
    if (row >= kept.before()) names.push_back("the " + kept.name(row));
  if (names.empty())
    for (std::size_t row = kept.before(); row < rows; ++row) names.push_back("the " + kept.name(row));
  return "the new values contradict " + listed(names);
}

}  // namespace daedalus::solve
