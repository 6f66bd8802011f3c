// Newton's method on the stages of an implicit Runge-Kutta step for F(t, y, y') = 0. Stage i holds u_i: the derivative
// K_i of a differential unknown, the value Z_i of an algebraic one. With Y_i = y + h sum_j a_ij K_j (or Z_i) the block
// of row i and column j of the matrix is
//   differential: delta_ij F_y' + h a_ij F_y,   algebraic: delta_ij F_y,
// each with the Jacobians of stage i, so that the iteration converges quadratically. E. Hairer, C. Lubich, M. Roche,
// The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods, Lecture Notes in Mathematics 1409,
// (1.11). Derivatives rather than increments h K are the unknowns because A may be singular, and because y + h sum b_i
// K_i then carries one round-off of y only.
#include "daedalus/integrate/families/stage_system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace daedalus::integrate {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
/// A matrix that would need more iterations than this is worth replacing.
constexpr int patience = 3;
/// A change that shrinks less than this, once it is below `small`, is round-off; with an old matrix below `tiny` only.
constexpr double stalled = 0.3, small = 1e-8, tiny = 32.0 * epsilon;
/// What a matrix from an earlier solution can be trusted with.
constexpr double old_rate = 0.05;
/// Where an old matrix had to be replaced, this many solutions begin with a new one before an old one is tried again.
constexpr int pause = 10;
constexpr int most_iterations = 30;
constexpr double shortest = 1.0 / 64.0;
/// An unknown this much smaller than the largest one need not be known to more digits of its own.
constexpr double negligible = 1e-8;

std::size_t known_stages(const Tableau& tableau) {
  return std::ranges::all_of(tableau.a[0], [](double a) { return a == 0.0; }) ? 1 : 0;
}

/// The largest change relative to the size of what changes; not finite where a change is not.
class Largest {
 public:
  void add(double change, double size) {
    if (change == 0.0) return;
    const double ratio = change / std::max(size, std::numeric_limits<double>::min());
    if (!(ratio <= value_)) value_ = std::isnan(value_) ? value_ : ratio;
  }
  double value() const { return value_; }

 private:
  double value_ = 0.0;
};

/// Newton's method until round-off is reached. The matrix may be an old one; where it converges too slowly it is
/// renewed. A step after which the next one, with the same matrix, would be longer is shortened (the natural
/// monotonicity test: P. Deuflhard, Newton Methods for Nonlinear Problems (2004), section 3.3).
template <class Equations>
Evaluation newton(Equations& equations, double* u, bool fresh, NewtonState& state, Stats& stats) {
  const std::size_t n = state.change.size();
  double* change = state.change.data();
  state.begin(fresh);
  double last = 0.0, reach = 0.0, length = 1.0;
  // Whether there is a last step to compare with, and whether its direction was that of the matrix at its own start.
  bool moved = false, exact = fresh;
  for (int count = 1; count <= most_iterations; ++count) {
    Evaluation outcome = equations.residual(u, change);
    double size = std::numeric_limits<double>::infinity();
    if (outcome == Evaluation::ok) {
      equations.solve(change);
      ++stats.newton_iterations;
      size = equations.relative(u, change);
      if (!std::isfinite(size)) outcome = Evaluation::no_convergence;
    }
    if (!moved && outcome != Evaluation::ok) return outcome;
    const double rate = moved ? size / last : 0.0;
    if (moved && !(size <= small) && !(rate <= 1.0)) {
      if (!exact) {
        std::copy_n(state.before.data(), n, u);
        if (outcome = equations.renew(u); outcome != Evaluation::ok) return outcome;
        state.must_renew();
        moved = false;
        fresh = exact = true;
        continue;
      }
      length *= 0.5;
      if (length < shortest) return outcome == Evaluation::ok ? Evaluation::no_convergence : outcome;
      for (std::size_t i = 0; i < n; ++i) u[i] = state.before[i] + length * state.direction[i];
      continue;
    }

    bool done = size <= epsilon;
    if (moved && !done) {
      // What remains is rate / (1 - rate) times the change. The largest change may be that of an unknown which
      // converges faster than another one, so the distance between the solution and the point of the matrix bounds the
      // rate as well.
      const double contraction = std::max(rate, fresh ? reach : old_rate);
      done = (rate < 0.5 && contraction * size <= 0.1 * epsilon) ||
             (rate > stalled && size <= small && (fresh || size <= tiny));
    }
    if (!done && moved && size * std::pow(rate, patience) > 0.1 * epsilon) {
      if (outcome = equations.renew(u); outcome != Evaluation::ok) return outcome;
      state.must_renew();
      if (outcome = equations.residual(u, change); outcome != Evaluation::ok) return outcome;
      equations.solve(change);
      size = equations.relative(u, change);
      if (!std::isfinite(size)) return Evaluation::no_convergence;
      fresh = exact = true;
      reach = size;
    } else {
      if (!moved) reach = size;
      exact = exact && !moved;
    }
    std::copy_n(u, n, state.before.data());
    std::copy_n(change, n, state.direction.data());
    for (std::size_t i = 0; i < n; ++i) u[i] += change[i];
    if (done) return Evaluation::ok;
    last = size;
    moved = true;
    length = 1.0;
  }
  return Evaluation::no_convergence;
}

}  // namespace

