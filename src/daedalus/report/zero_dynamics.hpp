#pragma once

#include <string>

#include "daedalus/solve/zero_dynamics.hpp"

namespace daedalus::report {

/// Lines behind those of an analysis.
std::string to_text(const solve::ZeroDynamics& zero);
/// The JSON object of an analysis with one more member, `zero_dynamics`.
std::string with_zero_dynamics(const std::string& analysis, const solve::ZeroDynamics& zero);

}  // namespace daedalus::report
