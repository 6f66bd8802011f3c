#pragma once

#include <string>

#include "daedalus/mechanics/derive.hpp"

namespace daedalus::report {

/// The equations of motion for people: M, C, dV/dq, Q, G, hidden constraints, gamma.
std::string equations_text(const mechanics::Equations& equations);

/// The same as a LaTeX document that compiles as it is.
std::string equations_latex(const mechanics::Equations& equations);

}  // namespace daedalus::report
