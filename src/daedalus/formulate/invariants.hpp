#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/compile/state_equations.hpp"
#include "daedalus/formulate/formulation_entry.hpp"

namespace daedalus::formulate {

/// The equations that a state keeps: those that another projection meets, then hidden constraints of a DAE, then the
/// invariants of the model.
struct Kept {
  std::shared_ptr<const compile::StateEquations> equations;  ///< null where there are none but the first
  std::vector<double> nominal = {};                          ///< of the components of the state
  std::vector<std::string> hidden = {}, invariants = {};     ///< names of the last rows

  std::size_t count() const { return hidden.size() + invariants.size(); }
  std::size_t before() const { return equations->rows() - count(); }  ///< so many are met by another projection
  /// "invariant 'energy'" or "hidden constraint 'der(rod)'": a row behind those.
  std::string name(std::size_t row) const;
};
Kept kept_by(const std::shared_ptr<const structure::DaeFunctions>& functions);
Kept kept_by(const std::shared_ptr<const mechanics::Functions>& functions);
/// Of a model of either sort.
Kept kept_by(const Equations& equations);

/// The pattern of a diagonal matrix.
linalg::Sparsity diagonal_pattern(std::size_t n);

/// Says how well states meet the invariants of a model.
class InvariantWatch {
 public:
  explicit InvariantWatch(const Kept& kept);

  void freeze(const double* frozen) {
    if (values_) values_->freeze(frozen);
  }
  /// Names the columns of the level and makes room.
  void name(Observation::Level& level) const;
  /// Writes residuals and scales at a state.
  void look(double t, const double* x, Observation::Level& level);

 private:
  std::vector<std::string> names_;
  std::optional<compile::StateValues> values_;
};

}  // namespace daedalus::formulate
