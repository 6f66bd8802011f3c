// Every formulation solves every model of mechanics that it takes: at two tolerances, with each of dop853, radau and bdf
// that fits it. The error against a tight run is at most 30 times that of projection + dop853 at the same tolerance, 300
// times with radau, 3000 times with bdf, where errors of hundreds of steps of one sign add up; or as many tolerances,
// where dop853 is far better than asked (on polynomial motions it is exact). Formulations that drift, or whose feedback
// is part of the equations, must only become better with the tolerance. Those that project keep positions and velocities
// on the constraints to 1e-12 of their largest terms, at every step and in every row, and those that have constraints on
// several levels at once keep them within the tolerance.
//
// By default each formulation runs with the first of the methods that fits; DAEDALUS_LONG=1 takes all. `lyapunov` runs with
// `auto` in the place of dop853.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <span>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::tests {
namespace {

std::string path_of(const std::string& name) { return tests::source_folder() + "/models/" + name + ".toml"; }

std::vector<std::string> mechanical_models() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(tests::source_folder() + "/models")) {
    if (file.path().extension() != ".toml") continue;
    const model::Kind kind = model::read_model(file.path().string()).kind;
    if (kind == model::Kind::lagrangian || kind == model::Kind::mechanical) names.push_back(file.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

struct Method {
  const char* name;
  double factor;
};
constexpr Method methods[] = {{"dop853", 30.0}, {"radau", 300.0}, {"bdf", 3000.0}};
/// The gains of `lyapunov` make it stiff, on some models beyond what steps of dop853 can follow: auto begins with radau.
constexpr Method stiff_methods[] = {{"auto", 300.0}, {"radau", 300.0}, {"bdf", 3000.0}};

std::span<const Method> methods_for(const std::string& formulation) {
  return formulation == "lyapunov" ? std::span<const Method>(stiff_methods) : std::span<const Method>(methods);
}

bool only_falls(const std::string& formulation) {
  const std::vector<std::string> names{"index1", "underlying-ode", "index3", "baumgarte", "ascher-chin-reich"};
  return std::ranges::find(names, formulation) != names.end();
}

bool stabilized(const std::string& formulation) {
  return formulation == "ggl" || formulation == "stabilized-index1" || formulation.starts_with("overdetermined");
}

solve::Trajectory run_of(const solve::Prepared& model, const std::string& formulation, const std::string& method,
                         double rtol) {
  solve::RunOptions options;
  options.formulation = formulation;
  options.method = method;
  options.rtol = rtol;
  options.samples = 21;
  return solve::simulate(model, options);
}

/// Empty where the two do not fit each other or the model.
std::optional<solve::Trajectory> fitting_run(const solve::Prepared& model, const std::string& formulation,
                                             const std::string& method, double rtol) {
  try {
    return run_of(model, formulation, method, rtol);
  } catch (const Error& error) {
    const std::string& code = error.faults().front().code;
    EXPECT_TRUE(code == "method-does-not-fit" || code == "formulation-does-not-fit") << error.what();
    return std::nullopt;
  }
}

/// The largest |x - reference| / (1 + |reference|) of the first unknowns over the rows.
double error_of(const solve::Trajectory& run, const solve::Trajectory& reference, std::size_t unknowns) {
  EXPECT_EQ(run.t.size(), reference.t.size());
  double worst = 0.0;
  for (std::size_t row = 0; row < std::min(run.t.size(), reference.t.size()); ++row)
    for (std::size_t c = 0; c < unknowns; ++c) {
      const double exact = reference.value(row, c);
      worst = std::max(worst, std::abs(run.value(row, c) - exact) / (1.0 + std::abs(exact)));
    }
  return worst;
}

/// The largest residual beside its largest term. Where terms nearly cancel already, as differences of neighbouring
/// velocities in a chain, the tolerance of the velocities themselves counts, of size 1.
double residual_of(const solve::Trajectory& run, std::size_t level) {
  return std::min(run.constraints.relative[level], run.constraints.absolute[level]);
}

class EveryFormulation : public testing::TestWithParam<std::string> {};

TEST_P(EveryFormulation, SolvesTheModel) {
  const solve::Prepared model = solve::prepare(model::read_model(path_of(GetParam())));
  const solve::Trajectory reference = run_of(model, "projection", "dop853", 1e-12);
  ASSERT_TRUE(reference.success()) << reference.message;
  constexpr double loose = 1e-5, tight = 1e-9;
  const auto base = [&](double rtol) {
    return std::max(error_of(run_of(model, "projection", "dop853", rtol), reference, 2 * model.functions->n), rtol);
  };
  const double base_loose = base(loose), base_tight = base(tight);
  for (const formulate::FormulationEntry& entry : formulate::formulations()) {
    if (std::ranges::find(entry.kinds, model::name_of(model.model->kind)) == entry.kinds.end()) continue;
    // On index 3 an error of a velocity counts times h: vibrations too small to see in the positions are lost.
    const std::size_t unknowns = entry.index == 3 ? model.functions->n : 2 * model.functions->n;
    std::size_t solved = 0;
    for (const auto& [method, factor] : methods_for(entry.name)) {
      if (solved > 0 && std::getenv("DAEDALUS_LONG") == nullptr) break;
      SCOPED_TRACE(entry.name + " + " + method);
      const std::optional<solve::Trajectory> coarse = fitting_run(model, entry.name, method, loose);
      if (!coarse) continue;
      ++solved;
      const solve::Trajectory fine = run_of(model, entry.name, method, tight);
      EXPECT_TRUE(coarse->success()) << coarse->message;
      EXPECT_TRUE(fine.success()) << fine.message;
      if (!coarse->success() || !fine.success()) continue;
      for (const std::size_t level : {0u, 1u}) {
        if (!entry.projects && !stabilized(entry.name)) continue;
        EXPECT_LE(residual_of(*coarse, level), entry.projects ? 1e-12 : loose);
        EXPECT_LE(residual_of(fine, level), entry.projects ? 1e-12 : tight);
      }
      const double coarse_error = error_of(*coarse, reference, unknowns), fine_error = error_of(fine, reference, unknowns);
      if (only_falls(entry.name)) {
        // Four decimals of the tolerance give at least one, unless there is no error to speak of.
        EXPECT_LE(fine_error, std::max(0.1 * coarse_error, factor * base_tight));
      } else {
        EXPECT_LE(coarse_error, factor * base_loose);
        EXPECT_LE(fine_error, factor * base_tight);
      }
    }
    EXPECT_GE(solved, 1u) << entry.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryFormulation, testing::ValuesIn(mechanical_models()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace daedalus::tests
