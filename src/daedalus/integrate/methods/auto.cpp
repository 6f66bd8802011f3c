// Switching between an explicit and an implicit method (after L. R. Petzold, Automatic selection of methods for solving stiff
// and nonstiff systems of ordinary differential equations, SIAM J. Sci. Stat. Comput. 4, 1983):
//   explicit to implicit where |h lambda| sits at the border of the explicit method's stability region;
//   implicit to explicit where h times the spectral radius rho of df/dx is so far inside it that stability would allow
//   longer steps still. rho comes from a power iteration, d <- (f(x + e d) - f(x)) / e, looked at now and then.
// And back where explicit steps become much shorter than the implicit ones were: for many digits an explicit method loses its
// order well inside the region of stability already, h lambda of size 1 being enough (A. Prothero, A. Robinson, On the stability
// and accuracy of one-step methods for solving stiff systems of ordinary differential equations, Math. Comp. 28, 1974). Or where
// the state hardly moves in a step that is not far inside: where the implicit steps were short, too, that is what tells.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/base/few.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/stiffness.hpp"

namespace daedalus::integrate {

IntegratorEntry integrator_dop853();

namespace {

constexpr const char* explicit_name = "dop853";
constexpr const char* implicit_name = "radau";
/// Asked for so many digits the power series of the solution, where the system gives it, takes as long as Runge-Kutta stages or
/// twice as long, and reaches round-off where these do not: 2e-14 and 5e-12 after 50 s of the pendulum. Up to 12 digits the stages
/// take a third of its time or less.
constexpr const char* series_name = "taylor";
constexpr double many_digits = 1e-14;
/// So many looks in a row must find implicit steps well inside the explicit stability region. More after every return.
constexpr int calm_looks = 5;
constexpr double well_inside = 0.5, at_border = 0.9;
/// Where steps are this near to the border and no component of the state moves by more than such a part of itself in one, fast
/// modes have decayed, and what holds the steps is that the explicit method must follow them still. Looked at where a full matrix
/// costs no more than some steps.
constexpr double towards_border = 0.13, hardly_moves = 0.01;
/// A step of the implicit method costs less than so many explicit ones, up to `many` unknowns.
constexpr double much_shorter = 5.0;
/// Below this many unknowns a full matrix costs no more than some steps.
constexpr std::size_t large = 40;
/// Many unknowns whose matrix has few entries in a row: one step of radau costs what some fifteen explicit ones cost, and pays
/// if it is so many times longer than stability allows those to be. Where the slope at the start promises much longer ones, and
/// few digits are asked for, the implicit method is tried from there: explicit steps at the border would stir up the fast
/// modes. A chain of 1000 links takes as long there at any tolerance, and with radau 0.35, 0.65 and 1.8 times as long for 4, 6
/// and 9 digits; one of 100 links is faster with explicit steps.
constexpr std::size_t many = 1000, few_entries = 20;
constexpr double few_digits = 1e-6, worth = 15.0, promising = 30.0;
/// Steps of the explicit method from one look at the border of its stability region to the next.
constexpr int least_between_looks = 20, longest_between_looks = 160;
/// So many times outside it, a rough look is enough.
constexpr double far_outside = 10.0;

class Automatic final : public Stepper {
 public:
  Automatic(const System& system, bool stiff_at_first)
      : system_(system),
        whole_(system.dimension),
        leading_(ode_dimension(system)),
        explicit_method_(&integrator(explicit_name)),
        stiff_(stiff_at_first),
        y_(whole_),
        candidate_(whole_),
        direction_(leading_),
        slope_(leading_),
        trial_(leading_),
        trial_slope_(leading_) {
    explicit_system_.dimension = leading_;
    explicit_system_.ode = system.ode;
    explicit_system_.stages_in_line = system.stages_in_line;
    explicit_system_.series = system.series;
    explicit_system_.coordinates = system.coordinates;
    explicit_system_.project_error = system.project_error;
    explicit_system_.names = system.names;
    explicit_ = explicit_method_->make(explicit_system_, standard(*explicit_method_));
    if (stiff_) make_implicit();
    phases_.push_back(stiff_);
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, whole_, y_.begin());
    begin_phase();
    return current().start(t, y_.data());
  }

