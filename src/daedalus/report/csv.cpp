#include "daedalus/report/csv.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <ostream>

#include "daedalus/base/error.hpp"

namespace daedalus::report {

namespace {

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + "\"";
}

}  // namespace

std::string to_csv(const solve::Trajectory& trajectory) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "t");
  for (const std::string& name : trajectory.columns) fmt::format_to(out, ",{}", quoted(name));
  fmt::format_to(out, "\n");
  for (std::size_t row = 0; row < trajectory.t.size(); ++row) {
    fmt::format_to(out, "{:.17g}", trajectory.t[row]);
    for (std::size_t column = 0; column < trajectory.columns.size(); ++column)
      fmt::format_to(out, ",{:.17g}", trajectory.value(row, column));
    fmt::format_to(out, "\n");
  }
  return fmt::to_string(text);
}

void write_csv(std::ostream& stream, const solve::Trajectory& trajectory) { stream << to_csv(trajectory); }

void write_file(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  if (file) file << text;
  if (file) file.flush();
  if (!file)
    throw Error("cannot-write", fmt::format("'{}' cannot be written: {}", path, std::strerror(errno == 0 ? EIO : errno)),
                "choose a folder that exists and may be written to");
}

}  // namespace daedalus::report
