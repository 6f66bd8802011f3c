// Table 1 of 001: Example 2.1 with a = 200, u = cos on [0, 10 pi], in the forms
//
//   (10)          x' = y - a x^2 + u,   y = a x^2
//   state space   x' = u
//   (11)          x' = y - a x^2 + u,   y' = 2 a x (y - a x^2 + u)
//
// with tolerances "chosen to roughly equalize the error at the right endpoint". The exact solution is x = x0 + sin t.

#include <fmt/format.h>

#include <cmath>

#include "cli/experiment_entry.hpp"
#include "cli/experiment_run.hpp"

namespace daedalus::cli {

namespace {

constexpr double a = 200.0, x0 = 1.0;

struct Form {
  std::string name, model;
  bool test_y;                                     ///< the error test looks at y
  std::string error_x, error_y, steps, jacobians;  ///< as printed
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all{
      {"(10)", "example21_dae", false, "9.6e-6", "4.4e-3", "253", "20"},
      {"state space", "example21_state_space", true, "8.9e-6", "3.6e-3", "284", "24"},
      {"(11)", "example21_differentiated", true, "9.0e-6", "3.6e-3", "3718", "201"},
      {"(10), y in the error test", "example21_dae", true, "-", "-", "-", "-"},
  };
  return all;
}

double error_of(const solve::Trajectory& run, double x_end) { return std::abs(run.last("x") - x_end); }

/// The run at the loosest of the tolerances 10^(-k/8) from which on no error at the end is larger than the largest that
/// is printed: a tolerance that is accurate by luck does not count.
solve::Trajectory at_equal_error(const Form& form) {
  constexpr double largest = 9.6e-6;
  model::Model model = shipped_model(form.model);
  for (model::Unknown& unknown : model.variables)
    if (unknown.name == "y" && !form.test_y) unknown.atol = 1e6;  // y is below 801
  const solve::Prepared prepared = solve::prepare(std::move(model));
  solve::RunOptions options;
  options.method = "bdf";
  solve::Trajectory best;
  for (int k = 88; k >= 16; --k) {
    options.rtol = options.atol = std::pow(10.0, -k / 8.0);
    solve::Trajectory run = run_to_end(prepared, options);
    if (error_of(run, x0) > largest) break;
    best = std::move(run);
  }
  return best;
}

std::vector<report::Panel> panels_of(const std::vector<solve::Trajectory>& runs) {
  report::Panel steps, errors;
  steps.y_title = "step size";
  errors.y_title = "error of x";
  steps.scale = errors.scale = report::Panel::Scale::logarithmic;
  for (std::size_t i = 0; i < 3; ++i) {
    const solve::Trajectory& run = runs[i];
    report::Curve step{forms()[i].name, {}, {}}, error{forms()[i].name, {}, {}};
    for (std::size_t row = 1; row < run.t.size(); ++row) {
      step.x.push_back(run.t[row]);
      step.y.push_back(run.t[row] - run.t[row - 1]);
      error.x.push_back(run.t[row]);
      error.y.push_back(std::abs(run.value(row, run.column("x")) - x0 - std::sin(run.t[row])));
    }
    steps.curves.push_back(std::move(step));
    errors.curves.push_back(std::move(error));
  }
  return {steps, errors};
}

report::Findings run() {
  report::Findings found;
  found.setting =
      "DASSL on `x' = y - a x^2 + u`, `y = a x^2` (10), on its state-space form `x' = u`, and on (11), where the "
      "constraint\n"
      "is differentiated: `y' = 2 a x (y - a x^2 + u)`. a is 200, u is cos t, and tolerances were chosen for about "
      "equal\n"
      "errors at 10 pi. Here `bdf` runs at the loosest of the tolerances 10^(-k/8) from which on x is at least as "
      "accurate.\n"
      "The paper does not print the start, but its errors of y are 400 times those of x, and dy/dx = 2 a x: x starts "
      "at 1.";
  found.commands = {"simulate models/example21_dae.toml --method bdf --rtol 1e-5 --atol 1e-5",
                    "simulate models/example21_state_space.toml --method bdf --rtol 1e-5 --atol 1e-5",
                    "simulate models/example21_differentiated.toml --method bdf --rtol 1e-10 --atol 1e-10"};
  report::FindingsTable table{"",
                              {{"form", "tolerance", "error of x: 001", "here", "error of y: 001", "here", "steps: 001",
                                "here", "Jacobians: 001", "here"}}};
  std::vector<solve::Trajectory> runs;
  for (const Form& form : forms()) {
    runs.push_back(at_equal_error(form));
    const solve::Trajectory& one = runs.back();
    table.rows.push_back({form.name, rounded(one.rtol), form.error_x, rounded(error_of(one, x0)), form.error_y,
                          rounded(std::abs(one.last("y") - a * x0 * x0)), form.steps, std::to_string(one.stats.steps),
                          form.jacobians, std::to_string(one.stats.jacobians)});
  }
  found.tables = {table};
  found.figures = {{"reproduce_001_table1",
                    "Step sizes and errors of x in the three forms: (11) needs tiny steps to be as accurate at the end",
                    "bdf at equal errors at 10 pi", panels_of(runs)}};
  const auto ratio = [&](std::size_t i) {
    return static_cast<double>(runs[2].stats.steps) / static_cast<double>(runs[i].stats.steps);
  };
  found.verdict = fmt::format(
      "The point of the table holds: for the same error, (11) takes {:.1f} times the steps of (10), 14.7 times in 001. "
      "The\n"
      "differentiated form has the eigenvalues +-sqrt(2 a cos t), up to 20, which the solution does not show, and "
      "every error\n"
      "of y - a x^2 stays for ever and drives x. 001 does not say what DASSL's error test looked at: without y, which "
      "is\n"
      "algebraic in (10), our steps are up to 40 % more than theirs in all forms; with it (10) takes {} steps, and "
      "(11) still {:.1f} times as many.\n"
      "Jacobians are fewer here where the equations are nearly linear, because `bdf` factorizes a Jacobian again when "
      "the step\n"
      "changes, and DASSL evaluates a new one.",
      ratio(0), runs[3].stats.steps, ratio(3));
  return found;
}

}  // namespace

ExperimentEntry experiment_001_table1() {
  return {"001-table1", "Example 2.1 in three forms", "001, Führer and Leimkuhler, Table 1", run};
}

}  // namespace daedalus::cli
