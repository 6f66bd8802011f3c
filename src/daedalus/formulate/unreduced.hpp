#pragma once

#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

/// A DAE of an index above 1 as its author wrote it, F(t, y, y') = 0, for implicit methods that take such systems: every
/// unknown with its index, rows and unknowns with the powers of h that keep Newton's matrix well conditioned. Rows of
/// results show the unknowns that are states of the differentiated equations as the method found them; the others, which
/// errors over powers of h would spoil, are computed from these.
Formulated unreduced(const Equations& equations);

}  // namespace daedalus::formulate
