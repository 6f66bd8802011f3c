#pragma once

#include <complex>
#include <string>
#include <vector>

#include "daedalus/solve/pipeline.hpp"

namespace daedalus::solve {

/// The motion on the constraints in as many coordinates as it has freedom, eta' = q(0, eta): (8) of Di Franco, Scarciotti,
/// Astolfi. An equilibrium of a DAE is stable exactly where it is one of these (Theorem 1).
struct ZeroDynamics {
  std::size_t dimension = 0, constraints = 0;  ///< of eta; of xi, hidden ones included
  std::vector<std::string> coordinates;        ///< eta, as chosen at the start
  bool autonomous = true;                      ///< else there is nothing to rest at
  bool searched = false;                       ///< small enough to look for equilibria

  enum class Look { for_equilibria, at_coordinates };
  enum class Stability { asymptotic, unstable, undecided };
  struct Equilibrium {
    std::vector<double> x;  ///< as `names`
    std::vector<std::complex<double>> eigenvalues;
    Stability stability = Stability::undecided;  ///< by the linearization
    std::size_t family = 0;                      ///< in so many directions equilibria lie beside it
  };
  std::vector<std::string> names;
  std::vector<Equilibrium> equilibria;  ///< that were found near the start, nearest first
  std::string message;                  ///< where there is no normal form at the start
};

/// Whether the equations of a model do not depend on time.
bool is_autonomous(const Prepared& prepared);

/// Looks at a prepared model, around a consistent start.
ZeroDynamics zero_dynamics(const Prepared& prepared, double t, ZeroDynamics::Look look = ZeroDynamics::Look::for_equilibria);

}  // namespace daedalus::solve
