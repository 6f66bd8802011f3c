#include "daedalus/report/text_start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/text.hpp"
#include "daedalus/report/text_parts.hpp"
#include "daedalus/solve/start_search.hpp"

namespace daedalus::report {

namespace {

constexpr std::size_t most_lines = 6;
constexpr std::size_t most_values = 8;
constexpr double round_off = 1e-12;  // of values that differ from each other

}  // namespace

std::string choice_lines(const solve::FreeValues& free) {
  std::string text;
  const std::vector<std::string> groups = group_texts(free);
  for (std::size_t i = 0; i < groups.size() && i < most_lines; ++i) text += line(i == 0 ? "choose" : "", groups[i]);
  if (groups.size() > most_lines) text += line("", fmt::format("... and {} further groups (--json lists all)", groups.size() - most_lines));
  return text;
}

std::string branch_lines(const solve::Start& start) {
  if (start.branches.empty()) return {};
  // Values that are the same everywhere say nothing.
  std::vector<std::size_t> differ;
  const auto& first = start.branches.front().values;
  for (std::size_t i = 0; i < first.size(); ++i)
    if (std::ranges::any_of(start.branches, [&](const solve::Branch& branch) {
          return std::abs(branch.values[i].second - first[i].second) > 1e-6 * std::max(1.0, std::abs(first[i].second));
        }))
      differ.push_back(i);
  // Where a guess is as far from a whole curve of starts, as the centre from its circle, every search ends elsewhere.
  const std::size_t others = start.branches.size() - 1;
  const bool continuum = others >= 10 && 4 * others > 3 * start.branch_starts;
  const std::size_t shown = continuum ? 2 : most_lines;
  std::string text =
      line("branches", continuum ? fmt::format("{} of {} random starts around the guess (seed {}) lead to different consistent ones: a continuum, it seems",
                                               others, start.branch_starts, solve::start_seed)
                                 : fmt::format("{} consistent starts, found from {} random ones around the guess (seed {})",
                                               start.branches.size(), start.branch_starts, solve::start_seed));
  for (std::size_t k = 0; k < start.branches.size() && k < shown; ++k) {
    const solve::Branch& branch = start.branches[k];
    std::vector<std::string> values;
    for (std::size_t i = 0; i < differ.size() && i < most_values; ++i) {
      const auto& [name, value] = branch.values[differ[i]];
      values.push_back(fmt::format("{} = {}", name, std::abs(value) < round_off ? "0" : brief(value)));
    }
    if (differ.size() > most_values) values.push_back("...");
    text += line("", fmt::format("{}  {}  (distance {} from the guess{})", k + 1, joined(values), brief(branch.distance, 3),
                                 k == 0 ? ", taken" : ""));
  }
  if (start.branches.size() > shown)
    text += line("", fmt::format("... and {} further ones (--json lists all)", start.branches.size() - shown));
  // Of mirror images, which differ by round-off, the first.
  const double least = std::ranges::min_element(start.branches, {}, &solve::Branch::distance)->distance;
  const auto nearest = std::ranges::find_if(start.branches, [&](const solve::Branch& one) { return one.distance <= (1.0 + 1e-9) * least; });
  if (nearest->distance < 0.999 * start.branches.front().distance)
    text += line("", fmt::format("number {} is nearer to the guess; start values near it choose it", nearest - start.branches.begin() + 1));
  else
    text += line("", "start values near another one choose that one");
  return text;
}

}  // namespace daedalus::report
