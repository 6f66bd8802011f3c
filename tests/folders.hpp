#pragma once

#include <string>

namespace daedalus::tests {

/// Where the project and its build lie. Their names are compiled into one file alone: a second clone finds the objects of
/// all others in the cache.
std::string source_folder();
std::string build_folder();

}  // namespace daedalus::tests