  double foreseen_step(const Tolerance& tolerance) override {
    if (!asked_) consider_series(tolerance);
    // Before a turn the other method is not there yet.
    return turn_ ? 0.0 : current().foreseen_step(tolerance);
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    tolerance_ = tolerance;
    if (!begun_) try_implicit_start();
    if (turn_)
      if (const Evaluation outcome = turn(); outcome != Evaluation::ok) return {.outcome = outcome};
    if (is_whole()) return current().attempt(h, tolerance);
    const Attempt result = explicit_->attempt(h, tolerance);
    if (result.outcome == Evaluation::ok) copy_numbers(explicit_->candidate(), leading_, candidate_.data());
    return result;
  }

  double* candidate() override { return is_whole() ? current().candidate() : candidate_.data(); }

  Evaluation accepted(double t_next) override {
    const double h = t_next - t_;
    if (!is_whole()) copy_numbers(candidate_.data(), leading_, explicit_->candidate());
    const Evaluation outcome = current().accepted(t_next);
    if (outcome != Evaluation::ok) return outcome;
    t_ = t_next;
    stepped_ = true;
    if (!is_whole()) y_.swap(candidate_);
    turn_ = stiff_ ? is_calm(h) : is_stiff(h);
    if (turn_) h_turn_ = std::abs(h);
    if (turn_ && stiff_) implicit_step_ = std::abs(h);
    return outcome;
  }

  void rejected() override { current().rejected(); }
  Evaluation replace_state(const double* x) override {
    std::copy_n(x, whole_, y_.begin());
    turn_ = false;
    begin_phase();
    return current().start(t_, y_.data());
  }

  Evaluation change_coordinates(const double* x, const CoordinateChange& change) override {
    std::copy_n(x, whole_, y_.begin());
    candidate_ = y_;
    return current().change_coordinates(x, change);
  }

  Evaluation system_changed(const double* x) override { return current().system_changed(x); }

  Evaluation interpolate(double theta, double* x) override {
    if (!is_whole()) std::copy_n(y_.begin(), whole_, x);
    return current().interpolate(theta, x);
  }

  const double* derivative() const override { return current().derivative(); }
  const double* state() const override { return is_whole() ? current().state() : y_.data(); }
  bool moves_all() const override { return is_whole(); }

  Stats stats() const override {
    Stats sum = stats_;
    add(sum, explicit_->stats());
    if (implicit_) add(sum, implicit_->stats());
    return sum;
  }

  void remark(std::vector<std::string>& notes) const override {
    notes.insert(notes.end(), remarks_.begin(), remarks_.end());
    if (turns_ > remarks_.size())
      notes.push_back(
          fmt::format("auto changed between {} and {} {} times in all", explicit_method_->name, implicit_name, turns_));
  }
  std::string used() const override {
    const bool both = std::ranges::find(phases_, !phases_.front()) != phases_.end();
    const auto name = [&](bool stiff) { return stiff ? std::string(implicit_name) : explicit_method_->name; };
    return both ? name(phases_.front()) + "," + name(!phases_.front()) : name(phases_.front());
  }

 private:
  static Options standard(const IntegratorEntry& entry) { return Options(Choice{entry.name, {}}, entry.options); }

  Stepper& current() const { return stiff_ ? *implicit_ : *explicit_; }
  /// Whether the method at work has all of the state.
  bool is_whole() const { return stiff_ || whole_ == leading_; }

  /// Brings y_ up to the state of the method at work.
  void fetch() {
    if (is_whole()) std::copy_n(current().state(), whole_, y_.begin());
  }

