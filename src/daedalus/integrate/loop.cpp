// Step control: with the error err of a step in units of the tolerance and q the power with which it shrinks,
//   h_new = h min(6, max(1/3, s err^(-1/q))),
// s < 1 as the method has it, not larger than h right after a rejection: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary
// Differential Equations I, 2nd ed., section II.4. The step is called stiff when |h lambda| leaves the stability region in 15
// steps that are not interrupted by 6 others: volume II, section IV.2.
//
// With the error err_0 of the step before, PI control multiplies by err_0^beta and takes the power -1/q + 0.75 beta of err
// (K. Gustafsson; volume II, section IV.2). With beta = 0.04 it halves the number of rejected steps of the explicit methods
// but takes shorter ones: on 26 runs of models it saved 1 % of the evaluations of dop853 and dopri5 and cost 6 % and 2 % on
// ODEs with sharp corners, and the step after a restart depends on more than the last one. So beta is an option of these
// methods, and 0 without it. Implicit methods propose their steps themselves (predictive control: families/radau_control).
#include "daedalus/integrate/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>

#include "daedalus/base/check.hpp"
#include "daedalus/base/few.hpp"
#include "daedalus/base/finite.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/integrate/branch_guard.hpp"
#include "daedalus/integrate/change_search.hpp"
#include "daedalus/integrate/event_search.hpp"
#include "daedalus/integrate/first_step.hpp"
#include "daedalus/integrate/projection_distance.hpp"
#include "daedalus/integrate/stiffness.hpp"

namespace daedalus::integrate {
namespace {

constexpr double least_factor = 1.0 / 3.0, most_factor = 6.0;
/// An error that happens to be tiny must not stop the growth of the step after it.
constexpr double least_error_before = 1e-4;
/// Where a step could not be evaluated there is no error to tell how much smaller the next one must be.
constexpr double failure_factor = 0.25;
/// A step is refused a few times in a row where the solution bends; after so many it is cut, whatever the method asks for.
constexpr int most_refusals = 20;
/// A fixed step that cannot be evaluated is halved so often before a place where the system changes.
constexpr int most_halvings = 10;
/// The last step may be this much longer than asked for, so that no tiny one remains.
constexpr double stretch = 1.01;
constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// So many changes of mode in one step may be too small for the tolerance.
constexpr int most_overlooked = 20;
/// So many events at one moment, each after the other, are without end.
constexpr int most_stalled = 500;

Status status_of(Evaluation outcome) {
  switch (outcome) {
    case Evaluation::not_finite:
      return Status::not_finite;
    case Evaluation::singular:
      return Status::singular;
    case Evaluation::no_convergence:
      return Status::no_convergence;
    case Evaluation::ok:
      break;
  }
  DAEDALUS_CHECK(false, "a good evaluation is no failure");
}

const char* words_for(Evaluation outcome) {
  switch (outcome) {
    case Evaluation::ok:
      return "the evaluation succeeded";
    case Evaluation::not_finite:
      return "the evaluation gave a number that is not finite";
    case Evaluation::singular:
      return "the evaluation met a singular matrix";
    case Evaluation::no_convergence:
      return "an iteration did not converge";
  }
  return "";
}

std::string time_text(double t) { return brief(t, 12); }

class Run {
 public:
  Run(const System& system, const IntegratorEntry& method, Stepper& stepper, const LoopOptions& options,
      const Observer& observer, std::vector<double>& x)
      : system_(system),
        method_(method),
        stepper_(stepper),
        options_(options),
        observer_(observer),
        x_(x),
        direction_(options.t_end < options.t_start ? -1.0 : 1.0),
        power_(estimate_power(method)),
        leading_(system.leading > 0 ? system.leading : system.dimension),
        t_(options.t_start),
        row_(system.dimension),
        before_(stepper.stats()),
        detector_(method.stability_radius) {
    check();
    if (options.branches != nullptr && options.branches->arrows > 0)
      branch_ = std::make_unique<BranchGuard>(*options.branches, system,
                                              options.step ? std::nullopt : std::optional(options.tolerance.rtol));
    if (options.regularity != nullptr && options.regularity->count > 0)
      watch_ = std::make_unique<RegularityWatch>(*options.regularity, system);
    if (options.events != nullptr) {
      search_ = std::make_unique<EventSearch>(*options.events, system);
      inside_ = [this](double t, double* y) { return stepper_.interpolate_at(t, (t - t_old_) / (t_ - t_old_), y); };
    }
  }

