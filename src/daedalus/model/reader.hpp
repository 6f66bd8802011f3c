#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/model/model.hpp"

namespace daedalus::model {

/// What the command line says about the model. Values are expressions in the model's language.
struct Overrides {
  std::vector<std::pair<std::string, std::string>> set;  ///< parameter, input, discrete value or start guess
  std::vector<std::pair<std::string, std::string>> fix;  ///< start value that binds
  std::optional<double> t_start;
  /// Inputs to which d + d' (t - T) + d'' (t - T)^2/2 is added, with the parameters deviation.<name>, der(deviation.<name>),
  /// der(deviation.<name>,2) and deviation.time for T, all 0: equations can be differentiated by them.
  std::vector<std::string> perturbed = {};
};

/// Reads a model file. Throws Error with every fault found.
Model read_model(const std::string& path, const Overrides& overrides = {});

/// Reads a model from text; `name` stands for the file in messages, tables are found relative to `folder`.
Model read_model_text(const std::string& text, const std::string& name, const Overrides& overrides = {},
                      const std::string& folder = ".");

}  // namespace daedalus::model
