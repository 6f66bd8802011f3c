#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "folders.hpp"

namespace daedalus::test {

/// The root of the sources under test.
inline std::filesystem::path repository() { return tests::source_folder(); }

/// Reads the lines of a file, without their ends; empty for a file that holds a zero byte, which is no text.
std::vector<std::string> lines_of(const std::filesystem::path& file);

/// Lists the files that belong to the project, relative to its root: those that git tracks or would add, or, without
/// git, all outside build folders.
std::vector<std::filesystem::path> project_files();

}  // namespace daedalus::test
