#pragma once

#include <string>

#include "daedalus/solve/control.hpp"

namespace daedalus::report {

/// "-1 + 2i", without what is round-off beside the rest.
std::string value_text(solve::Complex value);

/// Lines on stability and impulses, and on every mode where there are inputs or outputs; `all_modes` lists them without, too.
std::string mode_lines(const solve::ModeAnalysis& modes, bool all_modes);
/// A JSON object with "modes", "stability", and what inputs and outputs do with modes and impulses, where there are some.
std::string modes_json(const solve::ModeAnalysis& modes);

}  // namespace daedalus::report
