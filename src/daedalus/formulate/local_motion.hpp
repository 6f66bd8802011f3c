#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/integrate/system.hpp"

namespace daedalus::formulate {

/// Coordinates that were bad from the beginning must become this many times worse.
inline constexpr double growth = 2.0;
/// Others are taken only if their tilt is this much smaller: no coming back at once.
inline constexpr double clearly = 0.7, at_all = 0.9;

/// The motion x' = f(t, x) on a manifold of which charts are given.
struct Dynamics {
  std::size_t dimension = 0;  ///< of x
  std::function<integrate::Evaluation(double t, const double* x, double* dx)> ode;
  std::function<std::string()> explain;
  std::function<std::size_t()> factorizations;
  std::function<void(const double* frozen)> freeze = {};
};

/// The same in local coordinates y. Two charts take turns: one in use, and one that was used before or is being tried.
///
/// Equations that depend on time move dependent parts of x even where y rests: no error test of y would see it, and over a
/// long step the equations might be solved by another of their branches. Then leading components of x are integrated beside
/// y: the error test sees the whole motion, and searches for x begin where it leads.
template <class Chart>
class LocalMotion {
 public:
  /// Where charts are left, and how many of the leading components of x are integrated beside y.
  struct Manner {
    double limit;
    std::size_t followed = 0;
  };
  LocalMotion(Dynamics dynamics, const std::function<Chart()>& make_chart, Manner manner)
      : dynamics_(std::move(dynamics)),
        charts_{make_chart(), make_chart()},
        least_limit_(manner.limit),
        followed_(manner.followed),
        x_(dynamics_.dimension),
        dx_(dynamics_.dimension) {}

  Chart& chart() { return charts_[used_]; }

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
    if (dynamics_.freeze) dynamics_.freeze(frozen);
    for (Chart& chart : charts_) chart.freeze(frozen);
  }

  integrate::Evaluation choose(double t, const double* x) {
    by_chart_ = chosen_ = true;
    if (const auto outcome = static_cast<integrate::Evaluation>(chart().select(t, x)); outcome != integrate::Evaluation::ok) return outcome;
    charts_[1 - used_].select_as(chart());
    if (!chart().choose(t, x)) return integrate::Evaluation::singular;
    limit_ = std::max(least_limit_, growth * chart().tilt(t, x));
    return integrate::Evaluation::ok;
  }

  /// Looks at x and, as a long step may turn the constraints a good deal, at the middle of the step as the velocity foresees
  /// it: that is where other coordinates should be best.
  bool rechart(double t, const double* x, double h, integrate::LocalCoordinates::Change change) {
    const bool bad = change == integrate::LocalCoordinates::Change::if_bad;
    const double middle = t + 0.5 * h;
    chart().ahead(x, h, x_.data());
    const auto worst = [&](Chart& chart) { return std::max(chart.tilt(middle, x_.data()), chart.tilt(t, x)); };
    const double tilt = worst(chart());
    if (tilt < limit_ / growth) limit_ = std::max(least_limit_, growth * tilt);
    if (bad && tilt <= limit_) return false;
    Chart& other = charts_[1 - used_];
    if (!other.choose(middle, x_.data())) return false;
    const double found = worst(other);
    if (!(found < (bad ? clearly : at_all) * tilt)) {
      if (std::isfinite(tilt)) limit_ = std::max(limit_, growth * tilt);  // nothing better is near
      return false;
    }
    used_ = 1 - used_;
    limit_ = std::max(least_limit_, growth * found);
    return true;
  }

  void independent(double t, const double* x, double* of_q) {
    if (!chosen_) choose(t, x);  // the first row comes before the first step
    chart().independent(of_q);
  }

  integrate::Evaluation transfer(double t, const double* before, double* y) {
    const integrate::Evaluation outcome = expand(charts_[1 - used_], t, before, x_.data());
    if (outcome == integrate::Evaluation::ok) reduce(x_.data(), y);
    return outcome;
  }

  integrate::Evaluation expand(double t, const double* y, double* x) { return expand(chart(), t, y, x); }

  integrate::Evaluation ode(double t, const double* y, double* dy) {
    if (const integrate::Evaluation outcome = expand(t, y, x_.data()); outcome != integrate::Evaluation::ok) return outcome;
    by_chart_ = false;
    if (const integrate::Evaluation outcome = dynamics_.ode(t, x_.data(), dx_.data()); outcome != integrate::Evaluation::ok) return outcome;
    chart().rates(dx_.data(), dy);
    std::copy_n(dx_.begin(), followed_, dy + chart().dimension());
    return integrate::Evaluation::ok;
  }

  /// The same at any state of the whole system.
  integrate::Evaluation whole_ode(double t, const double* x, double* dx) {
    by_chart_ = false;
    return dynamics_.ode(t, x, dx);
  }

  std::string explain() const { return by_chart_ ? charts_[used_].explain() : dynamics_.explain(); }
  std::size_t factorizations() const {
    return dynamics_.factorizations() + charts_[0].factorizations() + charts_[1].factorizations();
  }

 private:
  integrate::Evaluation expand(Chart& by, double t, const double* y, double* x) {
    by_chart_ = true;
    if (followed_ > 0) by.begin_at(y + by.dimension());
    return static_cast<integrate::Evaluation>(by.expand(t, y, x));
  }

  Dynamics dynamics_;
  Chart charts_[2];
  double least_limit_;
  std::size_t followed_;
  std::size_t used_ = 0;
  double limit_ = 0.0;
  bool chosen_ = false;
  bool by_chart_ = false;  ///< the last call was answered by the chart alone
  std::vector<double> x_, dx_;
};

template <class Chart>
integrate::LocalCoordinates coordinates_of(const std::shared_ptr<LocalMotion<Chart>>& space) {
  integrate::LocalCoordinates local;
  local.choose = [space](double t, const double* x) { return space->choose(t, x); };
  local.dimension = [space] { return space->dimension(); };
  local.ode = [space](double t, const double* y, double* dy) { return space->ode(t, y, dy); };
  local.expand = [space](double t, const double* y, double* x) { return space->expand(t, y, x); };
  local.reduce = [space](const double* x, double* y) { space->reduce(x, y); };
  local.near = [space](double, const double* x) { space->chart().near(x); };
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

}  // namespace daedalus::formulate
