// The explicit Runge-Kutta method of order 8 by Dormand and Prince as in Hairer's code DOP853: E. Hairer, S. P.
// Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., sections II.5, II.6, II.10 and, for the
// stiffness test, IV.2 of volume II.
//
// Error, from the estimates of order 5 and 3 in units of the tolerance (sums of squares over the n components):
//   err = |h| err5 / sqrt(n (err5 + 0.01 err3)).
// Dense output of order 7, with s = theta and u = 1 - theta:
//   x = x0 + s (r2 + u (r3 + s (r4 + u (r5 + s (r6 + u (r7 + s r8)))))),
//   r2 = x1 - x0,   r3 = h k1 - r2,   r4 = r2 - h k13 - r3,   r5..r8 = h sum_j d_ij k_j.
// The estimate does not use k13 = f(t + h, x1). So x1 may be projected first; k13 is then evaluated at the projected
// state, once, for the next step and for the dense output, which through r2 and r4 ends at the projected state with the
// slope found there.
//
// A component that has decayed to nothing lets steps grow beyond the stability region, up to where its error counts. In such
// a step the three further stages of the dense output, polynomials of higher degree in h lambda, are off by up to 1e5
// tolerances, where both ends are good. Their arguments tell: the polynomial misses them. Then the inside of the step comes
// from shorter ones, if these end where it did: over a singular position of constraints only the long one stays on its branch.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>

#include "daedalus/base/check.hpp"
#include "daedalus/base/few.hpp"
#include "daedalus/integrate/error_norm.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/methods/dop853_coefficients.hpp"

namespace daedalus::integrate {
namespace {

/// Slopes k1 to k16; entry 0 is unused.
using Slopes = std::array<double*, 17>;

/// A tenth less than usual: a refused step is work lost, and the error of a shorter one falls with its eighth power. For equal
/// errors at the end 5 to 15 % fewer evaluations were taken on ten models of mechanics, at 4 to 10 digits.
constexpr double safety = 0.8;
/// How many tolerances the polynomial may miss the arguments of its own stages by: this times (|x|/|tolerance|)^(1/8), since its
/// error is of another order than that of the step. On all models, at rtol from 1e-3 to 1e-12, it is below half of that where
/// steps are inside the stability region.
constexpr double most_missed = 150.0;
/// How many tolerances the ends of both ways may be apart, as many as a projection may move an end by; or this part of what the
/// polynomial misses its stages by: a component that the next step damps may be that far off at the end of a long one.
constexpr double most_apart = 20.0, nearer = 0.05;
/// A step that is taken again for its inside is parted in so many; by as many again up to the last where that does not do.
constexpr double parts = 8.0, most_parts = 4096.0;

/// The end of a step and the sums of squares of both error estimates in units of the tolerance, in one pass over the slopes.
struct EndOfStep {
  double sum5 = 0.0, sum3 = 0.0;

  [[gnu::always_inline]] static inline void run(const double* now, const Slopes& k, double h, double rtol, const double* atol,
                                                std::size_t n, double* __restrict end, EndOfStep& result) {
    Four sums5 = {}, sums3 = {};
    for (std::size_t i = 0; i < n; i += 4) {
      Four slope, error5, error3, size, size_after;
      weigh<dop853::weights>(k, i, slope);
      weigh<dop853::error_of_order_5>(k, i, error5);
      weigh<dop853::weights_of_order_3>(k, i, error3);
      const Four before = *four(now + i), after = before + h * slope;
      *four(end + i) = after;
      magnitude(before, size);
      magnitude(after, size_after);
      larger(size, size_after, size);
      const Four inverse = 1.0 / (*four(atol + i) + rtol * size);
      error5 *= inverse;
      error3 = (slope - error3) * inverse;
      sums5 += error5 * error5;
      sums3 += error3 * error3;
    }
    result = {sum_of(sums5), sum_of(sums3)};
  }
};

/// The same where all stages were one line, which gives the end and the sums for the estimates: copies the end.
template <bool one_by_one>
struct EndOfLine {
  [[gnu::always_inline]] static inline void run(const double* now, const double* line, std::size_t stride, double rtol,
                                                const double* atol, std::size_t n, double* __restrict end, EndOfStep& result) {
    Four sums5 = {}, sums3 = {};
    for (std::size_t i = 0; i < n; i += 4) {
      Four size, size_after, after, error5, error3;
      take(line + i, after);
      take(line + stride + i, error5);
      take(line + 2 * stride + i, error3);
      const Four before = *four(now + i);
      if constexpr (!one_by_one) *four(end + i) = after;
      magnitude(before, size);
      magnitude(after, size_after);
      larger(size, size_after, size);
      const Four inverse = 1.0 / (*four(atol + i) + rtol * size);
      error5 *= inverse;
      error3 *= inverse;
      sums5 += error5 * error5;
      sums3 += error3 * error3;
    }
    result = {sum_of(sums5), sum_of(sums3)};
    if constexpr (one_by_one) copy_numbers(line, n, end);
  }

