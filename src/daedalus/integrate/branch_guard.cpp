// At a distance s from a singular position round-off eps becomes eps/s in positions and eps/s^2 in velocities. A step under
// control ends where that is a tenth of the tolerance, or goes over the position and far enough beyond it.
#include "daedalus/integrate/branch_guard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/integrate/projection_distance.hpp"

namespace daedalus::integrate {
namespace {

/// For very tight tolerances a step ends no farther away than the second.
constexpr double below_tolerance = 10.0, farthest_end = 0.2;
/// Where steps must end farther away than this, one over a singular position has little room.
constexpr double little_room = 0.01;
/// Where a step of given size ends nearer than this, it has no branch to go on; and where its rows are projected.
constexpr double lost_end = 1e-10, lost_row = 1e-4;
/// A step over a singular position reaches so far that it is met here: no method has a stage near this part of a step.
constexpr double met_at = 0.45;
/// Interpolated states are off by the tolerance, and have a branch where they are this many tolerances from the other one.
constexpr double clear_of_branches = 10.0;

double nearest_end(std::optional<double> rtol) {
  if (!rtol) return lost_end;
  return std::min(std::sqrt(below_tolerance * std::numeric_limits<double>::epsilon() / *rtol), farthest_end);
}

Crossing::Zones zones(std::optional<double> rtol) {
  if (!rtol) return {100.0 * lost_row, lost_row};
  return {clear_of_branches * *rtol, nearest_end(rtol)};
}

}  // namespace

BranchGuard::BranchGuard(const BranchHooks& hooks, const System& system, std::optional<double> rtol)
    : hooks_(hooks), controlled_(rtol.has_value()), nearest_end_(nearest_end(rtol)), zones_(zones(rtol)), crossing_(hooks, system) {}

bool BranchGuard::stays(const Crossing::Step& step, bool last) {
  const Crossing::Verdict verdict = crossing_.judge(step, nearest_end_);
  crosses_ = verdict == Crossing::Verdict::crosses;
  if (verdict == Crossing::Verdict::ordinary || verdict == Crossing::Verdict::crosses) return true;
  if (!controlled_) return verdict == Crossing::Verdict::unclear;
  if (verdict == Crossing::Verdict::unclear) {
    instead_ = 0.5 * std::abs(step.t_new - step.t_old);
    return false;
  }
  // Over it, or, if that failed, half of the way to it. What is refused again must do.
  if (last || ++ended_near_ > 2) return true;
  const double way = std::abs(crossing_.way());
  instead_ = ended_near_ == 1 ? way / met_at : 0.5 * way;
  evaluate(Stages::on_constraints);
  return false;
}

/// Over a singular position a step may be as far off as a projection brings back, where shorter ones would lose more to
/// round-off.
double BranchGuard::most_error() const { return ended_near_ == 1 && nearest_end_ > little_room ? farthest_projection : 1.0; }

void BranchGuard::accept(Stepper& stepper, std::vector<SingularPosition>& passed) {
  crossing_.accept(stepper, passed);
  evaluate(crossing_.short_at_end() ? Stages::on_constraints : Stages::as_they_are);
  ended_near_ = 0;
}

bool BranchGuard::interpolate(Stepper& stepper, double t, double* x) { return crossing_.interpolate(stepper, t, zones_, x); }

std::string BranchGuard::dependent() const {
  std::string names;
  for (const std::string& name : crossing_.constraints()) names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name);
  return names;
}

void BranchGuard::evaluate(Stages stages) const {
  if (hooks_.evaluate) hooks_.evaluate(stages);
}

}  // namespace daedalus::integrate
