#pragma once

#include <vector>

#include "daedalus/compile/compile.hpp"

namespace daedalus::compile {

/// For callers who know more about what they compile.
struct Wish {
  /// What the outputs use of these is computed first and in this order.
  std::vector<expr::Expr> first = {};
  /// The last so many outputs are notes: they are left at the front of the buffer of a call, and do not count as outputs.
  std::size_t notes = 0;
};

/// As compile.
Function compile_as_wished(const Request& request, const Wish& wish, Switches& switches);

}  // namespace daedalus::compile