  LoopResult run() {
    if (start()) {
      if (options_.step) {
        take_fixed_steps();
      } else {
        take_controlled_steps();
      }
      if (!at_event_) std::copy_n(stepper_.state(), x_.size(), x_.begin());
    }
    stepper_.remark(result_.notes);
    result_.t = t_;
    if (search_) result_.stats.projections += search_->projections();
    const Stats spent = stepper_.stats();
    result_.stats.rhs += spent.rhs - before_.rhs;
    result_.stats.jacobians += spent.jacobians - before_.jacobians;
    result_.stats.factorizations += spent.factorizations - before_.factorizations;
    result_.stats.newton_iterations += spent.newton_iterations - before_.newton_iterations;
    return std::move(result_);
  }

 private:
  /// Why a step was not taken.
  enum class Refusal { none, error, evaluation, projection, branch, change };

  void check() const {
    DAEDALUS_CHECK(x_.size() == system_.dimension, "{} values for {} unknowns", x_.size(), system_.dimension);
    DAEDALUS_CHECK(std::isfinite(options_.t_start) && std::isfinite(options_.t_end), "from {} to {}", options_.t_start,
                   options_.t_end);
    if (options_.step) {
      DAEDALUS_CHECK(std::isfinite(*options_.step) && *options_.step != 0.0, "step {}", *options_.step);
    } else {
      DAEDALUS_CHECK(options_.tolerance.atol.size() == system_.dimension, "{} absolute tolerances for {} unknowns",
                     options_.tolerance.atol.size(), system_.dimension);
      DAEDALUS_CHECK(options_.max_step > 0.0, "max_step {}", options_.max_step);
      DAEDALUS_CHECK(estimate_power(method_) > 0, "{} does not say how its estimate shrinks", method_.name);
    }
    double previous = options_.t_start;
    for (const double t : options_.output_times) {
      DAEDALUS_CHECK(!(ahead(t) < ahead(previous)) && !(ahead(t) > ahead(options_.t_end)),
                     "output at {} after {} before {}", t, previous, options_.t_end);
      previous = t;
    }
  }

  /// Time counted in the direction of integration.
  double ahead(double t) const { return direction_ * t; }

  /// Delivers the start and readies the stepper. False where there is nothing left to do.
  bool start() {
    if (!all_finite(x_.data(), x_.size())) {
      result_.status = Status::not_finite;
      result_.message = fmt::format("the start at t = {} is not finite", time_text(t_));
      return false;
    }
    if (options_.events != nullptr) {
      const Reaction reaction = options_.events->begin(t_, x_.data());
      at_event_ = true;
      if (reaction.kind != Reaction::Kind::failed) deliver_start();
      if (!goes_on(reaction)) return false;
      at_event_ = false;
    } else {
      deliver_start();
    }
    if (options_.t_start == options_.t_end) return false;
    if (const Evaluation outcome = stepper_.start(t_, x_.data()); outcome != Evaluation::ok) {
      explained_ = true;
      fail(outcome, fmt::format("at the start, t = {}", time_text(t_)));
      return false;
    }
    if (branch_) branch_->begin(t_, x_.data());
    if (watch_) watch_->begin(t_, x_.data());
    return true;
  }

  void deliver_start() {
    while (next_output_ < options_.output_times.size() && options_.output_times[next_output_] == t_) {
      if (observer_.output) observer_.output(t_, x_.data());
      ++next_output_;
    }
    if (observer_.step) observer_.step(t_, x_.data());
  }