 private:
  [[gnu::always_inline]] static inline void take(const double* at, Four& to) {
    if constexpr (one_by_one)
      gather(at, to);
    else
      to = *four(at);
  }
};

/// What a line of all stages has to do: k2 to k12, the end of the step and both error estimates.
ExplicitStages stages_of_a_step(std::size_t stride) {
  ExplicitStages stages;
  stages.stride = stride;
  const auto dense = [](std::span<const Term> row) {
    std::vector<double> weights(12, 0.0);
    for (const Term& term : row) weights[term.stage - 1] = term.weight;
    return weights;
  };
  for (std::size_t stage = 2; stage <= 12; ++stage) {
    stages.nodes.push_back(dop853::node[stage]);
    stages.rows.push_back(dense(dop853::rows[stage]));
  }
  std::vector<double> difference = dense(dop853::weights);
  for (const Term& term : dop853::weights_of_order_3) difference[term.stage - 1] -= term.weight;
  stages.sums = {dense(dop853::weights), dense(dop853::error_of_order_5), difference};
  return stages;
}

/// Squares of k13 - k12, of the difference of the states that these belong to, and of the state.
struct EndDifferences {
  double slope = 0.0, state = 0.0, size = 0.0;

  [[gnu::always_inline]] static inline void run(const Slopes& k, const double* state13, const double* state12, std::size_t n,
                                                EndDifferences& result) {
    Four slopes = {}, states = {}, sizes = {};
    for (std::size_t i = 0; i < n; i += 4) {
      const Four slope = *four(k[13] + i) - *four(k[12] + i), at = *four(state13 + i), difference = at - *four(state12 + i);
      slopes += slope * slope;
      states += difference * difference;
      sizes += at * at;
    }
    result = {sum_of(slopes), sum_of(states), sum_of(sizes)};
  }
};

class Dop853 final : public Stepper {
 public:
  Dop853(const System& system, double beta)
      : system_(system),
        beta_(beta),
        n_(system.dimension),
        room_(padded(n_)),
        old_(room_),
        now_(room_),
        candidate_(room_),
        argument_(room_),
        atol_(room_, 1.0),
        slopes_(16 * room_),
        dense_(7 * n_) {
    k_[0] = nullptr;
    for (std::size_t stage = 1; stage <= 16; ++stage) k_[stage] = slopes_.data() + (stage - 1) * room_;
    for (std::size_t i = 0; i < 7; ++i) r_[i] = dense_.data() + i * n_;
    if (system.stages_in_line) line_ = system.stages_in_line(stages_of_a_step(room_));
    if (line_) {
      results_.resize(15 * room_);
      for (std::size_t stage = 2; stage <= 12; ++stage) k_[stage] = results_.data() + (stage - 2) * room_;
    }
    if (system.project_error) {
      error5_.resize(n_);
      error3_.resize(n_);
    }
  }

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, n_, now_.begin());
    stepped_ = false;
    stiffness_ = 0.0;
    return evaluate(t, now_.data(), k_[1]);
  }

  Attempt attempt(double h, const Tolerance* tolerance) override {
    if (stepped_) std::swap(k_[1], k_[13]);
    stepped_ = false;
    h_ = h;
    tolerance_ = tolerance;
    Attempt result;
    result.memory = beta_;
    in_line_ = line_ && line_(t_, h, now_.data(), k_[1], results_.data());
    if (in_line_)
      stats_.rhs += 11;
    else
      result.outcome = evaluate_stages();
    if (result.outcome != Evaluation::ok) return result;
    if (tolerance != nullptr)
      finish(*tolerance, result);
    else if (in_line_)
      std::copy_n(results_.data() + 12 * room_, n_, candidate_.data());
    else
      move<dop853::weights>(h, candidate_.data());
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    const Evaluation outcome = evaluate(t_next, candidate_.data(), k_[13]);
    if (outcome != Evaluation::ok) return outcome;
    detect_stiffness();
    old_.swap(now_);
    now_.swap(candidate_);
    t_old_ = t_;
    t_ = t_next;
    stepped_ = true;
    dense_ready_ = false;
    return outcome;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    if (!dense_ready_) {
      if (const Evaluation outcome = prepare_dense(); outcome != Evaluation::ok) return outcome;
      if (missed_) missed_ = finds_parts();
    }
    if (!missed_ || !interpolates_in_parts(theta, x)) add_polynomial(theta, x);
    return Evaluation::ok;
  }

