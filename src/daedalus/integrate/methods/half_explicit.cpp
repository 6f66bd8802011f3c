// Half-explicit Runge-Kutta method of order 5 (HEM5) for constrained motion on the velocity level. With the constraint
// c(t, q, v) = G v + g_t or a nonholonomic one, the stages i = 1..s are explicit but for one linear system each:
//   Q_(i+1) = q + h sum_j a_(i+1)j V_j,   V_(i+1) = v + h sum_j a_(i+1)j A_j,
//   M(Q_i) A_i + G(Q_i)^T L_i = f(Q_i, V_i),   c(t_(i+1), Q_(i+1), V_(i+1)) = 0,
// the last row of a being the weights of the result: V. Brasey, E. Hairer, SIAM J. Numer. Anal. 30 (1993) 538-552; V.
// Brasey, thesis, Geneve (1994). G of the constraint is taken at Q_(i+1), that of the force at Q_i: the matrix of the
// linear system is not symmetric. Velocities satisfy their constraint; positions drift by the errors of the steps where
// the formulation does not project them.
//
// The error of the step is estimated from the last stage, of order 3, and a formula of order 2: with differences e3, e2
// to the result it is |e3|^2 / (|e3| + 0.01 |e2|), O(h^5).
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/families/mechanical_interpolant.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/methods/half_explicit_coefficients.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::integrate {
namespace {

using hem5::stages;

/// [M G0^T; G1 0] [a; lambda] = [f; r] for the rows of the constraints that do not depend on others.
class StageSolver {
 public:
  StageSolver(const MechanicalSystem& system, std::vector<std::size_t> rows)
      : system_(system),
        rows_(std::move(rows)),
        pattern_(pattern_of(system, rows_)),
        lu_(pattern_, linalg::ShiftedLu::Numbers::real) {
    matrix_.resize(pattern_.nonzeros());
    zero_.assign(pattern_.nonzeros(), 0.0);
    right_.resize(system.n + rows_.size());
  }

  bool factor(const double* M, const double* G0, const double* G1) {
    const linalg::Sparsity &mass = system_.mass, &jacobian = system_.jacobian;
    // Rows of [M G0^T]: the entries of a column of G0 come in the order of the rows.
    next_.assign(mass.rows, 0);
    for (std::size_t i = 0; i < mass.rows; ++i) {
      double* to = matrix_.data() + pattern_.row_start[i];
      for (std::size_t k = mass.row_start[i]; k < mass.row_start[i + 1]; ++k) *to++ = M[k];
      next_[i] = static_cast<std::size_t>(to - matrix_.data());
    }
    double* to = matrix_.data() + pattern_.row_start[mass.rows];
    for (const std::size_t row : rows_) {
      for (std::size_t k = jacobian.row_start[row]; k < jacobian.row_start[row + 1]; ++k) {
        matrix_[next_[jacobian.column[k]]++] = G0[k];
        *to++ = G1[k];
      }
    }
    return lu_.factor(matrix_.data(), zero_.data(), 0.0);
  }

  /// `r` has one entry for every constraint.
  void solve(const double* f, const double* r, double* a) {
    std::copy_n(f, system_.n, right_.begin());
    for (std::size_t i = 0; i < rows_.size(); ++i) right_[system_.n + i] = r[rows_[i]];
    lu_.solve(right_.data());
    std::copy_n(right_.begin(), system_.n, a);
  }

 private:
  static linalg::Sparsity pattern_of(const MechanicalSystem& system, const std::vector<std::size_t>& rows) {
    const std::size_t n = system.n, size = n + rows.size();
    std::vector<std::vector<std::size_t>> columns(size);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = system.mass.row_start[i]; k < system.mass.row_start[i + 1]; ++k)
        columns[i].push_back(system.mass.column[k]);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t k = system.jacobian.row_start[rows[r]]; k < system.jacobian.row_start[rows[r] + 1]; ++k) {
        columns[system.jacobian.column[k]].push_back(n + r);
        columns[n + r].push_back(system.jacobian.column[k]);
      }
    }
    linalg::Sparsity pattern{size, size, {0}, {}};
    for (const std::vector<std::size_t>& row : columns) {
      pattern.column.insert(pattern.column.end(), row.begin(), row.end());
      pattern.row_start.push_back(pattern.column.size());
    }
    return pattern;
  }

  const MechanicalSystem& system_;
  const std::vector<std::size_t> rows_;
  const linalg::Sparsity pattern_;
  linalg::ShiftedLu lu_;
  std::vector<double> matrix_, zero_, right_;
  std::vector<std::size_t> next_;
};

