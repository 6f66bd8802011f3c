#pragma once

#include <string>
#include <vector>

#include "daedalus/base/options.hpp"

namespace daedalus::report {

// What texts for people are made of.

/// "label     text", further lines indented below the text.
std::string line(const std::string& label, const std::string& text);

std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ");

/// A table with aligned columns; the last column is not padded.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// One line for every option of a method or formulation.
std::string option_lines(const std::vector<OptionSpec>& options);
/// "alpha (default 0.5): node of the second stage".
std::string option_text(const OptionSpec& option);

}  // namespace daedalus::report
