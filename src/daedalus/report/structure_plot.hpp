#pragma once

#include "daedalus/report/plot_picture.hpp"
#include "daedalus/structure/structural_analysis.hpp"

namespace daedalus::report {

/// Draws the signature matrix twice: as the author wrote the equations, and in the order in which they can be solved,
/// with its blocks on the diagonal. Entries of the system Jacobian are dark, those that only bring in lower derivatives
/// pale. Where the system is structurally singular: its under-, well- and overdetermined parts. Large matrices are
/// drawn without names.
Picture structure_picture(const structure::StructuralAnalysis& structure, const std::string& model);

}  // namespace daedalus::report
