// Rows of G that depend on others, c^T G = 0 with c != 0. The equations of motion fix G^T lambda, so the accelerations are
// unique, and lambda up to any multiple of c: the multipliers of the constraints with c_i != 0 are not determined, all
// others are. If this holds on the whole of g = 0, the constraint says nothing new. If it holds at one position only, that
// is singular: beside it the constraints bind one direction more, and several motions may begin there.

#include "daedalus/solve/start_redundancy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "daedalus/base/listed.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/solve/start_level.hpp"

namespace daedalus::solve {

using mechanics::Functions;

namespace {

constexpr double negligible = 1e-8;  ///< coefficients of a combination of rows that are round-off
constexpr double beside = 1e-2;      ///< how far from the start the rank is compared
constexpr int trials = 3;

std::vector<double> jacobian_at(const Functions& fn, double t, const double* q) {
  std::vector<double> geometry(fn.geometry.output_count());
  auto scratch = fn.geometry.make_scratch();
  const double* inputs[] = {&t, q};
  fn.geometry(inputs, geometry.data(), scratch);
  const auto begin = geometry.begin() + static_cast<std::ptrdiff_t>(fn.mass.nonzeros());
  return {begin, begin + static_cast<std::ptrdiff_t>(fn.jacobian.nonzeros())};
}

/// A holonomic row may depend on a nonholonomic one, so the holonomic rows are judged by themselves.
std::size_t rank_of_holonomic(const Functions& fn, const double* G) {
  linalg::Sparsity pattern{fn.holonomic, fn.n, {0}, {}};
  std::vector<double> values;
  for (const std::size_t row : fn.holonomic_rows) {
    for (std::size_t k = fn.jacobian.row_start[row]; k < fn.jacobian.row_start[row + 1]; ++k) {
      pattern.column.push_back(fn.jacobian.column[k]);
      values.push_back(G[k]);
    }
    pattern.row_start.push_back(pattern.column.size());
  }
  return linalg::row_rank(pattern, values.data()).rank;
}

/// Whether the position constraints hold at the start, beside their terms.
bool is_on_constraints(const Functions& fn, mechanics::Evaluator& evaluator, const Start& start) {
  std::vector<double> position(fn.holonomic), velocity(fn.m), position_scale(fn.holonomic), velocity_scale(fn.m);
  evaluator.residuals(start.t, start.x.data(), position.data(), velocity.data());
  evaluator.residual_scales(start.t, start.x.data(), position_scale.data(), velocity_scale.data());
  for (std::size_t h = 0; h < fn.holonomic; ++h)
    if (std::abs(position[h]) > negligible * position_scale[h]) return false;
  return true;
}

/// The largest rank of G at positions beside the start that satisfy the constraints; where none is found from a start that
/// does not satisfy them either, at any beside it. 0 where there is none.
std::size_t rank_beside(const std::shared_ptr<const Functions>& functions, const Start& start) {
  const Functions& fn = *functions;
  mechanics::Evaluator evaluator(functions);
  evaluator.guess_auxiliary(start.w);
  if (evaluator.accelerations(start.t, start.x.data()) != mechanics::Outcome::ok) return 0;
  const bool on_constraints = is_on_constraints(fn, evaluator, start);
  std::mt19937_64 random(20240601);
  std::uniform_real_distribution<double> any(-beside, beside);
  std::size_t most = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> x = start.x;
    for (std::size_t i = 0; i < fn.n; ++i)
      x[i] += any(random) * std::max(std::abs(x[i]), fn.equations.model->variables[i].nominal);
    const std::vector<double> beside_start = x;
    if (evaluator.project(start.t, x.data()) != mechanics::Outcome::ok) {
      if (on_constraints) continue;
      x = beside_start;
    }
    most = std::max(most, linalg::row_rank(fn.jacobian, jacobian_at(fn, start.t, x.data()).data()).rank);
  }
  return most;
}

std::vector<std::string> all_quoted(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(quoted(name));
  return result;
}

}  // namespace

void name_redundancy(const std::shared_ptr<const Functions>& functions, mechanics::Evaluator& evaluator, Start& start) {
  const Functions& fn = *functions;
  const mechanics::Equations& eq = fn.equations;
  const std::vector<double> G = jacobian_at(fn, start.t, start.x.data());
  const linalg::RankDecision decision = linalg::row_rank(fn.jacobian, G.data());
  start.rank = decision.rank;
  start.holonomic_rank = rank_of_holonomic(fn, G.data());
  std::vector<bool> open(fn.m, decision.combinations.size() < decision.dependent_rows.size());
  std::vector<std::string> names;
  for (std::size_t k = 0; k < decision.dependent_rows.size(); ++k) {
    const std::size_t row = decision.dependent_rows[k];
    Redundancy one{eq.constraints[row].name, {}};
    if (k < decision.combinations.size())
      for (std::size_t i = 0; i < fn.m; ++i) {
        if (i != row && std::abs(decision.combinations[k][i]) <= negligible) continue;
        open[i] = true;
        if (i != row) one.follows_from.push_back(eq.constraints[i].name);
      }
    names.push_back(one.constraint);
    start.redundant.push_back(std::move(one));
  }
  if (names.empty()) return;
  const bool single = names.size() == 1;
  const std::string constraints = fmt::format("the constraint{} {}", single ? "" : "s", listed(all_quoted(names)));

  double gamma = 1.0;
  for (const double scale : evaluator.acceleration_scale()) gamma = std::max(gamma, scale);
  const bool contradiction = evaluator.kkt().inconsistency() > 1e-8 * gamma;
  if (const std::size_t rank = rank_beside(functions, start); rank > start.rank) {
    start.found = false;
    start.singular = true;
    start.redundant.clear();
    start.message = fmt::format("the start is a singular position: {} {} nothing here that {} beside it, and {}; start beside it",
                                constraints, single ? "says" : "say", single ? "it says" : "they say",
                                contradiction ? "no motion goes on with these velocities"
                                              : "several motions may go on from here");
    return;
  }
  if (contradiction) {
    start.found = false;
    start.message = fmt::format("{} {} not independent at the start and contradict the others on acceleration level",
                                constraints, single ? "is" : "are");
    return;
  }
  for (const Redundancy& one : start.redundant)
    start.notes.push_back(fmt::format("the constraint '{}' is redundant: it follows from {}", one.constraint,
                                      one.follows_from.empty() ? "the other constraints" : listed(all_quoted(one.follows_from))));
  for (std::size_t i = 0; i < fn.m; ++i)
    if (open[i]) start.open_multipliers.push_back(eq.lambda[i].name());
  start.notes.push_back(fmt::format("accelerations are unique, but {} {} not: of all values that give this motion the smallest "
                                    "are shown{}",
                                    listed(start.open_multipliers), start.open_multipliers.size() == 1 ? "is" : "are",
                                    start.open_multipliers.size() < fn.m ? "; the other multipliers are unique" : ""));
}

}  // namespace daedalus::solve
