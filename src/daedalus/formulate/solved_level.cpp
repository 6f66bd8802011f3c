// Newton's iteration for the positions keeps the factors of where it begins, and so converges linearly, with the rate that
// its two steps show: where that leaves no more than round-off, it has arrived. The velocity correction is linear, hence one.
// It takes factors of where the positions are now, and so do the accelerations there, which the next step begins with.
#include "daedalus/formulate/solved_level.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "daedalus/base/few.hpp"
#include "daedalus/base/fours.hpp"
#include "daedalus/formulate/stage_line.hpp"
#include "daedalus/mechanics/solved_motion.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

/// Of the size of positions: a correction, and what follows after one.
constexpr double negligible = 1e-14, negligible_next = 1e-15;
/// A pivot this many times smaller than at its largest is a sign of dependence.
constexpr double much_smaller = 4.0;

/// The largest of the positions, of their way to the constraints and of the last correction.
struct Corrections {
  double position = 0.0, whole = 0.0, last = 0.0;

  [[gnu::always_inline]] static inline void run(const double* before, const double* after, const double* correction,
                                                std::size_t n, Corrections& result) {
    Four positions = {}, wholes = {}, lasts = {}, size;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
      const Four there = *four(after + i), way = there - *four(before + i), step = *four(correction + i);
      magnitude(there, size);
      larger(size, positions, positions);
      magnitude(way, size);
      larger(size, wholes, wholes);
      magnitude(step, size);
      larger(size, lasts, lasts);
    }
    for (int lane = 0; lane < 4; ++lane) result.add(positions[lane], wholes[lane], lasts[lane]);
    for (; i < n; ++i) result.add(std::abs(after[i]), std::abs(after[i] - before[i]), std::abs(correction[i]));
  }

 private:
  [[gnu::always_inline]] inline void add(double one, double two, double three) {
    position = std::max(position, one);
    whole = std::max(whole, two);
    last = std::max(last, three);
  }
};

/// Whether a pivot, of which the inverse is given, has become much smaller than it was.
struct Nearness {
  [[gnu::always_inline]] static inline void run(const double* inverse, const double* largest, std::size_t count, bool& near) {
    FourMasks far = {-1, -1, -1, -1};
    Four size;
    std::size_t k = 0;
    for (; k + 4 <= count; k += 4) {
      const Four here = *four(inverse + k);
      magnitude(here, size);
      far &= size * *four(largest + k) <= much_smaller;
    }
    near = (far[0] & far[1] & far[2] & far[3]) == 0;
    for (; k < count; ++k) near = near || !(std::abs(inverse[k]) * largest[k] <= much_smaller);
  }
};

class SolvedLevel {
 public:
  SolvedLevel(std::shared_ptr<const mechanics::Functions> functions,
              std::shared_ptr<const mechanics::SolvedMotion> motion, const Formulated& careful)
      : functions_(std::move(functions)),
        motion_(motion),
        evaluator_(motion),
        careful_ode_(careful.system.ode),
        careful_project_(careful.system.project),
        independent_(careful.independent),
        landing_(4 * functions_->n),
        largest_pivot_(motion->accelerations.constraints) {}

  Evaluation ode(double t, const double* x, double* dx) {
    if (use_ == Use::unknown) return begin(t, x, dx);
    const std::size_t n = functions_->n;
    if (std::exchange(has_landed_, false) && t == t_landed_ && same_numbers(x, landed_ + n, 2 * n)) {
      copy_numbers(landed_ + 2 * n, 2 * n, dx);
      note(t);
      return Evaluation::ok;
    }
    if (use_ == Use::never || !slopes(t, x, dx)) {
      doubtful_ = true;
      return careful_ode_(t, x, dx);
    }
    note(t);
    return Evaluation::ok;
  }

  void make_line(const integrate::ExplicitStages& stages) { line_ = StageLine::of(motion_, stages); }

  bool stages(double t, double h, const double* x, const double* slope, double* results) {
    line_is_new_ = has_landed_ = false;
    if (use_ != Use::always) return false;
    factorizations_ += line_->stages();
    if (!(*line_)(t, h, x, slope, frozen_, {largest_pivot_, much_smaller}, results)) return false;
    doubtful_ = doubtful_ || line_->is_near();
    t_line_ = t;
    h_line_ = h;
    line_is_new_ = true;
    return true;
  }

