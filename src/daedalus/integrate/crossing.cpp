// Let constraints g(q, t) = 0 become dependent at one position q* of a motion: their rows of G bind one direction less
// there. Two branches of g = 0 cross at q*, and the motion, which comes along one of them with a velocity that is not
// zero, goes on along the same one: that is its only smooth continuation.
//
// Along a branch the arrow of a constraint, the part of its row of G outside the rows before it, is smooth, and at q*
// it goes through zero: it comes out with the opposite direction. So a step goes over a singular position if an arrow
// has turned around, and does so in every half of a half of the step that is looked at; an arrow that has merely turned
// far in a long step does not.
//
// At a distance s from q*, the length of the arrow, a point that is off its branch by p has accelerations that are
// wrong by p/s. Stages of a step are off by some power of its size; evaluated where they project to, x' = f(P(x)), they
// are not, and a step over q* is as good as any other, as long as no stage meets q* itself. But it must not end close
// to q*: where g is known to eps, the position is to eps/s, and the direction of G, and with it the velocity, to
// eps/s^2.
//
// Branches that only come close, with a gap, do not meet: the motion turns sharply from one into the other, where a
// long step would go straight on. With u^T G = 0 at q* the combination u^T g of the constraints tells: an error p of
// the position counts in it with p^2, a gap as it is.
#include "daedalus/integrate/crossing.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/integrate/hermite.hpp"

