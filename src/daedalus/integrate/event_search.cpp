// The dense output of a step is sampled, and between the samples the parabola through three neighbours shows where a
// function may dip below zero and come back. A change of sign is then narrowed down to neighbouring numbers: regula
// falsi with halved ordinates (Illinois), and bisection where that is slow.
#include "daedalus/integrate/event_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace daedalus::integrate {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr std::size_t intervals = 5;

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
      samples_(intervals + 1, std::vector<double>(hooks.count)) {
  candidates_.reserve(hooks.count);
  left_.reserve(hooks.count);
}

double EventSearch::resolution(const Step& step, double t) const {
  return 2.0 * epsilon * std::max(std::abs(t), 1e-3 * std::abs(step.t_new - step.t_old));
}

/// Fills x_ and room_.
bool EventSearch::evaluate(const Step& step, double t, Points points) {
  if (t == step.t_new) {
    std::copy_n(step.stepper.state(), x_.size(), x_.begin());
  } else {
    outcome_ = step.stepper.interpolate_at(t, (t - step.t_old) / (step.t_new - step.t_old), x_.data());
    const auto& project = system_.project ? system_.project : system_.project_between;
    if (outcome_ == Evaluation::ok && points == Points::projected && project) {
      ++projections_;
      outcome_ = project(t, x_.data());
    }
    if (outcome_ != Evaluation::ok) return false;
  }
  outcome_ = hooks_.room(t, x_.data(), room_.data());
  return outcome_ == Evaluation::ok;
}

Evaluation EventSearch::search(const Step& step, bool& found) {
  found = false;
  outcome_ = Evaluation::ok;
  if (hooks_.count == 0) return outcome_;
  for (std::size_t j = 0; j <= intervals; ++j) {
    const double theta = static_cast<double>(j) / static_cast<double>(intervals);
    times_[j] = j == intervals ? step.t_new : step.from + theta * (step.t_new - step.from);
    if (!evaluate(step, times_[j], Points::plain)) return outcome_;
    samples_[j] = room_;
  }
  candidates_.clear();
  for (std::size_t i = 0; i < hooks_.count; ++i) {
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

/// False where the projected curve keeps its room, or where an evaluation failed.
bool EventSearch::locate(const Step& step, const Candidate& candidate, double& root, bool& at_once) {
  const std::size_t i = candidate.function;
  double a = candidate.before, b = candidate.after;
  if (!evaluate(step, b, Points::projected)) return false;
  if (room_[i] > 0.0) return false;
  double f_b = room_[i];
  if (!evaluate(step, a, Points::projected)) return false;
  double f_a = room_[i];
  if (!(f_a > 0.0)) {
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
      f_b = room_[i];
    }
    a = t;
    f_a = room_[i];
  }
  int side = 0;
  for (int tries = 0; std::abs(b - a) > resolution(step, b) && tries < 200; ++tries) {
    double t =
        tries % 4 == 3 || !std::isfinite(f_a) || !std::isfinite(f_b) ? 0.5 * (a + b) : b - f_b * (b - a) / (f_b - f_a);
    // A root at the very end of the bracket would never let the other end move.
    const double least = 0.5 * resolution(step, b);
    if (std::abs(t - a) < least || std::abs(t - b) < least || (t - a) * (t - b) >= 0.0) {
      t = std::abs(t - a) < std::abs(t - b) ? a + (b > a ? least : -least) * 2.0 : b - (b > a ? least : -least) * 2.0;
      if ((t - a) * (t - b) >= 0.0) t = 0.5 * (a + b);
      if (t == a || t == b) break;
    }
    if (!evaluate(step, t, Points::projected)) return false;
    if (room_[i] > 0.0) {
      a = t;
      f_a = room_[i];
      if (side == 1) f_b *= 0.5;
      side = 1;
    } else {
      b = t;
      f_b = room_[i];
      if (side == -1) f_a *= 0.5;
      side = -1;
    }
  }
  root = b;
  return true;
}

}  // namespace daedalus::integrate
