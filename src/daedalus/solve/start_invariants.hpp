#pragma once

#include <memory>

#include "daedalus/formulate/invariants.hpp"
#include "daedalus/solve/start.hpp"

namespace daedalus::solve {

/// Tries whether the [invariants] of a model are what they are called, and independent of each other, at and near a
/// consistent start; writes what it finds, and notes where they are not.
void judge_invariants(const std::shared_ptr<const structure::DaeFunctions>& functions, const double* frozen, Start& start);
void judge_invariants(const std::shared_ptr<const mechanics::Functions>& functions, Start& start);

/// Moves a state onto the first rows of what it keeps with the least change around the values that are `fixed`, relative to
/// their size. Answers why that is impossible.
std::string meet_invariants(const formulate::Kept& kept, std::size_t rows, double t, double* x, const std::vector<bool>& fixed,
                            const double* frozen);

}  // namespace daedalus::solve
