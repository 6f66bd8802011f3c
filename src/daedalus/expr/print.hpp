#pragma once

#include <string>

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// The expression in the language of the model file, as a person would write it: "m*l^2*cos(phi) - 2*x". Reading the
/// text again gives the same value up to rounding (a + (b + c) is written without parentheses). A text of more than
/// about four million characters is cut and ends in " ...".
std::string to_text(Expr root);

}  // namespace daedalus::expr