namespace daedalus::integrate {
namespace {

/// An arrow that shrinks below this part of its length at both ends of a step, and turns around, has vanished.
constexpr double vanished = 0.1;
/// Arrows that vanish within this part of a step vanish together.
constexpr double together = 0.02;
/// An arrow that is left with more than this part of it shows a path that is too rough to tell whether branches meet.
constexpr double rough = 3e-4;
/// A gap below this, beside the positions, is round-off.
constexpr double closed = 1e-13;
/// An arrow that a step leaves with less than this part of it has suddenly become shorter.
constexpr double suddenly = 0.45;

}  // namespace

Crossing::Crossing(const BranchHooks& hooks, const System& system)
    : hooks_(hooks),
      system_(system),
      n_(hooks.coordinates),
      old_(hooks.arrows * n_),
      new_(old_),
      left_(old_),
      middle_(old_),
      right_(old_),
      longest_(hooks.arrows),
      x_(system.dimension) {
  node_states_.fill(x_);
}

double Crossing::product(std::size_t arrow, const std::vector<double>& one, const std::vector<double>& other) const {
  double sum = 0.0;
  for (std::size_t i = arrow * n_; i < (arrow + 1) * n_; ++i) sum += one[i] * other[i];
  return sum;
}

double Crossing::length(std::size_t arrow, const std::vector<double>& of) const {
  return std::sqrt(product(arrow, of, of));
}

bool Crossing::look(double t, const double* x, std::vector<double>& arrows) const {
  return hooks_.look(t, x, arrows.data()) == Evaluation::ok;
}

void Crossing::begin(double t, const double* x) {
  places_.clear();
  t_new_ = t;
  old_known_ = look(t, x, old_);
  stale_ = false;
  remember_lengths();
}

void Crossing::remember_lengths() {
  for (std::size_t i = 0; old_known_ && i < longest_.size(); ++i) longest_[i] = std::max(longest_[i], length(i, old_));
}

void Crossing::chord(const Step& step, double theta, double* x) const {
  const double h = step.t_new - step.t_old;
  for (std::size_t i = 0; i < n_; ++i) {
    Hermite q;
    q.add(0.0, step.x_old[i], step.x_old[n_ + i]);
    q.add(h, step.x_new[i], step.x_new[n_ + i]);
    x[i] = q.at(theta * h).f;
  }
}

/// Where an arrow turns around on a path between the ends of the step; `path` writes x_.
template <class Path>
std::optional<double> Crossing::search(std::size_t arrow, Path path) {
  left_ = old_;
  right_ = new_;
  double from = 0.0, to = 1.0, theta = 0.5, t = 0.0;
  for (int halving = 0; halving < 50; ++halving) {
    theta = 0.5 * (from + to);
    if (!path(theta, t) || !look(t, x_.data(), middle_)) return std::nullopt;
    if (product(arrow, left_, middle_) < 0.0) {
      to = theta;
      right_.swap(middle_);
    } else if (product(arrow, middle_, right_) < 0.0) {
      from = theta;
      left_.swap(middle_);
    } else {
      break;  // as near as the path comes, or as the arrow only turns
    }
  }
  const double least = std::min({length(arrow, left_), length(arrow, middle_), length(arrow, right_)});
  if (!(least <= vanished * std::min(length(arrow, old_), length(arrow, new_)))) return std::nullopt;
  return theta;
}

/// Fills places_ with the singular positions of a step, in the order in which it meets them.
void Crossing::find(const Step& step) {
  const double h = step.t_new - step.t_old;
  for (std::size_t i = 0; i < longest_.size(); ++i) {
    if (!(product(i, old_, new_) < 0.0)) continue;
    const auto found = search(i, [&](double theta, double& t) {
      t = step.t_old + theta * h;
      chord(step, theta, x_.data());
      return true;
    });
    if (!found) continue;
    const auto same = std::find_if(places_.begin(), places_.end(),
                                   [&](const Place& place) { return std::abs(place.theta - *found) < together; });
    if (same != places_.end())
      same->arrows.push_back(i);
    else
      places_.push_back({{i}, *found, part(i, old_) / (std::abs(h) * *found), {}});
  }
  std::sort(places_.begin(), places_.end(),
            [](const Place& one, const Place& other) { return one.theta < other.theta; });
}

/// Whether the branches meet there, as far as can be told. An arrow that shrinks to zero over the distance |q* - q_old|
/// and is left with a part r of its length shows a point that is off by p = r |q* - q_old|, whose square over that
/// distance is no gap.
bool Crossing::meets(Place& place, const Step& step) {
  chord(step, place.theta, x_.data());
  double size = 0.0, distance = 0.0;
  for (std::size_t i = 0; i < n_; ++i) {
    size = std::max(size, std::abs(x_[i]));
    distance += (x_[i] - step.x_old[i]) * (x_[i] - step.x_old[i]);
  }
  distance = std::sqrt(distance);
  const double t = step.t_old + place.theta * (step.t_new - step.t_old);
  place.meeting = hooks_.meeting(t, x_.data(), place.arrows);
  look(t, x_.data(), middle_);
  for (std::size_t k = 0; k < place.arrows.size(); ++k) {
    const std::size_t arrow = place.arrows[k];
    const double here = length(arrow, middle_), before = length(arrow, old_), r = here / before;
    const double open = 10.0 * distance * r * r * before + closed * size * longest_[arrow];
    if (!(r <= rough && place.meeting.gap[k] <= open)) return false;
  }
  return true;
}

Crossing::Verdict Crossing::judge(const Step& step, double nearest) {
  places_.clear();
  t_old_ = step.t_old;
  t_new_ = step.t_new;
  short_at_end_ = false;
  clear_ = hooks_.clear && hooks_.clear(step.t_old, step.t_new);
  if (clear_) return Verdict::ordinary;
  if (stale_) {
    old_known_ = look(step.t_old, step.x_old, old_);
    stale_ = false;
    remember_lengths();
  }
  new_known_ = look(step.t_new, step.x_new, new_);
  if (!old_known_ || !new_known_) return Verdict::ordinary;
  const double h = step.t_new - step.t_old;
  find(step);
  for (Place& place : places_) {
    way_ = place.theta * h;
    const bool good = meets(place, step);
    constraints_ = place.meeting.constraints;
    if (!good) {
      places_.clear();
      return Verdict::unclear;
    }
  }
  std::size_t shortest = 0;
  for (std::size_t i = 1; i < longest_.size(); ++i)
    if (part(i, new_) < part(shortest, new_)) shortest = i;
  short_at_end_ = part(shortest, new_) < nearest;
  const bool near = short_at_end_ && part(shortest, new_) < suddenly * part(shortest, old_);
  if (!places_.empty()) way_ = places_.back().theta * h;
  if (near && places_.empty()) {
    // What remains of the arrow; where it goes on shrinking, this is when it vanishes.
    const double before = length(shortest, old_), rest = product(shortest, old_, new_) / (before * before);
    way_ = h / (1.0 - rest);
    constraints_ = hooks_.meeting(step.t_new, step.x_new, {shortest}).constraints;
  }
  if (near) return Verdict::too_near;
  return places_.empty() ? Verdict::ordinary : Verdict::crosses;
}

void Crossing::accept(Stepper& stepper, std::vector<SingularPosition>& passed) {
  for (Place& place : places_) {
    // Dense output is nearer to the motion than the chord.
    const auto found = search(place.arrows.front(), [&](double theta, double& t) {
      t = t_old_ + theta * (t_new_ - t_old_);
      return stepper.interpolate(theta, x_.data()) == Evaluation::ok;
    });
    if (found) place.theta = *found;
    passed.push_back({t_old_ + place.theta * (t_new_ - t_old_), place.meeting.constraints});
  }
  stale_ = clear_;
  if (clear_) return;
  old_.swap(new_);
  old_known_ = new_known_;
  remember_lengths();
}

/// The state of the last accepted step at time t, projected.
bool Crossing::on_branch(Stepper& stepper, double t, std::vector<double>& x) const {
  if (t == t_new_) {
    std::copy_n(stepper.state(), x.size(), x.begin());
    return true;
  }
  if (stepper.interpolate((t - t_old_) / (t_new_ - t_old_), x.data()) != Evaluation::ok) return false;
  const auto& project = system_.project ? system_.project : system_.project_between;
  return t == t_old_ || !project || project(t, x.data()) == Evaluation::ok;
}

bool Crossing::interpolate(Stepper& stepper, double t, const Zones& zones, double* x) {
  for (const Place& place : places_) {
    const double h = t_new_ - t_old_, singular = t_old_ + place.theta * h;
    const double reach = std::max(zones.ambiguous, zones.lost) / (place.speed * std::abs(h));  // in steps
    if (!(std::abs(t - singular) < reach * std::abs(h))) continue;
    // Two points on either side, or as many as the step has.
    std::size_t count = 0;
    for (const double side : {-1.0, 1.0}) {
      const double room = side < 0.0 ? place.theta : 1.0 - place.theta, end = side < 0.0 ? t_old_ : t_new_;
      nodes_[count++] = reach < room ? singular + side * reach * h : end;
      if (reach < room) nodes_[count++] = 2.0 * reach < room ? singular + 2.0 * side * reach * h : end;
    }
    for (std::size_t k = 0; k < count; ++k)
      if (!on_branch(stepper, nodes_[k], node_states_[k])) return false;
    if (stepper.interpolate((t - t_old_) / h, x) != Evaluation::ok) return false;
    for (std::size_t i = 0; i < n_; ++i) {
      Hermite q;
      for (std::size_t k = 0; k < count; ++k) q.add(nodes_[k] - singular, node_states_[k][i], node_states_[k][n_ + i]);
      const Hermite::Value value = q.at(t - singular);
      x[i] = value.f;
      x[n_ + i] = value.slope;
    }
    if (!look(t, x, middle_)) return false;
    for (const std::size_t arrow : place.arrows)
      if (part(arrow, middle_) < zones.lost) return true;
    const auto& project = system_.project ? system_.project : system_.project_between;
    return !project || project(t, x) == Evaluation::ok;
  }
  return false;
}

}  // namespace daedalus::integrate
