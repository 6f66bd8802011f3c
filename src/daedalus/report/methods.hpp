#pragma once

#include <string>
#include <vector>

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::report {

/// The catalogue of methods for people, grouped, or all about one of them: the name may be a file with a tableau.
std::string methods_text(const std::string& name);

/// The page docs/catalogue.md: every method with its tableau.
std::string methods_markdown();

/// The kinds into which the catalogue is divided, in order.
enum class Group { explicit_methods, implicit_methods, multistep_methods, mechanical_methods };
Group group_of(const integrate::IntegratorEntry& method);
/// "explicit", "implicit", "multistep", "mechanics".
std::string name_of(Group group);

// Parts of both.

/// "ode", "ode and dae up to index 3".
std::string systems_of(const integrate::IntegratorEntry& method);
/// "index 1: 5, 5 (differential, algebraic)", one for every index that the method takes.
std::vector<std::string> index_orders_of(const integrate::IntegratorEntry& method);
/// "A-stable, L-stable; |R| tends to 0", "real axis to -2.785, imaginary axis to 2.828i".
std::string stability_of(const integrate::IntegratorEntry& method);
/// What chooses the step under --rtol.
std::string control_of(const integrate::IntegratorEntry& method);
/// The tableau with its lines, exact where it is known so.
std::string tableau_text(const integrate::Tableau& tableau);

}  // namespace daedalus::report
