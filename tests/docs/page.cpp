#include "docs/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>

#include "house/repository.hpp"

namespace daedalus::test {
namespace fs = std::filesystem;

std::vector<fs::path> page_files() {
  std::vector<fs::path> files{"README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(repository() / "docs"))
    if (entry.path().extension() == ".md") files.push_back(fs::relative(entry.path(), repository()));
  std::sort(files.begin(), files.end());
  return files;
}

Page read_page(const fs::path& file) {
  Page page{file, {}, {}};
  bool inside = false, in_comment = false, heading = true;
  std::string fence, comment;
  std::size_t number = 0;
  for (const std::string& line : lines_of(repository() / file)) {
    ++number;
    const std::size_t ticks = line.find_first_not_of('`');
    const bool is_fence = line.starts_with("```");
    if (inside) {
      if (is_fence && line == fence) {
        inside = false;
        page.blocks.back().end = number;
      } else {
        page.blocks.back().text += line + "\n";
      }
    } else if (in_comment) {
      const std::size_t end = line.find("-->");
      comment += line.substr(0, end) + "\n";
      in_comment = end == std::string::npos;
    } else if (line.starts_with("<!--")) {
      const std::size_t end = line.find("-->");
      comment = end == std::string::npos ? line.substr(4) + "\n" : line.substr(4, end - 4);
      in_comment = end == std::string::npos;
    } else if (is_fence) {
      fence = std::string(std::min(ticks, line.size()), '`');
      page.blocks.push_back({line.substr(fence.size()), {}, comment, number, 0, !heading});
      comment.clear();
      heading = false;
      inside = true;
    } else {
      if (!line.empty()) comment.clear();
      if (line.starts_with("#")) heading = true;
      page.prose.push_back({line, number});
    }
  }
  return page;
}

namespace {

std::vector<std::string> split_lines(const std::string& text) {
  std::istringstream rest(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(rest, line);) {
    while (line.ends_with(' ')) line.pop_back();
    lines.push_back(line);
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

const std::regex& number_pattern() {
  static const std::regex pattern(R"([0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)");
  return pattern;
}

/// One unit in the last place of a number as it is written.
double last_place(const std::string& text) {
  const std::size_t e = text.find('e');
  const std::string mantissa = text.substr(0, e);
  const std::size_t dot = mantissa.find('.');
  const double exponent = e == std::string::npos ? 0.0 : std::stod(text.substr(e + 1));
  const double decimals = dot == std::string::npos ? 0.0 : static_cast<double>(mantissa.size() - dot - 1);
  return std::pow(10.0, exponent - decimals);
}

bool same_number(const std::string& shown, const std::string& printed) {
  if (shown == printed) return true;
  // stod refuses numbers below 2e-308
  const double a = std::strtod(std::string(shown).c_str(), nullptr), b = std::strtod(std::string(printed).c_str(), nullptr);
  if (a < 1e-12 && b < 1e-12) return true;
  // Whole numbers are counts, which do not vary.
  if (shown.find_first_of(".e") == std::string::npos && printed.find_first_of(".e") == std::string::npos) return false;
  return std::abs(a - b) <= std::max(1.001 * std::min(last_place(shown), last_place(printed)), 1e-9 * std::abs(a));
}

bool same_line(const std::string& shown, const std::string& printed) {
  static const std::regex varying(R"([0-9.]+(e[-+]?[0-9]+)? (s|MB)\b)");
  const std::string one = std::regex_replace(shown, varying, "~ $2");
  const std::string other = std::regex_replace(printed, varying, "~ $2");
  if (std::regex_replace(one, number_pattern(), "~") != std::regex_replace(other, number_pattern(), "~")) return false;
  const std::sregex_iterator none;
  for (std::sregex_iterator a(one.begin(), one.end(), number_pattern()),
       b(other.begin(), other.end(), number_pattern());
       a != none && b != none; ++a, ++b)
    if (!same_number(a->str(), b->str())) return false;
  return true;
}

}  // namespace

std::string difference(const std::string& shown, const std::string& printed) {
  const std::vector<std::string> expected = split_lines(shown), found = split_lines(printed);
  std::size_t at = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] == "...") {
      if (i + 1 == expected.size()) return {};
      while (at < found.size() && !same_line(expected[i + 1], found[at])) ++at;
      if (at == found.size())
        return fmt::format("after `...` the page shows\n  {}\nwhich is not printed", expected[i + 1]);
      continue;
    }
    if (at == found.size()) return fmt::format("the page shows\n  {}\nbut nothing more is printed", expected[i]);
    if (!same_line(expected[i], found[at]))
      return fmt::format("the page shows\n  {}\nprinted is\n  {}", expected[i], found[at]);
    ++at;
  }
  if (at < found.size()) return fmt::format("printed, but not in the page, is\n  {}", found[at]);
  return {};
}

}  // namespace daedalus::test