  /// Where the next step must end at the latest: at `end`, or earlier at a moment known in advance.
  double stop_before(double end) const {
    if (options_.events == nullptr || !options_.events->next_time) return end;
    const double t = options_.events->next_time(t_);
    return ahead(t) > ahead(t_) && ahead(t) < ahead(end) ? t : end;
  }

  void take_fixed_steps() {
    const double size = std::abs(*options_.step), span = std::abs(options_.t_end - options_.t_start);
    const double ratio = span / size, whole = std::round(ratio);
    // A remainder this small is round-off of the two decimal numbers and belongs to the last whole step.
    const double slack = std::max(1e-9, 16.0 * epsilon * ratio);
    const double steps = whole >= 1.0 && std::abs(ratio - whole) <= slack ? whole : std::floor(ratio) + 1.0;
    for (double k = 1.0; k <= steps; k += 1.0) {
      if (must_stop()) return;
      const bool last = k == steps;
      const double t_grid = last ? options_.t_end : options_.t_start + direction_ * k * size;
      if (t_grid == t_) {
        fail_for_small_step(t_grid);
        return;
      }
      for (bool whole_step = true; t_ != t_grid; whole_step = false) {
        if (!whole_step && must_stop()) return;
        const double t_next = stop_before(t_grid);
        const double h = last || !whole_step || t_next != t_grid ? t_next - t_ : direction_ * size;
        if (!take_step(h, t_next)) return;
      }
    }
  }

  /// Takes a step of given size, or the part of it that ends where the system changes. Before that place a whole step may reach
  /// where nothing can be evaluated: then half of it is taken. False where the run must end.
  bool take_step(double h, double t_next) {
    const bool parts = system_.room && std::ranges::find(method_.accepts, View::normal) == method_.accepts.end();
    for (int halvings = 0;;) {
      refusal_ = try_step(h, t_next, nullptr);
      if (refusal_ == Refusal::change) {
        t_next = t_ + direction_ * instead_;
      } else if (refusal_ == Refusal::evaluation && parts && halvings++ < most_halvings) {
        change_.end();
        t_next = t_ + 0.5 * h;
      } else {
        break;
      }
      stepper_.rejected();
      ++result_.stats.rejected;
      h = t_next - t_;
    }
    change_.end();
    if (refusal_ == Refusal::none) return finish_step(h);
    fail_at_step(t_next);
    return false;
  }

