#include <fmt/format.h>

#include "daedalus/report/methods.hpp"
#include "daedalus/report/text_parts.hpp"

namespace daedalus::report {

using integrate::IntegratorEntry;

namespace {

std::string title_of(Group group) {
  switch (group) {
    case Group::explicit_methods:
      return "Explicit methods";
    case Group::implicit_methods:
      return "Implicit one-step methods";
    case Group::multistep_methods:
      return "Multistep methods";
    case Group::mechanical_methods:
      return "Methods for constrained mechanics";
  }
  return "";
}

std::string page_of(const IntegratorEntry& entry) {
  std::string text = fmt::format("### {}\n\n{}.\n\n", entry.name, entry.summary);
  text +=
      fmt::format("- order {}, stages {}, dense output of order {}\n", entry.order, entry.stages, entry.dense_order);
  for (const std::string& orders : index_orders_of(entry)) text += fmt::format("- order {}\n", orders);
  if (const std::string stability = stability_of(entry); !stability.empty()) text += fmt::format("- {}\n", stability);
  text += fmt::format("- takes: {}\n- with `--rtol`: {}\n", systems_of(entry), control_of(entry));
  for (const OptionSpec& option : entry.options) text += fmt::format("- option {}\n", option_text(option));
  for (const std::string& note : entry.notes) text += fmt::format("- note: {}\n", note);
  text += fmt::format("- source: {}\n\n", entry.citation);
  if (entry.tableau) text += fmt::format("```\n{}```\n\n", tableau_text(*entry.tableau));
  return text;
}

/// `|` would end a cell.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) text.insert(at, "\\");
  return text;
}

}  // namespace

std::string methods_markdown() {
  std::string text =
      "# The catalogue of methods\n\nPrinted by `daedalus methods --format markdown`; do not edit it. "
      "[Methods](methods.md) says "
      "which to take.\n";
  for (const Group group :
       {Group::explicit_methods, Group::implicit_methods, Group::multistep_methods, Group::mechanical_methods}) {
    std::string rows, pages;
    for (const IntegratorEntry& entry : integrate::integrators()) {
      if (group_of(entry) != group) continue;
      rows += fmt::format("| [{}](#{}) | {} | {} | {} | {} |\n", entry.name, entry.name, entry.order, entry.stages,
                          cell(joined(entry.properties)), cell(systems_of(entry)));
      pages += page_of(entry);
    }
    if (rows.empty()) continue;
    text += fmt::format(
        "\n## {}\n\n| name | order | stages | properties | takes |\n| --- | --- | --- | --- | --- |\n{}\n{}",
        title_of(group), rows, pages);
    text.pop_back();
  }
  return text;
}

}  // namespace daedalus::report
