#pragma once

#include <utility>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::report {

/// Expressions in which parts that occur more than once have names.
struct SharedParts {
  std::vector<std::pair<expr::Expr, expr::Expr>> parts;  ///< name and meaning; a part uses only earlier ones
  std::vector<expr::Expr> roots;
};

/// Names repeated parts of expressions that would fill pages if they were written out; leaves others as they are.
SharedParts shared_parts(const std::vector<expr::Expr>& roots);

}  // namespace daedalus::report
