// Implicit Runge-Kutta methods (A, b, c) for F(t, y, y') = 0, y = (x, z) with differential x and algebraic z:
//   F(t + c_i h, Y_i, Y_i') = 0,   X_i = x + h sum_j a_ij X_j',   x1 = x + h sum_i b_i X_i',
//   z1 = (1 - sum_i d_i) z + sum_i d_i Z_i,   d^T = b^T A^-1:
// E. Hairer, C. Lubich, M. Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods,
// Lecture Notes in Mathematics 1409 (1989), (1.11). A stiffly accurate method has z1 = Z_s. For others, where the index
// is at most 1 and F determines (x', z) from x, z1 is taken from F(t1, x1, z1, x1') = 0 instead: the method is then the
// one for the underlying ODE, of full order in z as well, and A may be singular (E. Hairer, G. Wanner, Solving Ordinary
// Differential Equations II, 2nd ed., section VI.1, "state space form method").
//
// Between the steps: u' is the polynomial through the slopes at the ends and, where the stage order is high enough for
// them to help, the stages; u(theta) = y + h int u' + (3 theta^2 - 2 theta^3) (y1 - u(1)) ends at the accepted state
// with its slope. With the ends only this is the cubic Hermite polynomial. On a higher index slopes at the ends are not
// to be had and the stages alone serve.
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"

#include <algorithm>
#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/families/stage_system.hpp"
#include "daedalus/linalg/lu.hpp"

namespace daedalus::integrate {
namespace {

/// Lagrange's polynomials of some nodes and their integrals from 0.
class Nodes {
 public:
  explicit Nodes(std::vector<double> at) : at_(std::move(at)) {
    const std::size_t m = at_.size();
    for (std::size_t k = 0; k < m; ++k) {
      std::vector<double> polynomial{1.0};  // coefficients of 1, theta, ...
      for (std::size_t j = 0; j < m; ++j) {
        if (j == k) continue;
        polynomial.push_back(0.0);
        const double scale = 1.0 / (at_[k] - at_[j]);
        for (std::size_t i = polynomial.size(); i-- > 0;) {
          polynomial[i] = scale * ((i > 0 ? polynomial[i - 1] : 0.0) - at_[j] * polynomial[i]);
        }
      }
      polynomials_.push_back(std::move(polynomial));
    }
  }

  std::size_t size() const { return at_.size(); }

  double value(std::size_t k, double theta) const {
    double result = 0.0;
    for (std::size_t i = polynomials_[k].size(); i-- > 0;) result = result * theta + polynomials_[k][i];
    return result;
  }

  double integral(std::size_t k, double theta) const {
    double result = 0.0;
    for (std::size_t i = polynomials_[k].size(); i-- > 0;) {
      result = result * theta + polynomials_[k][i] / static_cast<double>(i + 1);
    }
    return result * theta;
  }

 private:
  std::vector<double> at_;
  std::vector<std::vector<double>> polynomials_;
};

/// What follows from a tableau.
struct Scheme {
  Tableau tableau;
  int highest_index = 0;
  bool known_first = false;           ///< the first stage is the start of the step
  bool stiffly_accurate = false;      ///< the last stage is the end of the step
  bool distinct = true;               ///< no two c_i are equal
  std::vector<double> d;              ///< b^T A^-1; empty where A is singular
  std::vector<std::size_t> interior;  ///< stages with c_i other than 0 and 1 where all are distinct
  bool dense_with_stages = false;
  int dense_order = 0;
};

/// The largest q with sum_j a_ij c_j^(k-1) = c_i^k / k for all i and k <= q.
int stage_order(const Tableau& tableau) {
  const std::size_t s = tableau.b.size();
  for (int k = 1; k <= static_cast<int>(s); ++k) {
    for (std::size_t i = 0; i < s; ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < s; ++j) sum += tableau.a[i][j] * std::pow(tableau.c[j], k - 1);
      if (std::abs(sum - std::pow(tableau.c[i], k) / k) > 1e-12) return k - 1;
    }
  }
  return static_cast<int>(s);
}

Scheme scheme_of(const IntegratorEntry& entry, Tableau tableau) {
  const std::size_t s = tableau.b.size();
  Scheme scheme;
  scheme.highest_index = entry.highest_index;
  scheme.known_first = std::ranges::all_of(tableau.a[0], [](double a) { return a == 0.0; });
  scheme.stiffly_accurate = tableau.a[s - 1] == tableau.b && tableau.c[s - 1] == 1.0;
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t j = 0; j < i; ++j) scheme.distinct = scheme.distinct && tableau.c[i] != tableau.c[j];
  }
  if (scheme.distinct) {
    for (std::size_t i = 0; i < s; ++i) {
      if (tableau.c[i] != 0.0 && tableau.c[i] != 1.0) scheme.interior.push_back(i);
    }
  }
  std::vector<double> transposed(s * s);
  for (std::size_t i = 0; i < s; ++i) {
    for (std::size_t j = 0; j < s; ++j) transposed[j * s + i] = tableau.a[i][j];
  }
  linalg::DenseLu lu(s);
  if (lu.factor(transposed.data())) {
    scheme.d = tableau.b;
    lu.solve(scheme.d.data());
  }
  // A stage of order q + 1 inside the step adds h O(h^(q+1)); m nodes interpolate the slope up to O(h^m).
  constexpr int hermite_order = 3;
  const int with_stages = std::min(stage_order(tableau) + 1, static_cast<int>(scheme.interior.size()) + 2);
  scheme.dense_with_stages = with_stages > hermite_order;
  scheme.dense_order = std::min(entry.order, std::max(with_stages, hermite_order));
  scheme.tableau = std::move(tableau);
  return scheme;
}

