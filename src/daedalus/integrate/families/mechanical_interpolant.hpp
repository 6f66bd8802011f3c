#pragma once

// Between two states of a mechanical system: with q, v and the accelerations a of the KKT system at both ends, q is the
// polynomial of degree 5 through all of them and v its derivative, with errors O(h^6) and O(h^5); auxiliary unknowns
// have their rates at both ends and follow cubic polynomials.

#include <vector>

#include "daedalus/integrate/system.hpp"
#include "daedalus/linalg/kkt.hpp"

namespace daedalus::integrate {

class MechanicalInterpolant {
 public:
  explicit MechanicalInterpolant(const System& system);

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
  linalg::KktSolver kkt_;
  std::vector<double> M_, f_, G_, gamma_, start_, end_;  ///< start_ and end_ are (a, z')
  bool start_known_ = false, end_known_ = false;
};

}  // namespace daedalus::integrate
