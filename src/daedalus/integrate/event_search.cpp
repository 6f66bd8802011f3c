// The dense output of a step is sampled, and between the samples the parabola through three neighbours shows where a
// function may dip below zero and come back. A change of sign is then narrowed down to neighbouring numbers: T. R. Chandrupatla, A new
// hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without using derivatives, Adv. Eng. Software 28
// (1997) 145-149.
#include "daedalus/integrate/event_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace daedalus::integrate {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t intervals = 4;
/// The plain curve is followed to its root as near as the projected one may be expected to be there, in steps.
constexpr double near = 1e-7;

/// Where the parabola through three points has its least value, and that value; none where it opens downwards.
bool vertex(const double* t, const double* f, double& at, double& least) {
  const double d0 = (f[1] - f[0]) / (t[1] - t[0]), d1 = (f[2] - f[1]) / (t[2] - t[1]);
  const double curvature = (d1 - d0) / (t[2] - t[0]);
  if (!(curvature > 0.0)) return false;
  const double slope = d0 - curvature * (t[1] - t[0]);  // at t[0]
  at = t[0] - slope / (2.0 * curvature);
  least = f[0] - slope * slope / (4.0 * curvature);
  return std::isfinite(at);
}

}  // namespace

EventSearch::EventSearch(const EventHooks& hooks, const System& system)
    : hooks_(hooks),
      system_(system),
      x_(system.dimension),
      room_(hooks.count),
      root_(hooks.count),
      times_(intervals + 1),
      samples_(intervals + 1, std::vector<double>(hooks.count)),
      samples_before_(hooks.count) {
  candidates_.reserve(hooks.count);
  left_.reserve(hooks.count);
}

double EventSearch::resolution(const Step& step, double t) const {
  return 2.0 * epsilon * std::max(std::abs(t), 1e-3 * std::abs(step.t_new - step.t_old));
}

/// Fills x_ and room_.
bool EventSearch::evaluate(const Step& step, double t, Points points) {
  if (t == evaluated_ && points == Points::projected) return true;
  evaluated_ = std::numeric_limits<double>::quiet_NaN();
  if (t == step.t_new) {
    std::copy_n(step.stepper.state(), x_.size(), x_.begin());
  } else {
    outcome_ = step.stepper.interpolate_at(t, (t - step.t_old) / (step.t_new - step.t_old), x_.data());
    const auto& project = system_.project ? system_.project : system_.project_between;
    if (outcome_ == Evaluation::ok && points == Points::projected && project) {
      ++projections_;
      outcome_ = project_all(system_, project, step.stepper.moves_all(), t, x_.data());
    }
    if (outcome_ != Evaluation::ok) return false;
  }
  outcome_ = hooks_.room(t, x_.data(), room_.data());
  if (outcome_ == Evaluation::ok && points == Points::projected) evaluated_ = t;
  return outcome_ == Evaluation::ok;
}

/// Fills samples_, or finds from the ends and the middle that all functions keep their room. False where an evaluation failed.
bool EventSearch::sample(const Step& step) {
  constexpr std::size_t middle = intervals / 2;
  const auto at = [&](std::size_t j) {
    const double theta = static_cast<double>(j) / static_cast<double>(intervals);
    times_[j] = j == intervals ? step.t_new : step.from + theta * (step.t_new - step.from);
    if (!evaluate(step, times_[j], Points::plain)) return false;
    samples_[j].swap(room_);
    return true;
  };
  keeps_room_ = false;
  if (followed_ && step.from == times_[intervals]) {
    times_[0] = step.from;
    samples_[0].swap(samples_[intervals]);
    before_ = times_[middle];
    samples_before_.swap(samples_[middle]);
  } else {
    followed_ = false;
    if (!at(0)) return false;
  }
  if (!at(middle) || !at(intervals)) return false;
  keeps_room_ = followed_;
  for (std::size_t i = 0; keeps_room_ && i < hooks_.count; ++i) keeps_room_ = surely_room(i, times_[middle]);
  followed_ = true;
  for (std::size_t j = 1; !keeps_room_ && j < intervals; ++j)
    if (j != middle && !at(j)) return false;
  return true;
}

/// Whether a function keeps its room in the step as the parabola through its ends and its middle says, which the step before agrees
/// with.
bool EventSearch::surely_room(std::size_t i, double t_middle) const {
  const double f[3] = {samples_[0][i], samples_[intervals / 2][i], samples_[intervals][i]};
  const double t[3] = {times_[0], t_middle, times_[intervals]};
  const double room = 0.5 * std::min({f[0], f[1], f[2]});
  if (!(room > 0.0)) return false;
  double at = 0.0, least = 0.0;
  if (vertex(t, f, at, least) && (at - t[0]) * (at - t[2]) < 0.0 && least < room) return false;
  if (room == std::numeric_limits<double>::infinity()) return true;
  const auto slope = [](double f0, double f1, double t0, double t1) { return (f1 - f0) / (t1 - t0); };
  const double d0 = slope(samples_before_[i], f[0], before_, t[0]), d1 = slope(f[0], f[1], t[0], t[1]), d2 = slope(f[1], f[2], t[1], t[2]);
  const double third = slope(slope(d0, d1, before_, t[1]), slope(d1, d2, t[0], t[2]), before_, t[2]);
  const double h = t[2] - t[0];
  return std::abs(third * h * h * h) < room;
}

