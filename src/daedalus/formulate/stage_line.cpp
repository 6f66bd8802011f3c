#include "daedalus/formulate/stage_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/base/finite.hpp"
#include "daedalus/base/kept.hpp"
#include "daedalus/compile/straight_line.hpp"

namespace daedalus::formulate {

namespace {

/// Operations of a line that the processor's cache for instructions holds.
constexpr std::size_t longest = 3000;

bool same(const integrate::ExplicitStages& one, const integrate::ExplicitStages& other) {
  return one.nodes == other.nodes && one.rows == other.rows && one.sums == other.sums && one.stride == other.stride;
}

/// What several numbers have in common, four at a time: nothing is decided before the end.
class Common {
 public:
  [[gnu::always_inline]] inline void finite(const double* numbers, std::size_t count) {
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) zeros_ += 0.0 * *four(numbers + i);
    for (; i < count; ++i) zero_ += 0.0 * numbers[i];
  }
  [[gnu::always_inline]] inline void between_zero_and(const double* numbers, std::size_t count, double most) {
    std::size_t i = 0;
    for (; i + 4 <= count; i += 4) good_ &= (*four(numbers + i) > 0.0) & (*four(numbers + i) <= most);
    for (; i < count; ++i) last_good_ &= (numbers[i] > 0.0) & (numbers[i] <= most);
  }
  [[gnu::always_inline]] inline bool all_good() const {
    return sum_of(zeros_) + zero_ == 0.0 && (good_[0] & good_[1] & good_[2] & good_[3]) != 0 && last_good_;
  }
  /// |inverse| times the largest pivot is at most the bound.
  [[gnu::always_inline]] inline void far(const double* inverse, const double* largest, std::size_t count,
                                         double bound) {
    std::size_t i = 0;
    Four size;
    for (; i + 4 <= count; i += 4) {
      const Four here = *four(inverse + i);
      magnitude(here, size);
      far_ &= size * *four(largest + i) <= bound;
    }
    for (; i < count; ++i) last_far_ &= std::abs(inverse[i]) * largest[i] <= bound;
  }
  [[gnu::always_inline]] inline bool all_far() const {
    return (far_[0] & far_[1] & far_[2] & far_[3]) != 0 && last_far_;
  }

 private:
  Four zeros_ = {};
  FourMasks good_ = {-1, -1, -1, -1}, far_ = {-1, -1, -1, -1};
  double zero_ = 0.0;
  bool last_good_ = true, last_far_ = true;
};

/// sums = sum_j weight_j slope_j for some fours from a place on; where x is given, x + h sums.
template <class Row, std::size_t... k>
[[gnu::always_inline]] inline void add_block(const Row& row, const double* const* slopes, const double* x, double h,
                                             std::size_t from, double* sums, std::index_sequence<k...>) {
  Four sum[sizeof...(k)];
  const double* slope = slopes[row.stages[0]] + from;
  double weight = row.weights[0];
  ((sum[k] = weight * *four(slope + 4 * k)), ...);
  const std::size_t terms = row.weights.size();
  for (std::size_t j = 1; j < terms; ++j) {
    slope = slopes[row.stages[j]] + from;
    weight = row.weights[j];
    ((sum[k] += weight * *four(slope + 4 * k)), ...);
  }
  if (x != nullptr) ((sum[k] = *four(x + from + 4 * k) + h * sum[k]), ...);
  ((*four(sums + from + 4 * k) = sum[k]), ...);
}

/// The same for all components, in blocks that registers hold.
template <class Row>
[[gnu::always_inline]] inline void add_slopes(const Row& row, const double* const* slopes, const double* x, double h,
                                              std::size_t room, double* sums) {
  std::size_t i = 0;
  for (; i + 32 <= room; i += 32) add_block(row, slopes, x, h, i, sums, std::make_index_sequence<8>{});
  if (i + 16 <= room) {
    add_block(row, slopes, x, h, i, sums, std::make_index_sequence<4>{});
    i += 16;
  }
  if (i + 8 <= room) {
    add_block(row, slopes, x, h, i, sums, std::make_index_sequence<2>{});
    i += 8;
  }
  if (i < room) add_block(row, slopes, x, h, i, sums, std::make_index_sequence<1>{});
}

}  // namespace

