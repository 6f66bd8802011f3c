#include "daedalus/report/csv.hpp"

#include <fmt/format.h>

#include <iterator>
#include <ostream>

namespace daedalus::report {

std::string csv_cell(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

std::string csv_header(const std::vector<std::string>& columns) {
  std::string text = "t";
  for (const std::string& name : columns) text += "," + csv_cell(name);
  return text + "\n";
}

void append_csv_row(std::string& text, double t, std::span<const double> values) {
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{:.17g}", t);
  for (const double value : values) fmt::format_to(out, ",{:.17g}", value);
  text += '\n';
}

std::string to_csv(const solve::Trajectory& trajectory) {
  std::string text = csv_header(trajectory.columns);
  const std::size_t width = trajectory.columns.size();
  for (std::size_t row = 0; row < trajectory.t.size(); ++row)
    append_csv_row(text, trajectory.t[row], std::span(trajectory.values).subspan(row * width, width));
  return text;
}

void write_csv(std::ostream& stream, const solve::Trajectory& trajectory) { stream << to_csv(trajectory); }

}  // namespace daedalus::report
