#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/command.hpp"
#include "cli/experiment_entry.hpp"
#include "cli/experiment_run.hpp"
#include "cli/progress.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/output_file.hpp"
#include "daedalus/report/text_parts.hpp"

namespace daedalus::cli {

namespace {

namespace fs = std::filesystem;

/// Those that were named, in the order of the table; all without a name.
std::vector<const ExperimentEntry*> chosen(const std::vector<std::string>& names) {
  std::vector<std::string> known;
  for (const ExperimentEntry& entry : experiments()) known.push_back(entry.name);
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error("unknown-experiment", fmt::format("there is no experiment '{}'", name), suggest(name, known));
  std::vector<const ExperimentEntry*> found;
  for (const ExperimentEntry& entry : experiments())
    if (names.empty() || std::find(names.begin(), names.end(), entry.name) != names.end()) found.push_back(&entry);
  return found;
}

int list(const std::vector<const ExperimentEntry*>& entries, const Command& command) {
  std::vector<report::Findings> all;
  std::vector<std::vector<std::string>> rows{{"experiment", "document", "what it is"}};
  for (const ExperimentEntry* entry : entries) {
    all.push_back({entry->name, entry->title, entry->source, {}, {}, {}, {}, {}});
    rows.push_back({entry->name, entry->source, entry->title});
  }
  print(command.json ? report::to_json(all) : report::table(rows));
  return done;
}

void check_page(const std::string& path) {
  if (!path.ends_with(".md"))
    throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to write", path),
                "end the name in .md");
  report::check_writable(path);
}

/// Writes the page and its pictures, which get a folder if there is none; returns how many pictures.
std::size_t write_page(const std::vector<report::Findings>& all, const Command& command) {
  std::string line = "daedalus reproduce ";
  for (const std::string& name : command.models) line += name + " ";
  const fs::path folder = fs::path(command.output).parent_path() / "pictures";
  std::error_code fault;
  fs::create_directories(folder, fault);
  std::size_t pictures = 0;
  for (const report::Findings& one : all)
    for (const report::FindingsFigure& figure : one.figures) {
      report::PlotData data;
      data.title = one.source;
      data.description = figure.made;
      data.panels = figure.panels;
      report::write_file((folder / (figure.name + ".svg")).string(), report::plot_svg(data));
      ++pictures;
    }
  report::write_file(command.output, report::findings_page(all, line + "--output " + command.output));
  return pictures;
}

}  // namespace

int reproduce(const Command& command) {
  const std::vector<const ExperimentEntry*> entries = chosen(command.models);
  if (command.list && !command.output.empty())
    throw Error("bad-command-line", "--list runs nothing that --output could write", "give one of them");
  if (command.list) return list(entries, command);
  if (!command.output.empty()) check_page(command.output);

  take_signals();
  std::vector<report::Findings> all;
  try {
    ProgressLine line(command.quiet || command.json ? ProgressLine::Show::never : ProgressLine::Show::on_terminal);
    for (const ExperimentEntry* entry : entries) {
      report::Findings findings = entry->run();
      findings.name = entry->name;
      findings.title = entry->title;
      findings.source = entry->source;
      if (!command.json && !command.quiet && command.output.empty()) {
        line.clear();
        print((all.empty() ? "" : "\n") + report::to_text(findings));
      }
      all.push_back(std::move(findings));
      line.count(all.size(), entries.size(), 0);
    }
  } catch (const ExperimentInterrupted&) {
    tell(fmt::format("interrupted: {} of {} done{}\n", count(all.size(), "experiment"), entries.size(),
                     command.output.empty() ? "" : ", nothing written"));
    return interrupted;
  }
  if (command.json) print(report::to_json(all));
  if (!command.output.empty()) {
    const std::size_t pictures = write_page(all, command);
    if (!command.json && !command.quiet)
      print(fmt::format("{:<10}{} ({}, {})\n", "wrote", command.output, count(all.size(), "experiment"),
                        count(pictures, "picture")));
  }
  return done;
}

}  // namespace daedalus::cli
