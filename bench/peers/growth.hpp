#pragma once

#include <string>

namespace daedalus::bench {

/// How preparation and right-hand side grow with the number of links of a chain: a table for people.
std::string growth_text();

}  // namespace daedalus::bench
