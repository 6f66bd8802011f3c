// Newton's iteration for the positions takes fresh factors, since these cost little here, and so converges
// quadratically: after a correction of the size 1e-9 of the positions the next would be lost in round-off, and is left
// out. The velocity correction is linear, hence one.
#include "daedalus/formulate/solved_level.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "daedalus/linalg/kkt.hpp"
#include "daedalus/mechanics/solved_motion.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

constexpr double negligible_next = 1e-9;

class SolvedLevel {
 public:
  SolvedLevel(std::shared_ptr<const mechanics::Functions> functions,
              std::shared_ptr<const mechanics::SolvedMotion> motion, const integrate::System& careful)
      : functions_(std::move(functions)),
        evaluator_(std::move(motion)),
        careful_ode_(careful.ode),
        careful_project_(careful.project),
        step_(functions_->n) {}

  Evaluation ode(double t, const double* x, double* dx) {
    const std::size_t n = functions_->n;
    if (use_ == Use::unknown) return begin(t, x, dx);
    if (use_ == Use::never || !accelerations(t, x, dx + n)) return careful_ode_(t, x, dx);
    std::copy_n(x + n, n, dx);
    return Evaluation::ok;
  }

  Evaluation project(double t, double* x) {
    if (use_ != Use::always || !project_positions(t, x)) return careful_project_(t, x);
    const double* inputs[] = {&t, x, x + functions_->n};
    ++factorizations_;
    if (!evaluator_.velocity_step(inputs, frozen_, step_.data())) return careful_project_(t, x);
    for (std::size_t j = 0; j < functions_->n; ++j) x[functions_->n + j] += step_[j];
    return Evaluation::ok;
  }

  void freeze(const double* frozen) { frozen_ = frozen; }
  std::size_t factorizations() const { return factorizations_; }

 private:
  enum class Use { unknown, always, never };

  bool accelerations(double t, const double* x, double* a) {
    const double* inputs[] = {&t, x, x + functions_->n};
    ++factorizations_;
    return evaluator_.accelerations(inputs, frozen_, a);
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
    if (!accelerations(t, x, step_.data())) return outcome;
    double size = 0.0, difference = 0.0;
    for (std::size_t j = 0; j < fn.n; ++j) {
      size = std::max(size, std::abs(dx[fn.n + j]));
      difference = std::max(difference, std::abs(dx[fn.n + j] - step_[j]));
    }
    if (difference <= 1e-9 * size) use_ = Use::always;
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
  formulated.factorizations = [level, inner = formulated.factorizations] { return inner() + level->factorizations(); };
}

}  // namespace daedalus::formulate
