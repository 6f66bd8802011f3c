#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "daedalus/report/output_file.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus::report {

/// One header row, t and the columns; 17 digits, names with commas quoted.
void write_csv(std::ostream& stream, const solve::Trajectory& trajectory);

/// A name as a cell: in quotes where it contains commas, quotes or ends of lines.
std::string csv_cell(const std::string& name);
/// The header line, with its end.
std::string csv_header(const std::vector<std::string>& columns);
/// Appends one line.
void append_csv_row(std::string& text, double t, std::span<const double> values);

/// The trajectory as CSV text.
std::string to_csv(const solve::Trajectory& trajectory);

}  // namespace daedalus::report