void NewtonState::begin(bool fresh) {
  began_old_ = !fresh;
  if (fresh && fresh_starts_ > 0) --fresh_starts_;
}

void NewtonState::must_renew() {
  if (began_old_) fresh_starts_ = pause;
}

struct StageSystem::Step {
  StageSystem& self;
  double t;
  const double* y;
  double h;
  double* stages;  ///< all of them, the known one included
  Stats& stats;

  Evaluation renew(const double*) { return self.renew(*this, stages); }
  Evaluation residual(const double*, double* F) { return self.residual(*this, stages, F); }
  void solve(double* x) { self.lu_->solve(x); }
  double relative(const double*, const double* change) const { return self.relative(*this, stages, change); }
};

StageSystem::StageSystem(const ImplicitSystem& system, const Tableau& tableau)
    : system_(system),
      tableau_(tableau),
      n_(system.pattern.rows),
      first_(known_stages(tableau)),
      active_(tableau.b.size() - first_),
      F_y_(system.pattern.nonzeros()),
      F_dy_(F_y_.size()),
      value_(n_),
      slope_(n_),
      newton_(active_ * n_) {
  build_pattern();
  constant_.resize(pattern_.nonzeros());
  linear_.resize(pattern_.nonzeros());
  if (!system.row_power.empty()) {
    row_scale_.resize(active_ * n_);
    column_scale_.resize(active_ * n_);
  }
  lu_.emplace(pattern_, linalg::ShiftedLu::Numbers::real);
}

void StageSystem::build_pattern() {
  const linalg::Sparsity& inner = system_.pattern;
  pattern_.rows = pattern_.columns = active_ * n_;
  for (std::size_t i = 0; i < active_; ++i) {
    for (std::size_t row = 0; row < n_; ++row) {
      for (std::size_t j = 0; j < active_; ++j) {
        if (i != j && tableau_.a[first_ + i][first_ + j] == 0.0) continue;
        for (std::size_t k = inner.row_start[row]; k < inner.row_start[row + 1]; ++k) {
          if (i == j || system_.differential[inner.column[k]]) pattern_.column.push_back(j * n_ + inner.column[k]);
        }
      }
      pattern_.row_start.push_back(pattern_.column.size());
    }
  }
}

/// Sets value_ and slope_ to Y_i and Y_i'.
void StageSystem::set_arguments(std::size_t i, const Step& step, const double* stages) {
  const std::vector<double>& a = tableau_.a[i];
  for (std::size_t c = 0; c < n_; ++c) {
    const double own = stages[i * n_ + c];
    if (system_.differential[c]) {
      double sum = 0.0;
      for (std::size_t j = 0; j < a.size(); ++j) sum += a[j] * stages[j * n_ + c];
      value_[c] = step.y[c] + step.h * sum;
      slope_[c] = own;
    } else {
      value_[c] = own;
      slope_[c] = 0.0;
    }
  }
}

