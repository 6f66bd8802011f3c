// A function that changes its sign in a step vanishes in it, unless it jumps. One that only touches zero is seen by the
// parabola through three points; inside the step it must then fall to nearly nothing beside its values before and after.
//
// A run that ends at a singular point comes to it in ever shorter steps. With the secant through the last two points,
//     distance = |v_1| (t_1 - t_0) / (|v_0| - |v_1|),
// twice the true one where v falls like the square root of the time left, as it does where two solutions meet and end.
// Where v only decays, as exp(-t), the distance does not shrink: so it is compared with the way since v began to fall.
//
// Where solutions end at a singular point from both sides, steps go over it and back again, ever so often and no longer than
// the error test lets them.
#include "daedalus/integrate/regularity_watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace daedalus::integrate {

using Given = RegularityHooks::Given;

namespace {

/// Beside its values around it, what has fallen below this is zero.
constexpr double nothing = 1e-3;
/// The parabola must promise to fall below this part of the values around it.
constexpr double promising = 0.3;
/// A run is blocked where this part of the way is left, by steps this much shorter than those before.
constexpr double little_left = 1e-10, much_shorter = 1e-8;
/// A failure is the fault of a singular point where this part of the way to it is left.
constexpr double near = 0.05;
constexpr int most_halvings = 60;
/// A run goes to and fro where it passes so many singular points in steps this much shorter than its longest.
constexpr int to_and_fro = 100;
constexpr double short_step = 1e-3;
/// In place of a number of points: the last step has gone over the end of the solution, which is the last point.
constexpr int overrun = -1;

/// The first function that has fallen to nothing.
std::optional<std::size_t> vanishing(const std::vector<double>& values, const std::vector<double>& largest) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::abs(values[i]) <= nothing * largest[i]) return i;
  return std::nullopt;
}

Given given_by(const Stepper& stepper) { return stepper.moves_all() ? Given::solution : Given::guess; }

}  // namespace

RegularityWatch::RegularityWatch(const RegularityHooks& hooks, const System& system)
    : hooks_(hooks), x_(system.dimension), state_(system.dimension) {
  for (auto* values : {&before_, &old_, &new_, &inside_, &largest_, &top_time_, &longest_}) values->resize(hooks.count);
}

void RegularityWatch::begin(double t, const double* x) {
  points_ = hooks_.look(t, x, Given::guess, new_.data()) == Evaluation::ok ? 1 : 0;
  t_new_ = t;
  longest_step_ = 0.0;
  passed_in_short_steps_ = 0;
  std::copy_n(x, state_.size(), state_.begin());
  for (std::size_t i = 0; i < hooks_.count; ++i) {
    largest_[i] = std::abs(new_[i]);
    top_time_[i] = t;
    longest_[i] = 0.0;
  }
}

void RegularityWatch::accept(Stepper& stepper, double t_old, double t_new, std::vector<SingularPoint>& passed) {
  before_.swap(old_);
  old_.swap(new_);
  t_before_ = t_old_;
  t_old_ = t_old;
  t_new_ = t_new;
  std::copy_n(stepper.state(), state_.size(), state_.begin());
  if (!look_at(t_new, state_, given_by(stepper), new_)) {
    const bool solvable_before = points_ > 0;
    points_ = 0;
    // Up to where the equations can be solved, if some function has fallen to nothing there.
    double left = 0.0, right = solvable_before ? 1.0 : 0.0;
    for (int k = 0; k < most_halvings && right - left > 4.0 * std::numeric_limits<double>::epsilon(); ++k) {
      const double middle = 0.5 * (left + right);
      (look(stepper, middle) ? left : right) = middle;
    }
    if (!solvable_before || !look(stepper, left) || !vanishing(inside_, largest_)) return;
    new_ = inside_;
    t_new_ = t_old + left * (t_new - t_old);
    if (left > 0.0) state_ = x_;
    points_ = overrun;
    return;
  }
  points_ = std::min(points_ + 1, 3);
  const double h = std::abs(t_new - t_old);
  longest_step_ = std::max(longest_step_, h);
  if (h > short_step * longest_step_) passed_in_short_steps_ = 0;
  for (std::size_t i = 0; i < hooks_.count; ++i) {
    largest_[i] = std::max(largest_[i], std::abs(new_[i]));
    if (points_ < 2 || old_[i] * new_[i] <= 0.0 || std::abs(new_[i]) > std::abs(old_[i])) {
      top_time_[i] = t_new;
      longest_[i] = 0.0;
    } else {
      longest_[i] = std::max(longest_[i], h);
    }
    if (points_ < 2) continue;
    std::optional<double> theta;
    if (old_[i] * new_[i] < 0.0)
      theta = crossing(stepper, i);
    else if (new_[i] == 0.0 && old_[i] != 0.0)
      theta = 1.0;
    else if (points_ == 3)
      theta = touching(stepper, i);
    if (!theta || !look(stepper, *theta)) continue;
    SingularPoint point = hooks_.describe(i);
    point.t = t_old + *theta * (t_new - t_old);
    passed.push_back(std::move(point));
    ++passed_in_short_steps_;
    last_passed_ = i;
  }
}

bool RegularityWatch::look_at(double t, const std::vector<double>& x, Given given, std::vector<double>& values) const {
  return hooks_.look(t, x.data(), given, values.data()) == Evaluation::ok;
}

