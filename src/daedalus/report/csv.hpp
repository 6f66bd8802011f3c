#pragma once

#include <iosfwd>
#include <string>

#include "daedalus/solve/trajectory.hpp"

namespace daedalus::report {

/// One header row, t and the columns; 17 digits, names with commas quoted.
void write_csv(std::ostream& stream, const solve::Trajectory& trajectory);

/// Writes text to a file. Throws Error("cannot-write") that says why.
void write_file(const std::string& path, const std::string& text);

/// The trajectory as CSV text.
std::string to_csv(const solve::Trajectory& trajectory);

}  // namespace daedalus::report
