// The words of the page: whether a run can be trusted, what was chosen and why, what it cost.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "daedalus/base/options.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/expr/mathml.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/report/page_parts.hpp"
#include "daedalus/solve/tableau_method.hpp"
#include "daedalus/structure/linear_solution.hpp"

namespace daedalus::report {

using expr::escape_markup;
using solve::Trajectory;

namespace {

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent))) text += digits[c - '0'];
  return text;
}

/// What an option of a formulation or method means; its name is "projection.error".
std::string summary_of(const std::string& name, const std::string& owner, const std::vector<OptionSpec>& options) {
  for (const OptionSpec& option : options)
    if (name == owner + "." + option.name) return option.summary;
  return {};
}

}  // namespace

std::string power_of_ten(double value) {
  if (value == 0.0) return "0";
  if (!std::isfinite(value)) return "not finite";
  const std::string text = fmt::format("{:.1e}", value);
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  if (exponent >= 1 && exponent <= 4) return fmt::format("{:.0f}", value);
  if (exponent >= -2 && exponent <= 0) return brief(value, 2);
  const std::string mantissa = text[2] == '0' ? text.substr(0, 1) : text.substr(0, e);
  return mantissa == "1" ? "10" + superscript(exponent) : fmt::format("{}·10{}", mantissa, superscript(exponent));
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.0f} µs", 1e6 * seconds);
  if (seconds < 1.0) return fmt::format("{:.3g} ms", 1e3 * seconds);
  return fmt::format("{:.3g} s", seconds);
}

std::string page_tile(const std::string& grade, const std::string& what, const std::string& number,
                      const std::string& words) {
  return fmt::format(
      "<div class=\"verdict {}\"><div class=\"what\">{}</div><div class=\"number\">{}</div><p>{}</p></div>\n", grade,
      what, number, words);
}

namespace {

constexpr std::size_t most_rows = 16;

std::string grouped(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, "\u2009");
  return text;
}

const char* level_word(std::size_t level) { return level == 0 ? "position" : level == 1 ? "velocity" : "acceleration"; }

/// What residuals and energy are measured by. Fixed steps have no tolerance; they get the default one, by name.
double bar(const Trajectory& run) { return run.step ? 1e-6 : run.rtol; }
std::string yardstick(const Trajectory& run) {
  return run.step ? "10⁻⁶ (fixed steps have no tolerance of their own)" : "the tolerance " + power_of_ten(run.rtol);
}

/// Where no residual is measured: there may be constraints nevertheless, hidden in combinations of linear equations.
std::string no_drift_tile(const solve::Prepared& prepared, const Trajectory& run) {
  if (!prepared.linear || prepared.linear->parts.index == 0)
    return page_tile("good", "Constraints", "none", "The coordinates are free: nothing can drift.");
  const std::string hidden = fmt::format("Combinations of the equations and their derivatives bind {} of the {} unknowns",
                                         prepared.linear->parts.n2(), prepared.dae->dimension());
  if (run.formulation == "weierstrass")
    return page_tile("good", "Constraints", "hidden", hidden + ". The formula gives their values: nothing can drift.");
  return page_tile("", "Constraints", "hidden", hidden + "; no equation stands for them alone, so no residual is measured.");
}

std::string drift_tile(const solve::Prepared& prepared, const Trajectory& run, bool projects) {
  const solve::LevelResiduals& levels = run.constraints;
  double worst = 0.0;
  std::string parts;
  for (std::size_t level = 0; level < 3; ++level) {
    if (!levels.present[level]) continue;
    worst = std::max(worst, levels.relative[level]);
    parts +=
        fmt::format("{}{} {}", parts.empty() ? "" : ", ", levels.mechanical ? level_word(level) : "algebraic equations",
                    power_of_ten(levels.relative[level]));
  }
  if (parts.empty()) return no_drift_tile(prepared, run);
  const double tolerance = bar(run);
  const std::string numbers = fmt::format(" Largest residuals, relative to their largest terms: {}.", parts);
  // a hundred roundings of the largest term
  if (worst < 2e-14)
    return page_tile("good", "Constraints", power_of_ten(worst),
                     (levels.mechanical ? "They hold to rounding error at every level, the hidden ones too."
                                        : "The algebraic equations hold to rounding error.") +
                         numbers);
  if (worst <= tolerance)
    return page_tile("good", "Constraints", power_of_ten(worst),
                     fmt::format("They hold better than {}.{}", yardstick(run), numbers));
  return page_tile(worst <= 100.0 * tolerance ? "fair" : "bad", "Constraints", power_of_ten(worst),
                   fmt::format("They drift: {} times {}.{}{}", power_of_ten(worst / tolerance), yardstick(run), numbers,
                               projects ? "" : " <code>--formulation projection</code> keeps them."));
}

