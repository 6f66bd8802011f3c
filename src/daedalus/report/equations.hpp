#pragma once

#include <string>

#include "daedalus/mechanics/derive.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::report {

/// The equations of motion for people: M, C, dV/dq, Q, G, hidden constraints, gamma.
std::string equations_text(const mechanics::Equations& equations);

/// The acceleration level G a - gamma of a constraint by its position, which vanishes.
expr::Expr acceleration_level(const mechanics::Equations& equations, std::size_t i);

/// The same as a LaTeX document that compiles as it is. Long sums are broken, wide matrices get names for their
/// entries, and what is still too wide is scaled to the page.
std::string equations_latex(const mechanics::Equations& equations);

/// The equations of a DAE in first-order form, as text and as a LaTeX document.
std::string equations_text(const structure::DaeFunctions& dae);
std::string equations_latex(const structure::DaeFunctions& dae);

}  // namespace daedalus::report
