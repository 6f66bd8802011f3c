#pragma once

#include <array>
#include <optional>
#include <vector>

#include "daedalus/integrate/branches.hpp"
#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// Watches for singular positions between the points of a trajectory. Allocates nothing as long as there are none.
class Crossing {
 public:
  Crossing(const BranchHooks& hooks, const System& system);

  /// The trajectory begins, or begins anew, here.
  void begin(double t, const double* x);

  /// A step that is good in itself.
  struct Step {
    double t_old, t_new;
    const double *x_old, *x_new;
  };
  enum class Verdict {
    ordinary,
    crosses,   ///< goes over a singular position
    too_near,  ///< ends where the constraints are nearly dependent
    unclear    ///< goes over to another branch that comes close and does not meet this one, or is too long to tell
  };
  /// Below the part `nearest` of its greatest length an arrow is short. Steps may not end where one has suddenly become
  /// so.
  Verdict judge(const Step& step, double nearest);
  /// From the start of the step to the singular position, of a step that is not ordinary.
  double way() const { return way_; }
  /// Whether an arrow is short at the end of the step.
  bool short_at_end() const { return short_at_end_; }
  /// The constraints that are dependent there.
  const std::vector<std::string>& constraints() const { return constraints_; }

  /// The step that was judged last was accepted: its singular positions are in `passed`.
  void accept(Stepper& stepper, std::vector<SingularPosition>& passed);
  /// Distances from a singular position, in parts of the greatest lengths of arrows.
  struct Zones {
    double ambiguous;  ///< nearer than this the projection of an interpolated state may find another branch
    double lost;       ///< nearer than this a projection loses the velocity to round-off
  };
  /// Inside the last accepted step, in one of the zones: writes the state there. False elsewhere.
  bool interpolate(Stepper& stepper, double t, const Zones& zones, double* x);

 private:
  /// Arrows that vanish together.
  struct Place {
    std::vector<std::size_t> arrows;
    double theta;  ///< where in the step
    double speed;  ///< of the first arrow, in units of its greatest length
    Meeting meeting;
  };
  template <class Path>
  std::optional<double> search(std::size_t arrow, Path path);
  void find(const Step& step);
  bool meets(Place& place, const Step& step);
  void chord(const Step& step, double theta, double* x) const;
  double product(std::size_t arrow, const std::vector<double>& one, const std::vector<double>& other) const;
  double length(std::size_t arrow, const std::vector<double>& of) const;
  double part(std::size_t arrow, const std::vector<double>& of) const { return length(arrow, of) / longest_[arrow]; }
  bool look(double t, const double* x, std::vector<double>& arrows) const;
  void remember_lengths();
  bool on_branch(Stepper& stepper, double t, std::vector<double>& x) const;

  const BranchHooks& hooks_;
  const System& system_;
  const std::size_t n_;
  std::vector<double> old_, new_, left_, middle_, right_;  ///< arrows
  std::vector<double> longest_;
  std::vector<double> x_;
  std::array<double, 4> nodes_{};
  std::array<std::vector<double>, 4> node_states_;
  std::vector<Place> places_;  ///< in the step that was judged last
  std::vector<std::string> constraints_;
  double t_old_ = 0.0, t_new_ = 0.0, way_ = 0.0;
  bool old_known_ = false, new_known_ = false, short_at_end_ = false;
  bool clear_ = false;  ///< the step that was judged last needed no look
  bool stale_ = false;  ///< old_ is of an earlier point, since steps were clear
};

}  // namespace daedalus::integrate
