#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::tests {

/// What other codes reach on one problem in one index form, tolerances 1e-4 .. 1e-10: median digits of five runs with
/// perturbed tolerance, NaN where none reached the end. Measured with the published Fortran codes.
struct Peer {
  std::string problem, formulation, method, code;
  std::array<double, 7> digits;
};

inline const std::vector<Peer>& peers() {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  static const std::vector<Peer> all{
      {"pendulum", "index3", "radau", "radau5", {0.46, 0.90, 2.23, 3.59, 4.25, 3.33, 3.73}},
      {"pendulum", "index3", "bdf", "daskr", {-0.06, 1.04, -0.11, 0.59, 0.96, 2.14, 2.92}},
      {"pendulum", "index3", "mebdf", "mebdfi", {-0.07, 0.48, 1.22, 2.37, 2.98, 3.65, 4.33}},
      {"pendulum", "index2", "radau", "radau5", {1.86, 2.42, 3.31, 4.65, 5.29, 5.87, 6.62}},
      {"pendulum", "index2", "bdf", "daskr", {0.21, 1.04, 1.86, 2.75, 3.54, 4.48, 5.66}},
      {"pendulum", "index2", "mebdf", "mebdfi", {1.10, 3.04, 3.47, 4.80, 4.97, 6.07, 6.78}},
      {"pendulum", "index1", "radau", "radau5", {0.91, 1.80, 2.80, 3.91, 4.92, 5.79, 6.56}},
      {"pendulum", "index1", "bdf", "daskr", {0.13, 0.02, 1.50, 1.94, 3.02, 3.85, 4.82}},
      {"pendulum", "index1", "mebdf", "mebdfi", {-0.16, 0.68, 1.57, 2.67, 3.45, 4.34, 5.60}},
      {"andrews", "index3", "radau", "radau5", {2.65, 3.22, 4.21, 5.06, 5.71, 6.18, 6.80}},
      {"andrews", "index3", "bdf", "daskr", {0.65, 1.06, 1.99, 2.90, 3.45, 4.52, none}},
      {"andrews", "index3", "mebdf", "mebdfi", {1.57, 2.36, 2.96, 3.94, 5.46, 5.69, 6.27}},
      {"andrews", "index2", "radau", "radau5", {4.83, 5.70, 6.84, 7.13, 7.90, 8.77, 9.37}},
      {"andrews", "index2", "bdf", "daskr", {3.20, 4.16, 5.34, 6.36, 6.38, 7.68, 8.62}},
      {"andrews", "index2", "mebdf", "mebdfi", {4.55, 5.10, 5.75, 7.37, 8.22, 9.20, 10.02}},
      {"andrews", "index1", "radau", "radau5", {5.71, 6.64, 7.76, 8.76, 9.82, 10.20, 10.08}},
      {"andrews", "index1", "bdf", "daskr", {3.18, 4.13, 5.21, 6.10, 6.99, 8.27, 8.84}},
      {"andrews", "index1", "mebdf", "mebdfi", {4.83, 6.01, 6.62, 7.67, 8.57, 9.43, 10.18}},
  };
  return all;
}

inline constexpr std::array robustness_factors{0.8, 0.9, 1.0, 1.1, 1.25};

/// A model that is run many times, and where its positions must be at the end.
struct RobustnessProblem {
  solve::Prepared prepared;
  double t_end = 0.0;
  std::map<std::string, double> positions;
};

inline RobustnessProblem robustness_problem(const std::string& name) {
  const std::string models = tests::source_folder() + "/models/";
  std::ifstream file(models + "reference/" + name + ".json");
  const nlohmann::json reference = nlohmann::json::parse(file);
  const bool pendulum = name == "pendulum";
  const std::vector<std::string> names =
      pendulum ? std::vector<std::string>{"x", "y"}
               : std::vector<std::string>{"beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"};
  RobustnessProblem problem{solve::prepare(model::read_model(models + name + ".toml")), pendulum ? 50.0 : 0.03, {}};
  for (const nlohmann::json& at : reference.at(pendulum ? "reference_consistent" : "values"))
    if (std::stod(at.at("t").get<std::string>()) == problem.t_end)
      for (std::size_t k = 0; k < names.size(); ++k)
        problem.positions[names[k]] = std::stod(at.at("q").at(k).get<std::string>());
  if (problem.positions.empty()) throw std::runtime_error("no reference values of " + name + " at its end");
  return problem;
}

/// Runs at one tolerance, perturbed by factors.
struct RobustnessCell {
  std::size_t runs = 0, reached = 0;
  double digits =
      std::numeric_limits<double>::quiet_NaN();  ///< median of -log10 max |e|/(1 + |y|) over those that reached t_end
  double seconds = 0.0;
  std::string message;  ///< of a run that failed
};

inline RobustnessCell run_cell(const RobustnessProblem& problem, const std::string& formulation,
                               const std::string& method, double tolerance, std::span<const double> factors) {
  RobustnessCell cell;
  std::vector<double> digits;
  for (const double factor : factors) {
    solve::RunOptions options;
    options.formulation = formulation;
    options.method = method;
    options.rtol = options.atol = tolerance * factor;
    options.rows = solve::Rows::ends;
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    options.interrupt = [&] { return seconds() > 60.0; };  // a run that never ends must not stop the others
    const solve::Trajectory run = solve::simulate(problem.prepared, options);
    cell.seconds += seconds();
    ++cell.runs;
    if (run.status != integrate::Status::done || run.t.back() != problem.t_end) {
      cell.message = run.message.empty() ? solve::name_of(run.status) : run.message;
      continue;
    }
    ++cell.reached;
    double error = 0.0;
    for (const auto& [name, value] : problem.positions)
      error = std::max(error, std::abs(run.last(name) - value) / (1.0 + std::abs(value)));
    digits.push_back(-std::log10(error));
  }
  std::ranges::sort(digits);
  if (!digits.empty())
    cell.digits = digits.size() % 2 == 1 ? digits[digits.size() / 2]
                                         : (digits[digits.size() / 2 - 1] + digits[digits.size() / 2]) / 2.0;
  return cell;
}

}  // namespace daedalus::tests
