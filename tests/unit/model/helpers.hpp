#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/model/reader.hpp"

namespace daedalus::model {

inline Model read(const std::string& text, const Overrides& overrides = {}) {
  return read_model_text(text, "model.toml", overrides);
}

/// A model whose parameter p is the expression: a short way to the value of an expression of numbers.
inline double value_of(const std::string& expression) {
  const Model model = read("kind = \"dae\"\n[parameters]\np = \"" + expression +
                           "\"\n[variables]\nx = 0\n[equations]\ne = \"x = p\"\n");
  return model.parameters.at(0).value;
}

/// A dae model with the variables x, y, z and the given text as the first equation.
inline Model with_equation(const std::string& equation, const std::string& more = {}) {
  return read("kind = \"dae\"\n[variables]\nx = 1\ny = 2\nz = 3\n[equations]\nfirst = \"\"\"" + equation +
              "\"\"\"\nsecond = \"x + y + z = 1\"\nthird = \"x - y = 2\"\n" + more);
}

inline std::string text(Expr expression) { return expr::to_text(expression); }

/// Codes of the faults of a text that cannot be read, in order.
inline std::vector<std::string> codes_of(const std::string& model_text, const Overrides& overrides = {}) {
  try {
    read(model_text, overrides);
  } catch (const Error& error) {
    std::vector<std::string> codes;
    for (const Fault& fault : error.faults()) codes.push_back(fault.code);
    return codes;
  }
  return {};
}

inline const Parameter& parameter(const Model& model, const std::string& name) {
  for (const Parameter& one : model.parameters)
    if (one.name == name) return one;
  throw std::out_of_range(name);
}

inline const Unknown& unknown(const Model& model, const std::string& name) {
  for (const auto* list : {&model.variables, &model.auxiliary})
    for (const Unknown& one : *list)
      if (one.name == name) return one;
  throw std::out_of_range(name);
}

inline const Named& output(const Model& model, const std::string& name) {
  for (const Named& one : model.outputs)
    if (one.name == name) return one;
  throw std::out_of_range(name);
}

}  // namespace daedalus::model
