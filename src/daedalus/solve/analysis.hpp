#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/mechanics/functions.hpp"
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

/// What can be said about a model before it is integrated.
struct Analysis {
  std::string model, kind, system_class;
  std::size_t unknowns = 0, equations = 0;
  std::size_t degrees_of_freedom = 0, free_initial_values = 0;
  std::optional<int> index, structural_index;
  std::vector<HiddenConstraint> hidden;
  std::vector<Redundancy> redundant;
  std::vector<std::string> open_multipliers;  ///< see Start
  std::vector<InvariantCheck> invariants;
  bool consistent = true;
  std::vector<Violation> violations;
  std::vector<std::string> notes;

  /// How it follows from which unknowns stand in which equations; `structural_index` is its index.
  structure::StructuralAnalysis structure;
  StructureCheck structure_check;
  /// What the index of a DAE above 1 rests on: the ranks of its derivative array, level by level.
  std::vector<structure::ArrayRanks> ranks;
};

/// Analyses a model at its (consistent) start. A model of kind dae or linear that is structurally singular, which cannot
/// be prepared, gets its verdict, too.
Analysis analyze(const std::shared_ptr<const model::Model>& model, double t_start);
/// The same for a model that is prepared.
Analysis analyze(const Prepared& prepared, double t_start);
/// The same for mechanics.
Analysis analyze(const std::shared_ptr<const mechanics::Functions>& functions, double t_start);

}  // namespace daedalus::solve
