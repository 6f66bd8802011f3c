#pragma once

#include <vector>

#include "daedalus/linalg/matching.hpp"

namespace daedalus::structure {

using linalg::Matching, linalg::unmatched;

/// Some equations and unknowns, ascending.
struct Part {
  std::vector<std::size_t> rows, columns;
};

/// The coarse decomposition of a pattern: every equation and every unknown is in exactly one part. The first equations
/// have more unknowns than they can determine, the last have fewer unknowns than equations, and
///     (under  *     *  )
///     (      well   *  )
///     (            over)
/// where the places left blank are zero. All three are the same for every largest matching.
struct CoarseParts {
  Part under, well, over;
};
CoarseParts coarse_parts(const linalg::Sparsity& pattern, const Matching& matching);

/// The rows and their partners in blocks that cannot be divided further, in the order in which they can be solved: a
/// block contains unknowns of its own and of blocks before it. Rows without partner are left out. A block of several
/// rows is a loop: each of its unknowns needs all of the others.
std::vector<Part> solution_order(const linalg::Sparsity& pattern, const Matching& matching);

}  // namespace daedalus::structure
