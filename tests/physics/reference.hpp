#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::tests {

using Json = nlohmann::json;

inline Json reference(const std::string& name) {
  std::ifstream file(tests::source_folder() + "/models/reference/" + name + ".json");
  EXPECT_TRUE(file) << name;
  return Json::parse(file);
}

/// Reference numbers are decimal strings or plain numbers.
inline double number(const Json& json) { return json.is_string() ? std::stod(json.get<std::string>()) : json.get<double>(); }

inline solve::Prepared prepared(const std::string& model, const model::Overrides& overrides = {}) {
  return solve::prepare(model::read_model(tests::source_folder() + "/models/" + model + ".toml", overrides));
}

/// Values that a trajectory shall have at one time, in groups that share a scale (positions, velocities, multipliers).
struct Expected {
  double t;
  std::vector<std::map<std::string, double>> groups;
};

/// The largest |x - reference| of a group over the largest |reference| in it, over all times.
inline double relative_error(const solve::Trajectory& run, const std::vector<Expected>& expected) {
  double worst = 0.0;
  for (const Expected& at : expected) {
    const auto row = static_cast<std::size_t>(std::find(run.t.begin(), run.t.end(), at.t) - run.t.begin());
    EXPECT_LT(row, run.t.size()) << "no row at t = " << at.t;
    if (row >= run.t.size()) return INFINITY;
    for (const auto& group : at.groups) {
      double size = 0.0, error = 0.0;
      for (const auto& [name, value] : group) {
        size = std::max(size, std::abs(value));
        error = std::max(error, std::abs(run.value(row, run.column(name)) - value));
      }
      worst = std::max(worst, error / size);
    }
  }
  return worst;
}

inline solve::Trajectory run_at(const solve::Prepared& model, const std::vector<Expected>& expected, double tolerance,
                                const std::string& formulation = "projection") {
  solve::RunOptions options;
  for (const Expected& at : expected) options.at.push_back(at.t);
  options.t_end = expected.back().t;
  options.rtol = options.atol = tolerance;
  options.formulation = formulation;
  solve::Trajectory run = solve::simulate(model, options);
  EXPECT_TRUE(run.success()) << run.message;
  return run;
}

}  // namespace daedalus::tests
