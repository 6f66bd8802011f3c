#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daedalus/base/error.hpp"
#include "daedalus/expr/graph.hpp"

namespace daedalus::model {

using expr::Expr;
using expr::NodeId;

enum class Kind { lagrangian, mechanical, dae, linear };
std::string_view name_of(Kind kind);

/// A named number. Array parameters are one entry per element: "k[1]", "K[1,2]".
struct Parameter {
  std::string name;
  Expr symbol;
  double value = 0.0;
  std::string unit, description;
  Place place;
};

struct Start {
  double value = 0.0;
  bool given = false;  ///< the author wrote it; otherwise it is the default 0
  bool fixed = false;  ///< the initializer must keep it
  Place place;
};

/// An unknown function of time: a coordinate, an auxiliary unknown, a variable of a DAE.
struct Unknown {
  std::string name;
  Expr symbol;
  std::vector<Expr>
      rates;  ///< rates[k-1] is the symbol der(x,k); as many as the model uses, at least two for coordinates
  std::vector<Start> start;  ///< start[k] belongs to the k-th derivative; as many as rates, plus one
  double nominal = 1.0;
  std::optional<double> atol;
  std::string unit, description;
  Place place;
};

/// left = right. A residual given without "=" has right = 0.
struct Equation {
  std::string name;
  Expr left, right;
  Expr residual;  ///< left - right
  Place place;
};

struct Named {
  std::string name;
  Expr value;
  Place place;
  std::string unit, description;
};

/// A function of one argument given by data.
struct Table {
  std::string name;
  std::string file, x_column, y_column;
  std::vector<double> x, y;
  std::string interpolation = "linear", outside = "hold";
  Place place;
};

/// The function that a table describes.
std::shared_ptr<const expr::Interpolant> interpolant_of(const Table& table);

struct Event {
  std::string name;
  std::optional<Expr> when;
  bool when_is_condition = false;  ///< `when` becomes true; otherwise it crosses zero
  std::optional<Expr> every;
  std::string direction = "both";                   ///< up, down or both, for an expression that crosses zero
  std::vector<std::pair<std::string, Expr>> reset;  ///< name of variable, derivative or discrete value
  bool stop = false;
  Place place;
};

/// A picture of some columns. Names are as in the output ("der(x)"); any expression is possible, and then its text is
/// the name. The values are invalid for columns that only a run knows ("energy", "residual.rod").
struct Plot {
  std::string name, x = "t";
  std::vector<std::string> y;
  Expr x_value;
  std::vector<Expr> y_values;
  Place place;
};

struct Drawing {
  std::vector<std::pair<std::string, std::vector<Expr>>> points;  ///< 2 or 3 coordinates each
  std::vector<std::vector<std::string>> lines;
  std::vector<std::string> trails;
};

/// An entry of a matrix, rows and columns from 0.
struct Entry {
  std::size_t row, column;
  Expr value;
};
struct Matrix {
  std::size_t rows = 0, columns = 0;
  std::vector<Entry> entries;
};

struct Simulation {
  std::optional<double> t_start, t_end, rtol, atol;
  std::optional<std::string> formulation, method, initialize;
};

/// The problem as its author said it: immutable after it was read or built. Definitions and inputs are already put in;
/// parameters are symbols with numbers beside them.
struct Model {
  std::string name, description;
  Kind kind = Kind::lagrangian;
  std::shared_ptr<expr::Graph> graph;
  std::shared_ptr<const SourceText> source;
  Expr time;

  std::vector<Parameter> parameters;
  std::vector<Named> definitions, inputs;  ///< without index arguments, for display; functions are not listed
  std::vector<Unknown> variables, auxiliary;
  std::vector<Equation> equations, constraints, initial, invariants;
  std::vector<Expr> multipliers;  ///< lambda.<constraint>, one per constraint

  // kind lagrangian: kinetic and potential, or lagrangian
  std::optional<Expr> kinetic, potential, lagrangian, dissipation;
  std::vector<Named> forces;  ///< named by coordinate

  // kind mechanical
  Matrix mass;
  std::vector<Expr> force;

  // kind linear: E x' = A x + f
  Matrix E, A, B, C, D;
  std::vector<Expr> f;

  std::unordered_map<std::string, Place> places;  ///< of "kinetic", "potential", "mass", "force", "E", ... in the text

  std::vector<Named> outputs;
  std::vector<Table> tables;
  std::vector<Parameter> discrete;
  std::vector<Event> events;
  std::vector<Plot> plots;
  Drawing drawing;
  Simulation simulation;

  /// Numbers of parameters (and discrete values at their start) by symbol, for compile and evaluate.
  std::unordered_map<NodeId, double> numbers() const;
};

/// "x", "der(x)", "der(x,2)".
std::string derivative_name(const std::string& name, std::size_t times);

/// The symbol reaction.<constraint>.<coordinate>, which `mechanics` replaces by -G^T lambda.
std::string reaction_name(const std::string& constraint, const std::string& coordinate);

}  // namespace daedalus::model
