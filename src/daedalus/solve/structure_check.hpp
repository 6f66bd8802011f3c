#pragma once

#include <string>
#include <utility>
#include <vector>

#include "daedalus/mechanics/derive.hpp"
#include "daedalus/structure/structural_analysis.hpp"

namespace daedalus::solve {

/// What the values of the system Jacobian say about a structural analysis.
struct StructureCheck {
  enum class Verdict {
    not_tried,
    regular,            ///< at the start: the analysis is right there
    singular_at_start,  ///< but not nearby
    singular,           ///< at every point: the structure does not tell the index
    not_finite,         ///< at no point a number
  };
  Verdict verdict = Verdict::not_tried;
  std::vector<std::string> dependent;  ///< equations whose rows of the matrix follow from others, where it is singular
};

using NamedValues = std::vector<std::pair<std::string, double>>;

/// Tries the system Jacobian at the start and, where it is singular, at points nearby. `values` go before the start
/// values of the model.
StructureCheck check_structure(const structure::EquationSet& system, const structure::StructuralAnalysis& analysis,
                               double t, const NamedValues& values);

/// Says what the system Jacobian means for the structural index; nothing where it is regular.
std::string note_on(const StructureCheck& check);

/// The same for a model from whose start more than one solution may go on, since its system Jacobian is singular there and not
/// nearby; nothing for others.
std::string note_on_start(const model::Model& model, double t, const NamedValues& values);

/// The equations of motion with multipliers, constraints and auxiliary equations:
///     M a - f + G^T lambda = 0,   g = 0 or the nonholonomic constraint,   F = 0
structure::EquationSet equations_of(const mechanics::Equations& motion);

}  // namespace daedalus::solve
