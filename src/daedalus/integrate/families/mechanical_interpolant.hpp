#pragma once

// Between two states of a mechanical system: with q, v and the accelerations a of the KKT system at both ends, q is the
// polynomial of degree 5 through all of them. Velocities are its derivative, of degree 4, or the cubic polynomial
// through v and a of both ends: an error O(h^(p+1)) of q at the end makes one of O(h^p) in the first, so that methods
// of an order p below 5 do better with the second. Auxiliary unknowns have their rates at both ends and follow cubic
// polynomials.

#include <vector>

#include "daedalus/integrate/system.hpp"
#include "daedalus/linalg/kkt.hpp"

namespace daedalus::integrate {

class MechanicalInterpolant {
 public:
  enum class Velocities { quartic, cubic };
  MechanicalInterpolant(const System& system, Velocities velocities);

  /// Tells that a new step begins where the last one ended, or somewhere else.
  void advance();
  void restart() { start_known_ = end_known_ = false; }

  struct Step {
    double t0, t1;
    const double *x0, *x1;
  };
  Evaluation at(double theta, const Step& step, double* x);

  std::size_t evaluations = 0, factorizations = 0;

 private:
  Evaluation slopes_at(double t, const double* x, std::vector<double>& slope);

  const MechanicalSystem& mechanical_;
  const std::size_t n_, dimension_;
  const Velocities velocities_;
  linalg::KktSolver kkt_;
  std::vector<double> M_, f_, G_, gamma_, start_, end_;  ///< start_ and end_ are (a, z')
  bool start_known_ = false, end_known_ = false;
};

}  // namespace daedalus::integrate