std::string invariant_tile(const Trajectory& run) {
  if (run.invariants.empty()) return {};
  double worst = 0.0;
  std::string parts;
  for (const solve::InvariantResidual& one : run.invariants) {
    worst = std::max(worst, one.relative);
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", escape_markup(one.name), power_of_ten(one.relative));
  }
  const std::string numbers = fmt::format(" Largest residuals, relative to their largest terms: {}.", parts);
  if (worst < 2e-14)
    return page_tile("good", "Invariants", power_of_ten(worst), "They hold to rounding error." + numbers);
  const double tolerance = bar(run);
  return page_tile(worst <= tolerance           ? "good"
                   : worst <= 100.0 * tolerance ? "fair"
                                                : "bad",
                   "Invariants", power_of_ten(worst),
                   fmt::format("They are {} {}.{}", worst <= tolerance ? "held better than" : "lost beyond",
                               yardstick(run), numbers));
}

std::string energy_tile(const solve::Prepared& prepared, const Trajectory& run) {
  if (prepared.dae) return "";
  if (!prepared.functions->has_energy())
    return page_tile("", "Energy", "unknown", "The model gives forces, not energies, so there is no verdict.");
  if (!run.energy)
    return page_tile("", "Energy", "not constant",
                     "Forces, dissipation or an explicit time put energy in or take it out, so its change says nothing "
                     "about the numerics.");
  const double change = *run.energy, tolerance = bar(run);
  const std::string of = "of the energy that moves";
  if (change < 1e-13)
    return page_tile("good", "Energy", power_of_ten(change),
                     fmt::format("Kept to rounding error: the largest change, as a part {}.", of));
  // The errors of single steps add up: two digits above the tolerance is ordinary for a run of some hundred steps.
  if (change <= 100.0 * tolerance)
    return page_tile("good", "Energy", power_of_ten(change),
                     fmt::format("Kept: the largest change as a part {}, {} {}.", of,
                                 change <= tolerance ? "below" : fmt::format("{} times", brief(change / tolerance, 2)),
                                 yardstick(run)));
  return page_tile(
      change < 0.01 ? "fair" : "bad", "Energy", power_of_ten(change),
      fmt::format(
          "It is lost or gained: the largest change as a part {}. A smaller {} shows whether the motion is right.", of,
          run.step ? "<code>--step</code>" : "<code>--rtol</code>"));
}

std::string run_tile(const Trajectory& run) {
  const double t_reached = run.t.empty() ? run.t_start : run.t.back();
  if (run.success())
    return page_tile("good", "Run", fmt::format("t = {} to {}", brief(run.t_start), brief(t_reached)),
                     fmt::format("{} steps, {} rejected, in {} after {} of preparation.", grouped(run.stats.steps),
                                 grouped(run.stats.rejected), time_text(run.seconds), time_text(run.prepare_seconds)));
  return page_tile("bad", "Run", fmt::format("stopped at t = {}", brief(t_reached)), escape_markup(run.message));
}

std::string system_tile(const solve::Prepared& prepared) {
  if (prepared.dae) {
    const structure::DaeFunctions& dae = *prepared.dae;
    std::string words = fmt::format("{}, {} of them differential", count(dae.dimension(), "unknown"), dae.differential);
    if (prepared.linear)
      words = fmt::format("index {}, {}, {} free", prepared.linear->parts.index, count(dae.dimension(), "unknown"),
                          count(prepared.linear->n1(), "initial value"));
    return page_tile("", "System", std::string(model::name_of(prepared.model->kind)), words + ".");
  }
  const mechanics::Functions& fn = *prepared.functions;
  const std::size_t n = fn.n, m = fn.m;
  std::string words = fmt::format("{}, {}", count(n, "coordinate"), count(m, "constraint"));
  if (!fn.equations.z.empty()) words += fmt::format(", {}", count(fn.equations.z.size(), "auxiliary unknown"));
  const std::string index = m == 0 && !fn.algebraic.empty() ? "index 1: algebraic unknowns, no constraint"
                            : m == 0                        ? "no constraint: an ordinary differential equation"
                            : fn.holonomic > 0
                                ? "index 3: the constraints act through forces, two differentiations away"
                                : "index 2: constraints on velocities";
  return page_tile("", "System", std::string(model::name_of(prepared.model->kind)), words + "; " + index + ".");
}

