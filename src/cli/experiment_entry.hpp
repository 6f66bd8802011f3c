#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daedalus/report/findings.hpp"

namespace daedalus::cli {

/// An experiment of one of the documents in docs/sources.md, done again. A file in experiments/ defines one.
struct ExperimentEntry {
  std::string name;    ///< number of the document and what it is: "001-table1"
  std::string title;   ///< "Example 2.1 in three forms"
  std::string source;  ///< "001, Führer and Leimkuhler, Table 1"
  std::function<report::Findings()> run;
};

const std::vector<ExperimentEntry>& experiments();

}  // namespace daedalus::cli
