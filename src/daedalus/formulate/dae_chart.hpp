#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/compile/state_equations.hpp"
#include "daedalus/formulate/chart_level.hpp"
#include "daedalus/integrate/system.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::formulate {

/// Some of the differential unknowns x of a DAE as coordinates y of the manifold b(t, x) = 0 that its hidden constraints
/// and invariants make; the others follow from these.
class DaeChart {
 public:
  explicit DaeChart(std::shared_ptr<const structure::DaeFunctions> functions);

  void freeze(const double* frozen) { values_.freeze(frozen); }
  /// Decides at a consistent point which equations are independent, and with that on the number of coordinates.
  integrate::Evaluation select(double t, const double* x);
  /// Takes the decision of another chart.
  void select_as(const DaeChart& other);
  /// Chooses coordinates around x. False where equations are not finite there or have become dependent.
  bool choose(double t, const double* x);

  std::size_t dimension() { return level_->basis().size(); }
  /// Lets searches begin at x.
  void near(const double* x);
  void begin_at(const double* x) { near(x); }
  integrate::Evaluation expand(double t, const double* y, double* x);
  void reduce(const double* x, double* y) { level_->basis().take(x, y); }
  /// y' of x'.
  void rates(const double* dx, double* dy) { level_->basis().take(dx, dy); }
  /// How far dependent unknowns move with independent ones, in units of their nominal values; infinite outside the chart.
  double tilt(double t, const double* x);
  /// Where a step of size h from x will be in its middle, as far as x tells.
  void ahead(const double* x, double, double* middle) const { std::copy_n(x, x_.size(), middle); }

  /// How far coordinates may be off at x so that x is not by much more than `bound`.
  void tolerances(double t, const double* x, const double* bound, double* local);
  std::size_t component(std::size_t k) { return level_->basis().nearest(k); }
  std::string describe();
  const std::string& explain() const { return explanation_; }
  std::size_t factorizations() const { return factorizations_; }

 private:
  /// One attempt of expand(), by Newton's method from the last state; leaves the state in x_.
  integrate::Evaluation search(double t, const double* y);
  bool factor(double t, const double* x);
  std::string names(const std::vector<std::size_t>& unknowns) const;

  std::shared_ptr<const structure::DaeFunctions> functions_;
  compile::StateValues values_;
  std::optional<ChartLevel> level_;
  std::vector<double> W_;         ///< metric: 1/nominal^2
  std::vector<double> x_, y_;     ///< the last state that was found and its coordinates: searches begin there
  std::vector<double> target_, between_, corrected_, from_, y_from_;
  std::vector<double> floor_;     ///< what the residual of a row changes by where x changes by all of its size
  std::size_t factorizations_ = 0;
  std::string explanation_;
};

}  // namespace daedalus::formulate
