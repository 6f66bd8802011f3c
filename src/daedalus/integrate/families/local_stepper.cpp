// The method integrates y' = f(t, y) in local coordinates of a manifold and knows nothing of it. Every state that leaves
// here is x = expand(t, y), on the manifold to round-off. A change of coordinates is a smooth map of y, so that a method
// keeps its order: one that knows only the present state goes on from it, one with a history maps that (W. C. Rheinboldt,
// Differential-algebraic systems as differential equations on manifolds, Math. Comp. 43 (1984) 473-482).
#include "daedalus/integrate/families/local_stepper.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/integrate/error_norm.hpp"

namespace daedalus::integrate {
namespace {

/// Of the tolerance, for the coordinates. In coordinates that bend with the constraints a step errs more than in flat ones,
/// and by more than estimates say: on the heavy top with dop853 at rtol 1e-8 to 1e-10 by 110 times what projection leaves, with
/// this share by 14 times. It costs share^(-1/q) in steps, 1.33 with an estimate of order q = 8.
constexpr double share = 0.1;

class LocalStepper final : public Stepper {
 public:
  LocalStepper(const System& system, std::function<std::unique_ptr<Stepper>(const System&)> make)
      : local_(*system.local), make_(std::move(make)) {
    for (auto* vector : {&now_, &candidate_, &before_, &bound_}) vector->resize(system.dimension);
    inner_system_.ode = local_.ode;
    inner_system_.explain = system.explain;
    change_ = [this](double t, const double* before, double* y) { return local_.transfer(t, before, y); };
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, now_.size(), now_.begin());
    stepped_ = refused_ = false;
    std::ranges::copy(now_, before_.begin());
    if (const Evaluation outcome = local_.choose(t, x); outcome != Evaluation::ok) return outcome;
    make_inner();
    if (changes_ == 0) first_ = local_.describe();
    if (!first_.empty()) note_components();
    local_.near(t, x);
    local_.reduce(x, y_.data());
    if (!inner_) return Evaluation::ok;
    const Evaluation outcome = inner_->start(t, y_.data());
    count();
    return outcome;
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    Attempt result;
    local_.near(t_, now_.data());
    if (stepped_ || refused_) {
      result.outcome = change_coordinates_if_due(h);
      stepped_ = refused_ = false;
      if (result.outcome != Evaluation::ok) return result;
    }
    if (tolerance != nullptr) set_tolerance(*tolerance);
    if (inner_) {
      result = inner_->attempt(h, tolerance != nullptr ? &inner_tolerance_ : nullptr);
      count();
      if (result.worst) result.worst = local_.component(*result.worst);
    }
    if (result.outcome == Evaluation::ok && (tolerance == nullptr || result.error <= 1.0)) {
      result.outcome = local_.expand(t_ + h, inner_ ? inner_->candidate() : nullptr, candidate_.data());
      if (result.outcome != Evaluation::ok) result.next_step.reset();  // the method knows of no failure
    }
    refused_ = result.outcome != Evaluation::ok;
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    if (inner_) {
      const Evaluation outcome = inner_->accepted(t_next);
      count();
      refused_ = outcome != Evaluation::ok;
      if (refused_) return outcome;
    }
    before_.swap(now_);
    now_.swap(candidate_);
    t_old_ = t_;
    t_ = t_next;
    stepped_ = true;
    return Evaluation::ok;
  }

  void rejected() override {
    if (inner_) inner_->rejected();
  }
  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    if (theta == 1.0) {
      std::copy(now_.begin(), now_.end(), x);
      return Evaluation::ok;
    }
    if (inner_) {
      const Evaluation outcome = inner_->interpolate(theta, y_.data());
      count();
      if (outcome != Evaluation::ok) return outcome;
    }
    local_.near(theta < 0.5 ? t_old_ : t_, theta < 0.5 ? before_.data() : now_.data());
    return local_.expand(t_old_ + theta * (t_ - t_old_), y_.data(), x);
  }