/// Writes the rows of active stage i from its Jacobians.
void StageSystem::fill_matrix(std::size_t i, std::size_t& position) {
  const linalg::Sparsity& inner = system_.pattern;
  for (std::size_t row = 0; row < n_; ++row) {
    for (std::size_t j = 0; j < active_; ++j) {
      const double a = tableau_.a[first_ + i][first_ + j];
      if (i != j && a == 0.0) continue;
      for (std::size_t k = inner.row_start[row]; k < inner.row_start[row + 1]; ++k) {
        if (system_.differential[inner.column[k]]) {
          constant_[position] = i == j ? F_dy_[k] : 0.0;
          linear_[position++] = a * F_y_[k];
        } else if (i == j) {
          constant_[position] = F_y_[k];
          linear_[position++] = 0.0;
        }
      }
    }
  }
}

Evaluation StageSystem::renew(const Step& step, const double* stages) {
  std::size_t position = 0;
  factored_h_ = 0.0;
  for (std::size_t i = 0; i < active_; ++i) {
    set_arguments(first_ + i, step, stages);
    ++step.stats.jacobians;
    const Evaluation outcome = system_.jacobian(step.t + tableau_.c[first_ + i] * step.h, value_.data(), slope_.data(),
                                                F_y_.data(), F_dy_.data());
    if (outcome != Evaluation::ok) return outcome;
    fill_matrix(i, position);
  }
  for (std::size_t i = 0; i < row_scale_.size(); ++i) {
    const std::size_t c = i % n_;
    row_scale_[i] = std::pow(std::abs(step.h), system_.row_power[c]);
    // The powers are those of the increments; a derivative is one power less.
    column_scale_[i] = std::pow(std::abs(step.h), system_.column_power[c] + (system_.differential[c] ? 1 : 0));
  }
  ++step.stats.factorizations;
  const bool scaled = !row_scale_.empty();
  if (!lu_->factor(constant_.data(), linear_.data(), step.h, scaled ? row_scale_.data() : nullptr,
                   scaled ? column_scale_.data() : nullptr)) {
    return Evaluation::singular;
  }
  factored_h_ = step.h;
  return Evaluation::ok;
}

/// Writes -F of all stages.
Evaluation StageSystem::residual(const Step& step, const double* stages, double* F) {
  for (std::size_t i = 0; i < active_; ++i) {
    set_arguments(first_ + i, step, stages);
    ++step.stats.rhs;
    const Evaluation outcome =
        system_.residual(step.t + tableau_.c[first_ + i] * step.h, value_.data(), slope_.data(), F + i * n_);
    if (outcome != Evaluation::ok) return outcome;
  }
  for (std::size_t i = 0; i < active_ * n_; ++i) F[i] = -F[i];
  return Evaluation::ok;
}

/// The largest change relative to the size of its unknown. One of index k > 1 is known up to round-off of the others
/// divided by h^(k-1) only.
double StageSystem::relative(const Step& step, const double* stages, const double* change) const {
  const double h = std::abs(step.h);
  const auto size = [&](std::size_t c) {
    double result = 0.0;
    for (std::size_t i = 0; i < active_; ++i) {
      const double own = stages[(first_ + i) * n_ + c];
      result = std::max({result, std::abs(own), std::abs(own + change[i * n_ + c])});
    }
    return system_.differential[c] ? std::max(std::abs(step.y[c]), h * result) : result;
  };
  double overall = 0.0;
  for (std::size_t c = 0; c < n_; ++c) {
    if (system_.index[c] <= 1) overall = std::max(overall, size(c));
  }
  Largest largest;
  for (std::size_t c = 0; c < n_; ++c) {
    if (!system_.counts(c)) continue;
    const double floor = system_.index[c] > 1 ? overall * std::pow(h, 1 - system_.index[c]) : negligible * overall;
    const double scale = std::max(size(c), floor);
    for (std::size_t i = 0; i < active_; ++i) {
      largest.add((system_.differential[c] ? h : 1.0) * std::abs(change[i * n_ + c]), scale);
    }
  }
  return largest.value();
}