  void take_controlled_steps() {
    if (has_property(method_, "symplectic")) {
      result_.notes.push_back(fmt::format("with step control {} is no longer symplectic: its energy error may grow; a fixed "
                                          "step (--step) keeps it", method_.name));
    }
    double size = first_size();
    bool rejected_before = options_.first_step_was_refused;
    int refusals = 0;  // in a row
    while (t_ != options_.t_end) {
      if (must_stop()) return;
      const double end = stop_before(options_.t_end);
      const double remaining = std::abs(end - t_);
      if (!rejected_before && !(options_.first_step && result_.stats.steps == 0))
        if (const double foreseen = stepper_.foreseen_step(options_.tolerance); foreseen > 0.0) size = foreseen;
      size = std::min(size, options_.max_step);
      // Two equal last steps rather than a long one and a short one.
      const bool last = remaining <= std::min(change_.begun() ? size : stretch * size, options_.max_step);
      if (last) {
        size = remaining;
      } else if (remaining < 2.0 * size && !change_.begun()) {
        size = 0.5 * remaining;
      }
      const double t_next = last ? end : t_ + direction_ * size;
      if (!last && size < smallest_step()) {
        fail_for_small_step(t_next);
        return;
      }
      // The difference of the two times is exact and is what the system sees as the step.
      const double h = t_next - t_;
      refusal_ = try_step(h, t_next, &options_.tolerance);
      if (refusal_ == Refusal::none) {
        const double before = attempt_.memory == 0.0 ? 1.0 : std::pow(error_before_, attempt_.memory);
        const double factor = growth(attempt_.error, most_factor, before);
        error_before_ = std::max(attempt_.error, least_error_before);
        size = attempt_.next_step ? std::abs(*attempt_.next_step) : size * (rejected_before ? std::min(factor, 1.0) : factor);
        rejected_before = false;
        refusals = 0;
        if (change_.begun()) size = change_.first();  // which was good
        change_.end();
        if (!finish_step(h)) return;
        // A method with a memory begins anew; any other finds its step again by itself.
        if (restarted_ && !method_.multistep.empty() && t_ != options_.t_end) size = first_size();
      } else {
        stepper_.rejected();
        ++result_.stats.rejected;
        rejected_before = true;
        if (last && size < smallest_step()) {
          fail_for_small_step(t_next);
          return;
        }
        const double refused = size;
        if (refusal_ != Refusal::change) change_.end();
        if (refusal_ == Refusal::branch || refusal_ == Refusal::change) {
          size = instead_;
        } else if (attempt_.next_step && refusal_ != Refusal::projection) {
          size = std::min(size, std::abs(*attempt_.next_step));
        } else {
          size *= refusal_ == Refusal::error ? growth(attempt_.error, method_.safety, 1.0) : failure_factor;
        }
        // A method that tries the same step again with other means does so some times, not for ever.
        if (refusal_ != Refusal::change && ++refusals > most_refusals) size = std::min(size, failure_factor * refused);
      }
      if (watch_ && t_ != options_.t_end && ends_at(watch_->blocked_by(size))) return;
    }
  }

  /// Ends the run at a singular point, where there is one.
  bool ends_at(std::optional<SingularPoint> point) {
    if (!point) return false;
    result_.status = Status::singular;
    result_.message = fmt::format(
        "{} at t = {}: the matrix of these equations becomes singular there, and no step goes over it; the solution ends, or its index changes",
        point->text, time_text(point->t));
    result_.singular_points.push_back(std::move(*point));
    return true;
  }

  double first_size() {
    const double most = std::min(options_.max_step, std::abs(options_.t_end - options_.t_start));
    if (options_.first_step && result_.stats.steps == 0) return std::min(std::abs(*options_.first_step), most);
    const FirstStep first = choose_first_step({.system = system_,
                                               .tolerance = options_.tolerance,
                                               .t = t_,
                                               .x = stepper_.state(),
                                               .slope = stepper_.derivative(),
                                               .direction = direction_,
                                               .order = estimate_power(method_),
                                               .least = std::min(100.0 * smallest_step(), most),
                                               .most = most});
    result_.stats.rhs += first.rhs;
    return first.h;
  }

  /// Below this, t + h has no digits left; near t = 0 the length of the run gives the scale.
  double smallest_step() const {
    const double span = std::abs(options_.t_end - options_.t_start);
    return 10.0 * epsilon * std::max(std::abs(t_), epsilon * span);
  }

  /// Factor of the next step; `before` is what the error of the step before says.
  double growth(double error, double most, double before) const {
    if (!std::isfinite(error)) return least_factor;
    if (error == 0.0) return most;
    if (attempt_.memory == 0.0 && power_ == 8)
      return std::clamp(method_.safety / std::sqrt(std::sqrt(std::sqrt(error))), least_factor, most);
    const double power = 1.0 / power_ - 0.75 * attempt_.memory;
    return std::clamp(method_.safety * before * std::pow(error, -power), least_factor, most);
  }

  /// At a singular point the matrix of Newton's method says little about the unknowns that the equations do not determine there,
  /// and an iteration that goes over it ends too early: an error that no step size makes smaller. Where they are determined again
  /// they are solved for afresh.
  Evaluation leave_singular_point() {
    constexpr double another_solution = 1e-2;
    beyond_singular_ = false;
    const double* state = stepper_.state();
    std::copy_n(state, x_.size(), row_.begin());
    if (system_.complete(t_, row_.data()) != Evaluation::ok) return Evaluation::ok;
    for (std::size_t i = 0; i < x_.size(); ++i)
      if (!(std::abs(row_[i] - state[i]) <= another_solution * std::max(1.0, std::abs(state[i])))) return Evaluation::ok;
    return stepper_.replace_state(row_.data());
  }

