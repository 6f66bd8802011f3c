#pragma once

#include <string>

#include "daedalus/mechanics/derive.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/start.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus::report {

// What the commands print for people: aligned, in the user's names, the next useful command at the end. `path` is the
// model as the user named it on the command line.

std::string to_text(const solve::Trajectory& trajectory);
/// What a run was already looked at with.
enum class Seen { numbers, page };
/// The line that comes after those about files.
std::string next_text(const solve::Trajectory& trajectory, const std::string& path, Seen seen);
std::string to_text(const solve::Analysis& analysis, const std::string& path);
std::string to_text(const solve::Start& start, const model::Model& model, const std::string& path);
std::string formulations_text(const std::string& name);

}  // namespace daedalus::report
