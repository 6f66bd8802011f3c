#pragma once

#include "daedalus/model/model.hpp"

namespace daedalus::model {

/// Checks what can be said only of whole expressions, after definitions were put in: what may stand where, degrees in
/// the velocities, constraints without unknowns. The reader and the builder share it.
void check_model(const Model& model, Faults& faults);

/// Checks that outputs, events, plots, drawings and starts use only derivatives that the equations determine, and that
/// invariants use only the state.
void check_derivatives(const Model& model, Faults& faults);

/// Checks that there are as many equations as unknowns, and otherwise names the part of the model that has too many or
/// too few (maximum matching and the coarse decomposition of Dulmage and Mendelsohn, 1958).
void check_balance(const Model& model, Faults& faults);

/// Which variables each equation contains, by their places.
using Occurrences = std::vector<std::vector<std::size_t>>;

/// Checks that every variable of a square model of kind dae or linear can have an equation of its own.
void check_assignment(const Model& model, const Occurrences& occurrences, Faults& faults);

}  // namespace daedalus::model
