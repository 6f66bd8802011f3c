#include "daedalus/solve/analysis_easy.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "daedalus/linalg/equilibrate.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/structure/easy_test.hpp"
#include "daedalus/structure/relative_degree.hpp"

namespace daedalus::solve {

using structure::DaeFunctions;

namespace {

/// Lie derivatives of larger systems are long.
constexpr std::size_t most_unknowns = 60;
/// Whether M is singular is asked of dense matrices.
constexpr std::size_t most_dense = 300;

std::vector<double> start_of_discrete(const model::Model& model) {
  std::vector<double> values;
  for (const model::Parameter& value : model.discrete) values.push_back(value.value);
  return values;
}

}  // namespace

void judge_easiness(const DaeFunctions& fn, const Start& start, Analysis& analysis) {
  const std::unordered_map<std::string, double> known(start.values.begin(), start.values.end());
  const auto value_of = [&](const DaeFunctions::Unknown& unknown, std::size_t more, double otherwise) {
    const auto found = known.find(model::derivative_name(unknown.of->name, unknown.times + more));
    return found == known.end() ? otherwise : found->second;
  };
  std::vector<double> y, dy;
  for (std::size_t i = 0; i < fn.dimension(); ++i) {
    y.push_back(value_of(fn.unknowns[i], 0, fn.unknowns[i].start.value));
    dy.push_back(value_of(fn.unknowns[i], 1, i < fn.rate_starts.size() ? fn.rate_starts[i].value : 0.0));
  }
  const std::vector<double> frozen = fn.switches.free_modes(start_of_discrete(*fn.model));
  const auto names_of = [&](const std::vector<std::size_t>& rows) {
    std::vector<std::string> names;
    for (const std::size_t i : rows) names.push_back(fn.rows[i].name);
    return names;
  };

  // The equations (x)' = der(x) of the first-order form are not the author's, and always determine something.
  const structure::EasyTest test = structure::easy_test(fn, start.t, y, dy, frozen.data());
  const std::size_t added = test.size - std::min(test.size, analysis.equations);
  analysis.easy = Easiness{test.rank - std::min(test.rank, added), test.size - added, names_of(test.dependent_rows)};
  if (fn.dimension() > most_unknowns) return;
  const structure::RelativeDegrees degrees = structure::relative_degrees(fn, {start.t, y}, frozen.data());
  if (!degrees.semi_explicit || degrees.rows.empty()) return;
  analysis.degrees = ConstraintDegrees{names_of(degrees.rows), degrees.degree, degrees.rank, degrees.index};
}

namespace {

/// [M, G^T; G, 0] at a start, row-major.
struct MotionMatrix {
  bool mass_regular = true;
  std::vector<double> entries;
};

MotionMatrix motion_matrix(const mechanics::Functions& fn, const Start& start) {
  const std::size_t n = fn.n, m = fn.m, size = n + m, mass = fn.mass.nonzeros();
  const std::vector<double> frozen = fn.switches.free_modes(start_of_discrete(*fn.equations.model));
  compile::Function::Scratch scratch = fn.geometry.make_scratch();
  std::vector<double> values(fn.geometry.output_count());
  const double* inputs[] = {&start.t, start.x.data()};
  fn.geometry(inputs, values.data(), scratch, frozen.data());
  std::vector<double> M(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(mass));
  MotionMatrix result{true, std::vector<double>(size * size, 0.0)};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = fn.mass.row_start[i]; k < fn.mass.row_start[i + 1]; ++k)
      result.entries[i * size + fn.mass.column[k]] = M[k];
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t k = fn.jacobian.row_start[i]; k < fn.jacobian.row_start[i + 1]; ++k)
      result.entries[(n + i) * size + fn.jacobian.column[k]] = result.entries[fn.jacobian.column[k] * size + n + i] =
          values[mass + k];
  linalg::equilibrate(fn.mass, M);
  result.mass_regular = linalg::row_rank(fn.mass, M.data()).rank == n;
  return result;
}

/// Whether some multiplier depends on what the second derivatives of holonomic constraints say.
bool multipliers_need_accelerations(const mechanics::Functions& fn, const MotionMatrix& motion) {
  const std::size_t n = fn.n, size = fn.n + fn.m;
  linalg::DenseLu lu(size);
  if (!lu.factor(motion.entries.data())) return true;
  for (const std::size_t i : fn.holonomic_rows) {
    std::vector<double> response(size, 0.0);  // to G a = e_i
    response[n + i] = 1.0;
    lu.solve(response.data());
    const auto largest = [&](std::size_t from, std::size_t to) {
      double result = 0.0;
      for (std::size_t k = from; k < to; ++k) result = std::max(result, std::abs(response[k]));
      return result;
    };
    if (largest(n, size) > 1e-10 * largest(0, n)) return true;
  }
  return false;
}

}  // namespace

void judge_easiness(const mechanics::Functions& fn, const Start& start, Analysis& analysis) {
  analysis.easy = Easiness{analysis.unknowns - fn.m, analysis.unknowns, {}};
  if (fn.m == 0) return;
  ConstraintDegrees degrees;
  for (const mechanics::Constraint& constraint : fn.equations.constraints) {
    degrees.constraints.push_back(constraint.name);
    degrees.degree.push_back(constraint.holonomic ? 2 : 1);
  }
  analysis.easy->dependent = degrees.constraints;
  if (fn.n + fn.m <= most_dense) {
    const MotionMatrix motion = motion_matrix(fn, start);
    if (!motion.mass_regular) {  // not semi-explicit: the accelerations do not follow from lambda
      if (analysis.index == 3 && start.rank == fn.m && !multipliers_need_accelerations(fn, motion)) {
        analysis.index = 2;
        analysis.notes.push_back(
            "the index is 2 and not 3, as M is singular: the multipliers follow from the equations of motion, only "
            "accelerations need the second derivatives of the constraints");
      }
      return;
    }
  }
  degrees.rank = start.rank;
  if (start.rank == fn.m) degrees.index = **std::ranges::max_element(degrees.degree) + 1;
  analysis.degrees = std::move(degrees);
}

}  // namespace daedalus::solve