  /// Attempts, judges, projects and accepts one step.
  Refusal try_step(double h, double t_next, const Tolerance* tolerance) {
    ++attempts_;
    if (beyond_singular_)
      if (const Evaluation outcome = leave_singular_point(); outcome != Evaluation::ok) {
        explained_ = true;
        return refuse(outcome);
      }
    if (system_.begin_step && system_.begin_step(t_, stepper_.state(), h)) {
      std::copy_n(stepper_.state(), x_.size(), row_.begin());
      const Evaluation outcome = stepper_.system_changed(row_.data());
      explained_ = outcome != Evaluation::ok;
      if (explained_) return refuse(outcome);
    }
    // Made where it stays: a copy would wait for what was written just now, number by number.
    ::new (static_cast<void*>(&attempt_)) Attempt(stepper_.attempt(h, tolerance));
    explained_ = attempt_.outcome != Evaluation::ok;
    if (explained_) return refuse(attempt_.outcome);
    double* candidate = stepper_.candidate();
    if (!all_finite(candidate, x_.size())) return refuse(Evaluation::not_finite);
    if (tolerance != nullptr && !(attempt_.error <= (branch_ ? branch_->most_error() : 1.0))) return Refusal::error;
    if (system_.room && passes_change(t_next, tolerance)) return Refusal::change;
    bool near = true;
    if (system_.project) {
      ++result_.stats.projections;
      copy_numbers(candidate, x_.size(), row_.data());
      const Evaluation outcome = project_all(system_, system_.project, stepper_.moves_all(), t_next, candidate);
      explained_ = outcome != Evaluation::ok;
      if (explained_) return refuse(outcome);
      near = tolerance != nullptr && moved_little(candidate, row_.data(), *tolerance, leading_);
      if (!near && !all_finite(candidate, x_.size())) return refuse(Evaluation::not_finite);
    }
    if (branch_ && !branch_->stays({t_, t_next, stepper_.state(), candidate}, t_next == options_.t_end)) {
      instead_ = branch_->instead();
      return Refusal::branch;
    }
    // A step over a singular position brings the round-off of its stages along, and is known to be on its branch.
    const bool over = branch_ && branch_->crosses();
    const bool from_constraints = result_.stats.steps > 0 && !system_.projects_seldom;
    if (!near && tolerance != nullptr && from_constraints && !over)
      if (const auto worst = moved_too_far(candidate, row_.data(), *tolerance, leading_)) {
        attempt_.worst = worst;
        return Refusal::projection;
      }
    const Evaluation outcome = stepper_.accepted(t_next);
    explained_ = outcome != Evaluation::ok;
    if (explained_) return refuse(outcome);
    if (branch_) branch_->accept(stepper_, result_.singular_positions);
    if (watch_) {
      const std::size_t passed = result_.singular_points.size();
      watch_->accept(stepper_, t_, t_next, result_.singular_points);
      beyond_singular_ = system_.complete && stepper_.moves_all() && result_.singular_points.size() > passed;
    }
    t_old_ = t_;
    t_ = t_next;
    ++result_.stats.steps;
    return Refusal::none;
  }

  /// Whether a step goes beyond the place where the system changes, or misses it; then `instead_` is what to try. To a part of
  /// what the tolerance lets the motion be off; of a fixed step as near as can be.
  bool passes_change(double t_next, const Tolerance* tolerance) {
    constexpr double part = 0.01, least = 1e-12;
    const double close = tolerance != nullptr ? std::max(part * tolerance->rtol, least) : least;
    if (!change_.passes(system_, {t_, t_next, stepper_.state(), stepper_.candidate()}, {close, 100.0 * smallest_step()})) return false;
    instead_ = change_.instead();
    return true;
  }

