#pragma once

#include <map>
#include <string_view>

namespace daedalus::cli {

/// The models of the project by name, as texts: CMake puts them into the program.
const std::map<std::string_view, std::string_view>& shipped_models();

}  // namespace daedalus::cli
