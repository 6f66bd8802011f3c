#pragma once

#include <string>
#include <vector>

#include "daedalus/report/plot.hpp"

namespace daedalus::report {

/// A table of texts; the first row has the names of the columns.
struct FindingsTable {
  std::string caption;
  std::vector<std::vector<std::string>> rows;
};

struct FindingsFigure {
  std::string name;     ///< of its file, without ending
  std::string caption;  ///< what is to be seen
  std::string made;     ///< by which method
  std::vector<Panel> panels;
};

/// What came out of an experiment that somebody else has done before. Texts are Markdown that can be read as it is.
struct Findings {
  std::string name, title, source;
  std::string setting;                ///< what the document did, and what was chosen here
  std::vector<std::string> commands;  ///< that repeat single runs
  std::vector<FindingsTable> tables;
  std::vector<FindingsFigure> figures;
  std::string verdict;  ///< what agrees, what differs, and why
};

/// For the terminal: texts and tables.
std::string to_text(const Findings& findings);
/// A page with a section for each; `command` writes it, and pictures are in the folder `pictures` beside it.
std::string findings_page(const std::vector<Findings>& all, const std::string& command);

}  // namespace daedalus::report