  /// Let a constraint depend on others at a time t* of a step, and its pivot vanish there with the square of t - t*, as long
  /// as the step is not too long. Where evaluations leave no gaps of more than 0.4 of the step, one of them is so near t*
  /// that the pivot is less than (0.2/0.5)^2 of what it is at one end of the step.
  bool clear(double t_old, double t_new) {
    unsigned tenths = 1;  // the start was the end of the step before
    if (line_ && t_line_ == t_old && h_line_ == t_new - t_old) tenths |= line_->tenths();
    const double tenth = 10.0 / (t_new - t_old);
    for (std::size_t k = 0; k < std::min(evaluations_, times_.size()); ++k) {
      const double part = (times_[k] - t_old) * tenth;
      if (part >= 0.0 && part < 10.5) tenths |= 1U << static_cast<unsigned>(part);
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
    has_landed_ = false;
    const std::size_t n = functions_->n;
    for (int iteration = 0; use_ == Use::always && iteration < 3; ++iteration) {
      Corrections sizes;
      if (!land(t, x, sizes)) break;
      const double* q = landed_ + n;
      const bool arrived = sizes.last <= negligible * sizes.position ||
                           sizes.last * sizes.last <= negligible_next * sizes.position * sizes.whole;
      copy_numbers(q, arrived ? 2 * n : n, x);
      if (!arrived) continue;
      has_landed_ = frozen_ == nullptr;  // frozen values may change before they are asked for
      t_landed_ = t;
      return Evaluation::ok;
    }
    return careful_project_(t, x);
  }

  bool notes_pivots() const { return !largest_pivot_.empty(); }
  void freeze(const double* frozen) { frozen_ = frozen; }
  std::size_t factorizations() const { return factorizations_; }

 private:
  enum class Use { unknown, always, never };

  /// Lets landed_ be where the landing from x is; the line that ended at x went on to it.
  bool land(double t, const double* x, Corrections& sizes) {
    const std::size_t n = functions_->n;
    factorizations_ += 2;
    if (std::exchange(line_is_new_, false) && t == t_line_ + h_line_)
      if (const auto landing = line_->landing(); landing && same_numbers(x, landing->end, 2 * n)) {
        landed_ = landing->outputs;
        sizes = {landing->sizes[0], landing->sizes[1], landing->sizes[2]};
        return landing->sizes[3] == 0.0 && evaluator_.has_landed(landing->notes);
      }
    const double* inputs[] = {&t, x, x + n};
    landed_ = landing_.data();
    if (!evaluator_.land(inputs, frozen_, landing_.data())) return false;
    in_fours<Corrections>(x, landed_ + n, landed_, n, sizes);
    return true;
  }

  bool slopes(double t, const double* x, double* dx) {
    const double* inputs[] = {&t, x, x + functions_->n};
    ++factorizations_;
    std::copy_n(x + functions_->n, functions_->n, dx);
    return evaluator_.accelerations(inputs, frozen_, dx + functions_->n);
  }

  /// Keeps for `clear` when and how near to dependence the last evaluation was.
  void note(double t) {
    const std::span<const double> inverse = evaluator_.inverse_constraints();
    bool near = false;
    if (inverse.size() <= few)
      for (std::size_t k = 0; k < inverse.size(); ++k) near |= !(std::abs(inverse[k]) * largest_pivot_[k] <= much_smaller);
    else
      in_fours<Nearness>(inverse.data(), largest_pivot_.data(), inverse.size(), near);
    doubtful_ = doubtful_ || near;
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
    const std::size_t n = functions_->n;
    const Evaluation outcome = careful_ode_(t, x, dx);
    if (outcome != Evaluation::ok) return outcome;
    use_ = Use::never;
    if (!independent_()) return outcome;
    std::vector<double> in_line(2 * n);
    if (!slopes(t, x, in_line.data())) return outcome;
    double size = 0.0, difference = 0.0;
    for (std::size_t j = n; j < 2 * n; ++j) {
      size = std::max(size, std::abs(dx[j]));
      difference = std::max(difference, std::abs(dx[j] - in_line[j]));
    }
    if (difference <= 1e-9 * size) use_ = Use::always;
    remember_pivots();
    return outcome;
  }

  std::shared_ptr<const mechanics::Functions> functions_;
  std::shared_ptr<const mechanics::SolvedMotion> motion_;
  mechanics::SolvedEvaluator evaluator_;
  std::unique_ptr<StageLine> line_;  ///< where a method has asked for it
  double t_line_ = 0.0, h_line_ = 0.0;
  bool line_is_new_ = false;  ///< nobody has asked yet for the way from its end to the constraints
  std::function<Evaluation(double t, const double* x, double* dx)> careful_ode_;
  std::function<Evaluation(double t, double* x)> careful_project_;
  std::function<bool()> independent_;
  const double* frozen_ = nullptr;
  std::vector<double> landing_;
  const double* landed_ = nullptr;  ///< the last correction of q, then q, v and a on the constraints; of landing_ or of the line
  double t_landed_ = 0.0;
  bool has_landed_ = false;  ///< just now
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
  if (!system.ode || !system.project || !formulated.independent) return;
  auto motion = mechanics::SolvedMotion::kept(functions);
  if (!motion) return;
  auto level = std::make_shared<SolvedLevel>(functions, std::move(motion), formulated);
  system.ode = [level](double t, const double* x, double* dx) { return level->ode(t, x, dx); };
  system.project = [level](double t, double* x) { return level->project(t, x); };
  system.stages_in_line = [level](const integrate::ExplicitStages& stages) -> integrate::StagesInLine {
    level->make_line(stages);
    return [level](double t, double h, const double* x, const double* slope, double* results) {
      return level->stages(t, h, x, slope, results);
    };
  };
  formulated.freeze = [level, inner = formulated.freeze](const double* frozen) {
    inner(frozen);
    level->freeze(frozen);
  };
  if (level->notes_pivots())
    formulated.clear = [level](double t_old, double t_new) { return level->clear(t_old, t_new); };
  formulated.factorizations = [level, inner = formulated.factorizations] { return inner() + level->factorizations(); };
}

}  // namespace daedalus::formulate
