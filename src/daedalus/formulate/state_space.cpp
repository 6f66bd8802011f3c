// y' = (D v, D a, z_d') with x = (q, v, z_d) from y by the constraints and a from the KKT system at x. The accelerations of
// the KKT system satisfy G a = gamma, so that D a alone says what the motion does: (15), (16) of Fuehrer and Leimkuhler
// 1991, where V_1^T M V_1 y'' = V_1^T f~ is the same system after elimination.
//
// Constraints that depend on time move dependent coordinates even where y rests: no error test of y would see it, and over a
// long step the constraints might be solved by another of their branches. Then all of q is integrated beside y, by q' = v:
// the error test sees the whole motion, and searches for q begin where it leads.
//
// Two charts take turns: one in use, and one that was used before or is being tried.
#include "daedalus/formulate/state_space.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/expr/substitute.hpp"
#include "daedalus/formulate/acceleration_level.hpp"
#include "daedalus/formulate/local_chart.hpp"
#include "daedalus/formulate/motion_observation.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using mechanics::Evaluator;
using mechanics::Outcome;

namespace {

/// Beyond this tilt in the step ahead other coordinates are looked for. A pendulum whose x is the coordinate has the tilt 1
/// at 45 degrees from the place where x is best. Measured on the pendulum of the notes 000 over 50 s, with steps that turn it
/// by up to 40 degrees: limits from 1.05 to 1.5 and from 0 to 0.3 are equally good, larger ones let single steps err.
constexpr double coordinate_limit = 1.2, tangent_limit = 0.2;
/// Coordinates that were bad from the beginning must become this many times worse.
constexpr double growth = 2.0;
/// Others are taken only if their tilt is this much smaller: no coming back at once.
constexpr double clearly = 0.7, at_all = 0.9;

class StateSpace {
 public:
  StateSpace(std::shared_ptr<const mechanics::Functions> functions, LocalBasis::Kind kind)
      : kind_(kind),
        evaluator_(functions),
        charts_{LocalChart(functions, kind), LocalChart(functions, kind)},
        followed_(driven(functions->equations) ? functions->n : 0),
        x_(functions->dimension()),
        dx_(functions->dimension()) {}

  Evaluator& evaluator() { return evaluator_; }
  LocalChart& chart() { return charts_[used_]; }

  std::size_t dimension() { return chart().dimension() + followed_; }
  void reduce(const double* x, double* y) {
    chart().reduce(x, y);
    std::copy_n(x, followed_, y + chart().dimension());
  }
  void tolerances(double t, const double* x, const double* bound, double* of_y) {
    chart().tolerances(t, x, bound, of_y);
    std::copy_n(bound, followed_, of_y + chart().dimension());
  }
  std::size_t component(std::size_t k) {
    return k < chart().dimension() ? chart().component(k) : k - chart().dimension();
  }

  void freeze(const double* frozen) {
    evaluator_.freeze(frozen);
    for (LocalChart& chart : charts_) chart.freeze(frozen);
  }

  Evaluation choose(double t, const double* x) {
    by_chart_ = chosen_ = true;
    if (const Outcome outcome = chart().select(t, x); outcome != Outcome::ok) return static_cast<Evaluation>(outcome);
    charts_[1 - used_].select_as(chart());
    if (!chart().choose(t, x)) return Evaluation::singular;
    limit_ = std::max(least_limit(), growth * chart().tilt(t, x));
    return Evaluation::ok;
  }

  /// Looks at x and, as a long step may turn the constraints a good deal, at the middle of the step as the velocity foresees
  /// it: that is where other coordinates should be best.
  bool rechart(double t, const double* x, double h, integrate::LocalCoordinates::Change change) {
    const bool bad = change == integrate::LocalCoordinates::Change::if_bad;
    const std::size_t n = evaluator_.functions().n;
    const double middle = t + 0.5 * h;
    std::copy_n(x, x_.size(), x_.begin());
    for (std::size_t j = 0; j < n; ++j) x_[j] += 0.5 * h * x[n + j];
    const auto worst = [&](LocalChart& chart) { return std::max(chart.tilt(middle, x_.data()), chart.tilt(t, x)); };
    const double tilt = worst(chart());
    if (tilt < limit_ / growth) limit_ = std::max(least_limit(), growth * tilt);
    if (bad && tilt <= limit_) return false;
    LocalChart& other = charts_[1 - used_];
    if (!other.choose(middle, x_.data())) return false;
    const double found = worst(other);
    if (!(found < (bad ? clearly : at_all) * tilt)) {
      if (std::isfinite(tilt)) limit_ = std::max(limit_, growth * tilt);  // nothing better is near
      return false;
    }
    used_ = 1 - used_;
    limit_ = std::max(least_limit(), growth * found);
    return true;
  }

  void independent(double t, const double* x, double* of_q) {
    if (!chosen_) choose(t, x);  // the first row comes before the first step
    chart().independent(of_q);
  }

  Evaluation transfer(double t, const double* before, double* y) {
    const Evaluation outcome = expand(charts_[1 - used_], t, before, x_.data());
    if (outcome == Evaluation::ok) reduce(x_.data(), y);
    return outcome;
  }

