#pragma once

#include <memory>

#include "daedalus/mechanics/functions.hpp"

namespace daedalus::mechanics {

/// All constraints on a state at once, h(t, x) = (g, G v + g_t) with x = (q, v): a row per holonomic constraint, then one
/// per constraint. Its derivative is
///     C = [ G                 0 ]
///         [ d(G v + g_t)/dq   G ].
std::shared_ptr<const compile::StateEquations> stack_constraints(const Functions& functions);

}  // namespace daedalus::mechanics
