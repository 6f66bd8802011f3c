#pragma once

#include <memory>

#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

enum class MultistepFormula {
  bdf,       ///< backward differentiation of order k
  extended,  ///< modified extended backward differentiation: order k + 1 from three backward differentiations
};

struct MultistepSettings {
  MultistepFormula formula;
  int most_points;           ///< largest k: the backward differentiation over k + 1 points
  int fixed_points;          ///< k of fixed steps
  std::size_t start_stages;  ///< of the collocation that starts runs with fixed steps: 3, 5 or 7
};

/// Makes a stepper of variable k and variable step for F(t, y, y') = 0, of the overdetermined, the implicit or the ODE
/// view.
std::unique_ptr<Stepper> make_multistep(const System& system, const MultistepSettings& settings);

/// Coefficients on an equidistant grid with k points before the new one, h = 1:
///   bdf:      y_1 + sum_j past_j y_(1-j) = b y'_1
///   extended: y_1 + sum_j past_j y_(1-j) = beta_1 y'_1 + beta_2 y'_2
struct MultistepCoefficients {
  double b = 0.0;                                  ///< of the backward differentiation
  double beta_1 = 0.0, beta_2 = 0.0;               ///< of the extended formula
  double bdf_past[8] = {}, extended_past[8] = {};  ///< j = 1, 2, ... at position j - 1
};
MultistepCoefficients multistep_coefficients(int k);

}  // namespace daedalus::integrate
