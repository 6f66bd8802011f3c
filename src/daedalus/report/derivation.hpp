#pragma once

#include <string>

#include "daedalus/solve/derivation.hpp"

namespace daedalus::report {

/// A derivation step by step: as text, as a LaTeX document and as JSON.
std::string steps_text(const structure::Derivation& derivation);
std::string steps_latex(const structure::Derivation& derivation);
std::string steps_json(const structure::Derivation& derivation);

}  // namespace daedalus::report