std::shared_ptr<const StageLine::Shared> StageLine::made(const mechanics::SolvedMotion& motion,
                                                         const integrate::ExplicitStages& stages) {
  auto result = std::make_shared<Shared>();
  result->stages = stages;
  for (const auto* rows : {&stages.rows, &stages.sums})
    for (const std::vector<double>& row : *rows) {
      Shared::Row& with = result->rows.emplace_back();
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (row[j] == 0.0) continue;
        with.weights.push_back(row[j]);
        with.stages.push_back(j);
      }
      DAEDALUS_CHECK(!with.weights.empty(), "row {} has no slopes", result->rows.size());
    }
  for (const double node : stages.nodes) result->tenths |= 1U << static_cast<unsigned>(10.0 * node);
  const mechanics::SolvedMotion::Part& part = motion.accelerations;
  const std::size_t n = part.function.output_count(), count = stages.rows.size();
  const mechanics::SolvedMotion::Part& landing = motion.landing;
  std::size_t operations = count * part.function.operation_count() + landing.function.operation_count();
  for (const Shared::Row& row : result->rows) operations += 2 * n * row.weights.size();
  if (stages.sums.size() < 2 || operations > longest)
    return result;  // the second sum shows whether all slopes are finite

  compile::StraightLine line({1, 1, 2 * n, 2 * n});
  using Values = compile::StraightLine::Values;
  const compile::StraightLine::Value t = line.input(0, 0), h = line.input(1, 0), zero = line.constant(0.0);
  const Values x = line.block(2);
  std::vector<Values> slopes{line.block(3)};
  const auto weigh = [&](const std::vector<double>& row) {
    // A weight stays in its register for some components, as many as there are registers for.
    constexpr std::size_t together = 4;
    Values sums(2 * n, zero);
    for (std::size_t first = 0; first < 2 * n; first += together)
      for (std::size_t j = 0; j < row.size(); ++j) {
        if (row[j] == 0.0) continue;
        const auto weight = line.constant(row[j]);
        for (std::size_t i = first; i < std::min(first + together, 2 * n); ++i)
          sums[i] =
              sums[i] == zero ? line.product(slopes[j][i], weight) : line.multiply_add(slopes[j][i], weight, sums[i]);
      }
    return sums;
  };
  const auto moved = [&](Values sums) {
    for (std::size_t i = 0; i < 2 * n; ++i) sums[i] = line.multiply_add(sums[i], h, x[i]);
    return sums;
  };
  Values outputs;
  const auto put = [&](const Values& row) {
    outputs.insert(outputs.end(), row.begin(), row.end());
    outputs.insert(outputs.end(), stages.stride - row.size(), zero);
  };
  Values argument, positive, cancellations, nearest(part.constraints, zero);
  for (std::size_t stage = 0; stage < count; ++stage) {
    argument = moved(weigh(stages.rows[stage]));
    const auto middle = argument.begin() + static_cast<std::ptrdiff_t>(n);
    const Values time{line.multiply_add(line.constant(stages.nodes[stage]), h, t)};
    const auto found =
        line.call(part.function, {time, Values(argument.begin(), middle), Values(middle, argument.end())});
    Values slope(middle, argument.end());
    slope.insert(slope.end(), found.outputs.begin(), found.outputs.end());
    put(slope);
    slopes.push_back(std::move(slope));
    auto note = found.notes.begin();
    for (std::size_t k = 0; k < part.positive; ++k) positive.push_back(*note++);
    for (std::size_t k = 0; k < part.cancellations; ++k) cancellations.push_back(*note++);
    for (auto& inverse : nearest) inverse = line.larger(inverse, line.magnitude(*note++));
  }
  put(argument);
  // A slope that is not finite leaves no finite number in the second sum, whatever its weight there.
  Values finite(2 * n, zero);
  for (std::size_t stage = 1; stage <= count; ++stage)
    if (stages.sums[1][stage] == 0.0)
      for (std::size_t i = n; i < 2 * n; ++i) finite[i] = line.multiply_add(slopes[stage][i], zero, finite[i]);
  const Values end = moved(weigh(stages.sums[0]));
  put(end);
  for (std::size_t k = 1; k < stages.sums.size(); ++k) {
    Values sums = weigh(stages.sums[k]);
    if (k == 1)
      for (std::size_t i = n; i < 2 * n; ++i) sums[i] = line.sum(sums[i], finite[i]);
    put(sums);
  }

  result->line.positive = positive.size();
  result->line.cancellations = cancellations.size();
  result->line.constraints = part.constraints;
  Values notes = std::move(positive);
  notes.insert(notes.end(), cancellations.begin(), cancellations.end());
  notes.insert(notes.end(), nearest.begin(), nearest.end());
  if (landing.function.output_count() > 0) {
    const auto middle = end.begin() + static_cast<std::ptrdiff_t>(n);
    const auto found = line.call(landing.function, {{line.sum(t, h)}, Values(end.begin(), middle), Values(middle, end.end())});
    Values sizes(4, zero);  // as StageLine::Landing has them
    for (std::size_t i = 0; i < n; ++i) {
      const compile::StraightLine::Value there = found.outputs[n + i];
      sizes[0] = line.larger(sizes[0], line.magnitude(there));
      sizes[1] = line.larger(sizes[1], line.magnitude(line.difference(there, end[i])));
      sizes[2] = line.larger(sizes[2], line.magnitude(found.outputs[i]));
    }
    for (const compile::StraightLine::Value output : found.outputs) sizes[3] = line.multiply_add(output, zero, sizes[3]);
    result->landing = notes.size();
    for (const Values* of : {&end, &found.outputs, &found.notes, &std::as_const(sizes)})
      notes.insert(notes.end(), of->begin(), of->end());
  }
  result->line.function = line.finish(outputs, notes);
  return result;
}

