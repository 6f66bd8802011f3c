#pragma once

#include <string>

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// The expression in the language of the model file, as a person would write it: "m*l^2*cos(phi) - 2*x". Reading the
/// text again gives the same value up to rounding (a + (b + c) is written without parentheses). A text of more than
/// about four million characters is cut and ends in " ...".
std::string to_text(Expr root);

/// The expression for LaTeX: \frac, \dot{x}, \lambda_{\mathrm{rod}}, Greek names as letters.
std::string to_latex(Expr root);

/// A name for LaTeX: "theta_1" is \theta_{1}, "der(x,2)" is \ddot{x}.
std::string name_to_latex(const std::string& name);

}  // namespace daedalus::expr
