#pragma once

#include <string>
#include <vector>

#include "daedalus/solve/start_search.hpp"

namespace daedalus::solve {

/// Rows and fixed values of a start that cannot hold together, while without any one of them they can.
struct Conflict {
  bool of_bindings = false;  ///< without fixed values and [initial] there is a start: its author binds too much
  bool minimal = true;       ///< false: too large to try; the linearization names what takes part
  std::vector<std::size_t> equations, initial;  ///< rows
  std::vector<std::size_t> fixed;               ///< unknowns
  std::vector<double> unbound;                  ///< the start without fixed values and [initial], where there is one
};

/// Finds such a conflict in a problem that search() could not solve.
Conflict find_conflict(const StartProblem& problem, const linalg::GaussNewtonResult& failed);

/// "the fixed values x = 1 and y = 1 contradict 'rod'".
std::string text_of(const Conflict& conflict, const StartProblem& problem);
/// Throws Error("contradicting-fixed") with that text. `choice` says how much can be chosen; may be empty.
[[noreturn]] void refuse(const Conflict& conflict, const StartProblem& problem, const std::string& choice);

}  // namespace daedalus::solve
