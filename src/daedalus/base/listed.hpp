#pragma once

#include <string>
#include <vector>

namespace daedalus {

/// Names in words: "a", "a and b", "a, b and c"; of many names the first ones, and how many more there are.
std::string listed(const std::vector<std::string>& names);

}  // namespace daedalus