  const double* derivative() const override { return stepped_ ? k_[13] : k_[1]; }
  double stiffness() const override { return stiffness_; }
  const double* state() const override { return now_.data(); }

 private:
  void add_polynomial(double theta, double* x) const {
    const double s = theta, u = 1.0 - theta;
    for (std::size_t i = 0; i < n_; ++i) {
      const double inner = r_[3][i] + s * (r_[4][i] + u * (r_[5][i] + s * r_[6][i]));
      x[i] = old_[i] + s * (r_[0][i] + u * (r_[1][i] + s * (r_[2][i] + u * inner)));
    }
  }

  /// Takes the last step again, in equal parts: so many that their errors are within their bounds. Says whether these end
  /// where it did. Allocates where it is needed first.
  [[gnu::noinline]] bool finds_parts() {
    if (!inside_) inside_ = std::make_unique<Dop853>(system_, 0.0);
    for (parts_ = parts; parts_ <= most_parts; parts_ *= parts) {
      parted_ = false;
      if (reaches_part(1.0)) return ends_alike();
    }
    return false;
  }

  bool ends_alike() const {
    const double* end = inside_->state();
    const double most = std::max(most_apart, nearer * missed_by_);
    bool alike = true;
    for (std::size_t i = 0; i < n_; ++i)
      alike = alike && std::abs(end[i] - now_[i]) <= most * error_weight(*tolerance_, i, now_[i], end[i]);
    return alike;
  }

  /// In more parts still where the polynomial of the one that theta is in is not within its bounds.
  [[gnu::noinline]] bool interpolates_in_parts(double theta, double* x) {
    if (theta == 1.0) {
      std::copy_n(now_.data(), n_, x);
      return true;
    }
    while (!reaches_part(theta)) {
      if (parts_ >= most_parts) return false;
      parts_ *= parts;
      parted_ = false;
    }
    inside_->add_polynomial(theta * parts_ - (next_part_ - 1.0), x);
    return true;
  }

  /// Goes on to the part that theta is in; false where that cannot be evaluated or an error is not within its bounds.
  bool reaches_part(double theta) {
    const double h = (t_ - t_old_) / parts_;
    const std::size_t before = inside_->stats_.rhs;
    Evaluation outcome = Evaluation::ok;
    bool good = true;
    if (!parted_ || theta * parts_ < next_part_ - 1.0) {
      outcome = inside_->start(t_old_, old_.data());
      next_part_ = 0.0;
      parted_ = true;
    }
    while (outcome == Evaluation::ok && good && (next_part_ == 0.0 || next_part_ < theta * parts_)) {
      const Attempt part = inside_->attempt(h, tolerance_);
      outcome = part.outcome == Evaluation::ok ? inside_->accepted(t_old_ + (next_part_ + 1.0) * h) : part.outcome;
      good = part.error <= 1.0;
      ++next_part_;
    }
    if (outcome == Evaluation::ok && good && theta < 1.0 && !inside_->dense_ready_) outcome = inside_->prepare_dense();
    stats_.rhs += inside_->stats_.rhs - before;
    return outcome == Evaluation::ok && good && !(inside_->dense_ready_ && inside_->missed_);
  }

  Evaluation evaluate(double t, const double* x, double* slope) {
    ++stats_.rhs;
    return system_.ode(t, x, slope);
  }

  /// Stages 2 to 12; the argument of stage 12 stays in argument_.
  [[gnu::noinline]] Evaluation evaluate_stages() {
    Evaluation outcome = Evaluation::ok;
    const auto good = [&]<const auto & row>(std::size_t stage) {
      move<row>(h_, argument_.data());
      outcome = evaluate(t_ + dop853::node[stage] * h_, argument_.data(), k_[stage]);
      return outcome == Evaluation::ok;
    };
    static_cast<void>(good.template operator()<dop853::stage2>(2) && good.template operator()<dop853::stage3>(3) &&
                      good.template operator()<dop853::stage4>(4) && good.template operator()<dop853::stage5>(5) &&
                      good.template operator()<dop853::stage6>(6) && good.template operator()<dop853::stage7>(7) &&
                      good.template operator()<dop853::stage8>(8) && good.template operator()<dop853::stage9>(9) &&
                      good.template operator()<dop853::stage10>(10) && good.template operator()<dop853::stage11>(11) &&
                      good.template operator()<dop853::stage12>(12));
    return outcome;
  }

