#pragma once

#include <memory>

#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::solve {

/// The equations of a DAE differentiated as its structure asks for; null where the index is 1 at most, so that nothing need
/// be differentiated, and where the differentiated equations do not determine the highest derivatives: the structure is
/// then misleading.
std::shared_ptr<const structure::DaeFunctions> reduced(const std::shared_ptr<const structure::DaeFunctions>& as_written);

}  // namespace daedalus::solve
