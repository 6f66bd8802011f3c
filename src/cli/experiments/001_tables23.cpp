// Tables 2 and 3 of 001: the seven-body mechanism over 0.03 s with RTOL = ATOL = 1e-5 on positions and velocities, in
// the stabilized index-1 form (31)-(35), the stabilized index-2 form (43)-(46) and the index-2 form (1), (2), (4). The
// paper computes them with ODASSL, which solves the overdetermined systems (17) and (47) by the ssf-generalized
// inverse: the same map by Theorems 3.1 and 4.1, up to the choice of what is frozen in the iteration.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/experiment_entry.hpp"
#include "cli/experiment_run.hpp"

namespace daedalus::cli {

namespace {

struct Form {
  std::string name, formulation;
  std::array<std::string, 3> errors;  ///< of positions, velocities, multipliers, as printed
  std::array<std::string, 4> cost;    ///< NSTEPS, NFE, NJE, NEF, as printed
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all{
      {"stabilized index 1", "stabilized-index1", {"1.71e-5", "1.92e-3", "3.08e-4"}, {"382", "978", "78", "20"}},
      {"the same, overdetermined (17)", "overdetermined-index1", {"-", "-", "-"}, {"-", "-", "-", "-"}},
      {"stabilized index 2", "ggl", {"1.38e-4", "1.54e-2", "1.45e-3"}, {"434", "1058", "60", "28"}},
      {"the same, overdetermined (47)", "overdetermined-index2", {"-", "-", "-"}, {"-", "-", "-", "-"}},
      {"index 2", "index2", {"1.82e-4", "2.95e-1", "2.20e-3"}, {"469", "1145", "77", "30"}},
  };
  return all;
}

/// 0 for a position, 1 for a velocity, 2 for a multiplier; 3 for what is none of them.
std::size_t level_of(const std::string& column) {
  if (column.starts_with("lambda.")) return 2;
  if (column.starts_with("residual.") || column.starts_with("der(residual.") || column == "energy") return 3;
  return column.starts_with("der(") ? 1 : 0;
}

/// The largest relative error of any component at the end, by level.
std::array<double, 3> errors_of(const solve::Trajectory& run, const solve::Trajectory& exact) {
  std::array<double, 3> errors{};
  for (const std::string& column : exact.columns) {
    const std::size_t level = level_of(column);
    if (level > 2) continue;
    const double reference = exact.last(column);
    errors[level] = std::max(errors[level], std::abs(run.last(column) - reference) / std::abs(reference));
  }
  return errors;
}

/// The largest residual of the constraints on one level at every step.
report::Curve residuals_of(const solve::Trajectory& run, const std::string& prefix, const std::string& name) {
  report::Curve curve{name, run.t, std::vector<double>(run.t.size(), 0.0)};
  for (std::size_t column = 0; column < run.columns.size(); ++column) {
    if (!run.columns[column].starts_with(prefix)) continue;
    for (std::size_t row = 0; row < run.t.size(); ++row)
      curve.y[row] = std::max(curve.y[row], std::abs(run.value(row, column)));
  }
  return curve;
}

/// Errors of nine runs at tolerances from 5e-6 to 2e-5, and their steps: the median of each.
struct Typical {
  std::array<double, 3> errors{};
  std::size_t steps = 0;
};

Typical typical_of(const solve::Prepared& prepared, solve::RunOptions options, const solve::Trajectory& exact) {
  constexpr std::size_t runs = 9, middle = runs / 2;
  std::array<std::array<double, runs>, 3> errors{};
  std::array<std::size_t, runs> steps{};
  for (std::size_t k = 0; k < runs; ++k) {
    options.rtol = options.atol = 1e-5 * std::pow(2.0, (static_cast<double>(k) - middle) / middle);
    const solve::Trajectory one = run_to_end(prepared, options);
    const std::array<double, 3> at_end = errors_of(one, exact);
    for (std::size_t level = 0; level < 3; ++level) errors[level][k] = at_end[level];
    steps[k] = one.stats.steps;
  }
  const auto median = [](auto& values) {
    std::nth_element(values.begin(), values.begin() + middle, values.end());
    return values[middle];
  };
  return {{median(errors[0]), median(errors[1]), median(errors[2])}, median(steps)};
}

report::Findings run() {
  report::Findings found;
  found.setting =
      "ODASSL on the seven-body mechanism over 0.03 s, with tolerances of 1e-5 on positions and velocities and none on "
      "the\n"
      "multipliers. Errors are the largest relative ones of any component at the end. Here `bdf` runs the forms with\n"
      "multipliers, and in further rows the overdetermined systems as ODASSL solves them; errors are against\n"
      "`projection` + `dop853` at 1e-13.";
  for (const char* formulation : {"stabilized-index1", "ggl", "index2"})
    found.commands.push_back(
        fmt::format("simulate models/andrews.toml --formulation {} --method bdf --rtol 1e-5 --atol 1e-5", formulation));

  const solve::Prepared prepared = solve::prepare(shipped_model("andrews"));
  solve::RunOptions options;
  options.rtol = 1e-13;
  options.atol = 1e-13;
  options.formulation = "projection";
  options.method = "dop853";
  const solve::Trajectory exact = run_to_end(prepared, options);

  report::FindingsTable errors{
      "Table 2, relative errors at 0.03 s:",
      {{"form", "here as", "positions: 001", "here", "velocities: 001", "here", "multipliers: 001", "here"}}};
  report::FindingsTable cost{"Table 3, cost:",
                             {{"form", "steps: 001", "here", "function evaluations: 001", "here", "Jacobians: 001",
                               "here", "failed error tests: 001", "here"}}};
  report::Panel position, velocity;
  position.y_title = "g";
  velocity.y_title = "G v";
  position.scale = velocity.scale = report::Panel::Scale::logarithmic;
  position.x_unit = velocity.x_unit = "s";

  options.method = "bdf";
  options.rtol = options.atol = 1e-5;
  options.residuals = true;
  report::FindingsTable typical{"Medians of nine tolerances from 5e-6 to 2e-5, here:",
                                {{"form", "positions", "velocities", "multipliers", "steps"}}};
  for (const Form& form : forms()) {
    options.formulation = form.formulation;
    const solve::Trajectory one = run_to_end(prepared, options);
    const auto [at_position, at_velocity, at_multiplier] = errors_of(one, exact);
    const Typical middle = typical_of(prepared, options, exact);
    typical.rows.push_back({form.name, rounded(middle.errors[0]), rounded(middle.errors[1]), rounded(middle.errors[2]),
                            std::to_string(middle.steps)});
    errors.rows.push_back({form.name, fmt::format("`{}`", form.formulation), form.errors[0], rounded(at_position),
                           form.errors[1], rounded(at_velocity), form.errors[2], rounded(at_multiplier)});
    cost.rows.push_back({form.name, form.cost[0], std::to_string(one.stats.steps), form.cost[1],
                         std::to_string(one.stats.rhs), form.cost[2], std::to_string(one.stats.jacobians), form.cost[3],
                         std::to_string(one.stats.rejected)});
    if (form.errors[0] == "-") continue;
    position.curves.push_back(residuals_of(one, "residual.", form.name));
    velocity.curves.push_back(residuals_of(one, "der(residual.", form.name));
  }
  found.tables = {errors, cost, typical};
  found.figures = {{"reproduce_001_tables23",
                    "Largest residuals of the constraints in the three forms: without the position level they drift",
                    "bdf, rtol = atol = 1e-5",
                    {position, velocity}}};
  found.verdict =
      "Steps and failed error tests are near those of 001, and the errors are of the same kind: in the stabilized "
      "forms those\n"
      "of velocities are 112 times those of positions, here and there, as a delay along the motion makes them. They "
      "are\n"
      "smaller here. An error at one moment is a matter of chance, though: a slightly different tolerance changes it "
      "by a\n"
      "factor of ten. By the medians the stabilized forms are equally accurate, so that their order in 001 is not "
      "confirmed;\n"
      "index 2 is several times worse in the positions, as in 001, because nothing holds g, and the picture shows how "
      "it is\n"
      "lost. (The error 2.95e-1 of its velocities does not appear here.) `bdf` keeps a Jacobian longer than ODASSL and "
      "takes\n"
      "four iterations in a step where ODASSL takes two or three.";
  return found;
}

}  // namespace

ExperimentEntry experiment_001_tables23() {
  return {"001-tables23", "The seven-body mechanism, with and without the position constraints",
          "001, Führer and Leimkuhler, Tables 2 and 3", run};
}

}  // namespace daedalus::cli
