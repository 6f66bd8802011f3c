#pragma once

#include <string>
#include <vector>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/regularity_watch.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::solve {

/// Watches whether the equations of a DAE, as they are run, go on to determine derivatives and algebraic unknowns; with the
/// `frozen` values of a trajectory (see compile/switches.hpp), which must outlive it. Watches nothing where they do not from
/// the start, as where some derivatives follow from combinations of the equations only, or where they are run by their
/// derivative array.
integrate::RegularityHooks regularity_of(const Prepared& prepared, const Start& start, const formulate::Formulated& formulated,
                                         const double* frozen);

/// What a run says about the singular points that it passed.
std::string passed_text(const std::vector<integrate::SingularPoint>& passed);

}  // namespace daedalus::solve