/// Who asked for a choice: the command line, the model file or nobody.
std::string origin(const std::optional<std::string>& command, const std::optional<std::string>& model,
                   const char* why) {
  if (command && *command != "auto") return "asked for on the command line";
  if (!command && model && *model != "auto") return "asked for in the model file";
  return why;
}

std::string row(const std::string& name, const std::string& value, const std::string& words = "") {
  return fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td></tr>\n", name, value, words);
}

std::string choices_table(const solve::Prepared& prepared, const Trajectory& run, const solve::RunOptions& options) {
  const model::Simulation& given = prepared.model->simulation;
  const formulate::FormulationEntry& form = formulate::formulation(parse_choice(run.formulation).name);
  const std::string first_method = parse_choice(run.method.substr(0, run.method.find(','))).name;
  const std::shared_ptr<const integrate::IntegratorEntry> method = solve::method_named(first_method);
  const auto code = [](const std::string& text) { return "<code>" + escape_markup(text) + "</code>"; };
  std::string text = "<table class=\"plain choices\"><tbody>\n";
  text +=
      row("formulation", code(run.formulation),
          escape_markup(form.summary) + "; " + origin(options.formulation, given.formulation, "chosen by the program"));
  text += row("method", code(run.method),
              escape_markup(method->summary) + "; " + origin(options.method, given.method, "chosen by the program"));
  if (!run.chosen.empty()) text += row("why", "", escape_markup(run.chosen));
  if (run.step)
    text += row("step", brief(*run.step), "fixed, asked for on the command line");
  else
    text += row("tolerances", fmt::format("rtol {}, atol {}", power_of_ten(run.rtol), power_of_ten(run.atol)),
                options.rtol || options.atol ? "asked for on the command line"
                : given.rtol || given.atol   ? "from the model file"
                                             : "the defaults");
  for (const auto& [name, value] : run.options)
    if (name == "initialize")
      text +=
          row("start", code(value),
              value == "project" ? "start values that do not bind are moved onto the constraints, as little as possible"
              : value == "check" ? "the start must satisfy the constraints already"
                                 : "the start is taken as given");
  for (const auto& [name, value] : run.options)
    if (name.find('.') != std::string::npos)
      text += row(
          escape_markup(name), code(value),
          escape_markup(summary_of(name, form.name, form.options) + summary_of(name, method->name, method->options)));
  return text + "</tbody></table>\n";
}

std::string start_table(const Trajectory& run) {
  if (run.t.empty()) return {};
  std::string text =
      "<h3>Start</h3>\n<div class=\"scroll\"><table class=\"plain\"><thead><tr><th></th><th class=\"n\">value</th><th "
      "class=\"n\">moved by</th></tr></thead><tbody>\n";
  std::size_t shown = 0;
  const auto moved_by = [&](const std::string& name) -> const solve::Moved* {
    const auto found =
        std::find_if(run.moved.begin(), run.moved.end(), [&](const solve::Moved& moved) { return moved.name == name; });
    return found == run.moved.end() ? nullptr : &*found;
  };
  for (std::size_t j = 0; j < run.columns.size() && shown < most_rows; ++j) {
    const std::string& name = run.columns[j];
    if (name.starts_with("residual.") || name.starts_with("der(residual.") || name == "energy") continue;
    const solve::Moved* moved = moved_by(name);
    text +=
        fmt::format("<tr><th><math>{}</math></th><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                    expr::name_to_mathml(name), brief(run.value(0, j), 9), moved == nullptr ? "" : brief(moved->by, 3));
    ++shown;
  }
  text += "</tbody></table></div>\n";
  if (shown < run.columns.size() && shown == most_rows)
    text += fmt::format("<p class=\"quietly\">{} of {}; {} moved in all.</p>\n", shown,
                        count(run.columns.size(), "column"), count(run.moved.size(), "value"));
  return text;
}

/// When what happened, by name.
std::string events_table(const Trajectory& run) {
  if (run.events.empty()) return {};
  std::string text =
      "<h3>Events</h3>\n<div class=\"scroll\"><table class=\"plain\"><thead><tr><th></th><th class=\"n\">times</th><th "
      "class=\"n\">first</th><th class=\"n\">last</th></tr></thead><tbody>\n";
  std::vector<std::string> names;
  for (const solve::EventRecord& event : run.events)
    if (std::find(names.begin(), names.end(), event.name) == names.end()) names.push_back(event.name);
  for (const std::string& name : names) {
    std::vector<double> times;
    for (const solve::EventRecord& event : run.events)
      if (event.name == name) times.push_back(event.t);
    text += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n",
                        escape_markup(name), times.size(), brief(times.front(), 9), brief(times.back(), 9));
  }
  return text + "</tbody></table></div>\n";
}

