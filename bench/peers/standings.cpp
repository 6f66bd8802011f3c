#include "peers/standings.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "daedalus/report/comparison.hpp"
#include "daedalus/report/version.hpp"

namespace daedalus::bench {
namespace {

std::string cell(double value, int digits) { return std::isnan(value) ? "-" : fmt::format("{:.{}g}", value, digits); }

nlohmann::json number(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

/// The lines as runs of a comparison, which the report knows how to draw.
solve::Comparison as_comparison(const Standing& standing) {
  solve::Comparison comparison;
  comparison.models.push_back({standing.problem.title, false, 0.0, 0.0, {}, {}, {}});
  comparison.quantities = {solve::Quantity::position};
  for (const Line& line : standing.lines)
    for (const Measured& point : line.points) {
      solve::ComparedRun run;
      run.formulation = line.contestant;
      run.method = standing.problem.title;
      run.rtol = point.tolerance;
      run.success = point.good;
      run.trajectory.processor_seconds = point.seconds;
      of(run.error, solve::Quantity::position) = std::pow(10.0, -point.digits);
      comparison.runs.push_back(std::move(run));
    }
  comparison.planned = comparison.runs.size();
  return comparison;
}

}  // namespace

double Standing::seconds(const std::string& contestant, double digits) const {
  for (const Line& line : lines)
    if (line.contestant == contestant) return time_at(line.points, digits).value_or(not_measured);
  return not_measured;
}

double Standing::best(const std::string& prefix, double digits) const {
  double least = not_measured;
  for (const Line& line : lines)
    if (line.contestant.starts_with(prefix)) least = std::fmin(least, seconds(line.contestant, digits));
  return least;
}

double machine_factor(const std::vector<Standing>& standings) {
  double sum = 0.0;
  int count = 0;
  for (const Standing& standing : standings)
    for (std::size_t k = 0; k < standing.problem.reduced_by_hand.size(); ++k)
      if (const double one = standing.seconds("by hand", told_digits[k]) / standing.problem.reduced_by_hand[k]; std::isfinite(one)) {
        sum += std::log(one);
        ++count;
      }
  return count > 0 ? std::exp(sum / count) : not_measured;
}

Ratios ratios(const Standing& standing, std::size_t column) {
  const double digits = told_digits[column], own = standing.seconds("daedalus", digits);
  const double hand = standing.seconds("by hand", digits);
  Ratios result{hand / own, standing.best("ida", digits) / own, not_measured};
  if (column < standing.problem.best_dae_code.size()) {
    const double here = hand / standing.problem.reduced_by_hand[column];
    result.best_dae_code = standing.problem.best_dae_code[column] * (std::isfinite(here) ? here : standing.machine) / own;
  }
  return result;
}

std::string to_text(const Standing& standing) {
  const Problem& problem = standing.problem;
  std::string text = fmt::format("{} (ready after {:.2g} ms)\n", problem.title, 1e3 * problem.prepare_seconds);
  text += fmt::format("  {:<26}", problem.relative ? "ms at relative digits" : "ms at mixed digits");
  for (const int digits : told_digits) text += fmt::format("{:>10}", digits);
  text += "\n";
  for (const Line& line : standing.lines) {
    text += fmt::format("  {:<26}", line.contestant);
    for (const int digits : told_digits) text += fmt::format("{:>10}", cell(1e3 * standing.seconds(line.contestant, digits), 3));
    text += line.failure.empty() ? "\n" : "   (" + line.failure.substr(0, 60) + ")\n";
  }
  const auto row = [&](const char* name, double Ratios::* member) {
    std::string out = fmt::format("  {:<26}", name);
    bool any = false;
    for (std::size_t k = 0; k < told_digits.size(); ++k) {
      const double value = ratios(standing, k).*member;
      any = any || !std::isnan(value);
      out += fmt::format("{:>10}", cell(value, 3));
    }
    if (any) text += out + "\n";
  };
  row("by hand / daedalus", &Ratios::by_hand);
  row("IDA / daedalus", &Ratios::ida);
  row("best DAE code / daedalus", &Ratios::best_dae_code);
  return text;
}

std::string summary_text(const std::vector<Standing>& standings) {
  std::string text = fmt::format("{:<24}{:^24}{:^24}{:^24}\n{:<24}", "times as long as daedalus", "by hand", "IDA", "best DAE code",
                                 "at 4, 6, 8 digits");
  for (int group = 0; group < 3; ++group) text += fmt::format("{:>8}{:>8}{:>8}", 4, 6, 8);
  text += "\n";
  for (const Standing& standing : standings) {
    text += fmt::format("{:<24}", standing.problem.title);
    for (double Ratios::* member : {&Ratios::by_hand, &Ratios::ida, &Ratios::best_dae_code})
      for (std::size_t k = 0; k < 3; ++k) text += fmt::format("{:>8}", cell(ratios(standing, k).*member, 3));
    text += "\n";
  }
  return text;
}

nlohmann::json to_json(const std::vector<Standing>& standings) {
  nlohmann::json problems = nlohmann::json::array();
  for (const Standing& standing : standings) {
    nlohmann::json lines = nlohmann::json::array();
    for (const Line& line : standing.lines) {
      nlohmann::json points = nlohmann::json::array(), at = nlohmann::json::object();
      for (const Measured& point : line.points)
        if (point.good)
          points.push_back({{"tolerance", point.tolerance}, {"digits", number(point.digits)}, {"seconds", point.seconds},
                            {"steps", point.steps}, {"evaluations", point.evaluations}});
      for (const int digits : told_digits) at[std::to_string(digits)] = number(standing.seconds(line.contestant, digits));
      lines.push_back({{"name", line.contestant}, {"points", points}, {"seconds_at_digits", at}, {"failure", line.failure}});
    }
    nlohmann::json told = nlohmann::json::object();
    for (std::size_t k = 0; k < told_digits.size(); ++k) {
      const Ratios one = ratios(standing, k);
      told[std::to_string(told_digits[k])] = {
          {"by_hand", number(one.by_hand)}, {"ida", number(one.ida)}, {"best_dae_code", number(one.best_dae_code)}};
    }
    problems.push_back({{"name", standing.problem.name}, {"title", standing.problem.title},
                        {"prepare_seconds", standing.problem.prepare_seconds}, {"lines", lines}, {"ratios", told}});
  }
  return {{"version", report::version()}, {"commit", report::commit()}, {"problems", problems}};
}

std::string to_page(const std::vector<Standing>& standings) {
  std::string page = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Daedalus: work and precision</title>\n"
      "<style>body{{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#262626}}"
      "table{{border-collapse:collapse}}td,th{{padding:.15em .8em;text-align:right;border-bottom:1px solid #ddd}}"
      "td:first-child,th:first-child{{text-align:left}}svg{{max-width:100%;height:auto}}</style></head><body>\n"
      "<h1>Work and precision</h1>\n<p>Daedalus {} ({}). Seconds of processor time for the integration alone, medians over five "
      "perturbed tolerances, all programs taking turns on one machine. A ratio above 1 says how much longer the other program "
      "takes than Daedalus as it chooses, at equal digits.</p>\n",
      report::version(), report::commit());
  page += "<table><tr><th>problem</th><th colspan=3>by hand</th><th colspan=3>IDA</th><th colspan=3>best DAE code</th></tr>"
          "<tr><th>digits</th>";
  for (int group = 0; group < 3; ++group) page += "<th>4</th><th>6</th><th>8</th>";
  page += "</tr>\n";
  for (const Standing& standing : standings) {
    page += "<tr><td>" + standing.problem.title + "</td>";
    for (double Ratios::* member : {&Ratios::by_hand, &Ratios::ida, &Ratios::best_dae_code})
      for (std::size_t k = 0; k < 3; ++k) page += "<td>" + cell(ratios(standing, k).*member, 3) + "</td>";
    page += "</tr>\n";
  }
  page += "</table>\n";
  for (const Standing& standing : standings)
    page += fmt::format("<h2>{}</h2>\n<p>Read, derived and compiled in {:.2g} ms.</p>\n{}\n", standing.problem.title,
                        1e3 * standing.problem.prepare_seconds,
                        report::picture_svg(report::work_precision(as_comparison(standing))));
  return page + "</body></html>\n";
}

}  // namespace daedalus::bench