class HalfExplicit final : public Stepper {
 public:
  explicit HalfExplicit(const System& system)
      : mechanical_(*system.mechanical),
        n_(mechanical_.n),
        dimension_(system.dimension),
        kkt_(mechanical_.mass, mechanical_.jacobian),
        interpolant_(system, MechanicalInterpolant::Velocities::quartic),
        M_(mechanical_.mass.nonzeros()),
        f_(n_),
        G0_(mechanical_.jacobian.nonzeros()),
        G1_(G0_.size()),
        residual_(mechanical_.m) {
    for (auto* vector : {&old_, &now_, &candidate_, &stage_, &next_, &last_}) vector->assign(dimension_, 0.0);
    slopes_.assign(stages, std::vector<double>(dimension_));
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, dimension_, now_.begin());
    stepped_ = false;
    interpolant_.restart();
    return choose_rows();
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    if (stepped_) interpolant_.advance();
    stepped_ = false;
    h_ = h;
    Attempt result;
    stage_ = now_;
    for (std::size_t i = 0; i < stages; ++i) {
      if (i + 1 == stages) last_ = stage_;
      result.outcome = advance_stage(i);
      count();
      if (result.outcome != Evaluation::ok) return result;
      stage_.swap(next_);
    }
    candidate_ = stage_;
    if (tolerance != nullptr) estimate(*tolerance, result);
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    old_.swap(now_);
    now_.swap(candidate_);
    t_old_ = std::exchange(t_, t_next);
    stepped_ = true;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    const Evaluation outcome = interpolant_.at(theta, {t_old_, t_, old_.data(), now_.data()}, x);
    count();
    return outcome;
  }

  const double* state() const override { return now_.data(); }

 private:
  /// Leaves out constraints that depend on others at the start.
  Evaluation choose_rows() {
    ++evaluations_;
    ++factorizations_;
    const Evaluation outcome =
        mechanical_.motion(t_, now_.data(), M_.data(), f_.data(), G0_.data(), nullptr, slopes_[0].data() + 2 * n_);
    if (outcome != Evaluation::ok) return outcome;
    const linalg::KktOutcome factored = kkt_.factor(M_.data(), G0_.data());
    if (factored == linalg::KktOutcome::not_finite) return Evaluation::not_finite;
    if (factored == linalg::KktOutcome::singular_mass) return Evaluation::singular;
    const std::vector<std::size_t>& dependent = kkt_.dependent_rows();
    if (solver_ && dependent == dependent_) return Evaluation::ok;
    dependent_ = dependent;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < mechanical_.m; ++i)
      if (!std::ranges::binary_search(dependent, i)) rows.push_back(i);
    solver_.emplace(mechanical_, std::move(rows));
    count();
    return Evaluation::ok;
  }

  /// The slope of stage i, in stage_, and stage i + 1, in next_.
  Evaluation advance_stage(std::size_t i) {
    double* slope = slopes_[i].data();
    ++evaluations_;
    Evaluation outcome = mechanical_.motion(t_ + hem5::node[i] * h_, stage_.data(), M_.data(), f_.data(), G0_.data(),
                                            nullptr, slope + 2 * n_);
    if (outcome != Evaluation::ok) return outcome;
    std::copy_n(stage_.begin() + static_cast<std::ptrdiff_t>(n_), n_, slope);
    std::fill_n(slope + n_, n_, 0.0);
    const auto& weights = hem5::a[i + 1];
    for (std::size_t k = 0; k < dimension_; ++k) {
      double sum = 0.0;
      for (std::size_t j = 0; j <= i; ++j) sum += weights[j] * slopes_[j][k];
      next_[k] = now_[k] + h_ * sum;
    }
    const double t = t_ + hem5::node[i + 1] * h_;
    outcome = mechanical_.geometry(t, next_.data(), nullptr, G1_.data(), nullptr);
    if (outcome != Evaluation::ok) return outcome;
    outcome = mechanical_.velocity_residual(t, next_.data(), next_.data() + n_, residual_.data());
    if (outcome != Evaluation::ok) return outcome;
    const double step = h_ * weights[i];
    for (double& r : residual_) r /= -step;
    ++factorizations_;
    if (!solver_->factor(M_.data(), G0_.data(), G1_.data())) return Evaluation::singular;
    solver_->solve(f_.data(), residual_.data(), slope + n_);
    for (std::size_t k = 0; k < n_; ++k) next_[n_ + k] += step * slope[n_ + k];
    return Evaluation::ok;
  }

  void estimate(const Tolerance& tolerance, Attempt& result) {
    double fine = 0.0, rough = 0.0, largest = -1.0;
    for (std::size_t i = 0; i < dimension_; ++i) {
      const double weight = error_weight(tolerance, i, now_[i], candidate_[i]);
      const double e3 = (candidate_[i] - last_[i]) / weight;
      double other = now_[i];
      for (std::size_t j = 0; j < stages; ++j) other += h_ * hem5::rough[j] * slopes_[j][i];
      const double e2 = (candidate_[i] - other) / weight;
      fine += e3 * e3;
      rough += e2 * e2;
      if (std::abs(e3) > largest) {
        largest = std::abs(e3);
        result.worst = i;
      }
    }
    if (fine == 0.0) return;
    const double count = static_cast<double>(dimension_);
    result.error = fine / count / (std::sqrt(fine / count) + 0.01 * std::sqrt(rough / count));
  }

  void count() {
    stats_.rhs = evaluations_ + interpolant_.evaluations;
    stats_.factorizations = factorizations_ + interpolant_.factorizations;
  }

  const MechanicalSystem& mechanical_;
  const std::size_t n_, dimension_;
  linalg::KktSolver kkt_;
  std::optional<StageSolver> solver_;
  std::vector<std::size_t> dependent_;
  MechanicalInterpolant interpolant_;
  std::vector<double> M_, f_, G0_, G1_, residual_;
  std::vector<double> old_, now_, candidate_, stage_, next_, last_;
  std::vector<std::vector<double>> slopes_;  ///< (V_i, A_i, Z_i')
  double h_ = 0.0, t_old_ = 0.0;
  std::size_t evaluations_ = 0, factorizations_ = 0;
  bool stepped_ = false;  ///< the last step is accepted, no attempt since
};

}  // namespace