  Refusal refuse(Evaluation outcome) {
    outcome_ = outcome;
    return Refusal::evaluation;
  }

  /// Hands out what the accepted step brought, and lets events happen. False where the run must end.
  bool finish_step(double h) {
    restarted_ = false;
    if (watch_)
      if (std::optional<SingularPoint> end = watch_->blocked_by(std::abs(h))) {
        if (deliver_outputs(end->t)) ends_at(std::move(end));
        return false;
      }
    if (!search_) return deliver(h);
    const double t_end_of_step = t_, t_begin = t_old_;
    int overlooked = 0;
    for (double from = t_begin;;) {
      bool found = false;
      if (const Evaluation outcome = search_->search({stepper_, t_begin, t_end_of_step, from}, found);
          outcome != Evaluation::ok) {
        explained_ = true;
        fail(outcome, fmt::format("in the search for events between t = {} and t = {}", time_text(t_begin), time_text(t_)));
        return false;
      }
      if (!found) break;
      if (options_.events->notice(search_->happening())) {
        if (!deliver_outputs(search_->time())) return false;  // which belong to what was before
        const auto further = overlooked < most_overlooked ? overlook() : std::nullopt;
        if (!further) return happen(search_->time(), search_->state(), search_->at_once() && from == t_begin);
        ++overlooked;
        from = *further;
        if (from == t_end_of_step) break;
        continue;
      }
      if (search_->at_once() && search_->time() == from) {
        if (++stalled_ > most_stalled) return stall();
      } else {
        stalled_ = 0;
      }
      from = search_->time();
      if (from == t_end_of_step) break;
    }
    if (options_.events->next_time && options_.events->next_time(t_begin) == t_) {
      std::copy_n(stepper_.state(), x_.size(), search_->state());
      return happen(t_, search_->state(), false);
    }
    return deliver(h);
  }

  /// Whether what was noticed may be overlooked; then from where on the step is searched.
  std::optional<double> overlook() {
    if (options_.step || !options_.events->overlook) return std::nullopt;
    return options_.events->overlook(search_->happening(), {t_, stepper_.state(), &inside_, &options_.tolerance});
  }

  /// An event at time t and state x, inside the last step or at its end. `at_start`: nothing of the step remains.
  bool happen(double t, double* x, bool at_start) {
    if (!deliver_outputs(t)) return false;
    t_ = t;
    if (observer_.step && !at_start) observer_.step(t, x);
    stalled_ = std::abs(t - t_last_event_) <= 8.0 * epsilon * std::abs(t) ? stalled_ + 1 : 0;
    t_last_event_ = t;
    const Reaction reaction = options_.events->react(t, x);
    search_->begin_anew();
    at_event_ = true;
    std::copy_n(x, x_.size(), x_.begin());
    if (reaction.kind != Reaction::Kind::failed) {
      while (next_output_ < options_.output_times.size() && options_.output_times[next_output_] == t) {
        if (observer_.output) observer_.output(t, x);
        ++next_output_;
      }
      if (observer_.step) observer_.step(t, x);
    }
    if (!goes_on(reaction)) return false;
    if (stalled_ > most_stalled) return stall();
    if (t == options_.t_end) return true;
    restarted_ = true;
    if (const Evaluation outcome = stepper_.start(t, x); outcome != Evaluation::ok) {
      explained_ = true;
      fail(outcome, fmt::format("after the event at t = {}", time_text(t)));
      return false;
    }
    if (branch_) branch_->begin(t, x);
    if (watch_) watch_->begin(t, x);
    at_event_ = false;
    return true;
  }

  bool goes_on(const Reaction& reaction) {
    if (reaction.kind == Reaction::Kind::changed) return true;
    result_.status = reaction.kind == Reaction::Kind::stop ? Status::stopped : reaction.status;
    result_.message = reaction.message;
    return false;
  }

