#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/compile/implicit_function.hpp"
#include "daedalus/compile/state_equations.hpp"
#include "daedalus/model/model.hpp"
#include "daedalus/structure/sigma_method.hpp"

namespace daedalus::structure {

/// A general DAE of first order, F(t, y, y') = 0, in symbols and as functions of numbers; immutable, shared by every
/// trajectory of a model. Higher derivatives have become unknowns: x'' = f is (x)' = der(x), (der(x))' = f. Unknowns whose
/// derivative occurs come first.
struct DaeFunctions {
  std::shared_ptr<const model::Model> model;

  struct Unknown {
    std::string name;
    const model::Unknown* of = nullptr;  ///< the author's unknown of which this is a derivative
    std::size_t times = 0;               ///< which one
    model::Start start;
  };
  std::vector<Unknown> unknowns;          ///< of y
  std::vector<model::Start> rate_starts;  ///< of y', where the author gave them
  std::size_t differential = 0;           ///< so many unknowns have a derivative

  struct Row {
    std::string name;  ///< "rod", "der(rod)", "der(rod,2)"
    Place place;
    std::string of;            ///< the author's equation
    std::size_t level = 0;     ///< how often it was differentiated
    std::size_t row = 0;       ///< of F, which has it or a derivative of it
  };
  std::vector<Row> rows;                        ///< of F; the author's own come first
  std::vector<std::size_t> algebraic_rows;      ///< those without derivatives
  compile::ImplicitEquations equations;

  /// What is written of a state: the author's variables in their order, then their derivatives.
  struct Column {
    std::string name;
    std::size_t unknown;
    bool rate;  ///< the derivative of the unknown
  };
  std::vector<Column> columns;

  compile::Switches switches;
  compile::ImplicitFunction function;
  compile::Function terms;              ///< t, y -> terms of the algebraic equations
  std::vector<std::size_t> term_start;  ///< their ranges
  std::vector<Row> hidden;              ///< equations that hold besides F: those of which F has a derivative
  std::vector<expr::Expr> hidden_residuals;  ///< in symbols
  compile::ImplicitFunction initial;    ///< t, y, y' -> residuals of [initial], `hidden` and [invariants]
  compile::StateEquations kept;         ///< `hidden` and [invariants], between t and the differential unknowns
  compile::Function outputs, pictures;  ///< t, y, y' -> what the author wants to see
  bool linear_in_solved = true;         ///< F is linear in (x', z): the derivatives and the algebraic unknowns
  bool solved_without_derivatives = true;  ///< [F_x', F_z] does not depend on x'
  linalg::Sparsity solved;              ///< pattern of [F_x', F_z]

  std::size_t dimension() const { return unknowns.size(); }
};

/// Brings a model of kind dae or linear to first order and compiles it. Throws Error where it is not square, or
/// where nothing determines some variable.
std::shared_ptr<const DaeFunctions> compile_dae(std::shared_ptr<const model::Model> model);

/// The same with every equation differentiated as often as its offset says, and the unknowns x, x', ... up to the
/// derivative before their own offset as differential unknowns: of index 1 at most where the system Jacobian is regular.
/// Lower derivatives of the equations contain these alone and are `hidden`.
std::shared_ptr<const DaeFunctions> compile_dae(std::shared_ptr<const model::Model> model, const Offsets& offsets);

/// Which of the unknowns are derivatives that are no state of the model as it was written, as der(x) where der(x) = v and x
/// has no second one: what they are the equations say, not the start.
std::vector<bool> said_derivatives(const DaeFunctions& functions);

/// Which of `hidden` are constraints and their derivatives. The others say what such a derivative is, and a start off the
/// constraints does not violate them.
std::vector<bool> hidden_constraints(const DaeFunctions& functions);

/// The structural index of the equations as written that were differentiated so.
int index_of_differentiated(const DaeFunctions& differentiated);

}  // namespace daedalus::structure
