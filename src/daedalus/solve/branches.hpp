#pragma once

#include <memory>
#include <vector>

#include "daedalus/integrate/branches.hpp"
#include "daedalus/mechanics/functions.hpp"

namespace daedalus::solve {

/// Watches the holonomic constraints of a mechanism except those that are redundant everywhere; with the `frozen`
/// values of a trajectory (see compile/switches.hpp), which must outlive it. Watches none where that would cost more
/// than the motion.
integrate::BranchHooks branches_of(const std::shared_ptr<const mechanics::Functions>& functions,
                                   const std::vector<std::size_t>& redundant, const double* frozen);

/// Lets the loop choose that the ODE of a system that projects is evaluated at projected states.
void let_stages_be_projected(integrate::System& system, integrate::BranchHooks& hooks);

/// What a run says about the singular positions that it passed.
std::string passed_text(const std::vector<integrate::SingularPosition>& passed);

}  // namespace daedalus::solve