std::string cost_table(const Trajectory& run) {
  std::string text = "<h3>Cost</h3>\n<table class=\"plain\"><tbody>\n";
  const auto line = [&](const char* name, std::size_t number) {
    if (number > 0) text += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td></tr>\n", name, grouped(number));
  };
  line("steps accepted", run.stats.steps);
  line("steps rejected", run.stats.rejected);
  line("right-hand sides", run.stats.rhs);
  line("factorizations", run.stats.factorizations);
  line("projections", run.stats.projections);
  line("Jacobians", run.stats.jacobians);
  line("Newton iterations", run.stats.newton_iterations);
  for (const auto& [name, seconds] : run.stages)
    text += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td></tr>\n", escape_markup(name), time_text(seconds));
  return text + "</tbody></table>\n";
}

std::string levels_table(const Trajectory& run) {
  std::string rows;
  for (std::size_t level = 0; level < run.constraints.size(); ++level)
    if (run.constraints.present[level])
      rows += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n", level_word(level),
                          power_of_ten(run.constraints.absolute[level]), power_of_ten(run.constraints.relative[level]));
  for (const solve::InvariantResidual& one : run.invariants)
    rows += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n", escape_markup(one.name),
                        power_of_ten(one.absolute), power_of_ten(one.relative));
  if (rows.empty()) return {};
  return "<h3>Largest residuals</h3>\n<table class=\"plain\"><thead><tr><th>level</th><th class=\"n\">absolute</th><th "
         "class=\"n\">relative</th></tr></thead><tbody>\n" +
         rows + "</tbody></table>\n";
}

}  // namespace

std::string unit_text(const std::string& unit) {
  std::string text;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    std::size_t end = i + 1;
    if (unit[i] == '^') {
      if (end < unit.size() && unit[end] == '-') ++end;
      while (end < unit.size() && end < i + 4 && std::isdigit(static_cast<unsigned char>(unit[end]))) ++end;
    }
    if (unit[i] == '^' && end > i + 1 && std::isdigit(static_cast<unsigned char>(unit[end - 1]))) {
      text += superscript(std::stoi(unit.substr(i + 1, end - i - 1)));
      i = end - 1;
    } else {
      text += unit[i] == '*' ? "·" : std::string(1, unit[i]);
    }
  }
  return text;
}

std::string page_verdicts(const solve::Prepared& prepared, const Trajectory& run) {
  const Choice choice = parse_choice(run.formulation);
  const formulate::FormulationEntry& form = formulate::formulation(choice.name);
  const bool projects = holds_constraints(form, Options(choice, form.options));
  return "<div class=\"verdicts\">\n" + run_tile(run) + drift_tile(prepared, run, projects) + invariant_tile(run) +
         energy_tile(prepared, run) + system_tile(prepared) + "</div>\n";
}

std::string page_summary(const solve::Prepared& prepared, const Trajectory& run, const solve::RunOptions& options) {
  std::string text = "<section class=\"long\">\n<h2>How it was computed</h2>\n";
  text += choices_table(prepared, run, options);
  if (!run.notes.empty()) {
    text += "<h3>Notes</h3>\n";
    for (const std::string& note : run.notes) text += "<p>" + escape_markup(note) + "</p>\n";
  }
  text += "<div class=\"columns\">\n<div>\n" + start_table(run) + events_table(run) + "</div>\n<div>\n" +
          levels_table(run) + cost_table(run);
  return text + "</div>\n</div>\n</section>\n";
}

}  // namespace daedalus::report
