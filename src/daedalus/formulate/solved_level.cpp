// Newton's iteration for the positions takes fresh factors, since these cost little here, and so converges
// quadratically: after a correction of the size 1e-9 of the positions the next would be lost in round-off, and is left
// out. The velocity correction is linear, hence one.
#include "daedalus/formulate/solved_level.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "daedalus/linalg/kkt.hpp"
#include "daedalus/mechanics/solved_motion.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

constexpr double negligible_next = 1e-9;
/// A pivot this many times smaller than at its largest is a sign of dependence.
constexpr double much_smaller = 4.0;

class SolvedLevel {
 public:
  SolvedLevel(std::shared_ptr<const mechanics::Functions> functions,
              std::shared_ptr<const mechanics::SolvedMotion> motion, const integrate::System& careful)
      : functions_(std::move(functions)),
        evaluator_(std::move(motion)),
        careful_ode_(careful.ode),
        careful_project_(careful.project),
        step_(functions_->n),
        largest_pivot_(evaluator_.inverse_constraints().size()) {}

  Evaluation ode(double t, const double* x, double* dx) {
    if (use_ == Use::unknown) return begin(t, x, dx);
    if (use_ == Use::never || !slopes(t, x, dx)) {
      doubtful_ = true;
      return careful_ode_(t, x, dx);
    }
    note(t);
    return Evaluation::ok;
  }

  /// Let a constraint depend on others at a time t* of a step, and its pivot vanish there with the square of t - t*, as long
  /// as the step is not too long. Where evaluations leave no gaps of more than 0.4 of the step, one of them is so near t*
  /// that the pivot is less than (0.2/0.5)^2 of what it is at one end of the step.
  bool clear(double t_old, double t_new) {
    unsigned tenths = 1;  // the start was the end of the step before
    for (std::size_t k = 0; k < std::min(evaluations_, times_.size()); ++k) {
      const double part = (times_[k] - t_old) / (t_new - t_old);
      if (part >= 0.0 && part < 1.05) tenths |= 1U << static_cast<unsigned>(10.0 * part);
    }
    // No three tenths in a row, of 0 to 10, are empty.
    const bool dense = evaluations_ <= times_.size() && ((tenths | tenths >> 1U | tenths >> 2U) & 0x1FFU) == 0x1FFU;
    const bool result = dense && !doubtful_ && use_ == Use::always;
    remember_pivots();
    doubtful_ = false;
    evaluations_ = 0;
    return result;
  }

  Evaluation project(double t, double* x) {
    if (use_ != Use::always || !project_positions(t, x)) return careful_project_(t, x);
    const double* inputs[] = {&t, x, x + functions_->n};
    ++factorizations_;
    if (!evaluator_.velocity_step(inputs, frozen_, step_.data())) return careful_project_(t, x);
    for (std::size_t j = 0; j < functions_->n; ++j) x[functions_->n + j] += step_[j];
    return Evaluation::ok;
  }

  bool notes_pivots() const { return !largest_pivot_.empty(); }
  void freeze(const double* frozen) { frozen_ = frozen; }
  std::size_t factorizations() const { return factorizations_; }

 private:
  enum class Use { unknown, always, never };

  bool slopes(double t, const double* x, double* dx) {
    const double* inputs[] = {&t, x, x + functions_->n};
    ++factorizations_;
    return evaluator_.slopes(inputs, frozen_, dx);
  }

  /// Keeps for `clear` when and how near to dependence the last evaluation was.
  void note(double t) {
    const std::span<const double> inverse = evaluator_.inverse_constraints();
    std::size_t small = 0;  // counted, not decided one by one: this loop runs several at a time
    for (std::size_t k = 0; k < inverse.size(); ++k) small += !(std::abs(inverse[k]) * largest_pivot_[k] <= much_smaller);
    doubtful_ = doubtful_ || small > 0;
    if (evaluations_ < times_.size()) times_[evaluations_] = t;
    ++evaluations_;
  }

