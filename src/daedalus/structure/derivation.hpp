#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/graph.hpp"
#include "daedalus/linalg/rational.hpp"

namespace daedalus::structure {

/// A derivation as it is told to people: what was done, step by step, and what came out. Its expressions are of the
/// model's graph.
struct Derivation {
  /// "rod: x^2 + y^2 = l^2".
  struct Equation {
    std::string name;
    expr::Expr left, right;
  };
  struct Matrix {
    std::string name;
    expr::SparseExpr entries = {};
    std::optional<linalg::RationalMatrix> fractions = {};  ///< instead of `entries`
  };
  /// A sentence, and what it speaks about.
  struct Part {
    std::string text;
    std::vector<Equation> equations = {};
    std::vector<Matrix> matrices = {};
  };
  struct Step {
    std::string title;
    std::vector<Part> parts;
  };
  std::string model, kind;
  std::string method;  ///< how it was derived, in a few words
  std::vector<Step> steps;
  bool complete = false;                   ///< it came to its end; what hindered it is told by the last step
  std::optional<std::size_t> index;        ///< how often equations must be differentiated
  std::vector<Equation> reduced;           ///< the system at the end
  std::vector<Equation> conditions;        ///< what must hold besides at the start, and then holds all the time
};

}  // namespace daedalus::structure
