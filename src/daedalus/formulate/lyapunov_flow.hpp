#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/integrate/system.hpp"

// Nonlinear stabilization of the constraints (Di Franco, Scarciotti, Astolfi). In the normal form xi, eta of a DAE, with
// eta' = q(xi, eta) along the motion that keeps the last derivative of every constraint at 0:
//     xi_i' = k_i xi_i,   eta' = q(xi, eta),   k_i = -delta^2/2 |q_i|^2 - epsilon,                        (21), (22), (34)
//     q(xi, eta) - q(0, eta) = sum_i q_i xi_i.                                                            (20)
// The q_i are not unique. Along a path from (0, eta) to (xi, eta) they are integrals of dq/dxi_i (Hadamard's lemma):
//     ray:          q_i = int_0^1 q_xi_i(s xi, eta) ds
//     sequential:   the same, xi of level 0 first with the others 0, then the xi of level 1 with those before at their end,
//                   and so on: what the paper's own formulas are.
// There is no division by xi_i, so that xi = 0 is no special case. q itself, not the sum, moves eta: the quadrature acts on
// the gains alone, of which any size is allowed (Lemma 3).
namespace daedalus::formulate {

/// So many times the length of a run a violation decays at least, where nothing else is asked: exp(-20) = 2e-9.
inline constexpr double least_decay = 20.0;

enum class Path { ray, sequential };

struct LyapunovSettings {
  double delta = 1.0, epsilon = 1.0;
  Path path = Path::ray;
};

/// The stabilized motion of a normal form, in original coordinates, (38)-(40), and in normal ones, (21). `Form` is
/// MechanicalNormalForm or has the same functions. Owns its workspace; allocates nothing while the number of xi stays.
template <class Form>
class LyapunovFlow {
 public:
  LyapunovFlow(Form form, const LyapunovSettings& settings) : form_(std::move(form)), settings_(settings) {
    for (auto* vector : {&x_, &middle_, &normal_, &trial_, &end_, &drift_, &drift_there_}) vector->resize(form_.states());
    exchanged_at_.assign(form_.states(), std::numeric_limits<double>::quiet_NaN());
  }

  Form& form() { return form_; }
  LyapunovSettings& settings() { return settings_; }
  std::string explain() const { return explanation_.empty() ? form_.explain() : explanation_; }

  /// Chooses coordinates at the start of a run.
  integrate::Evaluation begin(double t, const double* x) {
    begun_ = true;
    if (const auto outcome = form_.choose(t, x); outcome != integrate::Evaluation::ok) return outcome;
    make_room();
    const auto outcome = choose_gentler(t, x);
    limits_ = limits_at(conditions(t, x));
    return outcome;
  }
  bool begun() const { return begun_; }

  /// Takes other coordinates where the present ones have become bad and others are better; says whether it did.
  bool rechart(double t, const double* x) {
    if (!begun_) return false;
    const Conditions before = conditions(t, x);
    if (room_of(before) > 0.0) return false;
    const bool bad_here = !(before.here < limits_.here);
    form_.remember();
    if (!bad_here) {
      std::ranges::copy(x_, end_.begin());
      form_.choose_as_at(t, end_.data(), x);
    } else if (form_.choose(t, x) == integrate::Evaluation::ok) {
      make_room();
      choose_gentler(t, x);
    }
    Conditions now = conditions(t, x);
    if (!std::isfinite(before.end) && !std::isfinite(now.end) && choose_by_trial(t, x)) now = conditions(t, x);
    const bool better = bad_here ? std::isfinite(now.end) || !std::isfinite(before.end) : now.end < before.end;
    const bool others = !form_.is_remembered() && (better || !form_.recall());
    limits_ = limits_at(others ? now : before);
    if (others) ++recharts_;
    return others;
  }
  /// Takes other coordinates at x where those present lead no further, good as they may be there, and yet others when it is asked
  /// again at the same x. False where there are no more; then the first ones are back.
  bool exchange(double t, const double* x) {
    if (!begun_) return false;
    if (!std::equal(exchanged_at_.begin(), exchanged_at_.end(), x)) {
      std::copy_n(x, exchanged_at_.size(), exchanged_at_.begin());
      exchanges_ = 0;
      form_.remember();
      limits_before_ = limits_;
    }
    for (; exchanges_ < most_trials; ++exchanges_) {
      const integrate::Evaluation outcome = exchanges_ == 0   ? form_.choose(t, x)
                                            : exchanges_ == 1 ? form_.choose_on_constraints(t, x)
                                                              : form_.choose_by_trial(t, x, exchanges_ - 1);
      if (outcome != integrate::Evaluation::ok || form_.is_remembered()) continue;
      make_room();
      const Conditions now = conditions(t, x);
      if (!std::isfinite(now.end)) continue;
      limits_ = limits_at(now);
      ++recharts_;
      ++exchanges_;
      return true;
    }
    if (form_.recall()) limits_ = limits_before_;
    make_room();
    return false;
  }
  std::size_t recharts() const { return recharts_; }
  /// How far x is from there: > 0 while the present coordinates are good at x and where its way to the constraints ends. Off the
  /// constraints others are another motion, so that a change belongs to a place and not to the end of some step.
  double room(double t, const double* x) { return begun_ ? room_of(conditions(t, x)) : 1.0; }

