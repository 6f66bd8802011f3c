#pragma once

#include <memory>
#include <string>

#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/stability.hpp"
#include "daedalus/model/tableau_file.hpp"

namespace daedalus::solve {

/// The method of that name: one of the table, or, where the name ends in ".toml", the Runge-Kutta method of that file.
/// Throws Error for unknown names and for faults of the file.
std::shared_ptr<const integrate::IntegratorEntry> method_named(const std::string& name);

/// Makes a method of a tableau: explicit or implicit, with the order that its coefficients have. Throws Error where c
/// are not the row sums of A, where b does not add up to 1, and where the order is below the claimed one.
integrate::IntegratorEntry tableau_method(const model::TableauFile& file);

}  // namespace daedalus::solve
