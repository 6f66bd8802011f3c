#pragma once

#include "peers/contest.hpp"

namespace daedalus::bench {

/// The names of all problems, in order.
std::vector<std::string> problem_names();
/// Reads, derives and compiles a problem of that name and gathers the programs that solve it. `models` is the folder of the
/// model files, `reference` below it that of their values.
Problem make_problem(const std::string& name, const std::string& models);

}  // namespace daedalus::bench