  /// Finds xi, eta and the gains at x.
  integrate::Evaluation gains(double t, const double* x) {
    if (!begun_)
      if (const auto outcome = begin(t, x); outcome != integrate::Evaluation::ok) return outcome;
    explanation_.clear();
    if (const auto outcome = form_.reduce(t, x, xi_.data(), eta_.data()); outcome != integrate::Evaluation::ok) return outcome;
    return gains_at(t, x);
  }
  /// Writes the gains at x where its coordinates are known, to more digits than x has.
  integrate::Evaluation gains_of(double t, const double* xi, const double* eta, const double* x, double* gain) {
    explanation_.clear();
    std::copy_n(xi, xi_.size(), xi_.begin());
    std::copy_n(eta, eta_.size(), eta_.begin());
    const auto outcome = gains_at(t, x);
    std::ranges::copy(gain_, gain);
    return outcome;
  }
  /// Finds the state with these coordinates, on the way to it from x, which it replaces.
  integrate::Evaluation reach(double t, const double* xi, const double* eta, double* x) {
    explanation_.clear();
    if (const auto outcome = form_.reduce(t, x, from_.data(), reached_.data()); outcome != integrate::Evaluation::ok) return outcome;
    return follow(t, {from_.data(), reached_.data()}, {xi, eta}, x);
  }
  /// Takes x from one time to another at the same coordinates. Where constraints move far, Newton's method from the old place finds
  /// one of their branches as readily as another: of the way a part counts that is as long as its speeds at both ends say.
  integrate::Evaluation wait(double from, double to, double* x) {
    if (from == to || !form_.moves_with_time()) return integrate::Evaluation::ok;
    explanation_.clear();
    if (const auto outcome = form_.reduce(from, x, from_.data(), reached_.data()); outcome != integrate::Evaluation::ok) return outcome;
    if (const auto outcome = form_.drift(from, x, drift_.data()); outcome != integrate::Evaluation::ok) return outcome;
    double done = 0.0, step = 1.0;
    int halvings = 0;
    while (done < 1.0) {
      const double next = std::min(1.0, done + step), h = (next - done) * (to - from), t = next == 1.0 ? to : from + next * (to - from);
      for (std::size_t j = 0; j < trial_.size(); ++j) trial_[j] = x[j] + h * drift_[j];
      auto outcome = form_.expand(t, from_.data(), reached_.data(), trial_.data());
      if (outcome == integrate::Evaluation::ok) outcome = form_.drift(t, trial_.data(), drift_there_.data());
      if (outcome != integrate::Evaluation::ok || !is_as_fast(h, x)) {
        step *= 0.5;
        if (++halvings > most_halvings) return outcome == integrate::Evaluation::ok ? integrate::Evaluation::no_convergence : outcome;
        continue;
      }
      std::ranges::copy(trial_, x);
      drift_.swap(drift_there_);
      done = next;
    }
    return integrate::Evaluation::ok;
  }
  const std::vector<double>& xi() const { return xi_; }
  const std::vector<double>& eta() const { return eta_; }
  const std::vector<double>& gain() const { return gain_; }
  /// The q_i behind the gains, one after the other.
  const std::vector<double>& slope() const { return slope_; }

  /// x' of the stabilized motion.
  integrate::Evaluation ode(double t, const double* x, double* dx) {
    if (const auto outcome = gains(t, x); outcome != integrate::Evaluation::ok) return outcome;
    for (std::size_t i = 0; i < rate_.size(); ++i) rate_[i] = gain_[i] * xi_[i];
    return form_.lift(t, x, rate_.data(), dx);
  }

