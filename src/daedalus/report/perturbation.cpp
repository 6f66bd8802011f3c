#include "daedalus/report/perturbation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "daedalus/report/plot_font.hpp"
#include "daedalus/report/version.hpp"

namespace daedalus::report {

namespace {

using solve::PerturbationMap;
using solve::PerturbedRun;
using Outcome = PerturbedRun::Outcome;

const char* outcome_text(Outcome outcome) {
  switch (outcome) {
    case Outcome::returned:
      return "returned";
    case Outcome::remained:
      return "remained";
    case Outcome::stopped:
      return "stopped";
    case Outcome::no_start:
      break;
  }
  return "no such start";
}

const PerturbedRun* run_at(const PerturbationMap& map, std::size_t formulation, std::size_t rate, std::size_t position) {
  const std::size_t n = map.sizes.size(), at = (formulation * n + rate) * n + position;
  return at < map.runs.size() ? &map.runs[at] : nullptr;
}

/// The tenth of the run in which it returned, or what happened instead.
char letter(const PerturbationMap& map, const PerturbedRun* run) {
  if (run == nullptr) return '?';
  switch (run->outcome) {
    case Outcome::returned:
      return static_cast<char>('0' + std::clamp(static_cast<int>(10.0 * run->time / std::max(map.t_end, 1e-300)), 0, 9));
    case Outcome::remained:
      return '-';
    case Outcome::stopped:
      return 'x';
    case Outcome::no_start:
      break;
  }
  return '.';
}

/// A name with options in as many lines as fit side by side with others, parted behind its colon and commas.
std::vector<std::string> lines_of(const std::string& name, double width, double size) {
  std::vector<std::string> lines;
  std::string piece;
  for (std::size_t i = 0; i < name.size(); ++i) {
    piece += name[i];
    if (name[i] != ':' && name[i] != ',' && i + 1 < name.size()) continue;
    if (lines.empty() || width_of({{lines.back() + piece}}, size) > width)
      lines.push_back(piece);
    else
      lines.back() += piece;
    piece.clear();
  }
  return lines;
}

}  // namespace

std::string to_text(const PerturbationMap& map) {
  std::string text = fmt::format("{:<10}{}\n", "model", map.model);
  const double size = map.sizes.empty() ? 0.0 : map.sizes.back();
  text += fmt::format("{:<10}violations of positions and rates from {:g} to {:g} of the largest terms, until t = {:g}\n", "map",
                      -size, size, map.t_end);
  text += fmt::format("\n{:<24}{:>9}{:>9}{:>9}{:>9}  {}\n", "formulation", "returned", "remained", "stopped", "no start", "median time");
  for (std::size_t f = 0; f < map.formulations.size(); ++f) {
    const auto median = map.median_time(f);
    text += fmt::format("{:<24}{:>9}{:>9}{:>9}{:>9}  {}\n", map.formulations[f], map.count(f, Outcome::returned),
                        map.count(f, Outcome::remained), map.count(f, Outcome::stopped), map.count(f, Outcome::no_start),
                        median ? fmt::format("{:.3g}", *median) : "-");
  }
  text += "\nTo the right the violation of positions, upwards that of rates. A digit is the tenth of the run in which the violation\n"
          "fell below a thousandth of its start; - it did not; x the run stopped; . there is no such start.\n";
  for (std::size_t f = 0; f < map.formulations.size(); ++f) {
    text += "\n" + map.formulations[f] + "\n";
    for (std::size_t r = map.sizes.size(); r-- > 0;) {
      text += "  ";
      for (std::size_t p = 0; p < map.sizes.size(); ++p) text += fmt::format("{} ", letter(map, run_at(map, f, r, p)));
      text.back() = '\n';
    }
  }
  return text;
}

std::string to_json(const PerturbationMap& map) {
  nlohmann::json json{{"version", version()}};
  json["model"] = map.model;
  json["t_end"] = map.t_end;
  json["formulations"] = map.formulations;
  json["sizes"] = map.sizes;
  json["runs"] = nlohmann::json::array();
  for (const PerturbedRun& run : map.runs)
    json["runs"].push_back({{"formulation", map.formulations[run.formulation]},
                            {"position", run.position},
                            {"rate", run.rate},
                            {"outcome", outcome_text(run.outcome)},
                            {"time", run.time},
                            {"message", run.message}});
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Picture perturbation_picture(const PerturbationMap& map) {
  constexpr double side = 130.0, margin = 34.0, gap = 26.0, text_size = 8.0, least_cell = 14.0, line_height = 9.5;
  constexpr Color ink{38, 38, 38}, early{222, 235, 247}, late{8, 48, 107}, failed{213, 94, 0}, none{255, 255, 255}, stays{204, 121, 167};
  const std::size_t n = map.sizes.size(), count = map.formulations.size();
  std::vector<std::vector<std::string>> names;
  double top = margin;
  for (const std::string& formulation : map.formulations) {
    names.push_back(lines_of(formulation, side + 0.5 * gap, text_size));
    top = std::max(top, margin + line_height * (static_cast<double>(names.back().size()) - 1.0));
  }
  Picture picture;
  picture.width = margin + static_cast<double>(count) * (side + gap);
  picture.height = top + side + margin + 24.0;
  picture.title = fmt::format("{}: return from violations", map.model);
  picture.description = "violation of positions to the right, of rates upwards; darker: later return; orange: stopped; pink: remained";
  picture.width = std::max(picture.width, 340.0);  // the legend's
  const double cell = side / static_cast<double>(std::max<std::size_t>(n, 1));
  const auto color = [&](const PerturbedRun* run) {
    if (run == nullptr || run->outcome == Outcome::no_start) return none;
    if (run->outcome == Outcome::stopped) return failed;
    if (run->outcome == Outcome::remained) return stays;
    const double s = std::clamp(run->time / std::max(map.t_end, 1e-300), 0.0, 1.0);
    const auto mix = [&](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(std::lround(a + s * (b - a))); };
    return Color{mix(early.red, late.red), mix(early.green, late.green), mix(early.blue, late.blue)};
  };
  const auto mark = [](const PerturbedRun* run) -> std::string {
    if (run == nullptr || run->outcome == Outcome::no_start) return "";
    return run->outcome == Outcome::returned ? fmt::format("{:.2g}", run->time) : run->outcome == Outcome::stopped ? "x" : "-";
  };
  for (std::size_t f = 0; f < count; ++f) {
    const double left = margin + static_cast<double>(f) * (side + gap);
    for (std::size_t k = 0; k < names[f].size(); ++k)
      picture.labels.push_back({{left, top - 8.0 - line_height * static_cast<double>(names[f].size() - 1 - k)}, {{names[f][k]}}, text_size, Anchor::start, ink});
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t p = 0; p < n; ++p) {
        const double x = left + static_cast<double>(p) * cell, y = top + side - static_cast<double>(r + 1) * cell;
        const PerturbedRun* run = run_at(map, f, r, p);
        const Color fill = color(run);
        picture.areas.push_back({{{{x, y}, {x + cell, y}, {x + cell, y + cell}, {x, y + cell}}}, fill});
        if (cell >= least_cell)
          picture.labels.push_back({{x + 0.5 * cell, y + 0.5 * cell + 2.2}, {{mark(run)}}, 6.0, Anchor::middle, fill.green < 140 ? none : ink});
      }
    picture.paths.push_back({{{left, top}, {left + side, top}, {left + side, top + side}, {left, top + side}, {left, top}}, ink, 0.5});
    for (const double s : {0.0, 0.5, 1.0}) {
      const double value = n == 0 ? 0.0 : map.sizes.front() + s * (map.sizes.back() - map.sizes.front());
      picture.labels.push_back({{left + s * side, top + side + 10.0}, {{fmt::format("{:.3g}", value)}}, 7.0, Anchor::middle, ink});
      if (f == 0) picture.labels.push_back({{left - 4.0, top + side - s * side + 2.5}, {{fmt::format("{:.3g}", value)}}, 7.0, Anchor::end, ink});
    }
    picture.labels.push_back({{left + 0.5 * side, top + side + 22.0}, {{"violation of positions"}}, text_size, Anchor::middle, ink});
  }
  picture.labels.push_back({{10.0, top + 0.5 * side}, {{"violation of rates"}}, text_size, Anchor::middle, ink, true});
  picture.labels.push_back({{margin, picture.height - 13.0}, {{"numbers: when the violation was below a thousandth of its start; darker: later"}}, 7.0, Anchor::start, ink});
  picture.labels.push_back({{margin, picture.height - 4.0},
                            {{fmt::format("x, orange: the run stopped; -, pink: it remained until t = {:.3g}; white: no such start", map.t_end)}},
                            7.0, Anchor::start, ink});
  return picture;
}

}  // namespace daedalus::report
