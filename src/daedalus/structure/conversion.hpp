#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "daedalus/structure/dae_functions.hpp"
#include "daedalus/structure/structural_analysis.hpp"

namespace daedalus::structure {

/// Begins the names of equations that say what a combined unknown is.
inline constexpr std::string_view definition_of = "definition of ";

/// A model with the same solutions as another one whose structure deceives, and a structure that does not: some of its
/// equations are combinations of the author's, and unknowns that are combinations of his come after his own.
struct Converted {
  std::shared_ptr<const model::Model> author, model;
  int index = 0;    ///< at most: the author's equations are differentiated so often, or once less
  Offsets offsets;  ///< of `model`, with all derivatives that the author's text contains
  /// The combined equations by their names, which say how they are made: "p - 2*q + der(r)".
  std::vector<std::string> equations;
  /// The combined unknowns by theirs: "x - 0.5*y".
  std::vector<std::string> unknowns;
  std::unordered_map<expr::NodeId, expr::Expr> meaning;  ///< of their symbols, in the author's unknowns
};

/// Repairs the structure of a model of kind dae or linear whose system Jacobian is singular wherever it is tried, by
/// combinations with constant coefficients, until it is regular somewhere near the start (t, and start values by name).
/// Nothing where no such combinations exist: the coefficients then depend on the state, or the equations on each other.
std::optional<Converted> repair_structure(const std::shared_ptr<const model::Model>& author, double t,
                                          const std::unordered_map<std::string, double>& start);

/// The equations of a repaired model with everything differentiated that must be, of index 1 at most (see compile_dae
/// with offsets). What is written of a state are the author's columns.
std::shared_ptr<const DaeFunctions> compile_dae(const Converted& converted);

}  // namespace daedalus::structure