  /// Takes the power series for the explicit method where many digits are asked for and the equations can be expanded.
  void consider_series(const Tolerance& tolerance) {
    asked_ = true;
    if (!system_.series || !(tolerance.rtol <= many_digits)) return;
    const IntegratorEntry& method = integrator(series_name);
    std::unique_ptr<Stepper> stepper = method.make(explicit_system_, standard(method));
    if (stepper->start(t_, y_.data()) != Evaluation::ok || stepper->foreseen_step(tolerance) == 0.0) return;
    add(stats_, explicit_->stats());
    explicit_method_ = &method;
    explicit_ = std::move(stepper);
    begin_phase();
  }

  void make_implicit() {
    if (implicit_) return;
    implicit_system_.dimension = whole_;
    implicit_system_.coordinates = system_.coordinates;
    implicit_system_.explain = system_.explain;
    implicit_system_.names = system_.names;
    if (system_.make_implicit) {
      if (!implicit_system_.implicit) implicit_system_.implicit = system_.make_implicit();
    } else {
      implicit_system_.ode = system_.ode;
      implicit_system_.ode_jacobian = system_.ode_jacobian;
    }
    const IntegratorEntry& method = integrator(implicit_name);
    implicit_ = method.make(implicit_system_, standard(method));
  }

  void begin_phase() {
    candidate_ = y_;
    detector_ = StiffnessDetector(explicit_method_->stability_radius);
    calm_ = held_ = 0;
    stiff_steps_ = 0;
    until_look_ = between_looks_ = least_between_looks;
    looked_at_ = t_;
  }

  Evaluation turn() {
    fetch();
    turn_ = false;
    stiff_ = !stiff_;
    on_trial_ = on_trial_ && stiff_;
    ++turns_;
    if (!stepped_) phases_.clear();
    phases_.push_back(stiff_);
    if (remarks_.size() < 6) {
      remarks_.push_back(
          !stepped_ ? fmt::format("auto began with {}: stability, not accuracy, would hold the steps of {} to {}", implicit_name,
                                  explicit_method_->name, brief(h_turn_, 2))
          : stiff_ ? fmt::format("auto went from {} to {} at t = {}: {} {}", explicit_method_->name, implicit_name, brief(t_),
                               shorter_ ? fmt::format("where {} had taken steps of {}, they were down to", implicit_name, brief(implicit_step_, 3))
                                        : "stability, not accuracy, held the steps to",
                               brief(h_turn_, 3))
                   : fmt::format("auto went from {} to {} at t = {}: no stiffness was left", implicit_name,
                               explicit_method_->name, brief(t_)));
    }
    begin_phase();
    if (stiff_) {
      make_implicit();
      if (system_.complete)
        if (const Evaluation outcome = system_.complete(t_, y_.data()); outcome != Evaluation::ok) return outcome;
    }
    return current().start(t_, y_.data());
  }

  /// Whether an explicit method could take steps like the last ones for a while.
  bool is_calm(double h) {
    if (tolerance_ == nullptr) return false;
    // Where a step is far outside the stability region, one look in five is enough.
    if (++waited_ % (calm_ == 0 ? 5 : 2) != 0) return false;
    const double edge = (on_trial_ ? worth : well_inside) * explicit_method_->stability_radius / std::abs(h);
    if (!(spectral_radius(far_outside * edge) < edge)) {
      calm_ = 0;
      return false;
    }
    return ++calm_ >= calm_looks * static_cast<int>(1 + turns_);
  }

  /// Whether an implicit method is due: there are signs of stiffness, and since the first one so much work was done that what
  /// an implicit method would have taken to begin with, a full matrix, is no more than that.
  bool is_stiff(double h) {
    const bool sign = detector_.looks_stiff(explicit_->stiffness());
    if (is_held(h) || sign) stiff_steps_ = std::max<std::size_t>(stiff_steps_, 1);
    if (stiff_steps_ == 0) return false;
    return leading_ < large || 40 * stiff_steps_++ > leading_ * leading_;
  }

