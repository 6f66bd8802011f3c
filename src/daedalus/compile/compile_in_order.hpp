#pragma once

#include <vector>

#include "daedalus/compile/compile.hpp"

namespace daedalus::compile {

/// As compile. What the outputs use of `first` is computed first and in this order: for callers who know a good one.
Function compile_in_order(const Request& request, const std::vector<expr::Expr>& first, Switches& switches);

}  // namespace daedalus::compile
