#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/formulate/chart_level.hpp"
#include "daedalus/mechanics/evaluator.hpp"

namespace daedalus::formulate {

/// Local coordinates y = (y_q, y_v, z_d) of the motions that constraints allow, for states x = (q, v, z_d). Nonholonomic
/// constraints bind velocities only, so that positions and velocities may have different numbers of coordinates.
class LocalChart {
 public:
  LocalChart(std::shared_ptr<const mechanics::Functions> functions, LocalBasis::Kind kind);

  void freeze(const double* frozen) { frozen_ = frozen; }
  /// Decides at a consistent point which constraints are independent, and with that on the number of coordinates.
  mechanics::Outcome select(double t, const double* x);
  /// Takes the decision of another chart.
  void select_as(const LocalChart& other);
  /// Chooses coordinates around x. False where the constraints are not finite there or have become dependent.
  bool choose(double t, const double* x);

  std::size_t dimension() const;
  /// Lets searches begin at x.
  void near(const double* x);
  /// Lets the next search for positions begin at q.
  void begin_at(const double* q);
  mechanics::Outcome expand(double t, const double* y, double* x);
  void reduce(const double* x, double* y);
  /// y' of x'.
  void rates(const double* dx, double* dy);
  /// How far the motion is from the directions of the chart; infinite where it has left it.
  double tilt(double t, const double* x);

  /// Where a step of size h from x will be in its middle, as the velocity foresees it.
  void ahead(const double* x, double h, double* middle) const;

  /// How far coordinates may be off at x so that x is not by much more than `bound`.
  void tolerances(double t, const double* x, const double* bound, double* local);
  std::size_t component(std::size_t k);
  /// Writes for every coordinate whether it is independent, 1 or 0.
  void independent(double* of_q);
  std::string describe();  ///< the independent coordinates by name; empty for a tangent space
  const std::string& explain() const { return explanation_; }
  std::size_t factorizations() const { return factorizations_; }

 private:
  ChartLevel& velocity() { return velocity_ ? *velocity_ : *position_; }
  void make_levels(std::vector<std::size_t> position_rows, std::vector<std::size_t> velocity_rows);
  bool evaluate_geometry(double t, const double* q);
  const double* G() const { return geometry_.data() + functions_->mass.nonzeros(); }
  const double* g() const { return G() + functions_->jacobian.nonzeros(); }
  /// Factors the matrices of both levels for the present geometry, which is that at t.
  bool factor(double t);
  void evaluate_terms(double t);
  bool positions_hold(double t);
  mechanics::Outcome find_positions(double t, const double* y);
  mechanics::Outcome find_velocities(double t, const double* y);
  mechanics::Outcome check_others(double t);
  mechanics::Outcome fail(mechanics::Outcome outcome, std::string explanation);
  mechanics::Outcome not_found(mechanics::Outcome outcome);
  std::string names(const std::vector<std::size_t>& coordinates) const;

  std::shared_ptr<const mechanics::Functions> functions_;
  LocalBasis::Kind kind_;
  const double* frozen_ = nullptr;
  std::optional<ChartLevel> position_, velocity_;  ///< without velocity_: the same
  std::vector<double> position_offset_, velocity_offset_;  ///< y = D u + offset
  std::vector<double> W_;                          ///< diagonal of the metric
  compile::Function::Scratch geometry_scratch_, velocity_scratch_, terms_scratch_;
  std::vector<double> geometry_, residual_, terms_;
  std::vector<double> x_;            ///< the last state that was found: searches begin there
  std::vector<double> anchor_;       ///< the state of the last call of near()
  std::vector<double> y_q_, y_v_;    ///< its coordinates, without offsets
  std::vector<double> target_;       ///< coordinates that are looked for
  std::vector<double> factored_at_;  ///< t and q of the factors
  std::size_t factorizations_ = 0;
  std::string explanation_;
};

}  // namespace daedalus::formulate