  /// out = x + h sum_j weight_j k_j, in padded arrays
  template <const auto& row>
  void move(double h, double* out) {
    in_fours<MovePadded<row, Slopes>>(now_.data(), k_, h, n_, out);
  }

  void finish(const Tolerance& tolerance, Attempt& result) {
    // So small an addition that it changes nothing but 0, by which nothing can be divided.
    for (std::size_t i = 0; i < n_; ++i) atol_[i] = tolerance.atol[i] + std::numeric_limits<double>::min();
    EndOfStep end;
    const double* line = in_line_ ? results_.data() + 12 * room_ : nullptr;
    if (in_line_ && n_ <= few)
      in_fours<EndOfLine<true>>(now_.data(), line, room_, tolerance.rtol, atol_.data(), n_, candidate_.data(), end);
    else if (in_line_)
      in_fours<EndOfLine<false>>(now_.data(), line, room_, tolerance.rtol, atol_.data(), n_, candidate_.data(), end);
    else
      in_fours<EndOfStep>(now_.data(), k_, h_, tolerance.rtol, atol_.data(), n_, candidate_.data(), end);
    if (system_.project_error) end = projected_errors(tolerance);
    const double mixed = end.sum5 + 0.01 * end.sum3;
    result.error = mixed > 0.0 ? std::abs(h_) * end.sum5 / std::sqrt(static_cast<double>(n_) * mixed) : mixed;
    // Who is to blame is asked where a step is refused.
    if (!(result.error <= 1.0) || system_.project_error) result.worst = worst_of(tolerance);
  }

  /// The sums without the part of the errors that a projection removes.
  EndOfStep projected_errors(const Tolerance& tolerance) {
    for (std::size_t i = 0; i < n_; ++i) {
      error5_[i] = weighted<dop853::error_of_order_5>(k_, i);
      error3_[i] = weighted<dop853::weights>(k_, i) - weighted<dop853::weights_of_order_3>(k_, i);
    }
    system_.project_error(error5_.data());
    system_.project_error(error3_.data());
    EndOfStep sums;
    for (std::size_t i = 0; i < n_; ++i) {
      const double weight = error_weight(tolerance, i, now_[i], candidate_[i]);
      sums.sum5 += error5_[i] / weight * (error5_[i] / weight);
      sums.sum3 += error3_[i] / weight * (error3_[i] / weight);
    }
    return sums;
  }

