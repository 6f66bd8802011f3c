#include "daedalus/report/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/hdf5.hpp"

namespace daedalus::report {

namespace {

constexpr std::size_t recent_rows = 10;

/// What can be given instead.
std::string taken_files(ResultUse use) {
  return use == ResultUse::restart ? "--restart takes a .csv, .json or .h5 file that `daedalus simulate --output` wrote"
                                   : "--reference takes a .csv, .json or .h5 file as `daedalus simulate --output` writes it";
}

[[noreturn]] void bad(const ResultRow& row, const std::string& what) {
  if (row.use == ResultUse::reference)
    throw Error("bad-result-file", fmt::format("'{}' is no result to compare with: {}", row.path, what), taken_files(row.use));
  throw Error("bad-result-file", fmt::format("'{}' is no result to continue from: {}", row.path, what),
              "give a .csv, .json or .h5 file that `daedalus simulate --output` wrote");
}

[[noreturn]] void no_row(const ResultRow& row, std::optional<double> until, std::optional<double> first) {
  if (!first)
    throw Error("no-such-row", fmt::format("'{}' has no complete row", row.path),
                row.use == ResultUse::reference ? "give a file with at least one row"
                                                : "leave --restart out to start from the beginning");
  throw Error("no-such-row",
              fmt::format("'{}' has no row at or before t = {}: it begins at t = {}", row.path, shortest(*until),
                          shortest(*first)),
              fmt::format("ask for a time from t = {} on", shortest(*first)));
}

std::optional<double> number(std::string_view text) {
  double value = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Cells of a line, with the quotes of names that contain commas taken off.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> result(1);
  bool inside = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && inside && i + 1 < line.size() && line[i + 1] == '"') {
      result.back() += '"';
      ++i;
    } else if (c == '"') {
      inside = !inside;
    } else if (c == ',' && !inside) {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

/// The numbers of a line, as many as there are columns.
std::vector<double> numbers_of(const ResultRow& row, const std::string& line, std::size_t line_number) {
  std::vector<double> numbers;
  for (const std::string& cell : cells(line)) {
    const std::optional<double> value = number(cell);
    if (!value) bad(row, fmt::format("line {} has '{}' where a number should be", line_number, cell));
    numbers.push_back(*value);
  }
  if (numbers.size() != row.columns.size() + 1)
    bad(row, fmt::format("line {} has {} for {}", line_number, count(numbers.size(), "number"),
                         count(row.columns.size() + 1, "column")));
  return numbers;
}

/// Reads line by line and, to continue from it, keeps one row only: files may be larger than the memory.
void read_csv(ResultRow& row, std::ifstream& file, std::optional<double> until) {
  std::string line;
  std::array<std::string, recent_rows> last;  // in turn
  const auto next = [&] {
    if (!std::getline(file, line)) return false;
    // No end of line: the writer was stopped in the middle of it. A person who typed a reference may have left it out.
    if (file.eof() && row.use == ResultUse::restart) {
      row.torn = true;
      return false;
    }
    return true;
  };
  const auto without_return = [](std::string_view text) {
    return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
  };
  if (!next()) {
    if (row.torn && !line.starts_with("t,")) bad(row, "the first line does not begin with a column 't'");
    no_row(row, until, std::nullopt);
  }
  row.columns = cells(without_return(line));
  if (row.columns.front() != "t") bad(row, "the first line does not begin with a column 't'");
  row.columns.erase(row.columns.begin());
  std::uintmax_t position = line.size() + 1;
  std::optional<double> first;
  std::size_t line_number = 1;
  while (next()) {
    ++line_number;
    position += line.size() + 1;
    const std::string_view text = without_return(line);
    const std::optional<double> t = number(text.substr(0, text.find(',')));
    if (!t) bad(row, fmt::format("line {} does not begin with a number", line_number));
    if (!first) first = t;
    if (until && *t > *until) {
      ++row.rows_after;
      continue;
    }
    ++row.rows;
    row.t = *t;
    row.bytes = position;
    last[row.rows % recent_rows].assign(text);
    if (row.use == ResultUse::reference) {
      const std::vector<double> numbers = numbers_of(row, last[row.rows % recent_rows], line_number);
      if (!row.all_t.empty() && numbers.front() < row.all_t.back())
        bad(row, fmt::format("line {} has an earlier time than the line before", line_number));
      row.all_t.push_back(numbers.front());
      row.all_values.insert(row.all_values.end(), numbers.begin() + 1, numbers.end());
    }
  }
  if (row.rows == 0) no_row(row, until, first);
  for (std::size_t back = std::min(row.rows, recent_rows); back > 0; --back) {
    const std::size_t number_of_row = row.rows - back + 1;
    const std::vector<double> numbers = numbers_of(row, last[number_of_row % recent_rows], number_of_row + 1);
    row.recent_t.push_back(numbers.front());
    row.recent_values.emplace_back(numbers.begin() + 1, numbers.end());
  }
  row.values = row.recent_values.back();
}

/// Keeps the rows of a table up to the wanted one.
void choose(ResultRow& row, const std::vector<double>& t, const std::vector<std::vector<double>>& values,
            std::optional<double> until) {
  if (t.empty()) no_row(row, until, std::nullopt);
  for (std::size_t column = 0; column < values.size(); ++column)
    if (values[column].size() != t.size())
      bad(row, fmt::format("the column '{}' has {} for {}", row.columns[column],
                                count(values[column].size(), "number"), count(t.size(), "time")));
  row.rows = t.size();
  while (until && row.rows > 0 && t[row.rows - 1] > *until) --row.rows;
  if (row.rows == 0) no_row(row, until, t.front());
  row.rows_after = t.size() - row.rows;
  row.t = t[row.rows - 1];
  row.all_t.assign(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(row.rows));
  row.all_values.reserve(row.rows * values.size());
  for (std::size_t i = 0; i < row.rows; ++i)
    for (const auto& column : values) row.all_values.push_back(column[i]);
  for (std::size_t i = row.rows - std::min(row.rows, recent_rows); i < row.rows; ++i) {
    row.recent_t.push_back(t[i]);
    row.recent_values.emplace_back();
    for (const auto& column : values) row.recent_values.back().push_back(column[i]);
  }
  row.values = row.recent_values.back();
}

void read_json(ResultRow& row, std::ifstream& file, std::optional<double> until) {
  const auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  if (json.is_discarded()) bad(row, "it is not JSON");
  if (!json.is_object() || !json.contains("t") || !json.contains("values") || !json["values"].is_object())
    bad(row, "it has no 't' and 'values'");
  if (json.contains("model") && json["model"].is_string()) row.model = json["model"];
  const auto series = [&](const nlohmann::ordered_json& list, const std::string& name) {
    if (!list.is_array()) bad(row, fmt::format("'{}' is not a list of numbers", name));
    std::vector<double> numbers;
    numbers.reserve(list.size());
    for (const auto& value : list) {
      if (!value.is_number() && !value.is_null()) bad(row, fmt::format("'{}' is not a list of numbers", name));
      numbers.push_back(value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>());
    }
    return numbers;
  };
  std::vector<std::vector<double>> values;
  for (const auto& [name, list] : json["values"].items()) {
    row.columns.push_back(name);
    values.push_back(series(list, name));
  }
  choose(row, series(json["t"], "t"), values, until);
}

void read_hdf5(ResultRow& row, std::optional<double> until) {
  Hdf5Table table = report::read_hdf5(row.path);
  row.model = table.model;
  row.columns = std::move(table.columns);
  choose(row, table.t, table.values, until);
}

}  // namespace

std::pair<std::string, std::optional<double>> split_restart(const std::string& text) {
  const std::size_t at = text.rfind('@');
  std::error_code ignored;
  if (at == std::string::npos || std::filesystem::exists(text, ignored)) return {text, std::nullopt};
  const std::optional<double> t = number(std::string_view(text).substr(at + 1));
  if (!t)
    throw Error("bad-option-value",
                fmt::format("--restart {}: '{}' after the @ is not a time", text, text.substr(at + 1)),
                "write for example --restart result.csv@12.5");
  return {text.substr(0, at), t};
}

ResultRow read_result(const std::string& path, std::optional<double> until, ResultUse use) {
  ResultRow row;
  row.use = use;
  row.path = path;
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || std::filesystem::is_directory(path, ignored))
    throw Error("file-not-found",
                fmt::format("the result '{}' cannot be read: {}", path,
                            std::strerror(file         ? EISDIR
                                          : errno == 0 ? EIO
                                                       : errno)),
                taken_files(use));
  if (path.ends_with(".csv")) {
    read_csv(row, file, until);
  } else if (path.ends_with(".json")) {
    read_json(row, file, until);
  } else if (path.ends_with(".h5")) {
    read_hdf5(row, until);
  } else {
    throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say how to read it", path),
                taken_files(use));
  }
  return row;
}

void require_columns(const ResultRow& row, const std::vector<std::string>& columns) {
  if (columns == row.columns) return;
  const auto lacks = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) == names.end();
  };
  std::string what = "its columns are in another order";
  for (const std::string& name : row.columns)
    if (lacks(columns, name)) what = fmt::format("it has a column '{}' that this run does not have", name);
  for (const std::string& name : columns)
    if (lacks(row.columns, name)) what = fmt::format("it has no column '{}' as this run has", name);
  throw Error("restart-columns", fmt::format("'{}' cannot be continued: {}", row.path, what),
              "give --output another name; --restart reads this file all the same");
}

}  // namespace daedalus::report