  /// (xi, eta)' of it, at z = (xi, eta); `near` is a state from where x is looked for.
  integrate::Evaluation normal_ode(double t, const double* z, const double* near, double* dz) {
    explanation_.clear();
    std::copy_n(z, xi_.size(), xi_.begin());
    std::copy_n(z + xi_.size(), eta_.size(), eta_.begin());
    std::copy_n(near, x_.size(), normal_.begin());
    if (const auto outcome = form_.expand(t, z, z + xi_.size(), normal_.data()); outcome != integrate::Evaluation::ok)
      return outcome;
    if (const auto outcome = gains_at(t, normal_.data()); outcome != integrate::Evaluation::ok) return outcome;
    for (std::size_t i = 0; i < xi_.size(); ++i) dz[i] = gain_[i] * xi_[i];
    return form_.rates(t, normal_.data(), dz + xi_.size());
  }

  /// Adds to df^/dx the derivative of the stabilization on the constraints.
  integrate::Evaluation add_slope(double t, const double* x, double* jacobian) {
    if (const auto outcome = gains(t, x); outcome != integrate::Evaluation::ok) return outcome;
    return form_.add_slope(t, x, gain_.data(), jacobian);
  }

 private:
  /// How bad the coordinates are at a state, and on the constraints at the same eta: with a pendulum that is too long they may
  /// be good here and end on the way there.
  struct Conditions {
    double here = 0.0, end = 0.0;
  };
  /// Leaves x_ at the end of the way.
  Conditions conditions(double t, const double* x) {
    Conditions found{form_.condition(t, x), std::numeric_limits<double>::infinity()};
    if (form_.reduce(t, x, xi_.data(), eta_.data()) != integrate::Evaluation::ok) return found;
    std::copy_n(x, x_.size(), x_.begin());
    std::ranges::copy(xi_, from_.begin());
    std::ranges::fill(target_, 0.0);
    if (travel(t) == integrate::Evaluation::ok) found.end = form_.condition(t, x_.data());
    explanation_.clear();
    return found;
  }
  static Conditions limits_at(const Conditions& now) { return {Form::limit(now.here), Form::limit(now.end)}; }
  double room_of(const Conditions& now) const {
    const auto left = [](double condition, double limit) { return std::isinf(limit) ? 1.0 : 1.0 - condition / limit; };
    return std::max(-1.0, std::min(left(now.here, limits_.here), left(now.end, limits_.end)));
  }

  /// The coordinates that are best at x need not be good all the way to the constraints: near the end of their domain the
  /// gains grow without bound. Takes those of the nearest point of the constraints, or of the end of that way, where these have
  /// much smaller ones: what is best at x stays good for longer.
  integrate::Evaluation choose_gentler(double t, const double* x) {
    using enum integrate::Evaluation;
    const double here = largest_gain(t, x);
    std::copy_n(x, middle_.size(), middle_.begin());
    if (std::isfinite(here) && path_length() <= long_path) return ok;  // all of the way is near x
    std::ranges::copy(x_, end_.begin());
    const double near = form_.choose_on_constraints(t, x) == ok ? largest_gain(t, x) : std::numeric_limits<double>::infinity();
    const double end = form_.choose_as_at(t, end_.data(), x) == ok ? largest_gain(t, x) : std::numeric_limits<double>::infinity();
    if (end < std::min(much_smaller * here, near)) return ok;
    if (near < much_smaller * here) return form_.choose_on_constraints(t, x);
    if (!std::isfinite(here) && choose_by_trial(t, x)) return ok;
    return form_.choose(t, x);
  }
  /// Where all these ways end too early, that of other coordinates may not. Takes those with the smallest gains of some that
  /// reach; false where none does.
  bool choose_by_trial(double t, const double* x) {
    double least = std::numeric_limits<double>::infinity();
    unsigned best = 0;
    for (unsigned trial = 1; trial <= most_trials; ++trial) {
      if (form_.choose_by_trial(t, x, trial) != integrate::Evaluation::ok) continue;
      if (const double gain = largest_gain(t, x); gain < least) {
        least = gain;
        best = trial;
      }
    }
    return best > 0 && form_.choose_by_trial(t, x, best) == integrate::Evaluation::ok;
  }
  double largest_gain(double t, const double* x) {
    if (gains(t, x) != integrate::Evaluation::ok) return std::numeric_limits<double>::infinity();
    double largest = 0.0;
    for (const double k : gain_) largest = std::max(largest, -k);
    return largest;
  }

