#pragma once

#include "cli/command.hpp"

namespace daedalus::cli {

/// `compare --perturb SIZE`: a map of how formulations return from violations up to that size.
int compare_perturbed(const Command& command);
/// `simulate --perturb SIZE`: the command with a start that violates every constraint by that much.
Command with_perturbed_start(Command command);

}  // namespace daedalus::cli