  /// The component with the largest error of order 5.
  [[gnu::noinline]] std::optional<std::size_t> worst_of(const Tolerance& tolerance) const {
    std::optional<std::size_t> worst;
    double largest = -1.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double error = system_.project_error ? error5_[i]
                           : in_line_            ? results_[13 * room_ + i]
                                                 : weighted<dop853::error_of_order_5>(k_, i);
      const double size = std::abs(error) / error_weight(tolerance, i, now_[i], candidate_[i]);
      if (!(size > largest)) continue;
      largest = size;
      worst = i;
    }
    return worst;
  }

  /// Compares stages 12 and 13, both at t + h: |k13 - k12| / |x13 - x12| is about |lambda|. Differences at the level of
  /// round-off say nothing.
  void detect_stiffness() {
    EndDifferences difference;
    const double* of_stage_12 = in_line_ ? results_.data() + 11 * room_ : argument_.data();
    in_fours<EndDifferences>(k_, candidate_.data(), of_stage_12, n_, difference);
    constexpr double noise = 100.0 * std::numeric_limits<double>::epsilon();
    const bool seen = difference.state > noise * noise * difference.size;
    stiffness_ = seen ? std::abs(h_) * std::sqrt(difference.slope / difference.state) : 0.0;
  }

  Evaluation prepare_dense() {
    const double h = t_ - t_old_;
    Evaluation outcome = Evaluation::ok;
    if (tolerance_ != nullptr) reached_.resize(3 * n_);
    const auto good = [&]<const auto & row>(std::size_t stage) {
      in_fours<MovePadded<row, Slopes>>(old_.data(), k_, h, n_, argument_.data());
      if (tolerance_ != nullptr) std::copy_n(argument_.data(), n_, reached_.data() + (stage - 14) * n_);
      outcome = evaluate(t_old_ + dop853::node[stage] * h, argument_.data(), k_[stage]);
      return outcome == Evaluation::ok;
    };
    if (!(good.template operator()<dop853::stage14>(14) && good.template operator()<dop853::stage15>(15) &&
          good.template operator()<dop853::stage16>(16))) {
      return outcome;
    }
    for (std::size_t i = 0; i < n_; ++i) {
      r_[0][i] = now_[i] - old_[i];
      r_[1][i] = h * k_[1][i] - r_[0][i];
      r_[2][i] = r_[0][i] - h * k_[13][i] - r_[1][i];
    }
    sum_slopes<dop853::dense5>(k_, h, n_, r_[3]);
    sum_slopes<dop853::dense6>(k_, h, n_, r_[4]);
    sum_slopes<dop853::dense7>(k_, h, n_, r_[5]);
    sum_slopes<dop853::dense8>(k_, h, n_, r_[6]);
    dense_ready_ = true;
    missed_ = tolerance_ != nullptr && misses_its_stages();
    return outcome;
  }

  bool misses_its_stages() {
    double weights = 0.0, sizes = 0.0;
    for (std::size_t i = 0; i < n_; ++i) {
      const double weight = error_weight(*tolerance_, i, old_[i], now_[i]);
      weights += weight * weight;
      sizes += now_[i] * now_[i];
    }
    const double most = most_missed * std::max(1.0, std::pow(sizes / weights, 1.0 / 16.0));
    missed_by_ = 0.0;
    for (std::size_t stage = 14; stage <= 16; ++stage) {
      add_polynomial(dop853::node[stage], argument_.data());
      const double* reached = reached_.data() + (stage - 14) * n_;
      for (std::size_t i = 0; i < n_; ++i)
        missed_by_ = std::max(missed_by_, std::abs(argument_[i] - reached[i]) / error_weight(*tolerance_, i, old_[i], now_[i]));
    }
    return !(missed_by_ <= most);
  }

  const System& system_;
  const double beta_;
  const std::size_t n_;
  const std::size_t room_;  ///< n, padded; numbers behind the first n are and stay 0
  std::vector<double> old_, now_, candidate_, argument_, atol_, slopes_, dense_;
  std::vector<double> error5_, error3_;  ///< where errors are projected
  StagesInLine line_;
  std::vector<double> results_;  ///< of a line: k2 to k12, the state of stage 12, the end, both estimates
  bool in_line_ = false;         ///< the last attempt was one
  Slopes k_;
  std::array<double*, 7> r_;  ///< r2 to r8
  double t_old_ = 0.0, h_ = 0.0, stiffness_ = 0.0;
  bool stepped_ = false;      ///< the last step is accepted, k13 known, no attempt since
  bool dense_ready_ = false;  ///< r2 to r8 belong to the last accepted step
  bool missed_ = false;       ///< and are not the solution inside it
  double missed_by_ = 0.0;    ///< at the stages, in tolerances
  const Tolerance* tolerance_ = nullptr;  ///< of the last attempt
  std::vector<double> reached_;           ///< the arguments of stages 14 to 16
  std::unique_ptr<Dop853> inside_;        ///< takes the last step again
  double parts_ = parts, next_part_ = 0.0;
  bool parted_ = false;  ///< `inside_` is on its way, next_part_ parts from the start of the step
};

Tableau tableau() {
  Tableau result;
  for (std::size_t stage = 1; stage <= 12; ++stage) {
    result.c.push_back(dop853::node[stage]);
    result.a.emplace_back(stage - 1, 0.0);
    for (const Term& term : dop853::rows[stage]) result.a.back()[term.stage - 1] = term.weight;
  }
  result.b.assign(12, 0.0);
  for (const Term& term : dop853::weights) result.b[term.stage - 1] = term.weight;
  result.embedded = result.b;
  for (const Term& term : dop853::error_of_order_5) result.embedded[term.stage - 1] -= term.weight;
  return result;
}

}  // namespace

IntegratorEntry integrator_dop853() {
  IntegratorEntry entry;
  entry.name = "dop853";
  entry.summary = "Dormand and Prince's explicit method of order 8 with step control and dense output of order 7";
  entry.citation =
      "E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, "
      "sections "
      "II.5 and II.10";
  entry.order = 8;
  entry.stages = 12;
  entry.adaptive = true;
  entry.accepts = {View::ode};
  entry.dense_order = 7;
  entry.estimate_order = 8;
  entry.safety = safety;
  entry.stability_radius = 6.1;
  entry.tableau = tableau();
  entry.options = {error_memory_option()};
  entry.make = [](const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.ode, "dimension {}", system.dimension);
    return std::make_unique<Dop853>(system, options.number("beta"));
  };
  return entry;
}

}  // namespace daedalus::integrate