  bool stall() {
    result_.status = Status::too_many_events;
    result_.message = fmt::format("more than {} events happen at t = {}: the motion does not get away from there", most_stalled,
                                  time_text(t_));
    return false;
  }

  /// Delivers the outputs that lie before `until`, inside the last step.
  bool deliver_outputs(double until) {
    while (next_output_ < options_.output_times.size() && ahead(options_.output_times[next_output_]) < ahead(until)) {
      if (!deliver_output(options_.output_times[next_output_])) return false;
      ++next_output_;
    }
    return true;
  }

  /// Hands out what the accepted step brought. False where the run must end.
  bool deliver(double h) {
    if (detector_.looks_stiff(stepper_.stiffness())) {
      const char* what =
          options_.step ? "is unstable with steps of" : "is held by stability, not by accuracy, to steps of";
      result_.notes.push_back(
          fmt::format("the problem looks stiff at t = {}: {} {} {}; an implicit method would be faster", time_text(t_),
                      method_.name, what, brief(std::abs(h), 3)));
    }
    while (next_output_ < options_.output_times.size() && ahead(options_.output_times[next_output_]) <= ahead(t_)) {
      if (!deliver_output(options_.output_times[next_output_])) return false;
      ++next_output_;
    }
    if (observer_.step) observer_.step(t_, stepper_.state());
    // Steps of small systems are shorter than a look at the clock should cost.
    const std::size_t stride = system_.dimension < 100 ? 64 : 1;
    if (observer_.progress && result_.stats.steps % stride == 0) observer_.progress(t_, h);
    return true;
  }

  bool deliver_output(double t) {
    if (!observer_.output) return true;
    if (t == t_) {
      observer_.output(t, stepper_.state());
      return true;
    }
    if (branch_ && branch_->interpolate(stepper_, t, row_.data()) && all_finite(row_.data(), row_.size())) {
      observer_.output(t, row_.data());
      return true;
    }
    Evaluation outcome = stepper_.interpolate_at(t, (t - t_old_) / (t_ - t_old_), row_.data());
    const auto& project = system_.project ? system_.project : system_.project_between;
    if (outcome == Evaluation::ok && project) {
      ++result_.stats.projections;
      outcome = project_all(system_, project, stepper_.moves_all(), t, row_.data());
    }
    explained_ = outcome != Evaluation::ok;
    if (outcome == Evaluation::ok && !all_finite(row_.data(), row_.size())) outcome = Evaluation::not_finite;
    if (outcome == Evaluation::ok) {
      observer_.output(t, row_.data());
      return true;
    }
    fail(outcome, fmt::format("in the output at t = {}", time_text(t)));
    return false;
  }

  bool must_stop() {
    if (observer_.interrupt && observer_.interrupt()) {
      result_.status = Status::interrupted;
      result_.message = fmt::format("interrupted at t = {}", time_text(t_));
      return true;
    }
    if (attempts_ < options_.max_steps) return false;
    result_.status = Status::too_many_steps;
    result_.message =
        fmt::format("{} taken ({} rejected) and only t = {} reached, not t = {}: allow more with max-steps, {}",
                    count(attempts_, "step"), result_.stats.rejected, time_text(t_), time_text(options_.t_end),
                    options_.step ? "or take a longer step"
                                  : "loosen the tolerances, or try an implicit method if the problem is stiff");
    return true;
  }

  void fail(Evaluation outcome, const std::string& where) {
    if (watch_ && ends_at(watch_->failed_at())) return;
    result_.status = status_of(outcome);
    std::string what = explained_ && system_.explain ? system_.explain() : std::string();
    if (what.empty()) what = words_for(outcome);
    result_.message = fmt::format("{}, {}", what, where);
  }

  void fail_at_step(double t_next) {
    if (refusal_ == Refusal::branch) {
      result_.status = Status::singular;
      result_.message = fmt::format("the step from t = {} to t = {} ends in a singular position of {}, from where the equations do not "
                                    "say how the motion goes on; choose a step size that goes over it",
                                    time_text(t_), time_text(t_next), branch_->dependent());
      return;
    }
    fail(outcome_, fmt::format("in the step from t = {} to t = {}", time_text(t_), time_text(t_next)));
  }