bool RegularityWatch::look(Stepper& stepper, double theta) {
  if (theta == 1.0) return look_at(t_new_, state_, given_by(stepper), inside_);
  return stepper.interpolate(theta, x_.data()) == Evaluation::ok &&
         look_at(t_old_ + theta * (t_new_ - t_old_), x_, Given::guess, inside_);
}

/// Where in the step a function changes its sign through zero. By halves: the function may be anything.
std::optional<double> RegularityWatch::crossing(Stepper& stepper, std::size_t which) {
  double left = 0.0, right = 1.0, at_left = old_[which], at_right = new_[which];
  for (int k = 0; k < most_halvings && right - left > 4.0 * std::numeric_limits<double>::epsilon(); ++k) {
    const double middle = 0.5 * (left + right);
    // Where equations are singular to round-off they may not be solvable: that is what is looked for.
    if (!look(stepper, middle)) break;
    const double value = inside_[which];
    if (value * at_left > 0.0) {
      left = middle;
      at_left = value;
    } else {
      right = middle;
      at_right = value;
    }
  }
  const double size = std::max(std::abs(old_[which]), std::abs(new_[which]));
  if (std::min(std::abs(at_left), std::abs(at_right)) > nothing * size) return std::nullopt;  // it jumps
  // The nearer side on which the equations can be evaluated, for names.
  return std::abs(at_left) <= std::abs(at_right) ? left : right;
}

/// Where in the step a function touches zero.
std::optional<double> RegularityWatch::touching(Stepper& stepper, std::size_t which) {
  const double a = before_[which], b = old_[which], c = new_[which];
  if (a * b <= 0.0 || b * c <= 0.0) return std::nullopt;
  const double around = std::min(std::max(std::abs(a), std::abs(b)), std::abs(c));
  // v = b + slope s + bend s^2 with s = t - t_old
  const double h0 = t_old_ - t_before_, h1 = t_new_ - t_old_;
  const double before = (b - a) / h0, after = (c - b) / h1;
  const double bend = (after - before) / (h0 + h1), slope = before + bend * h0;
  if (bend * b <= 0.0) return std::nullopt;
  const double s = std::clamp(-0.5 * slope / bend / h1, 0.0, 1.0);
  const double promised = b + (slope + bend * s * h1) * s * h1;
  if (promised * b > promising * around * std::abs(b)) return std::nullopt;
  // The least size, by golden sections.
  const double golden = 0.5 * (std::sqrt(5.0) - 1.0);
  const auto size_at = [&](double theta) {
    return look(stepper, theta) ? inside_[which] * b / std::abs(b) : 0.0;
  };
  double left = 0.0, right = 1.0, one = 1.0 - golden, two = golden;
  double at_one = size_at(one), at_two = size_at(two), best = std::abs(b), where = 0.0;
  for (int k = 0; k < most_halvings && right - left > 1e-9; ++k) {
    if (at_one < best) best = at_one, where = one;
    if (at_two < best) best = at_two, where = two;
    if (at_one < at_two) {
      right = two;
      two = one;
      at_two = at_one;
      one = right - golden * (right - left);
      at_one = size_at(one);
    } else {
      left = one;
      one = two;
      at_one = at_two;
      two = left + golden * (right - left);
      at_two = size_at(two);
    }
  }
  return best <= nothing * around ? std::optional(where) : std::nullopt;
}

std::optional<RegularityWatch::Ahead> RegularityWatch::ahead(double most_left) const {
  if (points_ < 2) return std::nullopt;
  std::optional<Ahead> result;
  for (std::size_t i = 0; i < hooks_.count; ++i) {
    const double fall = std::abs(old_[i]) - std::abs(new_[i]);
    if (!(fall > 0.0) || old_[i] * new_[i] <= 0.0) continue;
    const double distance = std::abs(new_[i] * (t_new_ - t_old_)) / fall, way = std::abs(t_new_ - top_time_[i]);
    if (distance > most_left * (way + distance)) continue;
    if (!result || distance < result->distance) result = Ahead{i, distance};
  }
  return result;
}

SingularPoint RegularityWatch::described(const Ahead& ahead) {
  look_at(t_new_, state_, Given::guess, inside_);
  SingularPoint point = hooks_.describe(ahead.which);
  point.t = t_new_;
  return point;
}

std::optional<SingularPoint> RegularityWatch::blocked_by(double size) {
  if (points_ == overrun) return described({*vanishing(new_, largest_), 0.0});
  if (passed_in_short_steps_ >= to_and_fro) return described({last_passed_, 0.0});
  const auto found = ahead(little_left);
  if (!found || size >= found->distance || size > much_shorter * longest_[found->which]) return std::nullopt;
  return described(*found);
}

std::optional<SingularPoint> RegularityWatch::failed_at() {
  auto found = ahead(near);
  if (!found && points_ != 0)
    if (const auto which = vanishing(new_, largest_)) found = Ahead{*which, 0.0};
  if (!found && points_ == 1) {  // the first step failed: the start is judged beside a point near it
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = state_[i] + nothing * std::max(1.0, std::abs(state_[i]));
    if (!look_at(t_new_, x_, Given::guess, inside_)) return std::nullopt;
    for (double& value : inside_) value = std::abs(value);
    if (const auto which = vanishing(new_, inside_)) found = Ahead{*which, 0.0};
  }
  return found ? std::optional(described(*found)) : std::nullopt;
}

}  // namespace daedalus::integrate
