#include "daedalus/report/findings.hpp"

#include <fmt/format.h>

#include <cctype>

#include "daedalus/report/text_parts.hpp"

namespace daedalus::report {

namespace {

std::string row_of(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", joined(cells, " | ")); }

std::string table_of(const FindingsTable& table) {
  std::string text = table.caption.empty() ? "" : table.caption + "\n\n";
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    text += row_of(table.rows[i]);
    if (i == 0) text += row_of(std::vector<std::string>(table.rows[i].size(), "---"));
  }
  return text + "\n";
}

/// The name a heading gets in a link.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading)
    if (c == ' ' || c == '-')
      anchor += '-';
    else if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return anchor;
}

std::string section_of(const Findings& one) {
  std::string text = fmt::format("## {}\n\n`{}`: {}\n\n{}\n\n", one.title, one.name, one.source, one.setting);
  if (!one.commands.empty())
    text += fmt::format("```sh\n./daedalus {}\n```\n\n", joined(one.commands, "\n./daedalus "));
  for (const FindingsTable& table : one.tables) text += table_of(table);
  for (const FindingsFigure& figure : one.figures)
    text += fmt::format("![{}](pictures/{}.svg)\n\n", figure.caption, figure.name);
  return text + one.verdict + "\n";
}

}  // namespace

std::string to_text(const Findings& findings) {
  std::string text =
      fmt::format("{}: {}\n{}\n\n{}\n\n", findings.name, findings.title, findings.source, findings.setting);
  for (const FindingsTable& one : findings.tables)
    text += (one.caption.empty() ? "" : one.caption + "\n\n") + table(one.rows) + "\n";
  return text + findings.verdict + "\n";
}

std::string findings_page(const std::vector<Findings>& all, const std::string& command) {
  std::string text = fmt::format(
      "# The documents' experiments, done again\n\n"
      "Numbers of the [documents](sources.md) beside those of Daedalus. This page is written by the command below, "
      "pictures\n"
      "included; do not edit it.\n\n"
      "```sh\n./{}\n```\n\n"
      "`./daedalus reproduce NAME` does one of them and prints its tables. Models are in [models](../models).\n\n",
      command);
  FindingsTable contents{"", {{"name", "experiment", "document"}}};
  for (const Findings& one : all)
    contents.rows.push_back(
        {fmt::format("`{}`", one.name), fmt::format("[{}](#{})", one.title, anchor_of(one.title)), one.source});
  text += table_of(contents);
  for (const Findings& one : all) text += section_of(one) + "\n";
  text.pop_back();
  return text;
}

}  // namespace daedalus::report