std::vector<double> nodes_between(const Scheme& scheme, bool with_stages) {
  std::vector<double> at{0.0};
  if (with_stages) {
    for (const std::size_t i : scheme.interior) at.push_back(scheme.tableau.c[i]);
  }
  at.push_back(1.0);
  return at;
}

std::shared_ptr<const ImplicitSystem> implicit_view(const System& system) {
  if (system.implicit) return system.implicit;
  return std::make_shared<const ImplicitSystem>(implicit_from_ode(system));
}

class ImplicitRungeKutta final : public Stepper {
 public:
  ImplicitRungeKutta(const System& system, const Scheme& scheme)
      : scheme_(scheme),
        system_(implicit_view(system)),
        n_(system.dimension),
        s_(scheme.tableau.b.size()),
        ode_(std::ranges::find(system_->differential, false) == system_->differential.end() && system_->derivative &&
             system_->system_index <= 1),
        stage_system_(*system_, scheme_.tableau),
        point_system_(*system_),
        stage_nodes_(scheme.distinct ? scheme.tableau.c : std::vector<double>{}),
        slope_nodes_(nodes_between(scheme, scheme.dense_with_stages)),
        value_nodes_(nodes_between(scheme, true)),
        old_(n_),
        now_(n_),
        candidate_(n_),
        computed_(n_),
        old_slope_(n_),
        slope_(n_),
        candidate_slope_(n_),
        stages_(s_ * n_),
        old_stages_(s_ * n_),
        point_(n_),
        inside_(s_ + 2),
        whole_(s_ + 2),
        value_weights_(s_ + 2),
        node_slopes_(s_ + 2) {
    DAEDALUS_CHECK(system_->system_index <= scheme_.highest_index, "index {}, at most {}", system_->system_index,
                   scheme_.highest_index);
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, n_, now_.begin());
    slope_known_ = old_slope_known_ = stepped_ = false;
    closed_ = system_->system_index <= 1;
    if (ode_ || !closed_) return Evaluation::ok;
    const Evaluation outcome = find_slope(t_, now_.data(), slope_.data());
    slope_known_ = outcome == Evaluation::ok;
    if (outcome != Evaluation::singular) return outcome;
    // Derivatives that occur in combinations only: what the stages give is all there is.
    closed_ = false;
    const bool enough = scheme_.stiffly_accurate ? !scheme_.known_first || system_->derivative : !scheme_.d.empty();
    return enough ? Evaluation::ok : Evaluation::singular;
  }

  Attempt attempt(double h, const Tolerance*) override {
    Attempt result;
    result.outcome = step(h);
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    h_ = t_next - t_;
    old_.swap(now_);
    now_.swap(candidate_);
    old_slope_.swap(slope_);
    old_slope_known_ = slope_known_;
    slope_.swap(candidate_slope_);
    slope_known_ = candidate_slope_known_ && now_ == computed_;
    stages_.swap(old_stages_);
    stepped_ = true;
    t_ = t_next;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    const Nodes& nodes = closed_ ? slope_nodes_ : stage_nodes_;
    if (closed_) {
      if (!old_slope_known_) {
        const Evaluation outcome = find_slope(t_ - h_, old_.data(), old_slope_.data());
        if (outcome != Evaluation::ok) return outcome;
        old_slope_known_ = true;
      }
      if (const Evaluation outcome = need_slope(); outcome != Evaluation::ok) return outcome;
    }
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      inside_[k] = nodes.integral(k, theta);
      whole_[k] = nodes.integral(k, 1.0);
    }
    for (std::size_t k = 0; k < value_nodes_.size(); ++k) value_weights_[k] = value_nodes_.value(k, theta);
    const double blend = theta * theta * (3.0 - 2.0 * theta);
    for (std::size_t c = 0; c < n_; ++c) {
      if (!system_->differential[c]) {
        x[c] = interpolated_value(c);
        continue;
      }
      collect_slopes(c);
      double inside = 0.0, whole = 0.0;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        inside += inside_[k] * node_slopes_[k];
        whole += whole_[k] * node_slopes_[k];
      }
      x[c] = old_[c] + h_ * inside + blend * ((now_[c] - old_[c]) - h_ * whole);
    }
    return Evaluation::ok;
  }

  const double* derivative() const override { return slope_known_ ? slope_.data() : nullptr; }
  const double* state() const override { return now_.data(); }

 private:
  const double* stage(const std::vector<double>& stages, std::size_t i) const { return stages.data() + i * n_; }

  Evaluation step(double h) {
    candidate_slope_known_ = false;
    if (scheme_.known_first) {
      if (const Evaluation outcome = need_slope(); outcome != Evaluation::ok) return outcome;
    }
    Evaluation outcome = Evaluation::no_convergence;
    if (stepped_ && scheme_.distinct) {
      extrapolate(h);
      outcome = stage_system_.solve(t_, now_.data(), h, stages_.data(), stats_);
    }
    if (outcome != Evaluation::ok) {
      // The last step is a bad guide to this one.
      stay();
      stage_system_.forget_matrix();
      outcome = stage_system_.solve(t_, now_.data(), h, stages_.data(), stats_);
    }
    if (outcome != Evaluation::ok) return outcome;
    return finish(h);
  }

  /// Continues the polynomial through the stages of the last step.
  void extrapolate(double h) {
    const double ratio = h / h_;
    for (std::size_t i = 0; i < s_; ++i) {
      double* out = stages_.data() + i * n_;
      std::fill_n(out, n_, 0.0);
      for (std::size_t k = 0; k < s_; ++k) {
        const double weight = stage_nodes_.value(k, 1.0 + ratio * scheme_.tableau.c[i]);
        const double* from = stage(old_stages_, k);
        for (std::size_t c = 0; c < n_; ++c) out[c] += weight * from[c];
      }
    }
    set_known_stage();
  }

  /// Starts every stage with what is known at the start of the step.
  void stay() {
    const bool known = need_slope() == Evaluation::ok;
    for (std::size_t i = 0; i < s_; ++i) {
      for (std::size_t c = 0; c < n_; ++c) {
        stages_[i * n_ + c] = !system_->differential[c] ? now_[c] : known ? slope_[c] : 0.0;
      }
    }
    set_known_stage();
  }

  void set_known_stage() {
    if (!scheme_.known_first) return;
    for (std::size_t c = 0; c < n_; ++c) stages_[c] = system_->differential[c] ? slope_[c] : now_[c];
  }

  /// Sets the candidate from the stages.
  Evaluation finish(double h) {
    const double* last = stage(stages_, s_ - 1);
    for (std::size_t c = 0; c < n_; ++c) {
      if (system_->differential[c]) {
        double sum = 0.0;
        for (std::size_t i = 0; i < s_; ++i) sum += scheme_.tableau.b[i] * stages_[i * n_ + c];
        candidate_[c] = now_[c] + h * sum;
        candidate_slope_[c] = last[c];
      } else {
        candidate_[c] = scheme_.stiffly_accurate ? last[c] : algebraic_end(c);
        candidate_slope_[c] = 0.0;
      }
    }
    candidate_slope_known_ = scheme_.stiffly_accurate;
    if (!scheme_.stiffly_accurate && closed_ && !ode_) {
      const Evaluation outcome = point_system_.solve(t_ + h, candidate_.data(), candidate_slope_.data(), stats_);
      if (outcome != Evaluation::ok) return outcome;
      candidate_slope_known_ = true;
    }
    computed_ = candidate_;
    return Evaluation::ok;
  }

  double algebraic_end(std::size_t c) const {
    if (scheme_.d.empty()) return stages_[(s_ - 1) * n_ + c];  // only where the point system improves it
    double result = now_[c];
    for (std::size_t i = 0; i < s_; ++i) result += scheme_.d[i] * (stages_[i * n_ + c] - now_[c]);
    return result;
  }

  Evaluation need_slope() {
    if (slope_known_) return Evaluation::ok;
    const Evaluation outcome = find_slope(t_, now_.data(), slope_.data());
    slope_known_ = outcome == Evaluation::ok;
    return outcome;
  }

  /// The derivatives of the differential unknowns; the algebraic ones in y are only a guess on index 1.
  Evaluation find_slope(double t, const double* y, double* slope) {
    if (ode_ || !closed_) {
      if (!system_->derivative) return Evaluation::singular;
      ++stats_.rhs;
      return system_->derivative(t, y, slope);
    }
    std::copy_n(y, n_, point_.begin());
    std::fill_n(slope, n_, 0.0);
    if (system_->derivative) {
      ++stats_.rhs;
      if (const Evaluation outcome = system_->derivative(t, y, slope); outcome != Evaluation::ok) return outcome;
      for (std::size_t c = 0; c < n_; ++c) {
        if (!system_->differential[c]) slope[c] = 0.0;
      }
    }
    return point_system_.solve(t, point_.data(), slope, stats_);
  }

  /// Gathers the slopes of one unknown in the order of the nodes in use.
  void collect_slopes(std::size_t c) {
    if (!closed_) {
      for (std::size_t k = 0; k < stage_nodes_.size(); ++k) node_slopes_[k] = old_stages_[k * n_ + c];
      return;
    }
    std::size_t k = 0;
    node_slopes_[k++] = old_slope_[c];
    if (scheme_.dense_with_stages) {
      for (const std::size_t i : scheme_.interior) node_slopes_[k++] = old_stages_[i * n_ + c];
    }
    node_slopes_[k] = slope_[c];
  }

  /// An algebraic unknown, from the ends and the stages between them.
  double interpolated_value(std::size_t c) const {
    std::size_t k = 0;
    double result = value_weights_[k++] * old_[c];
    for (const std::size_t i : scheme_.interior) result += value_weights_[k++] * old_stages_[i * n_ + c];
    return result + value_weights_[k] * now_[c];
  }

  const Scheme scheme_;
  const std::shared_ptr<const ImplicitSystem> system_;
  const std::size_t n_, s_;
  const bool ode_;  ///< nothing is algebraic and the system gives its slopes
  StageSystem stage_system_;
  PointSystem point_system_;
  const Nodes stage_nodes_, slope_nodes_, value_nodes_;
  std::vector<double> old_, now_, candidate_, computed_, old_slope_, slope_, candidate_slope_;
  std::vector<double> stages_, old_stages_;  ///< of this attempt, of the last accepted step
  std::vector<double> point_;
  std::vector<double> inside_, whole_, value_weights_, node_slopes_;  ///< of the nodes between the ends
  double h_ = 0.0;                                                    ///< of the last accepted step
  bool closed_ = true;  ///< slopes and algebraic unknowns follow from the differential ones at every point
  bool slope_known_ = false, old_slope_known_ = false, candidate_slope_known_ = false, stepped_ = false;
};

}  // namespace

IntegratorEntry implicit_runge_kutta(IntegratorEntry entry, Tableau tableau) {
  const std::size_t stages = tableau.b.size();
  DAEDALUS_CHECK(tableau.a.size() == stages && tableau.c.size() == stages, "{}: {} stages", entry.name, stages);
  for (std::size_t i = 0; i < stages; ++i) {
    DAEDALUS_CHECK(tableau.a[i].size() == stages, "{}: row {} has {} entries", entry.name, i, tableau.a[i].size());
  }
  const Scheme scheme = scheme_of(entry, tableau);
  entry.stages = static_cast<int>(stages);
  entry.implicit = true;
  entry.accepts = {View::implicit, View::ode};
  entry.dense_order = scheme.dense_order;
  entry.tableau = std::move(tableau);
  entry.make = [scheme](const System& system, const Options&) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.implicit || system.ode, "dimension {}", system.dimension);
    return std::make_unique<ImplicitRungeKutta>(system, scheme);
  };
  return entry;
}

}  // namespace daedalus::integrate
