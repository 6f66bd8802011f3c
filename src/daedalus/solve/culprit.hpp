#pragma once

#include <string>

#include "daedalus/base/error.hpp"
#include "daedalus/model/model.hpp"

namespace daedalus::solve {

/// Where the constraint, equation or event stands that a message names first, in quotes. No place where it names none.
Place place_of_culprit(const std::string& message, const model::Model& model);

}  // namespace daedalus::solve
