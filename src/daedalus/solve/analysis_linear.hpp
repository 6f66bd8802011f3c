#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/model/model.hpp"
#include "daedalus/solve/control.hpp"
#include "daedalus/structure/deflating_space.hpp"
#include "daedalus/structure/kronecker.hpp"

namespace daedalus::solve {

/// What is known of a model that is linear with constant coefficients, in its author's names. f1 is the f of the first
/// row, or f.NAME that of the equation NAME.
struct LinearFindings {
  structure::KroneckerStructure structure;
  std::vector<std::string> unknowns;  ///< "x", "der(x)"

  struct Equation {
    std::string with_f;    ///< "x1 + x2 + x3 + f3 = 0"
    std::string equation;  ///< with the functions of the model: "x1 + x2 + x3 = -sin(t)"
  };
  /// What consistent values satisfy at every time, (2.32) of 000; as many equations as unknowns that cannot be chosen.
  std::vector<Equation> manifold;
  /// An inconsistent start leaps to projector x0 + what f asks for: see structure::consistent_projector.
  structure::DenseMatrix projector;
  std::vector<std::vector<std::string>> projector_text;  ///< as fractions, where they are known
  structure::DeflatingSpaces spaces;                     ///< of a regular pencil that is not too large
  /// The consistent values at the start that are nearest to the given ones, in units of the nominal values.
  struct Nearest {
    std::vector<double> given, values;  ///< of `unknowns`
    double distance = 0.0;
  };
  std::optional<Nearest> nearest;  ///< of a regular pencil, where f is finite at the start

  /// Stability, and of models of kind linear with B or C what inputs reach and outputs show; of a regular pencil that is not
  /// too large.
  std::optional<ModeAnalysis> modes;

  /// Unknowns of a singular pencil that nothing determines, and what may be added to them with any function phi:
  /// "x1 += phi", "x2 += der(phi)".
  struct Freedom {
    std::vector<std::string> unknowns, additions;
  };
  std::vector<Freedom> free;
  /// Equations that depend on each other: the combination contains no unknown, so it binds f.
  struct Dependence {
    std::vector<std::string> equations;
    std::string combination;  ///< "2*row 1 + 2*row 2 - row 3"
    std::string condition;    ///< "2*f1 + 2*f2 - f3 = 0"
    std::string left;         ///< with the functions of the model: "sin(t)"; "0" where it holds
    bool holds = true;
  };
  std::vector<Dependence> dependences;
  std::vector<std::string> notes;
};

/// Judges the pencil of a model of kind linear, or of kind dae where that is linear with constant coefficients.
std::optional<LinearFindings> linear_findings(const model::Model& model, double t_start);

/// "linear differential-algebraic equations of index 2".
std::string class_of(const LinearFindings& findings);

}  // namespace daedalus::solve
