// Formulations with constraints on several levels solve every constrained model of the collection: the error against a
// tight run is bounded by that of projection + dop853 at the same tolerance, 300 times with radau and 3000 times with
// bdf, where errors of hundreds of steps of one sign add up (or by as many tolerances, where dop853 is far better than
// asked: on polynomial motions it is exact). Positions and velocities violate their constraints, at the ends of steps
// and between them, by less than errors of the size of the tolerance would.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "folders.hpp"
#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

std::vector<std::string> constrained_models() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(tests::source_folder() + "/models")) {
    if (file.path().extension() != ".toml") continue;
    const model::Model model = model::read_model(file.path().string());
    if (!model.constraints.empty()) names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

struct Combination {
  const char *formulation, *method;
  double factor;
};
constexpr Combination combinations[] = {
    {"ggl", "radau", 300.0},
    {"ggl:weight=mass", "radau", 300.0},
    {"stabilized-index1", "radau", 300.0},
    {"stabilized-index1:time=0.01", "radau", 300.0},
    {"ggl", "bdf", 3000.0},
    {"stabilized-index1", "bdf", 3000.0},
    {"overdetermined-index2", "bdf", 3000.0},
    {"overdetermined-index1", "bdf", 3000.0},
};

solve::Trajectory rows_of(const solve::Prepared& model, const std::string& formulation, const std::string& method,
                          double rtol) {
  solve::RunOptions options;
  options.formulation = formulation;
  options.method = method;
  options.rtol = options.atol = rtol;
  options.samples = 21;
  options.rows = solve::Rows::steps_and_times;
  options.residuals = true;
  return solve::simulate(model, options);
}

/// The largest |x - reference| / (1 + |reference|) of positions and velocities at the moments that both runs have:
/// those asked for, of which there are 21.
double error_of(const solve::Trajectory& run, const solve::Trajectory& reference, std::size_t unknowns) {
  double worst = 0.0;
  std::size_t shared = 0;
  for (std::size_t row = 0; row < reference.t.size(); ++row) {
    const auto found = std::ranges::find(run.t, reference.t[row]);
    if (found == run.t.end()) continue;
    ++shared;
    for (std::size_t c = 0; c < unknowns; ++c) {
      const double exact = reference.value(row, c);
      const double value = run.value(static_cast<std::size_t>(found - run.t.begin()), c);
      worst = std::max(worst, std::abs(value - exact) / (1.0 + std::abs(exact)));
    }
  }
  EXPECT_GE(shared, 21u);
  return worst;
}

/// The largest residual of all rows in units of what errors rtol (1 + |x_j|) of the unknowns may make of it.
double violation_of(const solve::Trajectory& run, const mechanics::Functions& fn, double rtol) {
  std::vector<double> geometry(fn.geometry.output_count());
  auto scratch = fn.geometry.make_scratch();
  double worst = 0.0;
  std::vector<double> x(2 * fn.n);
  for (std::size_t row = 0; row < run.t.size(); ++row) {
    for (std::size_t c = 0; c < x.size(); ++c) x[c] = run.value(row, c);
    const double* inputs[] = {&run.t[row], x.data()};
    fn.geometry(inputs, geometry.data(), scratch);
    const double* G = geometry.data() + fn.mass.nonzeros();
    for (std::size_t i = 0; i < fn.m; ++i) {
      double allowed[] = {0.0, 0.0};
      for (std::size_t k = fn.jacobian.row_start[i]; k < fn.jacobian.row_start[i + 1]; ++k)
        for (std::size_t level = 0; level < 2; ++level)
          allowed[level] += std::abs(G[k]) * rtol * (1.0 + std::abs(x[level * fn.n + fn.jacobian.column[k]]));
      const mechanics::Constraint& constraint = fn.equations.constraints[i];
      const std::string first = "residual." + constraint.name;
      const std::string second = constraint.holonomic ? "der(" + first + ")" : first;
      if (constraint.holonomic) worst = std::max(worst, std::abs(run.value(row, run.column(first))) / allowed[0]);
      worst = std::max(worst, std::abs(run.value(row, run.column(second))) / allowed[1]);
    }
  }
  return worst;
}

class SeveralLevels : public testing::TestWithParam<std::string> {};

TEST_P(SeveralLevels, SolveEveryConstrainedModel) {
  const solve::Prepared model = prepared(GetParam());
  const std::size_t unknowns = 2 * model.functions->n;
  const solve::Trajectory reference = rows_of(model, "projection", "dop853", 1e-12);
  ASSERT_TRUE(reference.success()) << reference.message;
  for (const double rtol : {1e-5, 1e-9}) {
    const solve::Trajectory base = rows_of(model, "projection", "dop853", rtol);
    ASSERT_TRUE(base.success()) << base.message;
    const double allowed = std::max(error_of(base, reference, unknowns), rtol);
    for (const auto& [formulation, method, factor] : combinations) {
      SCOPED_TRACE(fmt::format("{} + {} at {}", formulation, method, rtol));
      const solve::Trajectory run = rows_of(model, formulation, method, rtol);
      ASSERT_TRUE(run.success()) << run.message;
      EXPECT_LE(error_of(run, reference, unknowns), factor * allowed);
      // Norms are roots of mean squares over positions, velocities, accelerations and multipliers: one of so many unknowns
      // may take the part of all.
      const auto counted = static_cast<double>(3 * model.functions->n + model.functions->m);
      EXPECT_LE(violation_of(run, *model.functions, rtol), std::sqrt(counted));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, SeveralLevels, testing::ValuesIn(constrained_models()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace daedalus::tests
