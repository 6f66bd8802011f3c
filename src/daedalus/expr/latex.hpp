#pragma once

#include <string>

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// The expression for LaTeX: \frac, \dot{x}, \lambda_{\mathrm{rod}}, Greek names as letters. Long ones are cut as in
/// to_text.
std::string to_latex(Expr root);

/// A name for LaTeX: "theta_1" is \theta_{1}, "der(x,2)" is \ddot{x}.
std::string name_to_latex(const std::string& name);

}  // namespace daedalus::expr
