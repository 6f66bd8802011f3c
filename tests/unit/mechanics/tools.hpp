#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "daedalus/expr/substitute.hpp"
#include "daedalus/mechanics/derive.hpp"
#include "daedalus/mechanics/evaluator.hpp"
#include "daedalus/model/reader.hpp"
#include "folders.hpp"

namespace daedalus::tests {

using expr::Expr;
using expr::NodeId;
using mechanics::Equations;

inline Equations derived(const std::string& text) {
  return mechanics::derive(std::make_shared<const model::Model>(model::read_model_text(text, "test")));
}

inline Equations derived_file(const std::string& name) {
  return mechanics::derive(std::make_shared<const model::Model>(
      model::read_model(tests::source_folder() + "/models/" + name + ".toml")));
}

inline bool is_mechanical(const std::string& path) {
  const model::Kind kind = model::read_model(path).kind;
  return kind == model::Kind::lagrangian || kind == model::Kind::mechanical;
}

/// Names of all model files of mechanics.
inline std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(tests::source_folder() + "/models"))
    if (file.path().extension() == ".toml" && is_mechanical(file.path().string()))
      names.push_back(file.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Numbers for every symbol that the equations may contain: parameters as in the model, the rest at random or as set.
class Point {
 public:
  Point(const Equations& equations, unsigned seed)
      : graph_(equations.model->graph.get()), values_(equations.model->numbers()) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    values_[equations.t.id()] = uniform(random);
    for (const auto* symbols :
         {&equations.q, &equations.v, &equations.a, &equations.z, &equations.z_rate, &equations.lambda})
      for (const Expr& symbol : *symbols) values_[symbol.id()] = uniform(random);
  }

  double operator()(Expr e) const { return e.valid() ? expr::evaluate(e, values_) : 0.0; }
  double operator[](const std::string& name) const { return values_.at(graph_->symbol(name).id()); }
  void set(const std::string& name, double value) { values_[graph_->symbol(name).id()] = value; }
  void set(Expr symbol, double value) { values_[symbol.id()] = value; }

 private:
  expr::Graph* graph_;
  std::unordered_map<NodeId, double> values_;
};

/// A kind of relative difference: against the largest number in sight.
inline void expect_close(double actual, double expected, double size, double tolerance, const std::string& what) {
  EXPECT_LE(std::abs(actual - expected), tolerance * std::max(1e-300, size))
      << what << ": " << actual << " for " << expected;
}

}  // namespace daedalus::tests
