#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// A point at which equations do not determine what they determine elsewhere.
struct SingularPoint {
  double t = 0.0;
  std::vector<std::string> equations, unknowns;
  std::string text;  ///< "the equation 'circle' does not determine 'z'"
};

/// How the loop sees where the equations of a system become singular: functions of the state that vanish there and nowhere
/// else, determinants for example.
struct RegularityHooks {
  std::size_t count = 0;
  /// What is given of a state: all that solves the equations, or differential unknowns with at best a guess for the others.
  enum class Given { solution, guess };
  std::function<Evaluation(double t, const double* x, Given given, double* values)> look;
  /// Names what is singular where function `which` vanishes, at the point of the last look.
  std::function<SingularPoint(std::size_t which)> describe;
};

/// Watches for singular points between the points of a trajectory, and for one that a trajectory comes to and cannot pass.
/// Allocates nothing as long as there are none.
class RegularityWatch {
 public:
  RegularityWatch(const RegularityHooks& hooks, const System& system);

  /// The trajectory begins, or begins anew, here.
  void begin(double t, const double* x);
  /// A step was accepted, of which `stepper` still has the inside. Singular points in it are added to `passed`.
  void accept(Stepper& stepper, double t_old, double t_new, std::vector<SingularPoint>& passed);

  /// The singular point ahead, of a run whose steps have come down to `size`: one to which nearly the whole way since its
  /// function began to fall is behind, and before which steps become ever shorter. Or one over which the run goes to and fro.
  std::optional<SingularPoint> blocked_by(double size);
  /// The same for a run that failed for any reason: a singular point that is near, or at which it is.
  std::optional<SingularPoint> failed_at();

 private:
  struct Ahead {
    std::size_t which;
    double distance;
  };
  std::optional<Ahead> ahead(double most_left) const;
  SingularPoint described(const Ahead& ahead);
  bool look(Stepper& stepper, double theta);
  bool look_at(double t, const std::vector<double>& x, RegularityHooks::Given given, std::vector<double>& values) const;
  std::optional<double> crossing(Stepper& stepper, std::size_t which);
  std::optional<double> touching(Stepper& stepper, std::size_t which);

  const RegularityHooks& hooks_;
  std::vector<double> x_, state_;
  std::vector<double> before_, old_, new_, inside_;  ///< values at the last three points, and between the last two
  std::vector<double> largest_;                      ///< sizes so far
  std::vector<double> top_time_, longest_;           ///< when the present fall began, and the longest step since
  double t_before_ = 0.0, t_old_ = 0.0, t_new_ = 0.0;
  double longest_step_ = 0.0;       ///< since the trajectory began
  int passed_in_short_steps_ = 0;   ///< singular points, since the last step that was not short
  std::size_t last_passed_ = 0;     ///< the function that vanished at the last one
  int points_ = 0;  ///< known in a row
};

}  // namespace daedalus::integrate
