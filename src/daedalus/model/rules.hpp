#pragma once

#include "daedalus/model/name_check.hpp"

namespace daedalus::model::rules {

// What may stand where. The reader checks what is written directly, check_model what comes in through definitions.
extern const Rules parameter, definition, input, discrete, start, initial, output, event, drawing;
extern const Rules kinetic, potential, lagrangian, dissipation, force, mass, constraint, auxiliary_equation;
extern const Rules equation, invariant, matrix, linear_force;

}  // namespace daedalus::model::rules
