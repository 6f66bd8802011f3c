#pragma once

#include "cli/command.hpp"
#include "daedalus/model/model.hpp"

namespace daedalus::cli {

/// Refuses values of options that mean nothing, alone or together. Throws Error.
void check_values(const Command& command);

/// Refuses times and steps that do not fit the model. Throws Error.
void check_times(const Command& command, const model::Model& model);

}  // namespace daedalus::cli
