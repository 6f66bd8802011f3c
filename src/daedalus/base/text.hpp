#pragma once

#include <string>
#include <string_view>

namespace daedalus {

/// The shortest decimal text that reads back as the same double ("0.1", "2.5e-07", "3").
std::string shortest(double value);

/// A number for people: about `digits` significant digits, no trailing zeros.
std::string brief(double value, int digits = 6);

/// "1 constraint", "3 constraints".
std::string count(std::size_t number, std::string_view noun);

}  // namespace daedalus