  /// Before the first step. As first_step has it, a step h of order p is as long as tolerable where h^p times the slope, in
  /// units of the tolerance, is a hundredth.
  void try_implicit_start() {
    begun_ = true;
    if (stiff_ || leading_ < many || tolerance_ == nullptr || tolerance_->rtol < few_digits || !system_.make_implicit) return;
    const double stable = explicit_method_->stability_radius / spectral_radius(std::numeric_limits<double>::infinity());
    Attempt slope;
    set_error(slope, leading_, [&](std::size_t i) { return slope_[i] / error_weight(*tolerance_, i, std::abs(y_[i])); });
    const double tolerable = std::pow(0.01 / slope.error, 1.0 / explicit_method_->estimate_order);
    if (!(tolerable > promising * stable) || !has_few_entries()) return;
    turn_ = on_trial_ = true;
    h_turn_ = stable;
  }

  bool has_few_entries() {
    if (!implicit_system_.implicit) implicit_system_.implicit = system_.make_implicit();
    return implicit_system_.implicit->pattern.nonzeros() <= few_entries * whole_;
  }

  /// Whether the explicit method sits at the border of its stability region, seen by the spectral radius: the comparison of
  /// two stages misses it where tolerances are tight.
  bool is_held(double h) {
    if (tolerance_ == nullptr || --until_look_ > 0) return false;
    const double edge = explicit_method_->stability_radius / std::abs(h), part = spectral_radius(far_outside * edge) / edge;
    const double mean = std::abs(t_ - looked_at_) / between_looks_;
    shorter_ = part <= at_border && leading_ < many && much_shorter * mean < implicit_step_;
    looked_at_ = t_;
    const bool quiet = part > towards_border && leading_ < large && largest_move(h) < hardly_moves;
    held_ = part > at_border || shorter_ || quiet ? held_ + 1 : 0;
    if (held_ == 0 && stiff_steps_ > 0 && leading_ >= large) {  // it has passed by
      stiff_steps_ = 0;
      detector_ = StiffnessDetector(explicit_method_->stability_radius);
    }
    // Where steps are far inside, looks become rare.
    between_looks_ = part < well_inside && !shorter_ && !quiet ? std::min(2 * between_looks_, longest_between_looks) : least_between_looks;
    until_look_ = between_looks_;
    return held_ == 3;
  }

  /// The largest part of itself by which a component moves in a step, as the slope of the last look has it.
  double largest_move(double h) const {
    double largest = 0.0;
    for (std::size_t i = 0; i < leading_; ++i)
      largest = std::max(largest, std::abs(h * slope_[i]) / (std::abs(y_[i]) + tolerance_->atol[i] / tolerance_->rtol));
    return largest;
  }

  /// |lambda| of the fastest mode: the mean growth over the last of some steps of a power iteration, because a pair of
  /// complex eigenvalues makes single ones swing. Infinite where it cannot be evaluated. Two in a row above `enough` are enough.
  double spectral_radius(double enough) {
    constexpr double unknown = std::numeric_limits<double>::infinity();
    constexpr int iterations = 6, counted = 4;
    const auto length_of = [&](const std::vector<double>& x) {
      double sum = 0.0;
      for (std::size_t i = 0; i < leading_; ++i) sum += x[i] * x[i];
      return std::sqrt(sum);
    };
    fetch();
    ++stats_.rhs;
    if (system_.ode(t_, y_.data(), slope_.data()) != Evaluation::ok) return unknown;
    stir_direction();
    const double size = length_of(y_), root = std::sqrt(std::numeric_limits<double>::epsilon());
    double logarithm = 0.0, before = 0.0;
    for (int k = 0; k < iterations; ++k) {
      const double length = length_of(direction_);
      if (!std::isfinite(length)) return unknown;
      if (length == 0.0) return 0.0;
      const double move = root * std::max(size, root) / length;
      for (std::size_t i = 0; i < leading_; ++i) trial_[i] = y_[i] + move * direction_[i];
      ++stats_.rhs;
      if (system_.ode(t_, trial_.data(), trial_slope_.data()) != Evaluation::ok) return unknown;
      for (std::size_t i = 0; i < leading_; ++i) direction_[i] = (trial_slope_[i] - slope_[i]) / move;
      const double growth = length_of(direction_) / length;
      if (k >= iterations - counted) logarithm += std::log(growth);
      if (before * growth > enough * enough) {
        logarithm = counted * 0.5 * std::log(before * growth);
        break;
      }
      before = growth;
    }
    const double length = length_of(direction_);
    if (length > 0.0)
      for (std::size_t i = 0; i < leading_; ++i) direction_[i] /= length;
    return std::exp(logarithm / counted);
  }