  /// Gauss-Legendre on (0, 1), from the end towards the constraints.
  struct Point {
    double at, weight;
  };
  static constexpr std::array<Point, 5> five{{{0.95308992296933199640, 0.11846344252809454376},
                                              {0.76923465505284154552, 0.23931433524968323402},
                                              {0.5, 0.28444444444444444444},
                                              {0.23076534494715845448, 0.23931433524968323402},
                                              {0.04691007703066800360, 0.11846344252809454376}}};
  static constexpr std::array<Point, 10> ten{{{0.986953264258585860039, 0.0333356721543440687968},
                                              {0.932531683344492255366, 0.0747256745752902965729},
                                              {0.839704784149512203117, 0.109543181257991021998},
                                              {0.7166976970646235954, 0.134633359654998177546},
                                              {0.574437169490815605442, 0.147762112357376435087},
                                              {0.425562830509184394558, 0.147762112357376435087},
                                              {0.2833023029353764046, 0.134633359654998177546},
                                              {0.160295215850487796883, 0.109543181257991021998},
                                              {0.067468316655507744634, 0.0747256745752902965729},
                                              {0.013046735741414139961, 0.0333356721543440687968}}};
  /// A path of this length, relative to the state, has the slope of its middle, to its square; up to that one five points
  /// give all digits, and ten beyond it do for functions that are analytic in a neighbourhood twice as wide as the path.
  static constexpr double short_path = 1e-6, long_path = 1e-2;
  static constexpr int most_halvings = 6;
  static constexpr double much_smaller = 0.1;
  static constexpr unsigned most_trials = 50;

  void make_room() {
    const std::size_t count = form_.xi_count(), rest = form_.eta_count();
    for (auto* vector : {&xi_, &gain_, &rate_, &target_, &from_, &start_, &way_, &way_xi_}) vector->resize(count);
    for (auto* vector : {&eta_, &way_eta_, &reached_}) vector->resize(rest);
    slope_.resize(count * std::max<std::size_t>(rest, 1));
    part_.resize(slope_.size());
  }

  integrate::Evaluation gains_at(double t, const double* x) {
    if (xi_.empty()) return integrate::Evaluation::ok;  // constraints that always hold
    std::ranges::fill(slope_, 0.0);
    std::copy_n(x, x_.size(), x_.begin());
    std::ranges::copy(xi_, from_.begin());
    if (settings_.path == Path::ray) {
      if (const auto outcome = integrate_stage(t, all); outcome != integrate::Evaluation::ok) return outcome;
    } else {
      for (std::size_t level = *std::ranges::max_element(form_.level()) + 1; level-- > 0;)
        if (const auto outcome = integrate_stage(t, level); outcome != integrate::Evaluation::ok) return outcome;
    }
    const std::size_t rest = eta_.size();
    for (std::size_t i = 0; i < gain_.size(); ++i) {
      double square = 0.0;
      for (std::size_t k = 0; k < rest; ++k) square += slope_[i * rest + k] * slope_[i * rest + k];
      gain_[i] = -0.5 * settings_.delta * settings_.delta * square - settings_.epsilon;
    }
    return integrate::Evaluation::ok;
  }

  /// The part of the path on which xi of one level shrink, those above being 0 already.
  integrate::Evaluation integrate_stage(double t, std::size_t level) {
    const auto moves = [&](std::size_t i) { return level == all || form_.level()[i] == level; };
    const auto aim = [&](double s) {
      for (std::size_t i = 0; i < xi_.size(); ++i)
        target_[i] = moves(i) ? s * xi_[i] : form_.level()[i] > level && level != all ? 0.0 : xi_[i];
    };
    std::ranges::copy(x_, middle_.begin());
    std::ranges::copy(from_, way_.begin());
    aim(0.5);
    const double length = travel(t) == integrate::Evaluation::ok ? path_length() : 1.0;
    if (length <= short_path) {
      if (const auto outcome = add_slopes(t, 1.0, moves); outcome != integrate::Evaluation::ok) return outcome;
    } else {
      std::ranges::copy(middle_, x_.begin());
      std::ranges::copy(way_, from_.begin());
      const std::span<const Point> points = length <= long_path ? std::span<const Point>(five) : std::span<const Point>(ten);
      for (const Point& point : points) {
        aim(point.at);
        if (const auto outcome = travel(t); outcome != integrate::Evaluation::ok) return outcome;
        if (const auto outcome = add_slopes(t, point.weight, moves); outcome != integrate::Evaluation::ok) return outcome;
      }
    }
    if (level == 0 || level == all) return integrate::Evaluation::ok;
    aim(0.0);
    return travel(t);
  }