Evaluation EventSearch::search(const Step& step, bool& found) {
  found = false;
  outcome_ = Evaluation::ok;
  evaluated_ = std::numeric_limits<double>::quiet_NaN();
  if (hooks_.count == 0) return outcome_;
  if (!sample(step)) return outcome_;
  candidates_.clear();
  for (std::size_t i = 0; !keeps_room_ && i < hooks_.count; ++i) {
    for (std::size_t j = 1; j <= intervals; ++j) {
      double t = 0.0;
      if (!(samples_[j][i] > 0.0)) {
        candidates_.push_back({i, times_[j - 1], times_[j]});
        break;
      }
      if (j >= 2 && dip(step, i, j, t)) {
        candidates_.push_back({i, times_[j - 2], t});
        break;
      }
      if (outcome_ != Evaluation::ok) return outcome_;
    }
  }
  // All are located before the first is chosen: the samples say in which interval a function is left, not in which
  // order.
  left_.clear();
  const double forwards = step.t_new > step.t_old ? 1.0 : -1.0;
  double first = std::numeric_limits<double>::infinity();
  std::size_t kept = 0;
  bool any_at_once = false;
  for (const Candidate& candidate : candidates_) {
    bool at_once = false;
    double t = 0.0;
    if (!locate(step, candidate, t, at_once)) {
      if (outcome_ != Evaluation::ok) return outcome_;
      continue;
    }
    if (std::abs(step.t_new - t) <= 4.0 * resolution(step, t)) t = step.t_new;
    if (at_once) any_at_once = true;
    root_[kept] = t;
    candidates_[kept++] = candidate;
    first = std::min(first, forwards * t);
  }
  if (kept == 0) return outcome_;
  followed_ = false;
  t_ = forwards * first;
  for (std::size_t k = 0; k < kept; ++k) {
    if (forwards * root_[k] > first + 4.0 * resolution(step, t_)) continue;
    left_.push_back(candidates_[k].function);
    if (forwards * root_[k] > forwards * t_) t_ = root_[k];
  }
  at_once_ = any_at_once && std::abs(t_ - step.from) <= 4.0 * resolution(step, t_);
  if (at_once_) t_ = step.from;
  found = evaluate(step, t_, Points::projected);
  return outcome_;
}

/// Whether a function that has room at three neighbouring samples has none between them.
bool EventSearch::dip(const Step& step, std::size_t i, std::size_t last, double& t) {
  double times[3], rooms[3];
  for (std::size_t k = 0; k < 3; ++k) {
    times[k] = times_[last - 2 + k];
    rooms[k] = std::max(0.0, samples_[last - 2 + k][i]);
    if (!std::isfinite(rooms[k])) return false;
  }
  const double spacing = std::abs(times[2] - times[0]);
  for (int tries = 0; tries < 6; ++tries) {
    double least = 0.0;
    if (!vertex(times, rooms, t, least)) return false;
    const double margin = 1e-3 * spacing;
    const bool inside =
        std::abs(t - times[0]) + std::abs(times[2] - t) <= std::abs(times[2] - times[0]) * (1.0 + epsilon);
    if (!inside || std::abs(t - times_[last - 2]) < margin) return false;
    if (least > 0.5 * std::min({rooms[0], rooms[1], rooms[2]})) return false;
    if (std::abs(t - times[1]) <= 1e-9 * spacing) return false;
    if (!evaluate(step, t, Points::plain)) return false;
    if (!(room_[i] > 0.0)) return true;
    // The three points around the lowest one are kept.
    const bool left_half = std::abs(t - times[0]) < std::abs(times[1] - times[0]);
    const std::size_t other = left_half ? 2 : 0;
    if (room_[i] < rooms[1]) {
      times[other] = times[1];
      rooms[other] = rooms[1];
      times[1] = t;
      rooms[1] = room_[i];
    } else {
      times[left_half ? 0 : 2] = t;
      rooms[left_half ? 0 : 2] = room_[i];
    }
  }
  return false;
}