/// The stages one after the other.
struct StageLine::Loop {
  [[gnu::always_inline]] static inline void run(StageLine& line, double t, double h, const double* x,
                                                const double* frozen, const Pivots& pivots, double* results,
                                                bool& good) {
    const Shared& shared = *line.shared_;
    const mechanics::SolvedMotion::Part& part = line.motion_->accelerations;
    const std::size_t n = part.function.output_count(), room = shared.stages.stride, count = line.stages();
    const double* notes = line.scratch_.data();
    Common common;
    for (std::size_t stage = 0; stage < count; ++stage) {
      double* argument = stage + 1 < count ? line.argument_.data() : results + count * room;
      double* slope = results + stage * room;
      add_slopes(shared.rows[stage], line.slopes_.data(), x, h, room, argument);
      const double time = t + shared.stages.nodes[stage] * h;
      const double* inputs[] = {&time, argument, argument + n};
      part.function(inputs, slope + n, line.scratch_, frozen);
      std::size_t i = 0;
      for (; i + 4 <= n; i += 4) *four(slope + i) = *four(argument + n + i);
      for (; i < n; ++i) slope[i] = argument[n + i];
      for (i = 2 * n; i < room; ++i) slope[i] = 0.0;
      common.finite(slope + n, n);
      common.between_zero_and(notes, part.positive, std::numeric_limits<double>::infinity());
      common.between_zero_and(notes + part.positive, part.cancellations, mechanics::SolvedMotion::most_cancellation);
      common.far(notes + part.positive + part.cancellations, pivots.largest.data(), part.constraints,
                 pivots.much_smaller);
    }
    double* sums = results + (count + 1) * room;
    for (std::size_t k = count; k < shared.rows.size(); ++k, sums += room)
      add_slopes(shared.rows[k], line.slopes_.data(), k == count ? x : nullptr, h, room, sums);
    good = common.all_good();
    line.near_ = !common.all_far();
  }
};

std::unique_ptr<StageLine> StageLine::of(const std::shared_ptr<const mechanics::SolvedMotion>& motion,
                                         const integrate::ExplicitStages& stages) {
  static Kept<mechanics::SolvedMotion, Shared> kept;
  auto result = std::make_unique<StageLine>();
  result->motion_ = motion;
  result->shared_ = kept.of(motion, [&] { return made(*motion, stages); });
  if (!same(result->shared_->stages, stages)) result->shared_ = made(*motion, stages);  // of another method
  const compile::Function& line = result->shared_->line.function;
  if (line.output_count() > 0) {
    result->scratch_ = line.make_scratch();
  } else {
    result->scratch_ = motion->accelerations.function.make_scratch();
    result->argument_.resize(stages.stride);
    result->slopes_.resize(stages.rows.size() + 1);
  }
  return result;
}

bool StageLine::operator()(double t, double h, const double* x, const double* slope, const double* frozen,
                           const Pivots& pivots, double* results) {
  const mechanics::SolvedMotion::Part& line = shared_->line;
  const std::size_t stride = shared_->stages.stride;
  if (line.function.output_count() == 0) {
    bool good = false;
    slopes_[0] = slope;
    for (std::size_t stage = 1; stage < slopes_.size(); ++stage) slopes_[stage] = results + (stage - 1) * stride;
    in_fours<Loop>(*this, t, h, x, frozen, pivots, results, good);
    return good;
  }
  const double* inputs[] = {&t, &h, x, slope};
  line.function(inputs, results, scratch_, frozen);
  const double* nearest = scratch_.data() + line.positive + line.cancellations;
  near_ = false;
  for (std::size_t k = 0; k < line.constraints; ++k) near_ |= !(nearest[k] * pivots.largest[k] <= pivots.much_smaller);
  return all_finite(results + (stages() + 1) * stride, 2 * stride) && line.trusts(scratch_.data());
}

std::optional<StageLine::Landing> StageLine::landing() const {
  if (shared_->landing == 0) return std::nullopt;
  const double* end = scratch_.data() + shared_->landing;
  const std::size_t states = 2 * motion_->accelerations.function.output_count();
  const mechanics::SolvedMotion::Part& landing = motion_->landing;
  const double* notes = end + states + landing.function.output_count();
  return Landing{end, end + states, notes, notes + landing.positive + landing.cancellations + landing.constraints};
}

}  // namespace daedalus::formulate