  void remember_pivots() {
    const std::span<const double> inverse = evaluator_.inverse_constraints();
    for (std::size_t k = 0; k < inverse.size(); ++k)
      if (const double pivot = 1.0 / std::abs(inverse[k]); std::isfinite(pivot))
        largest_pivot_[k] = std::max(largest_pivot_[k], pivot);
  }

  /// The first evaluation, at the start: in line only where the constraints are independent and the result is right.
  Evaluation begin(double t, const double* x, double* dx) {
    const mechanics::Functions& fn = *functions_;
    const Evaluation outcome = careful_ode_(t, x, dx);
    if (outcome != Evaluation::ok) return outcome;
    use_ = Use::never;
    auto scratch = fn.geometry.make_scratch();
    std::vector<double> geometry(fn.geometry.output_count());
    const double* inputs[] = {&t, x};
    fn.geometry(inputs, geometry.data(), scratch, frozen_);
    linalg::KktSolver kkt(fn.mass, fn.jacobian);
    if (kkt.factor(geometry.data(), geometry.data() + fn.mass.nonzeros()) != linalg::KktOutcome::regular)
      return outcome;
    std::vector<double> in_line(2 * fn.n);
    if (!slopes(t, x, in_line.data())) return outcome;
    double size = 0.0, difference = 0.0;
    for (std::size_t j = fn.n; j < 2 * fn.n; ++j) {
      size = std::max(size, std::abs(dx[j]));
      difference = std::max(difference, std::abs(dx[j] - in_line[j]));
    }
    if (difference <= 1e-9 * size) use_ = Use::always;
    remember_pivots();
    return outcome;
  }

  bool project_positions(double t, double* q) {
    if (functions_->holonomic == 0) return true;
    for (int iteration = 0; iteration < 3; ++iteration) {
      const double* inputs[] = {&t, q};
      ++factorizations_;
      if (!evaluator_.position_step(inputs, frozen_, step_.data())) return false;
      double change = 0.0, size = 0.0;
      for (std::size_t j = 0; j < functions_->n; ++j) {
        q[j] += step_[j];
        change = std::max(change, std::abs(step_[j]));
        size = std::max(size, std::abs(q[j]));
      }
      if (change <= negligible_next * size) return true;
    }
    return false;
  }

  std::shared_ptr<const mechanics::Functions> functions_;
  mechanics::SolvedEvaluator evaluator_;
  std::function<Evaluation(double t, const double* x, double* dx)> careful_ode_;
  std::function<Evaluation(double t, double* x)> careful_project_;
  const double* frozen_ = nullptr;
  std::vector<double> step_;
  std::vector<double> largest_pivot_;  ///< of each constraint, up to the sign, at the ends of steps
  std::array<double, 32> times_;       ///< of evaluations since `clear` was asked
  std::size_t evaluations_ = 0;
  bool doubtful_ = false;  ///< one of them was near to dependence, or was not in line
  Use use_ = Use::unknown;
  std::size_t factorizations_ = 0;
};

}  // namespace

void solve_in_line(Formulated& formulated, const std::shared_ptr<const mechanics::Functions>& functions) {
  integrate::System& system = formulated.system;
  if (!system.ode || !system.project) return;
  auto motion = mechanics::SolvedMotion::of(*functions);
  if (!motion) return;
  auto level = std::make_shared<SolvedLevel>(functions, std::move(motion), system);
  system.ode = [level](double t, const double* x, double* dx) { return level->ode(t, x, dx); };
  system.project = [level](double t, double* x) { return level->project(t, x); };
  formulated.freeze = [level, inner = formulated.freeze](const double* frozen) {
    inner(frozen);
    level->freeze(frozen);
  };
  if (level->notes_pivots())
    formulated.clear = [level](double t_old, double t_new) { return level->clear(t_old, t_new); };
  formulated.factorizations = [level, inner = formulated.factorizations] { return inner() + level->factorizations(); };
}

}  // namespace daedalus::formulate
