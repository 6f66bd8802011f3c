#pragma once

#include <string>

#include "daedalus/solve/analysis_linear.hpp"

namespace daedalus::report {

/// What `analyze` says about the pencil of linear equations: structure, spectrum, consistent values; of a singular one
/// what is free and what must hold.
std::string linear_lines(const solve::LinearFindings& findings);

}  // namespace daedalus::report
