#pragma once

#include <memory>

#include "daedalus/structure/numerical_index.hpp"

namespace daedalus::structure {

/// A DAE whose structure does not show what must be differentiated, with the derivative array from which its motion
/// follows. Nothing of it changes after the index was found.
struct ArrayForm {
  std::shared_ptr<const DerivativeArray> array;
  NumericalIndex index;
};

}  // namespace daedalus::structure