  /// Whether the way from x to trial_ is that of the mean of both drifts, but for a quarter.
  bool is_as_fast(double h, const double* x) const {
    constexpr double part = 0.25, round_off = 1e-10;
    double length = 0.0, off = 0.0, size = 0.0;
    for (std::size_t j = 0; j < trial_.size(); ++j) {
      if (drift_[j] == 0.0 && drift_there_[j] == 0.0) continue;
      const double way = trial_[j] - x[j];
      length = std::max(length, std::abs(way));
      off = std::max(off, std::abs(way - 0.5 * h * (drift_[j] + drift_there_[j])));
      size = std::max(size, std::abs(x[j]));
    }
    return off <= std::max(part * length, round_off * size);
  }

  /// How far x_ is from where the path began, relative to the state.
  double path_length() const {
    double size = 0.0, length = 0.0;
    for (std::size_t j = 0; j < x_.size(); ++j) {
      size = std::max(size, std::abs(middle_[j]));
      length = std::max(length, std::abs(x_[j] - middle_[j]));
    }
    return size > 0.0 ? length / size : 1.0;
  }

  template <class Moves>
  integrate::Evaluation add_slopes(double t, double factor, const Moves& moves) {
    if (const auto outcome = form_.slopes(t, x_.data(), part_.data()); outcome != integrate::Evaluation::ok) return outcome;
    const std::size_t rest = eta_.size();
    for (std::size_t i = 0; i < xi_.size(); ++i)
      for (std::size_t k = 0; moves(i) && k < rest; ++k) slope_[i * rest + k] += factor * part_[i * rest + k];
    return integrate::Evaluation::ok;
  }

  /// Takes x_ from xi = from_ to xi = target_ at fixed eta.
  integrate::Evaluation travel(double t) {
    std::ranges::copy(from_, start_.begin());
    const auto outcome = follow(t, {start_.data(), eta_.data()}, {target_.data(), eta_.data()}, x_.data());
    if (outcome != integrate::Evaluation::ok)
      explanation_ = "the way from the state to the constraints leaves the domain of the coordinates: " + form_.explain();
    std::ranges::copy(target_, from_.begin());
    return outcome;
  }

  struct Coordinates {
    const double *xi, *eta;
  };
  /// Takes x along the straight line between two places, in as many parts as that needs; x stays at the last one reached.
  integrate::Evaluation follow(double t, const Coordinates& from, const Coordinates& to, double* x) {
    double done = 0.0, step = 1.0;
    int halvings = 0;
    while (done < 1.0) {
      const double next = std::min(1.0, done + step);
      const auto between = [&](const double* a, const double* b, std::vector<double>& c) {
        for (std::size_t i = 0; i < c.size(); ++i) c[i] = next == 1.0 ? b[i] : a[i] + next * (b[i] - a[i]);
      };
      between(from.xi, to.xi, way_xi_);
      between(from.eta, to.eta, way_eta_);
      std::copy_n(x, trial_.size(), trial_.begin());
      if (const auto outcome = form_.expand(t, way_xi_.data(), way_eta_.data(), trial_.data()); outcome != integrate::Evaluation::ok) {
        step *= 0.5;
        if (++halvings > most_halvings) return outcome;
        continue;
      }
      std::ranges::copy(trial_, x);
      done = next;
    }
    return integrate::Evaluation::ok;
  }

  static constexpr std::size_t all = static_cast<std::size_t>(-1);

  Form form_;
  LyapunovSettings settings_;
  bool begun_ = false;
  std::size_t recharts_ = 0;
  Conditions limits_, limits_before_;  ///< beyond which others are looked for; those before an exchange
  unsigned exchanges_ = 0;
  std::vector<double> exchanged_at_;
  std::vector<double> xi_, eta_, gain_, slope_, part_, rate_;
  std::vector<double> x_, middle_, normal_, trial_, end_;  ///< states: on the path, where a part of it began, of z, tried, near its end
  std::vector<double> drift_, drift_there_;                ///< of states with the time, at both ends of a part of the way
  std::vector<double> from_, way_, start_, target_;  ///< xi: of x_, where a part began, where a search began, where to
  std::vector<double> way_xi_, way_eta_, reached_;   ///< a place on the way, and the eta where it began
  std::string explanation_;
};

}  // namespace daedalus::formulate
