#include "peers/contest.hpp"

namespace daedalus::bench {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2.0;
}

/// Seconds of a run below which what others left in the caches and in the tables of branches is a part of it.
constexpr double brief = 1e-3;

/// A run is broken off after so many times the seconds of the fastest at its tolerance, but not within a second, and after ten.
constexpr double hopeless = 500.0, least_patience = 1.0, most_patience = 10.0;
/// At loose tolerances a chain may go wild in a form that is good at tighter ones.
constexpr int most_broken_off = 6;

double digits_of(const Problem& problem, const Outcome& outcome) {
  double error = 1e-17;
  for (std::size_t i = 0; i < problem.exact.size(); ++i) {
    const double size = std::abs(problem.exact[i]);
    error = std::max(error, std::abs(outcome.values[i] - problem.exact[i]) / (problem.relative ? size : 1.0 + size));
  }
  return -std::log10(error);
}

/// One contestant at one tolerance: what its runs with perturbed tolerances gave.
struct Trial {
  std::vector<double> digits, seconds;
  Outcome last;
  bool good = true;
};

}  // namespace

std::vector<Line> measure(const Problem& problem, const Effort& effort) {
  std::vector<Line> lines;
  for (const Contestant& contestant : problem.contestants) lines.push_back({contestant.name, {}, {}});
  std::vector<bool> asked(lines.size(), true);
  std::vector<int> broken_off(lines.size(), 0);
  for (int half_power = 4; half_power <= 26; ++half_power) {
    const double tolerance = std::pow(10.0, -half_power / 2.0);
    std::vector<Trial> trials(lines.size());
    for (const double factor : effort.factors) {
      std::vector<double> least(lines.size(), std::numeric_limits<double>::infinity());
      for (int repeat = 0; repeat < effort.repeats; ++repeat)
        for (std::size_t i = 0; i < lines.size(); ++i) {
          Trial& trial = trials[i];
          if (!asked[i] || !trial.good || (repeat > 0 && least[i] * repeat > 0.2)) continue;
          const double patience = std::clamp(hopeless * *std::ranges::min_element(least), least_patience, most_patience);
          const auto run = [&] { return problem.contestants[i].run(tolerance * factor, patience); };
          trial.last = run();
          if (trial.last.good && trial.last.seconds < brief) trial.last = run();
          trial.good = trial.last.good;
          if (!trial.good && lines[i].failure.empty()) lines[i].failure = trial.last.message;
          if (!trial.good && trial.last.seconds >= patience) asked[i] = ++broken_off[i] < most_broken_off;
          least[i] = std::min(least[i], trial.last.seconds);
        }
      for (std::size_t i = 0; i < lines.size(); ++i) {
        if (!asked[i] || !trials[i].good) continue;
        trials[i].seconds.push_back(least[i]);
        trials[i].digits.push_back(digits_of(problem, trials[i].last));
      }
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!asked[i]) continue;
      Measured point;
      point.tolerance = tolerance;
      point.good = trials[i].good;
      if (point.good) {
        point.digits = median(trials[i].digits);
        point.seconds = median(trials[i].seconds);
        point.steps = trials[i].last.steps;
        point.evaluations = trials[i].last.evaluations;
        // More digits than the reference has cannot be seen. A run without digits may take longer than a good one: what went
        // wrong in a chain at a loose tolerance is hard to follow.
        asked[i] = (point.seconds < effort.longest || point.digits < 3.0) && point.digits < problem.most_digits;
      }
      lines[i].points.push_back(point);
    }
  }
  return lines;
}

}  // namespace daedalus::bench
