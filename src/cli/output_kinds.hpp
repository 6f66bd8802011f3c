#pragma once

#include <string>

namespace daedalus::cli {

// What the names of files ask for, known before anything is computed. All throw Error.

/// Answers a folder where a file is to be written, whatever its ending.
void refuse_folder(const std::string& path, const std::string& example = "result.csv");

enum class PlotKind { none, svg, pdf };
PlotKind plot_kind_of(const std::string& path);

/// Whether a page is asked for.
bool page_asked(const std::string& path);

}  // namespace daedalus::cli
