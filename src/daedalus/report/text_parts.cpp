#include "daedalus/report/text_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"

namespace daedalus::report {

std::string line(const std::string& label, const std::string& text) { return fmt::format("{:<10}{}\n", label, text); }

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t j = 0; j < row.size(); ++j) width[j] = std::max(width[j], row[j].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string out;
    for (std::size_t j = 0; j < row.size(); ++j)
      out += j + 1 == row.size() ? row[j] : fmt::format("{:<{}}  ", row[j], width[j]);
    text += out + "\n";
  }
  return text;
}

std::string option_text(const OptionSpec& option) {
  return fmt::format("{}{}: {}", option.name,
                     option.standard        ? fmt::format(" (default {})", brief(*option.standard))
                     : option.words.empty() ? ""
                                            : fmt::format(" ({})", joined(option.words, "|")),
                     option.summary);
}

std::string option_lines(const std::vector<OptionSpec>& options) {
  std::string text;
  for (const OptionSpec& option : options) text += line(text.empty() ? "options" : "", option_text(option));
  return text;
}

}  // namespace daedalus::report
