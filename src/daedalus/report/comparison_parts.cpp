#include "daedalus/report/comparison_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"
#include "daedalus/report/comparison.hpp"
#include "daedalus/report/text_parts.hpp"

namespace daedalus::report {

using solve::ComparedRun;
using solve::Comparison;
using solve::Quantity;

std::string level_name(const Comparison& comparison, std::size_t level) {
  static constexpr std::array names{"position", "velocity", "acceleration"};
  const bool mechanical = std::ranges::any_of(comparison.models, &solve::ComparedModel::mechanical);
  return mechanical ? names[level] : level == 0 ? "algebraic" : fmt::format("level {}", level);
}

std::vector<std::size_t> levels_of(const Comparison& comparison) {
  std::vector<std::size_t> levels;
  std::size_t most = 0;
  for (const ComparedRun& run : comparison.runs) most = std::max(most, run.trajectory.constraints.size());
  for (std::size_t level = 0; level < most; ++level)
    if (std::ranges::any_of(comparison.runs, [&](const ComparedRun& run) { return run.trajectory.constraints.has(level); }))
      levels.push_back(level);
  return levels;
}

std::vector<std::string> invariants_of(const Comparison& comparison) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const ComparedRun& run : comparison.runs)
    if (run.trajectory.energy) add("energy");
  for (const ComparedRun& run : comparison.runs)
    for (const solve::InvariantResidual& one : run.trajectory.invariants) add(one.name);
  return names;
}

std::optional<double> change_of(const ComparedRun& run, const std::string& invariant) {
  for (const solve::InvariantResidual& one : run.trajectory.invariants)
    if (one.name == invariant) return one.relative;
  return invariant == "energy" ? run.trajectory.energy : std::nullopt;
}

bool RunColumn::below_least(const ComparedRun& run) const {
  const std::optional<double> bound = least ? least(run) : std::nullopt, own = value(run);
  return bound && own && *own <= *bound;
}

std::vector<RunColumn> columns_of(const Comparison& comparison) {
  using Kind = RunColumn::Kind;
  std::vector<RunColumn> columns;
  const auto add = [&](Kind kind, const std::string& name, auto value, const char* short_name = nullptr) {
    columns.push_back({kind, name, short_name == nullptr ? name : short_name, value});
  };
  for (const Quantity quantity : comparison.quantities) {
    add(Kind::error, std::string(name_of(quantity)),
        [quantity](const ComparedRun& run) { return of(run.error, quantity); });
    columns.back().least = [&comparison, quantity](const ComparedRun& run) {
      return of(comparison.models[run.model].reference.agreement, quantity);
    };
  }
  constexpr double round_off = 1e-12;
  for (const std::size_t level : levels_of(comparison)) {
    const auto drift = [level](const ComparedRun& run) -> std::optional<double> {
      const solve::LevelResiduals& residuals = run.trajectory.constraints;
      return residuals.present[level] ? std::optional(residuals.relative[level]) : std::nullopt;
    };
    if (level < 2 || std::ranges::any_of(comparison.runs, [&](const auto& run) { return drift(run) > round_off; }))
      add(Kind::drift, level_name(comparison, level), drift);
  }
  for (const std::string& name : invariants_of(comparison))
    add(Kind::invariant, name, [name](const ComparedRun& run) { return change_of(run, name); });
  const auto count_of = [&](const char* name, std::size_t integrate::Stats::*member, const char* short_name) {
    add(
        Kind::count, name,
        [member](const ComparedRun& run) { return std::optional(static_cast<double>(run.trajectory.stats.*member)); },
        short_name);
  };
  count_of("steps", &integrate::Stats::steps, "steps");
  count_of("rejected", &integrate::Stats::rejected, "rej.");
  count_of("rhs", &integrate::Stats::rhs, "rhs");
  count_of("jacobians", &integrate::Stats::jacobians, "Jac.");
  count_of("factorizations", &integrate::Stats::factorizations, "LU");
  add(
      Kind::seconds, "processor time",
      [](const ComparedRun& run) { return std::optional(run.trajectory.processor_seconds); }, "time (s)");
  return columns;
}

std::string series_of(const Comparison& comparison, const ComparedRun& run) {
  return comparison.models.size() > 1 ? comparison.models[run.model].name + ": " + run.formulation : run.formulation;
}

std::vector<std::string> series_of(const Comparison& comparison) {
  std::vector<std::string> series;
  for (const ComparedRun& run : comparison.runs)
    if (const std::string own = series_of(comparison, run); std::ranges::find(series, own) == series.end())
      series.push_back(own);
  return series;
}

std::string error_title(const Comparison& comparison) {
  const auto has = [&](Quantity quantity) {
    return std::ranges::find(comparison.quantities, quantity) != comparison.quantities.end();
  };
  if (has(Quantity::position))
    return has(Quantity::velocity) ? "error of positions and velocities" : "error of positions";
  return "error";
}

std::string name_of(const ComparedRun& run) { return run.formulation + " + " + run.method; }

std::string tolerance_text(double value) {
  std::string text = fmt::format("{:e}", value);
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(text.substr(e + 1));
  std::string digits = text.substr(0, e);
  while (digits.ends_with('0')) digits.pop_back();
  if (digits.ends_with('.')) digits.pop_back();
  return fmt::format("{}e{}", digits, exponent);
}

std::string control_of(const ComparedRun& run) {
  return run.step ? fmt::format("step {}", brief(*run.step)) : "rtol " + tolerance_text(run.rtol.value_or(0.0));
}

std::string short_message(const std::string& message, std::size_t most) {
  std::string text = message.substr(0, message.find('\n'));
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // not inside of a letter
  return text.substr(0, end) + " ...";
}

const ComparedRun* fastest(const Comparison& comparison, std::size_t model, double error) {
  const ComparedRun* best = nullptr;
  for (const ComparedRun& run : comparison.runs) {
    const std::optional<double> own = solve::of_motion(run.error);
    if (run.model != model || !run.success || !own || *own > error) continue;
    if (best == nullptr || run.trajectory.processor_seconds < best->trajectory.processor_seconds) best = &run;
  }
  return best;
}

std::string failure_of(const Comparison& comparison) {
  const std::string first = comparison.runs.empty()
                                ? ""
                                : "; " + name_of(comparison.runs.front()) + ", " + control_of(comparison.runs.front()) +
                                      ": " + short_message(comparison.runs.front().message, 300);
  return fmt::format("none of the {} reached the end{}", count(comparison.runs.size(), "run"), first);
}

std::string agreement_text(const solve::ErrorBy& agreement) {
  static constexpr std::array<const char*, solve::quantity_count> names{"positions", "velocities", "multipliers",
                                                                        "auxiliary unknowns", "the unknowns"};
  std::vector<std::string> parts;
  for (std::size_t q = 0; q < solve::quantity_count; ++q)
    if (agreement[q])
      parts.push_back(fmt::format(
          "{} in {}", *agreement[q] == 0.0 ? "the last bit" : fmt::format("{:.1e}", *agreement[q]), names[q]));
  return parts.empty() ? "" : "agree to " + joined(parts);
}

}  // namespace daedalus::report
