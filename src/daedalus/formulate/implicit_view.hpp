#pragma once

#include <memory>

#include "daedalus/compile/implicit_function.hpp"
#include "daedalus/integrate/system.hpp"

namespace daedalus::formulate {

/// F(t, y, y') = 0 as integrators see it: residual, Jacobians and time derivative. Index, powers and `derivative` are left
/// to the caller. Evaluations read the frozen values that `frozen` points to.
integrate::ImplicitSystem implicit_view(std::shared_ptr<const compile::ImplicitFunction> function,
                                        std::shared_ptr<const double*> frozen);

}  // namespace daedalus::formulate
