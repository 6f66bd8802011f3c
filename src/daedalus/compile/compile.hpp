#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "daedalus/compile/function.hpp"
#include "daedalus/compile/switches.hpp"
#include "daedalus/expr/graph.hpp"

namespace daedalus::compile {

/// What a function shall compute.
struct Request {
  std::vector<std::vector<expr::Expr>> inputs;  ///< blocks of symbols
  std::vector<expr::Expr> outputs;
  /// Symbols that are numbers (parameters); folded into the code.
  const std::unordered_map<expr::NodeId, double>* numbers = nullptr;
  /// What is only looked at (outputs, pictures) adds no switches: conditions that nothing else decides follow their values.
  enum class NewSwitches { added, none } new_switches = NewSwitches::added;
};

/// Compiles expressions to a function: a register tape whose slots are reused, run by an interpreter. The time is
/// proportional to the size of what the outputs use. Throws InternalError for a symbol that is neither input nor
/// number, Error("unknown-table") for a table without data.
Function compile(const Request& request, Switches& switches);

}  // namespace daedalus::compile
