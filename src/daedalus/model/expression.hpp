#pragma once

#include <string>

#include "daedalus/model/model.hpp"

namespace daedalus::model {

/// A text that stands outside the model file: an option of the command line.
struct OutsideText {
  std::string option;  ///< where it stands, for messages: "W"
  std::string text;
};

/// Reads an expression in the names of a model: parameters, definitions, inputs, unknowns and their first derivatives,
/// discrete values and outputs, but no functions of the author. Throws Error with every fault found.
Expr read_expression(const Model& model, const OutsideText& given);

/// An unknown, or a derivative of one, between two numbers.
struct Range {
  std::string name;
  double low, high;
};

/// Reads "x in 0..1 and der(x) in -w..w"; the bounds are expressions of parameters. Throws Error.
std::vector<Range> read_ranges(const Model& model, const OutsideText& given);

}  // namespace daedalus::model
