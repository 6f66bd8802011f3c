#pragma once

#include <string>

namespace daedalus::report {

/// Version of the program, as in CMakeLists.txt.
const char* version();

/// The commit it was configured from; "unknown" outside git.
const char* commit();

/// Version, commit, compiler and the libraries built in, on three lines.
std::string version_text();

}  // namespace daedalus::report