  Evaluation expand(double t, const double* y, double* x) { return expand(chart(), t, y, x); }

  Evaluation ode(double t, const double* y, double* dy) {
    if (const Evaluation outcome = expand(t, y, x_.data()); outcome != Evaluation::ok) return outcome;
    by_chart_ = false;
    if (const Outcome outcome = evaluator_.ode(t, x_.data(), dx_.data()); outcome != Outcome::ok)
      return static_cast<Evaluation>(outcome);
    chart().rates(dx_.data(), dy);
    std::copy_n(dx_.begin(), followed_, dy + chart().dimension());
    return Evaluation::ok;
  }

  /// The same at any state of the whole system.
  Evaluation whole_ode(double t, const double* x, double* dx) {
    by_chart_ = false;
    return static_cast<Evaluation>(evaluator_.ode(t, x, dx));
  }

  std::string explain() const { return by_chart_ ? charts_[used_].explain() : evaluator_.explain(); }
  std::size_t factorizations() const {
    return evaluator_.factorizations() + charts_[0].factorizations() + charts_[1].factorizations();
  }

 private:
  /// Whether some constraint depends on time by itself.
  static bool driven(const mechanics::Equations& eq) {
    std::vector<expr::Expr> constraints;
    for (const mechanics::Constraint& constraint : eq.constraints)
      constraints.push_back(constraint.holonomic ? constraint.position : constraint.velocity);
    const std::vector<bool> depends = expr::dependence(constraints, {eq.t.id()});
    return std::ranges::find(depends, true) != depends.end();
  }

  Evaluation expand(LocalChart& by, double t, const double* y, double* x) {
    by_chart_ = true;
    if (followed_ > 0) by.begin_at(y + by.dimension());
    return static_cast<Evaluation>(by.expand(t, y, x));
  }

  double least_limit() const { return kind_ == LocalBasis::Kind::tangent ? tangent_limit : coordinate_limit; }

  LocalBasis::Kind kind_;
  Evaluator evaluator_;
  LocalChart charts_[2];
  std::size_t followed_;  ///< so many components of q are integrated beside y
  std::size_t used_ = 0;
  double limit_ = 0.0;
  bool chosen_ = false;
  bool by_chart_ = false;  ///< the last call was answered by the chart alone
  std::vector<double> x_, dx_;
};

integrate::LocalCoordinates coordinates_of(const std::shared_ptr<StateSpace>& space) {
  integrate::LocalCoordinates local;
  local.choose = [space](double t, const double* x) { return space->choose(t, x); };
  local.dimension = [space] { return space->dimension(); };
  local.ode = [space](double t, const double* y, double* dy) { return space->ode(t, y, dy); };
  local.expand = [space](double t, const double* y, double* x) { return space->expand(t, y, x); };
  local.reduce = [space](const double* x, double* y) { space->reduce(x, y); };
  local.near = [space](const double* x) { space->chart().near(x); };
  local.rechart = [space](double t, const double* x, double h, integrate::LocalCoordinates::Change change) {
    return space->rechart(t, x, h, change);
  };
  local.transfer = [space](double t, const double* before, double* y) { return space->transfer(t, before, y); };
  local.tolerances = [space](double t, const double* x, const double* bound, double* of_y) {
    space->tolerances(t, x, bound, of_y);
  };
  local.component = [space](std::size_t k) { return space->component(k); };
  local.describe = [space] { return space->chart().describe(); };
  return local;
}

void show_choice(MotionObservation& observation, const std::shared_ptr<StateSpace>& space) {
  std::vector<std::string> columns;
  for (const expr::Expr& q : space->evaluator().functions().equations.q) columns.push_back("independent." + q.name());
  observation.show(columns, [space](double t, const double* x, double* row) { space->independent(t, x, row); });
}

}  // namespace

Formulated state_space(const Equations& equations, LocalBasis::Kind kind, Shown shown) {
  Formulated result = acceleration_level(equations.motion, {});
  integrate::System& system = result.system;
  system.project = nullptr;
  system.project_error = nullptr;
  if (equations.motion->m == 0) return result;  // every state is allowed
  auto space = std::make_shared<StateSpace>(equations.motion, kind);
  system.coordinates = 0;
  system.ode = [space](double t, const double* x, double* dx) { return space->whole_ode(t, x, dx); };
  system.explain = [space] { return space->explain(); };
  system.local = std::make_shared<const integrate::LocalCoordinates>(coordinates_of(space));
  result.guess = [space, inner = result.guess](const std::vector<double>& auxiliary) {
    space->evaluator().guess_auxiliary(auxiliary);
    inner(auxiliary);
  };
  result.freeze = [space, inner = result.freeze](const double* frozen) {
    space->freeze(frozen);
    inner(frozen);
  };
  if (shown == Shown::choice) show_choice(*std::static_pointer_cast<MotionObservation>(result.observation), space);
  result.factorizations = [space] { return space->factorizations(); };
  return result;
}

}  // namespace daedalus::formulate
