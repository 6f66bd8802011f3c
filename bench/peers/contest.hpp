#pragma once

// Programs that solve the same problem, and how they are measured beside each other.

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "work_precision.hpp"

namespace daedalus::bench {

/// What a program made of a problem at one tolerance.
struct Outcome {
  bool good = false;
  double seconds = 0.0;        ///< of this thread, for the integration alone
  std::vector<double> values;  ///< the compared components at the end
  std::size_t steps = 0, evaluations = 0;
  std::string message;  ///< where it is not good
};

struct Contestant {
  std::string name;
  std::function<Outcome(double tolerance, double patience)> run;  ///< broken off after so many seconds of processor time
};

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// Milliseconds at 4, 6 and 8 digits, NaN where nobody got there.
using AtDigits = std::array<double, 3>;

struct Problem {
  std::string name, title;
  std::vector<double> exact;  ///< values of the compared components
  bool relative = true;       ///< digits are -log10 max |e|/|y|, otherwise -log10 max |e|/(1 + |y|)
  double most_digits = 12.0;  ///< of the reference
  double prepare_seconds = 0.0;
  /// In the order of rows: Daedalus as it chooses, its explicit choice, the hand-written program, then others.
  std::vector<Contestant> contestants;
  /// The best DAE code and DOP853 on equations reduced by hand, as measured elsewhere: for ratios of ratios only.
  AtDigits best_dae_code{not_measured, not_measured, not_measured};
  AtDigits reduced_by_hand{not_measured, not_measured, not_measured};
};

struct Measured : WorkPoint {
  double tolerance = 0.0;
  std::size_t steps = 0, evaluations = 0;
};

struct Line {
  std::string contestant;
  std::vector<Measured> points;  ///< by falling tolerance
  std::string failure;           ///< the first that happened
};

struct Effort {
  std::vector<double> factors{0.8, 0.9, 1.0, 1.1, 1.25};  ///< of the tolerance: a median over them is no accident
  int repeats = 5;
  double longest = 3.0;  ///< a contestant whose run takes more seconds is not asked for tighter tolerances
};

/// Runs all contestants at tolerances 1e-2 .. 1e-13, by half powers of ten. They take turns, so that what else happens on
/// the machine happens to all of them; of the repetitions of a run the shortest counts. Who has a brief run runs twice in a turn,
/// and the second one counts, which finds the caches as the first has left them. Who takes hundreds of times as long as another is
/// broken off, and not asked again where that happens at tolerance after tolerance.
std::vector<Line> measure(const Problem& problem, const Effort& effort);

}  // namespace daedalus::bench
