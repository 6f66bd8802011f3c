#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/mechanics/functions.hpp"
#include "daedalus/solve/analysis_linear.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "daedalus/solve/start.hpp"
#include "daedalus/structure/numerical_index.hpp"
#include "daedalus/solve/structure_check.hpp"

namespace daedalus::solve {

struct HiddenConstraint {
  std::string of;
  int level = 0;
  std::string equation;
};

/// The easy test (003): the equations as written determine x' and z where [dF/dx', dF/dz] is regular.
struct Easiness {
  std::size_t rank = 0, size = 0;
  std::vector<std::string> dependent;  ///< equations that follow from others in it, or contain neither x' nor z
  bool easy() const { return rank == size; }
};

/// Relative degrees of the constraints 0 = g of semi-explicit equations (002, Definition 2).
struct ConstraintDegrees {
  std::vector<std::string> constraints;
  std::vector<std::optional<std::size_t>> degree;  ///< none where it differs between points nearby, or is not finite
  std::size_t rank = 0;              ///< of the derivatives by z of the constraints, differentiated so often
  std::optional<std::size_t> index;  ///< the largest degree + 1 (Lemma 1), where that matrix is regular
};

/// What can be said about a model before it is integrated.
struct Analysis {
  std::string model, kind, system_class;
  std::size_t unknowns = 0, equations = 0;
  std::size_t degrees_of_freedom = 0, free_initial_values = 0;
  FreeValues free;  ///< which they are
  std::optional<int> index, structural_index;
  std::vector<HiddenConstraint> hidden;
  std::vector<Redundancy> redundant;
  std::vector<std::string> open_multipliers;  ///< see Start
  std::vector<InvariantCheck> invariants;
  bool runnable = true;  ///< false: some note says what must be corrected first
  bool consistent = true;
  std::vector<Violation> violations;
  std::vector<std::string> notes;

  /// How it follows from which unknowns stand in which equations; `structural_index` is its index.
  structure::StructuralAnalysis structure;
  StructureCheck structure_check;
  /// What the index of a DAE above 1 rests on: the ranks of its derivative array, level by level.
  std::vector<structure::ArrayRanks> ranks;
  std::optional<Easiness> easy;
  std::optional<ConstraintDegrees> degrees;
  /// Of models that are linear with constant coefficients and not too large.
  std::optional<LinearFindings> linear;
};

/// Analyses a model at its (consistent) start. A model that cannot be prepared gets its verdict, too: what its structure
/// says, and why it cannot be run.
Analysis analyze(const std::shared_ptr<const model::Model>& model, double t_start);
/// The same for a model that is prepared.
Analysis analyze(const Prepared& prepared, double t_start);
/// The same for mechanics.
Analysis analyze(const std::shared_ptr<const mechanics::Functions>& functions, double t_start);

}  // namespace daedalus::solve
