#pragma once

#include <nlohmann/json_fwd.hpp>

#include "peers/contest.hpp"

namespace daedalus::bench {

inline constexpr std::array<int, 5> told_digits{4, 6, 8, 10, 12};

/// A problem that was measured.
struct Standing {
  Problem problem;
  std::vector<Line> lines;
  /// How much longer programs written by hand take here than they took elsewhere: seconds here per millisecond there.
  double machine = not_measured;

  /// Seconds of the line of this name at so many digits; NaN where it never got there.
  double seconds(const std::string& contestant, double digits) const;
  /// The least of all lines whose names begin like this.
  double best(const std::string& prefix, double digits) const;
};

/// How much longer others take than Daedalus as it chooses, at so many digits; NaN where there is nothing to compare.
struct Ratios {
  double by_hand = not_measured;
  double ida = not_measured;
  /// The best DAE code elsewhere, brought to this machine by what the hand-written program took there and takes here; where
  /// this problem has none that gets so far, by what those of the others take.
  double best_dae_code = not_measured;
};
/// Standing::machine, the geometric mean over all of these that have a hand-written program and its figure from elsewhere.
double machine_factor(const std::vector<Standing>& standings);
Ratios ratios(const Standing& standing, std::size_t column);

/// Milliseconds of every contestant and the ratios, for people.
std::string to_text(const Standing& standing);
/// One row per problem: the ratios at 4, 6 and 8 digits.
std::string summary_text(const std::vector<Standing>& standings);
nlohmann::json to_json(const std::vector<Standing>& standings);
/// A page that needs nothing else: the ratios and a work-precision diagram per problem.
std::string to_page(const std::vector<Standing>& standings);

}  // namespace daedalus::bench
