#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/compile/batch.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/linalg/exponential.hpp"
#include "daedalus/structure/decoupling.hpp"
#include "daedalus/structure/forcing.hpp"
#include "daedalus/structure/linear_form.hpp"

namespace daedalus::structure {

/// Everything that the solution of E y' = A y + f(t) rests on (000, (2.31)), with y as in DaeFunctions; immutable.
struct LinearSolution {
  using Number = linalg::DoubleDouble;
  std::shared_ptr<const DaeFunctions> functions;
  LinearForm form;
  linalg::BasicMatrix<Number> E, A;
  Decoupling<Number> parts;
  std::optional<Forcing> forcing;  ///< where f is polynomial, exponential, trigonometric
  compile::Function derivatives;   ///< otherwise: t -> f, f', ... up to `highest`, one after the other
  std::optional<compile::Batch> at_nodes;  ///< then also: t -> f alone, at several nodes of a quadrature at once
  std::size_t highest = 0;         ///< order of derivatives that can be told of f
  compile::Function conditions;    ///< then also: t -> the functions of time that switch f, then their derivatives

  std::size_t n() const { return parts.n(); }
  std::size_t n1() const { return parts.n1(); }
};

/// More unknowns than this are not taken apart: it costs the cube of their number.
constexpr std::size_t most_decoupled = 120;

/// Takes apart a DAE that is linear with constant coefficients; null where it is not, where it has too many unknowns or where
/// the pencil is singular.
std::shared_ptr<const LinearSolution> linear_solution(const std::shared_ptr<const DaeFunctions>& functions);

/// What happens to an unknown where its solution is not smooth.
struct Impulse {
  std::size_t unknown = 0;
  double jump = 0.0;                  ///< from before to after
  std::vector<double> strengths = {};  ///< of Dirac's delta and its derivatives, up to the highest that occurs
};

/// The solution along one trajectory, as a flow of x1: owns all workspace.
class LinearFlow {
 public:
  using Number = LinearSolution::Number;
  explicit LinearFlow(std::shared_ptr<const LinearSolution> solution);

  const LinearSolution& solution() const { return *solution_; }
  /// Lets f read the frozen values of a trajectory, which must outlive it.
  void freeze(const double* frozen) { frozen_ = frozen; }

  /// The x1 of a state, consistent or not; and its x2.
  std::vector<Number> differential_part(const double* y) const;
  std::vector<Number> algebraic_part(const double* y) const;
  /// The error of the x1 of a state: values given at the start are meant as they are, later ones have been rounded.
  double entered(double t, const double* y);
  /// x1 at t + h from x1 at t; `error`, of x1 at t, becomes that at t + h at most, if it grows as the fastest growing mode
  /// does. False where f is not finite, or too rough to be integrated.
  bool advance(double t, double h, std::vector<Number>& x1, double& error);
  /// The derivatives of y at t, from order 0 to `orders`: y[k][i]. `error` is what steps have added up. False where f is not
  /// finite.
  bool states(double t, const std::vector<Number>& x1, std::size_t orders, std::vector<std::vector<double>>& y, double error = 0.0);
  /// The functions of time that switch f, then their derivatives, as many as `conditions` of the solution has.
  void conditions(double t, double* values);
  /// x2 as it must be at t.
  std::vector<Number> consistent_part(double t);

  /// Unknowns that jump or carry impulses where x2 goes from `before` to `after` at once.
  std::vector<Impulse> impulses(const std::vector<Number>& before, const std::vector<Number>& after) const;

  /// A bound of the error of what states() has said so far, absolute, beside the rounding of each number: errors of x1 grow by
  /// as much more than the fastest growing mode as exp(J s) does for the times s that have passed.
  double error_bound() const;
  /// What the bound is made of.
  std::string precision() const;
  /// What happened on the way that a person should know.
  std::vector<std::string> remarks;

 private:
  bool forcing_at(double t, std::size_t orders);
  void forcing_at_nodes(double t, double h);
  bool driving_at_nodes(double t, double h);
  bool integrate(double t, double h, std::vector<Number>& x1, double& sum);
  bool panel(double t, double h, const std::vector<Number>& x1, std::vector<Number>& end, double& error);
  bool long_panel(double t, double h, const std::vector<Number>& x1, std::vector<Number>& end, double& error, int stalls, double& rest);

  std::shared_ptr<const LinearSolution> solution_;
  const double* frozen_ = nullptr;
  std::vector<double> units_;  // of w in the exponential
  linalg::Exponential<Number> exponential_;
  compile::Function::Scratch scratch_, conditions_scratch_;
  compile::Batch::Scratch nodes_scratch_;
  std::vector<double> values_;                // of f and its derivatives
  std::vector<double> node_times_, node_values_, lanes_;  // f at the nodes of a panel, one after the other; and side by side
  linalg::BasicMatrix<Number> driving_;       // L1 f there
  double driving_size_ = 0.0;
  std::vector<std::vector<Number>> g1_, g2_;  // L1 f^(k), L2 f^(k)
  std::vector<linalg::BasicMatrix<Number>> g1_of_, g2_of_;  // L1 F S^k, L2 F S^k
  std::vector<Number> w_, z_;
  double norm_J_ = 0.0, rate_ = 0.0;          // the rate at which errors of x1 grow
  double norm_V_ = 0.0, norm_W_ = 0.0;
  DenseMatrix entry_;                   // of errors of y to x1
  DenseMatrix spread_;                  // of errors of f to y through x2
  std::vector<double> changes_;         // of N^k by a change of E and A of size 1
  double error1_ = 0.0, error2_ = 0.0;  // of x1 before it grows, and of the rest
  std::optional<double> first_time_;
  double passed_ = 0.0;
  std::size_t panels_ = 0;
};

}  // namespace daedalus::structure
