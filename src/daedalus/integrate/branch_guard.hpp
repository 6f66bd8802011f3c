#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/integrate/crossing.hpp"

namespace daedalus::integrate {

/// Keeps a run on its branch where constraints become dependent: says which steps may end beside a singular position, and what
/// to try instead of one that may not.
class BranchGuard {
 public:
  /// `rtol` of steps under control; fixed ones have none.
  BranchGuard(const BranchHooks& hooks, const System& system, std::optional<double> rtol);

  /// The trajectory begins, or begins anew, here.
  void begin(double t, const double* x) { crossing_.begin(t, x); }

  /// Whether a step that is good in itself may be accepted; if not, `instead` is the size to try. `last`: the run ends with it.
  bool stays(const Crossing::Step& step, bool last);
  double instead() const { return instead_; }
  /// Whether that step goes over a singular position, and on the branch that it came on.
  bool crosses() const { return crosses_; }
  /// The error in units of the tolerance that a step may have from here.
  double most_error() const;
  /// The step was accepted: its singular positions are in `passed`.
  void accept(Stepper& stepper, std::vector<SingularPosition>& passed);

  /// Near a singular position inside the last accepted step: writes the state there. False elsewhere.
  bool interpolate(Stepper& stepper, double t, double* x);

  /// The constraints that are dependent there, for a message.
  std::string dependent() const;

 private:
  void evaluate(Stages stages) const;

  const BranchHooks& hooks_;
  const bool controlled_;
  const double nearest_end_;  ///< the least distance from a singular position at which steps end
  const Crossing::Zones zones_;
  Crossing crossing_;
  int ended_near_ = 0;  ///< so many steps from here ended too near a singular position
  double instead_ = 0.0;
  bool crosses_ = false;
};

}  // namespace daedalus::integrate
