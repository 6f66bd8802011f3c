#pragma once

#include <string>

#include "daedalus/solve/start.hpp"

namespace daedalus::report {

/// Which values can be given freely.
std::string choice_lines(const solve::FreeValues& free);

/// The branches of a start: where they differ, how far they are from the guess, which one was taken.
std::string branch_lines(const solve::Start& start);

}  // namespace daedalus::report