  void fail_for_small_step(double t_next) {
    if (watch_ && ends_at(watch_->failed_at())) return;
    if (refusal_ == Refusal::evaluation) {
      fail(outcome_,
           fmt::format("at t = {}: steps down to {} were tried", time_text(t_), brief(std::abs(t_next - t_), 3)));
      return;
    }
    if (refusal_ == Refusal::projection) {
      result_.status = Status::singular;
      if (t_ == t_last_event_) {
        result_.message = fmt::format(
            "a constraint has a corner at t = {}, where 'if', 'abs' or a table in it changes: to go on, '{}' would have to leap",
            time_text(t_), system_.names.empty() ? "the state" : system_.names[*attempt_.worst]);
        return;
      }
      result_.message = fmt::format(
          "the constraints are nearly dependent at t = {}: going back to them moves '{}' by more than the tolerance allows, "
          "even after a step of {}; a singular position (a dead centre, a branching) is near",
          time_text(t_), system_.names.empty() ? "the state" : system_.names[*attempt_.worst], brief(std::abs(t_next - t_), 3));
      return;
    }
    if (refusal_ == Refusal::branch) {
      result_.status = Status::singular;
      result_.message = fmt::format(
          "the constraints {} are nearly dependent at t = {}: two branches come close there and do not meet, and the motion turns "
          "from one into the other too sharply for a step of {}",
          branch_->dependent(), time_text(t_), brief(std::abs(t_next - t_), 3));
      return;
    }
    result_.status = Status::step_too_small;
    std::string largest;
    if (attempt_.worst && *attempt_.worst < system_.names.size()) {
      largest = fmt::format(", where the error of '{}' is the largest", system_.names[*attempt_.worst]);
    }
    result_.message = fmt::format(
        "the step size fell to {} at t = {}{}: the solution may have a singularity there, or the tolerances are too "
        "tight",
        brief(std::abs(t_next - t_), 3), time_text(t_), largest);
  }

  const System& system_;
  const IntegratorEntry& method_;
  Stepper& stepper_;
  const LoopOptions& options_;
  const Observer& observer_;
  std::vector<double>& x_;
  const double direction_;
  const int power_;  ///< with which the estimate of the error shrinks
  const std::size_t leading_;  ///< unknowns that a projection moves by itself
  double t_, t_old_ = 0.0;
  std::vector<double> row_;
  std::unique_ptr<EventSearch> search_;
  std::function<Evaluation(double t, double* x)> inside_;  ///< states in the last step
  std::unique_ptr<BranchGuard> branch_;
  std::unique_ptr<RegularityWatch> watch_;
  double instead_ = 0.0;  ///< size of the step to try after one that left its branch or went beyond a change
  ChangeSearch change_;
  bool at_event_ = false;   ///< the latest state is x_, not yet that of the stepper
  bool restarted_ = false;  ///< the last step ended with an event
  bool beyond_singular_ = false;  ///< the last step went over a singular point
  double t_last_event_ = std::numeric_limits<double>::quiet_NaN();
  int stalled_ = 0;
  const Stats before_;
  StiffnessDetector detector_;
  LoopResult result_;
  std::size_t next_output_ = 0, attempts_ = 0;
  Attempt attempt_;
  double error_before_ = least_error_before;  ///< of the last accepted step
  Refusal refusal_ = Refusal::none;
  Evaluation outcome_ = Evaluation::ok;
  bool explained_ = false;  ///< the last failure was reported by the system, so it can explain it
};

}  // namespace

LoopResult integrate(const System& system, const IntegratorEntry& method, Stepper& stepper, const LoopOptions& options,
                     const Observer& observer, std::vector<double>& x) {
  return Run(system, method, stepper, options, observer, x).run();
}

}  // namespace daedalus::integrate
