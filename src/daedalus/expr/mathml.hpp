#pragma once

#include <string>

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// The expression as presentation MathML, one element without the <math> around it: <mfrac>, <msqrt>, dots over the
/// letter, Greek names as letters. An expression that would need more than about 200,000 characters becomes an <mtext>
/// that says so: half an expression would not be well-formed.
std::string to_mathml(Expr root);

/// A name as MathML: "theta_1" is a theta with the subscript 1, "der(x,2)" an x with two dots.
std::string name_to_mathml(const std::string& name);

/// Text in which &, <, > and quotes are written as entities, for MathML and HTML.
std::string escape_markup(const std::string& text);

}  // namespace daedalus::expr
