// 004, "A wrong (but seems good) numerical scheme": the pendulum in Cartesian coordinates from (1, 0) at rest on [0,
// 10], q_{k+1} = q_k + dt v_k + dt^2/2 a_k, v_{k+1} = v_k + dt a_k with a_k from the constraint on acceleration level,
// at dt = 0.025 and 0.0025.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/experiment_entry.hpp"
#include "cli/experiment_run.hpp"

namespace daedalus::cli {

namespace {

struct Case {
  std::string g, step;
  double drift, largest;  ///< at 10 s and of all steps, computed with 50 digits by another program
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{{"9.81", "0.025", 1.8414997596657746381, 2.0743628664378018360},
                                     {"9.81", "0.0025", 0.31052114924572532046, 0.31052114924572532046},
                                     {"1", "0.025", 0.34244541369058811181, 0.34244541369058811181},
                                     {"1", "0.0025", 0.036197031563922432640, 0.036197031563922432640}};
  return all;
}

report::Findings run() {
  report::Findings found;
  found.setting =
      "A pendulum let go from the horizontal, integrated to t = 10 with two Taylor terms for positions and one for\n"
      "velocities (`taylor2`), at steps of 0.025 and 0.0025. The slides show the two pictures without numbers and do "
      "not say\n"
      "which g; here are 9.81, which is drawn, and 1. What is compared are values that another program computed with "
      "50\n"
      "digits.";
  report::FindingsTable table{"x^2 + y^2 - 1:",
                              {{"g", "step", "at t = 10: 50 digits", "here", "largest: 50 digits", "here"}}};
  report::Panel drift;
  drift.y_title = "x^2 + y^2 - 1";
  std::vector<report::Panel> paths;
  for (const Case& one : cases()) {
    const solve::Prepared prepared = solve::prepare(shipped_model("pendulum_slides", {{{"g", one.g}}, {}, {}}));
    solve::RunOptions options;
    options.formulation = "index1";
    options.method = "taylor2";
    options.step = std::stod(one.step);
    const solve::Trajectory motion = run_to_end(prepared, options);
    const report::Curve error = size_of(motion, "drift", "step " + one.step);
    table.rows.push_back({one.g, one.step, decimals(one.drift, 5), decimals(motion.last("drift"), 5),
                          decimals(one.largest, 5), decimals(*std::max_element(error.y.begin(), error.y.end()), 5)});
    if (one.g != "9.81") continue;
    found.commands.push_back("simulate models/pendulum_slides.toml --formulation index1 --method taylor2 --step " +
                             one.step);
    drift.curves.push_back(error);
    report::Panel path;
    path.over_time = false;
    path.x_title = "x, step " + one.step;
    path.y_title = "y";
    path.curves = {{"", curve_of(motion, "x", "").y, curve_of(motion, "y", "").y}};
    paths.push_back(path);
  }
  found.tables = {table};
  paths.insert(paths.begin(), drift);
  found.figures = {
      {"reproduce_004_drift",
       "The bob leaves its circle: at the larger step within a swing, at the smaller one slowly",
       "taylor2 with steps 0.025 and 0.0025, g = 9.81", paths}};
  found.verdict =
      "The drift of the pictures is there, with all digits of the other program. The scheme has order 1: with g = 1 a "
      "tenth of\n"
      "the step leaves a tenth of the drift. With g = 9.81 it leaves a sixth, because at the larger step the rod has "
      "become\n"
      "1.7 times as long and nothing is small any more.";
  return found;
}

}  // namespace

ExperimentEntry experiment_004_drift() {
  return {"004-drift", "A wrong scheme that seems good", "004, slides, the two runs of the pendulum", run};
}

}  // namespace daedalus::cli