Evaluation StageSystem::solve(double t, const double* y, double h, double* stages, Stats& stats) {
  Step step{*this, t, y, h, stages, stats};
  const bool fresh = factored_h_ != h || !newton_.may_reuse();
  if (fresh) {
    if (const Evaluation outcome = renew(step, stages); outcome != Evaluation::ok) return outcome;
  }
  const Evaluation outcome = newton(step, stages + first_ * n_, fresh, newton_, stats);
  if (outcome != Evaluation::ok) factored_h_ = 0.0;
  return outcome;
}

struct PointSystem::Point {
  PointSystem& self;
  double t;
  const double* y;  ///< its differential part
  Stats& stats;

  void set_arguments(const double* u) {
    for (std::size_t c = 0; c < self.value_.size(); ++c) {
      const bool differential = self.system_.differential[c];
      self.value_[c] = differential ? y[c] : u[c];
      self.slope_[c] = differential ? u[c] : 0.0;
    }
  }

  Evaluation renew(const double* u) {
    set_arguments(u);
    self.factored_ = false;
    ++stats.jacobians;
    const Evaluation outcome =
        self.system_.jacobian(t, self.value_.data(), self.slope_.data(), self.F_y_.data(), self.F_dy_.data());
    if (outcome != Evaluation::ok) return outcome;
    for (std::size_t k = 0; k < self.matrix_.size(); ++k) {
      self.matrix_[k] = self.system_.differential[self.system_.pattern.column[k]] ? self.F_dy_[k] : self.F_y_[k];
    }
    ++stats.factorizations;
    self.factored_ = self.lu_.factor(self.matrix_.data(), self.zero_.data(), 0.0);
    return self.factored_ ? Evaluation::ok : Evaluation::singular;
  }

  Evaluation residual(const double* u, double* F) {
    set_arguments(u);
    ++stats.rhs;
    const Evaluation outcome = self.system_.residual(t, self.value_.data(), self.slope_.data(), F);
    for (std::size_t c = 0; c < self.value_.size(); ++c) F[c] = -F[c];
    return outcome;
  }

  void solve(double* x) { self.lu_.solve(x); }

  double relative(const double* u, const double* change) const {
    const std::size_t n = self.value_.size();
    const auto size = [&](std::size_t c) {
      const double own = std::max(std::abs(u[c]), std::abs(u[c] + change[c]));
      return self.system_.differential[c] ? std::max(own, std::abs(y[c])) : own;
    };
    double overall = 0.0;
    for (std::size_t c = 0; c < n; ++c) overall = std::max(overall, size(c));
    Largest largest;
    for (std::size_t c = 0; c < n; ++c) largest.add(std::abs(change[c]), std::max(size(c), negligible * overall));
    return largest.value();
  }
};

PointSystem::PointSystem(const ImplicitSystem& system)
    : system_(system),
      F_y_(system.pattern.nonzeros()),
      F_dy_(F_y_.size()),
      matrix_(F_y_.size()),
      zero_(F_y_.size()),
      unknowns_(system.pattern.rows),
      value_(unknowns_.size()),
      slope_(unknowns_.size()),
      newton_(unknowns_.size()),
      lu_(system.pattern, linalg::ShiftedLu::Numbers::real) {}

Evaluation PointSystem::solve(double t, double* y, double* slope, Stats& stats) {
  const std::size_t n = unknowns_.size();
  for (std::size_t c = 0; c < n; ++c) unknowns_[c] = system_.differential[c] ? slope[c] : y[c];
  Point point{*this, t, y, stats};
  const bool fresh = !factored_ || !newton_.may_reuse();
  if (fresh) {
    if (const Evaluation outcome = point.renew(unknowns_.data()); outcome != Evaluation::ok) return outcome;
  }
  const Evaluation outcome = newton(point, unknowns_.data(), fresh, newton_, stats);
  if (outcome != Evaluation::ok) {
    factored_ = false;
    return outcome;
  }
  for (std::size_t c = 0; c < n; ++c) (system_.differential[c] ? slope[c] : y[c]) = unknowns_[c];
  return Evaluation::ok;
}

}  // namespace daedalus::integrate
