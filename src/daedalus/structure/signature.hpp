#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daedalus/expr/graph.hpp"
#include "daedalus/linalg/sparsity.hpp"
#include "daedalus/model/model.hpp"

namespace daedalus::structure {

/// Equations between unknown functions of time, of any order, as their author wrote and named them.
struct EquationSet {
  struct Unknown {
    std::string name;
    std::vector<expr::Expr> derivatives;  ///< symbols of x, x', x'', ..., as many as may occur
    std::vector<double> guess;            ///< their start values
    double nominal = 1.0;
  };
  struct Equation {
    std::string name;
    expr::Expr residual;
    Place place;
  };
  std::shared_ptr<expr::Graph> graph;
  expr::Expr time;
  std::vector<Unknown> unknowns;
  std::vector<Equation> equations;
  std::unordered_map<expr::NodeId, double> parameters;  ///< symbols that are numbers once and for all
  std::unordered_map<expr::NodeId, double> discrete;    ///< symbols that events may change, with their start
};

/// Takes over the numbers of a model and one kind of its unknowns.
void add_numbers(EquationSet& system, const model::Model& model);
void add_unknown(EquationSet& system, const model::Unknown& unknown);

/// The equations of a model of kind dae or linear; those of kind linear are E x' - A x - f. Kind linear may have more
/// or fewer equations than unknowns.
EquationSet equations_of(const model::Model& model);

/// The signature matrix: sigma_ij is the highest derivative of unknown j that equation i contains. Entries that are not
/// in the pattern are "minus infinity": the unknown does not occur.
struct Signature {
  linalg::Sparsity pattern;
  std::vector<int> order;              ///< sigma_ij
  std::vector<expr::Expr> derivative;  ///< d f_i / d x_j^(sigma_ij)
};

/// The signature matrix of a system. A derivative occurs only where the equation truly depends on it: x' - x' and k*x'
/// with k = 0 do not. What stands only in conditions or in `sign` and `floor` does not count: it is constant between
/// events.
///
/// The system is that of the author, not its first-order form: offsets then say how often his own equations are
/// differentiated, and no equations der(x) = v come between them.
Signature signature_of(const EquationSet& system);

}  // namespace daedalus::structure