  double stiffness() const override { return inner_ ? inner_->stiffness() : 0.0; }
  const double* state() const override { return now_.data(); }
  std::string used() const override { return inner_ ? inner_->used() : std::string(); }
  void remark(std::vector<std::string>& notes) const override {
    if (inner_) inner_->remark(notes);
    if (changes_ == 0) return;
    std::string note = fmt::format("local coordinates changed {}", changes_ == 1 ? "once" : fmt::format("{} times", changes_));
    if (!first_.empty()) note += fmt::format(": first {}, from t = {} on {}{}", first_, brief(t_second_), second_,
                                             changes_ == 1 ? "" : ", and so on");
    notes.push_back(note);
  }

 private:
  /// Makes the stepper of y; again where the number of coordinates is another than before.
  void make_inner() {
    const std::size_t dimension = local_.dimension();
    if (made_ && inner_system_.dimension == dimension) return;
    made_ = true;
    if (inner_) spent_ = stats_;
    inner_.reset();
    inner_system_.dimension = dimension;
    y_.resize(dimension);
    inner_tolerance_ = {0.0, std::vector<double>(dimension)};
    if (dimension > 0) inner_ = make_(inner_system_);
  }

  /// The whole state is to meet its tolerances, whatever its coordinates are. Of the two ends of the last step the larger
  /// one counts, so that a component may pass through zero.
  void set_tolerance(const Tolerance& tolerance) {
    for (std::size_t i = 0; i < now_.size(); ++i) bound_[i] = share * error_weight(tolerance, i, before_[i], now_[i]);
    local_.tolerances(t_, now_.data(), bound_.data(), inner_tolerance_.atol.data());
  }

  Evaluation change_coordinates_if_due(double h) {
    using Change = LocalCoordinates::Change;
    if (!local_.rechart(t_, now_.data(), h, refused_ ? Change::if_better : Change::if_bad)) return Evaluation::ok;
    // The same coordinates around another point are no news.
    if ((first_.empty() || note_components()) && ++changes_ == 1) {
      second_ = local_.describe();
      t_second_ = t_;
    }
    local_.near(t_, now_.data());
    local_.reduce(now_.data(), y_.data());
    if (!inner_) return Evaluation::ok;
    const Evaluation outcome = inner_->change_coordinates(y_.data(), change_);
    count();
    local_.near(t_, now_.data());
    return outcome;
  }

  /// Keeps which components of the state are coordinates; says whether they are others than before.
  bool note_components() {
    bool others = components_.size() != y_.size();
    components_.resize(y_.size());
    for (std::size_t k = 0; k < y_.size(); ++k) {
      const std::size_t now = local_.component(k);
      others = others || components_[k] != now;
      components_[k] = now;
    }
    return others;
  }

  void count() {
    stats_ = spent_;
    if (!inner_) return;
    const Stats inner = inner_->stats();
    stats_.rhs += inner.rhs;
    stats_.jacobians += inner.jacobians;
    stats_.factorizations += inner.factorizations;
    stats_.newton_iterations += inner.newton_iterations;
  }

  const LocalCoordinates& local_;
  std::function<std::unique_ptr<Stepper>(const System&)> make_;
  System inner_system_;
  std::unique_ptr<Stepper> inner_;  ///< none where no coordinate is free
  CoordinateChange change_;
  Tolerance inner_tolerance_;
  std::vector<double> now_, candidate_, before_, bound_;  ///< of the whole system
  std::vector<double> y_;
  double t_old_ = 0.0;
  bool made_ = false;
  bool stepped_ = false;  ///< the last step is accepted, no attempt since
  bool refused_ = false;  ///< the last step could not be evaluated
  Stats spent_;           ///< by steppers of other dimensions
  std::size_t changes_ = 0;
  std::string first_, second_;
  std::vector<std::size_t> components_;
  double t_second_ = 0.0;
};

}  // namespace

std::unique_ptr<Stepper> in_local_coordinates(const System& system,
                                              std::function<std::unique_ptr<Stepper>(const System&)> make) {
  DAEDALUS_CHECK(system.local && system.ode, "dimension {}", system.dimension);
  return std::make_unique<LocalStepper>(system, std::move(make));
}

}  // namespace daedalus::integrate
