#pragma once

#include <functional>
#include <memory>

#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// A method that works in the local coordinates of a system (System::local) and shows states of the whole system.
/// Coordinates change between steps, after everything inside the last one was asked for.
std::unique_ptr<Stepper> in_local_coordinates(const System& system,
                                              std::function<std::unique_ptr<Stepper>(const System&)> make);

}  // namespace daedalus::integrate
