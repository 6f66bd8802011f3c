#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace daedalus::structure {

/// What a combination of equations or of unknowns is made of: which of them, how often differentiated, and their
/// factors.
using Recipe = std::map<std::pair<std::size_t, std::size_t>, double>;

/// Adds factor * (other, differentiated so often) to a recipe, without what cancels but for round-off.
void add(Recipe& recipe, double factor, const Recipe& other, std::size_t times);

/// "x - 0.5*der(y)"; of long ones the first terms and how many there are.
std::string text_of(const Recipe& recipe, const std::vector<std::string>& names);

}  // namespace daedalus::structure
