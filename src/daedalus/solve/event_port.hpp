#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daedalus/compile/switches.hpp"
#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::solve {

/// What events need to know of the equations of a model.
struct EventSymbols {
  std::shared_ptr<const model::Model> model;
  expr::Expr t;
  compile::Switches switches;                                ///< of the equations, discrete values held
  std::vector<expr::Expr> constraints;                       ///< what states have to meet besides
  std::vector<std::vector<expr::Expr>> blocks;               ///< of symbols that `when` and resets may use; t first
  std::size_t state_blocks = 0;                              ///< so many of them are the state itself
  std::unordered_map<expr::NodeId, expr::Expr> replacement;  ///< reaction forces by what they are
};
EventSymbols event_symbols(const formulate::Equations& equations);

/// What events need to do with the numbers of a trajectory.
struct EventPort {
  /// Finds the values of all blocks at a state; with `Depth::state` those of the state alone.
  enum class Depth { state, all };
  std::function<integrate::Evaluation(const double& t, const double* x, Depth depth,
                                      std::vector<const double*>& inputs)>
      look;
  /// So many blocks come from the state alone, where that are more than EventSymbols says: the view decides it.
  std::size_t state_blocks = 0;
  /// x' where it can be told; 0 for unknowns without a derivative.
  std::function<integrate::Evaluation(double t, const double* x, double* dx)> slope;
  /// Puts new values (by name) into the state and makes it consistent again around them. Answers why that is
  /// impossible.
  std::function<std::string(double t, double* x, const std::vector<std::pair<std::string, double>>& values)> assign;
  /// Solves for the algebraic unknowns of the state, where there are any, with the modes in force now; absent where there
  /// are none. A dense output gives them with its own error: a run that goes on from there would see them jump in the first
  /// step, and a function of them that has just crossed its bound come back.
  std::function<void(double t, double* x)> complete;
  /// Told when the modes at the start are known; absent where nobody asks.
  std::function<void()> begun;
  std::function<std::string()> explain;
};
/// Values that are constant between events, as they are at every moment.
struct Held {
  const double* frozen = nullptr;    ///< all of them: see compile/switches.hpp
  const double* discrete = nullptr;  ///< those of [discrete]
};
EventPort event_port(const formulate::Equations& equations, formulate::Formulated& formulated, const Held& held);

/// Refuses resets of what follows from the equations.
void check_resets(const formulate::Equations& equations);

}  // namespace daedalus::solve
