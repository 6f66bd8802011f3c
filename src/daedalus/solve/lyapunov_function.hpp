#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/model/expression.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::solve {

/// What an author says about the zero dynamics eta' = q0(eta) of a model, and asks.
struct LyapunovQuestion {
  std::string W;    ///< an expression in the model's names, of states on the constraints
  std::string box;  ///< "x in 0..1 and der(x) in -1..1": states that determine all others, as many as eta has entries
  std::optional<double> gamma = {}, gamma0 = {}, beta = {};  ///< of (25) and (29): claimed; else they are found
  bool momentum = true;                                      ///< eta of mechanics, as the option psi says
};

/// What W promises on the box (Di Franco, Scarciotti, Astolfi, Theorems 2 and 3): with q0 and W_eta at xi = 0,
///     W_eta q0 <= gamma W + gamma0 (25),    |W_eta|^2 <= W_bar W (26), (32).
struct LyapunovFunction {
  std::vector<model::Range> box;
  std::size_t states = 0;      ///< that were looked at
  std::size_t violations = 0;  ///< entries of xi
  double gamma = 0.0, gamma0 = 0.0, W_bar = 0.0;
  /// gamma < 0 = gamma0: all decays. delta_bar and epsilon_bar are the least gains for that; 0 otherwise, where any
  /// will do.
  bool decays = false;
  double beta = 0.0, delta_bar = 0.0, epsilon_bar = 0.0;
  double edge = 0.0;   ///< the least W on the faces of the box: what begins with V below it cannot leave
  double start = 0.0;  ///< V = W + |xi|^2/2 at the start
};

/// Checks W for a model around a start. Throws Error that says which condition fails, where, and by how much.
LyapunovFunction check_lyapunov_function(const Prepared& prepared, const Start& start, double t,
                                         const LyapunovQuestion& question);

/// Where a formulation was given a W: checks it, adds the gains that follow to the options unless they are there, and
/// gives what was found, for people.
std::vector<std::string> follow_lyapunov_function(const Prepared& prepared, const Start& start, double t_start,
                                                  double t_end, Choice& choice);

}  // namespace daedalus::solve