IntegratorEntry integrator_half_explicit() {
  IntegratorEntry entry;
  entry.name = "half-explicit";
  entry.summary =
      "Half-explicit method of order 5 for constrained motion (HEM5): explicit but for a linear system per stage, "
      "velocity "
      "constraints hold";
  entry.citation =
      "V. Brasey, Half-explicit methods for semi-explicit differential-algebraic equations of index 2, thesis, "
      "Universite de "
      "Geneve (1994); V. Brasey, E. Hairer, SIAM J. Numer. Anal. 30 (1993) 538-552";
  entry.order = 5;
  entry.stages = static_cast<int>(stages);
  entry.adaptive = true;
  entry.accepts = {View::mechanical};
  entry.properties = {"half-explicit", "keeps velocity constraints"};
  entry.highest_index = 2;
  entry.index2_orders = {5, 5};
  entry.dense_order = 3;
  entry.estimate_order = 5;
  entry.notes = {"positions hold their constraints with formulation projection; with index2 they drift slowly",
                 "between steps it has order 4 for coordinates and velocities, 3 for auxiliary unknowns"};
  entry.make = [](const System& system, const Options&) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.mechanical != nullptr, "dimension {}", system.dimension);
    return std::make_unique<HalfExplicit>(system);
  };
  return entry;
}

}  // namespace daedalus::integrate