  /// Adds a little of every mode to where the last look ended, so that one that is not coupled to the fastest may become it.
  /// The numbers are not special, and the same in every run: multiples of the golden ratio, without their whole parts.
  void stir_direction() {
    constexpr double little = 1e-3, golden = 0.6180339887498949;
    if (!std::ranges::all_of(direction_, [](double d) { return std::isfinite(d); })) std::ranges::fill(direction_, 0.0);
    for (std::size_t i = 0; i < leading_; ++i) {
      const double multiple = golden * static_cast<double>(i + 1);
      direction_[i] += little * (0.5 + multiple - std::floor(multiple));
    }
  }

  static void add(Stats& sum, const Stats& of) {
    sum.rhs += of.rhs;
    sum.jacobians += of.jacobians;
    sum.factorizations += of.factorizations;
    sum.newton_iterations += of.newton_iterations;
  }

  const System& system_;
  const std::size_t whole_, leading_;
  const IntegratorEntry* explicit_method_;
  System explicit_system_, implicit_system_;
  std::unique_ptr<Stepper> explicit_, implicit_;
  bool stiff_, turn_ = false;
  bool begun_ = false, stepped_ = false;  ///< an attempt was made, a step accepted
  bool asked_ = false;  ///< whether the series was considered
  std::vector<double> y_;  ///< the state; where the method at work has all of it, only when it was fetched last
  std::vector<double> candidate_;  ///< where it has not: unknowns behind the leading ones are as in y_
  std::vector<double> direction_, slope_, trial_, trial_slope_;
  const Tolerance* tolerance_ = nullptr;
  StiffnessDetector detector_{0.0};
  int calm_ = 0, held_ = 0, waited_ = 0;
  bool on_trial_ = false;  ///< the implicit method must show that it is worth its price
  int until_look_ = least_between_looks, between_looks_ = least_between_looks;
  double looked_at_ = 0.0;
  bool shorter_ = false;        ///< explicit steps are much shorter at the last look than implicit ones were, for other reasons than stability
  double implicit_step_ = 0.0;  ///< the last one before the explicit method took over, 0 where none was
  std::size_t stiff_steps_ = 0;  ///< of the explicit method since the first sign of stiffness
  double h_turn_ = 0.0;
  std::size_t turns_ = 0;
  std::vector<bool> phases_;
  std::vector<std::string> remarks_;
};

}  // namespace

IntegratorEntry integrator_auto() {
  const IntegratorEntry of_explicit = integrator_dop853();
  IntegratorEntry entry;
  entry.name = "auto";
  entry.summary = "dop853, or taylor for many digits, where the problem is not stiff, radau where it is; changes while it runs";
  entry.citation =
      "L. R. Petzold, Automatic selection of methods for solving stiff and nonstiff systems of ordinary differential "
      "equations, SIAM J. Sci. Stat. Comput. 4 (1983) 136-148";
  entry.order = of_explicit.order;
  entry.stages = of_explicit.stages;
  entry.adaptive = true;
  entry.implicit = true;
  entry.accepts = {View::automatic, View::ode};
  entry.highest_index = 1;
  entry.dense_order = of_explicit.dense_order;
  entry.estimate_order = of_explicit.estimate_order;
  entry.safety = of_explicit.safety;
  entry.options = {{"first", "the method to begin with", std::nullopt, 0.0, 0.0, {"explicit", "implicit"}}};
  entry.make = [](const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.ode, "dimension {}", system.dimension);
    return std::make_unique<Automatic>(system, options.word("first") == "implicit");
  };
  return entry;
}

}  // namespace daedalus::integrate