/// Narrows a bracket, with room at its `a` and none at its `b`, down to a width or to neighbouring numbers. False where an evaluation
/// failed. The next point is that of inverse quadratic interpolation where three points are a piece of a function without a turning
/// point, the middle otherwise.
bool EventSearch::narrow(const Step& step, std::size_t i, Points points, double width, Bracket& bracket) {
  double t1 = bracket.b, t2 = bracket.a, f1 = bracket.f_b, f2 = bracket.f_a, t3 = 0.0, f3 = 0.0;
  double part = std::isfinite(f1 / (f1 - f2)) ? f1 / (f1 - f2) : 0.5;  // of the way from t1 to t2
  for (int tries = 0; tries < 200; ++tries) {
    const double most = std::max(width, resolution(step, t1));
    if (std::abs(t2 - t1) <= most) break;
    // A root at the very end of the bracket would never let the other end move.
    const double least = std::min(0.5, 0.75 * most / std::abs(t2 - t1));
    double t = t1 + std::clamp(part, least, 1.0 - least) * (t2 - t1);
    if (t == t1 || t == t2) t = t1 + 0.5 * (t2 - t1);
    if (t == t1 || t == t2) break;
    if (!evaluate(step, t, points)) return false;
    const double f = room_[i];
    if ((f > 0.0) == (f1 > 0.0)) {
      t3 = t1;
      f3 = f1;
    } else {
      t3 = t2;
      f3 = f2;
      t2 = t1;
      f2 = f1;
    }
    t1 = t;
    f1 = f;
    const double xi = (t1 - t2) / (t3 - t2), phi = (f1 - f2) / (f3 - f2);
    const bool monotone = 1.0 - std::sqrt(1.0 - xi) < phi && phi < std::sqrt(xi);
    part = monotone ? f1 / (f2 - f1) * (f3 / (f2 - f3)) + (t3 - t1) / (t2 - t1) * (f1 / (f3 - f1)) * (f2 / (f3 - f2)) : 0.5;
  }
  bracket = f1 > 0.0 ? Bracket{t1, t2, f1, f2} : Bracket{t2, t1, f2, f1};
  return true;
}

/// Brackets the root of the projected curve around that of the plain one, which is cheap to find: as wide as the difference of
/// both asks for. False where they have little in common, or an evaluation failed.
bool EventSearch::around_plain_root(const Step& step, std::size_t i, Bracket& bracket) {
  Bracket plain = bracket;
  if (!evaluate(step, plain.a, Points::plain)) return false;
  plain.f_a = room_[i];
  if (!evaluate(step, plain.b, Points::plain)) return false;
  plain.f_b = room_[i];
  if (!(plain.f_a > 0.0) || plain.f_b > 0.0) return false;
  if (!narrow(step, i, Points::plain, near * std::abs(step.t_new - step.t_old), plain)) return false;
  const double slope = std::abs((plain.f_b - plain.f_a) / (plain.b - plain.a)), forwards = plain.b > plain.a ? 1.0 : -1.0;
  bool has_room = false, begun = false;
  double reach = 0.0;
  const double plain_root = plain.b;
  for (double t = plain.b; t == bracket.b || (t - bracket.a) * (t - bracket.b) < 0.0; reach *= 4.0) {
    if (!evaluate(step, t, Points::projected)) return false;
    const double f = room_[i];
    const bool other_side = begun && has_room != (f > 0.0);
    (f > 0.0 ? plain.a : plain.b) = t;
    (f > 0.0 ? plain.f_a : plain.f_b) = f;
    if (other_side) {
      bracket = plain;
      return true;
    }
    if (!begun) reach = std::max(2.0 * std::abs(f) / slope, 2.0 * resolution(step, t));
    begun = true;
    has_room = f > 0.0;
    t = plain_root + (has_room ? forwards : -forwards) * reach;
  }
  return false;
}

/// False where the projected curve keeps its room, or where an evaluation failed.
bool EventSearch::locate(const Step& step, const Candidate& candidate, double& root, bool& at_once) {
  const std::size_t i = candidate.function;
  Bracket bracket{candidate.before, candidate.after, 0.0, 0.0};
  if (!around_plain_root(step, i, bracket)) {
    if (outcome_ != Evaluation::ok) return false;
    double& a = bracket.a;
    double& b = bracket.b;
    if (!evaluate(step, b, Points::projected)) return false;
    if (room_[i] > 0.0) return false;
    bracket.f_b = room_[i];
    if (!evaluate(step, a, Points::projected)) return false;
    bracket.f_a = room_[i];
    if (!(bracket.f_a > 0.0)) {
      // The room at the start of the search may be smaller than round-off, right after an event; later it is not. Between
      // two samples the plain curve had room where the projected one has none: then the start is a safe place.
      const double begin = a == step.from ? a : step.from;
      double t = a == step.from ? b : a;
      for (;;) {
        b = t;
        t = begin + 0.5 * (t - begin);
        if (std::abs(t - begin) <= resolution(step, t)) {
          root = step.from;
          at_once = true;
          return true;
        }
        if (!evaluate(step, t, Points::projected)) return false;
        if (room_[i] > 0.0) break;
        bracket.f_b = room_[i];
      }
      a = t;
      bracket.f_a = room_[i];
    }
  }
  if (!narrow(step, i, Points::projected, 0.0, bracket)) return false;
  root = bracket.b;
  return true;
}

}  // namespace daedalus::integrate
