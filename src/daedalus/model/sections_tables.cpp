#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "daedalus/base/text.hpp"
#include "daedalus/model/reader_guard.hpp"
#include "daedalus/model/reader_state.hpp"
#include "daedalus/model/vocabulary.hpp"

namespace daedalus::model {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The cells of one line; a cell in double quotes may contain commas.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  for (std::string& cell : cells) cell = std::string(trimmed(cell));
  return cells;
}

/// Reads two columns of a CSV file with one header row. Throws Error at `place`.
void read_columns(Table& table, const std::filesystem::path& path, const Place& place) {
  std::error_code ignored;
  std::ifstream file(path);
  if (std::filesystem::is_directory(path, ignored))
    throw Error("file-not-found", fmt::format("'{}' of the table '{}' is a folder, not a file", table.file, table.name),
                "name the .csv file in it", place);
  if (!file)
    throw Error("file-not-found",
                fmt::format("the file '{}' of the table '{}' cannot be opened", table.file, table.name),
                table.file.find('\\') == std::string::npos ? "a file is found relative to the folder of the model"
                                                           : "folders are separated by '/', not by '\\'",
                place);
  std::string line;
  std::getline(file, line);
  if (line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.find('\0') != std::string::npos)
    throw Error("bad-table", fmt::format("the file '{}' is not text", table.file), "give a CSV file: names of columns, then numbers",
                place);
  const std::vector<std::string> header = cells_of(line);
  const bool headless = std::all_of(header.begin(), header.end(), [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("0123456789.eE+-") == std::string::npos;
  });
  const auto column = [&](const std::string& name) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end())
      throw Error("unknown-name", fmt::format("the file '{}' has no column '{}'", table.file, name),
                  trimmed(line).empty()                       ? "its first line is empty; it must name the columns: t,q1,q2"
                  : headless ? fmt::format("its first line has numbers; it must name the columns: {},{}", table.x_column, table.y_column)
                  : header.size() == 1 && header[0].find_first_of(";\t") != std::string::npos
                      ? "separate the columns by commas"
                      : suggest(name, header),
                  place);
    return static_cast<std::size_t>(found - header.begin());
  };
  const std::size_t x = column(table.x_column), y = column(table.y_column);
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    if (trimmed(line).empty()) continue;
    const std::vector<std::string> cells = cells_of(line);
    const auto cell = [&](std::size_t at) {
      double value = 0.0;
      const std::string text = at < cells.size() ? cells[at] : std::string{};
      const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
      const auto [end, status] = std::from_chars(begin, text.data() + text.size(), value);
      if (text.empty() || status != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        throw Error("bad-table",
                    fmt::format("line {} of '{}' has {} where a number is expected", number, table.file,
                                text.empty() ? "nothing" : "'" + text + "'"),
                    text.find(',') != std::string::npos ? "write a decimal point"
                    : text.empty()                      ? "remove the line, or fill the gap"
                                                        : "correct the file",
                    place);
      return value;
    };
    table.x.push_back(cell(x));
    table.y.push_back(cell(y));
  }
}

}  // namespace

/// Tables are declared with the names, so that path(t) is known when expressions are checked.
void Reader::declare_tables() {
  const TomlValue* tables = section("tables");
  if (tables == nullptr) return;
  for (const TomlEntry& entry : tables->entries) {
    const Place place = entry.key.place();
    if (!is_name(entry.name())) {
      fault("bad-name", fmt::format("'{}' is not a name for a table", entry.name()),
            "names consist of letters, digits and '_'", place);
    } else if (is_reserved(entry.name())) {
      fault("reserved-name", fmt::format("'{}' belongs to the language and cannot be redefined", entry.name()),
            "choose another name", place);
    } else {
      const Entity* entity = elaborator_.find(entry.name());
      if (entity != nullptr && entity->role == Role::function)
        fault("duplicate-name", fmt::format("'{}' is already a function (line {})", entry.name(), entity->place.line),
              "rename one of the two", place);
      elaborator_.declare_table(entry.name());
    }
  }
}

void Reader::read_tables() {
  if (const TomlValue* tables = section("tables"))
    for (const TomlEntry& entry : tables->entries)
      if (elaborator_.is_table(entry.name())) read_table(entry);
}

