#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::tests {

using integrate::Evaluation;
using integrate::View;

inline solve::Prepared prepared_text(const std::string& text) {
  return solve::prepare(model::read_model_text(text, "test"));
}

/// All models of mechanics without events: evaluations need no frozen values.
inline std::vector<std::string> smooth_models() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(tests::source_folder() + "/models")) {
    if (file.path().extension() != ".toml") continue;
    const model::Model model = model::read_model(file.path().string());
    const bool mechanical = model.kind == model::Kind::lagrangian || model.kind == model::Kind::mechanical;
    if (mechanical && model.events.empty() && model.invariants.empty() && model.variables.size() <= 40)
      names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline solve::Prepared prepared_model(const std::string& name) {
  return solve::prepare(model::read_model(tests::source_folder() + "/models/" + name + ".toml"));
}

/// A formulation of a model, ready at its start.
struct Ready {
  formulate::Formulated formulated;
  std::vector<double> x;

  Ready(const solve::Prepared& model, const std::string& choice_text, View view = View::ode) {
    const Choice choice = parse_choice(choice_text);
    const formulate::FormulationEntry& entry = formulate::formulation(choice.name);
    const solve::Start start = solve::consistent_start(model, 0.0, solve::Initialize::project);
    EXPECT_TRUE(start.found) << start.message;
    std::vector<std::size_t> redundant;
    for (const solve::Redundancy& one : start.redundant)
      for (std::size_t i = 0; i < model.functions->m; ++i)
        if (model.functions->equations.constraints[i].name == one.constraint) redundant.push_back(i);
    formulated = entry.make({model.functions, nullptr, redundant, true}, view, Options(choice, entry.options));
    if (!start.guess.empty()) formulated.guess(start.guess);
    x = start.x;
  }

  std::vector<double> slope(const std::vector<double>& at, double t = 0.0) {
    std::vector<double> dx(x.size());
    EXPECT_EQ(formulated.system.ode(t, at.data(), dx.data()), Evaluation::ok) << formulated.system.explain();
    return dx;
  }

  /// The start moved by about `size` in every component.
  std::vector<double> near(double size, unsigned seed) const {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-size, size);
    std::vector<double> result = x;
    for (double& value : result) value += uniform(random) * std::max(1.0, std::abs(value));
    return result;
  }
};

inline double size_of(const std::vector<double>& values) {
  double size = 1.0;
  for (const double value : values) size = std::max(size, std::abs(value));
  return size;
}

}  // namespace daedalus::tests