void Reader::read_table(const TomlEntry& entry) {
  const Place place = entry.key.place();
  if (!entry.value.is_table()) {
    fault("wrong-type",
          fmt::format(
              "the table '{}' is written {{ x = [...], y = [...] }} or {{ file = \"...\", x = \"...\", y = \"...\" }}",
              entry.name()),
          "", entry.value.place);
    return;
  }
  const TomlValue& value = entry.value;
  check_keys(value, fmt::format("the table '{}'", entry.name()), {"file", "x", "y", "interpolation", "outside"});
  Table table;
  table.name = entry.name();
  table.place = place;
  const auto word = [&](std::string_view key, const std::vector<std::string>& known, std::string& out) {
    const TomlValue* given = field(value, key);
    if (given == nullptr) return;
    const std::string text = text_of(*given, fmt::format("'{}'", key));
    if (text.empty()) return;
    if (std::find(known.begin(), known.end(), text) == known.end())
      fault("unknown-word", fmt::format("'{}' is not a kind of {}", text, key),
            fmt::format("write one of: {}", fmt::join(known, ", ")), given->place);
    else
      out = text;
  };
  word("interpolation", {"step", "linear", "monotone", "spline"}, table.interpolation);
  word("outside", {"hold", "error", "periodic"}, table.outside);
  const TomlValue *x = field(value, "x"), *y = field(value, "y"), *file = field(value, "file");
  if (x == nullptr || y == nullptr) {
    fault("missing-key", fmt::format("the table '{}' has no '{}'", entry.name(), x == nullptr ? "x" : "y"),
          file != nullptr ? "name a column: x = \"time\", y = \"q1\"" : "write x = [0, 1, 2], y = [0, 1, 4]", place);
    return;
  }
  bool fine = true;
  if (file != nullptr) {
    table.file = text_of(*file, "'file'");
    const std::string_view name = "write the name that the column has in the first line of the file, in quotes";
    table.x_column = text_of(*x, "'x' of a file is the name of a column and", name);
    table.y_column = text_of(*y, "'y' of a file is the name of a column and", name);
    fine = !table.file.empty() && !table.x_column.empty() && !table.y_column.empty() &&
           guarded([&] { read_columns(table, std::filesystem::path(folder_) / table.file, file->place); });
  } else {
    const auto numbers = [&](const TomlValue& list, std::string_view key, std::vector<double>& out) {
      if (!list.is_array()) {
        fault("wrong-type", fmt::format("'{}' is an array of numbers, but {} was found", key, kind_name(list)),
              list.is_text() ? "a name of a column needs file = \"...\"" : "write [0, 1, 2]", list.place);
        fine = false;
        return;
      }
      for (const TomlValue& item : list.items) {
        const std::optional<double> number = number_of(item, fmt::format("an entry of '{}'", key));
        if (number)
          out.push_back(*number);
        else
          fine = false;
      }
    };
    numbers(*x, "x", table.x);
    numbers(*y, "y", table.y);
  }
  if (!fine) return;
  if (table.x.size() != table.y.size()) {
    fault("wrong-size",
          fmt::format("the table '{}' has {} values of x and {} of y", table.name, table.x.size(), table.y.size()),
          "give as many of both", y->place);
  } else if (table.x.size() < 2) {
    fault("wrong-size", fmt::format("the table '{}' has {}", table.name, count(table.x.size(), "point")), "give at least two",
          x->place);
  } else {
    for (std::size_t i = 1; i < table.x.size(); ++i) {
      if (table.x[i] > table.x[i - 1]) continue;
      fault("not-ascending",
            fmt::format("x of the table '{}' must ascend: {} follows {} (entry {})", table.name, table.x[i],
                        table.x[i - 1], i + 1),
            table.x[i] == table.x[i - 1] ? "give one value of y for every x; a jump is two points that are close"
                                         : "sort the data",
            file != nullptr || i >= x->items.size() ? x->place : x->items[i].place);
      return;
    }
    if (table.outside == "periodic" && table.interpolation != "step" && table.y.front() != table.y.back()) {
      fault("bad-table",
            fmt::format("the table '{}' is to repeat, but it begins with y = {} and ends with y = {}", table.name,
                        brief(table.y.front()), brief(table.y.back())),
            "let the last value be the first one again, or write interpolation = \"step\"",
            file != nullptr || y->items.empty() ? y->place : y->items.back().place);
      return;
    }
    elaborator_.graph().define_table(table.name, interpolant_of(table));
    model_.tables.push_back(std::move(table));
  }
}

}  // namespace daedalus::model
