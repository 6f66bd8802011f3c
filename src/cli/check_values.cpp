#include "cli/check_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/error.hpp"
#include "daedalus/base/options.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

namespace {

void require(bool good, const std::string& given, const std::string& rule, const std::string& advice) {
  if (!good) throw Error("bad-option-value", fmt::format("{} is not possible: {}", given, rule), advice);
}

void require_positive(const std::optional<double>& value, const std::string& option, const std::string& example) {
  if (value)
    require(*value > 0.0 && std::isfinite(*value), option + " " + shortest(*value), "it must be positive and finite",
            fmt::format("write for example {} {}", option, example));
}

void require_finite(const std::optional<double>& value, const std::string& option) {
  if (value)
    require(std::isfinite(*value), option + " " + shortest(*value), "a time must be finite",
            fmt::format("write for example {} 10", option));
}

/// Tolerances and steps are options of the command, not of a method.
void refuse_misplaced_options(const std::optional<std::string>& method) {
  if (!method) return;
  const Choice choice = parse_choice(*method);
  for (const auto& [name, value] : choice.options)
    if (name == "step" || name == "rtol" || name == "atol" || name == "max-step" || name == "first-step")
      throw Error("unknown-option",
                  fmt::format("'{}' has no option '{}' (given as {}={})", choice.name, name, name, value),
                  fmt::format("it is an option of the command: --method {} --{} {}", choice.name, name, value));
}

void refuse_contradictions(const solve::RunOptions& run) {
  const auto together = [](const char* one, double a, const char* other, double b, const char* rule) {
    throw Error("bad-option-value",
                fmt::format("{} {} contradicts {} {}: {}", one, shortest(a), other, shortest(b), rule),
                "leave one of the two out");
  };
  if (run.step && run.max_step && *run.step > *run.max_step)
    together("--step", *run.step, "--max-step", *run.max_step, "every step has the size of --step");
  if (run.step && run.first_step && *run.step != *run.first_step)
    together("--step", *run.step, "--first-step", *run.first_step, "every step has the size of --step");
  if (run.first_step && run.max_step && *run.first_step > *run.max_step)
    together("--first-step", *run.first_step, "--max-step", *run.max_step, "no step is larger than --max-step");
}

}  // namespace

void check_values(const Command& command) {
  const solve::RunOptions& run = command.run;
  constexpr double smallest_rtol = 1e-15;
  if (run.rtol)
    require(*run.rtol >= smallest_rtol && *run.rtol < 1.0, "--rtol " + shortest(*run.rtol),
            "a relative tolerance is at least 1e-15 and less than 1", "write for example --rtol 1e-6");
  require_positive(run.atol, "--atol", "1e-8");
  require_positive(run.step, "--step", "0.01");
  require_positive(run.first_step, "--first-step", "0.001");
  require_positive(run.every, "--every", "0.1");
  if (run.max_step)
    require(*run.max_step > 0.0, "--max-step " + shortest(*run.max_step), "it must be positive",
            "write for example --max-step 0.1");
  require_finite(run.t_start, "--t-start");
  require_finite(run.t_end, "--t-end");
  if (run.max_steps)
    require(*run.max_steps > 0, "--max-steps 0", "it allows no step at all", "write for example --max-steps 100000");
  if (run.samples)
    require(*run.samples >= 2 && *run.samples <= 100'000'000, fmt::format("--samples {}", *run.samples),
            "it counts rows, start and end included: from 2 to 100000000", "write for example --samples 101");
  refuse_misplaced_options(run.method);
  refuse_contradictions(run);
}

void check_times(const Command& command, const model::Model& model) {
  const solve::RunOptions& run = command.run;
  const double t_start = solve::start_time(model, run);
  const std::optional<double> t_end = run.t_end ? run.t_end : model.simulation.t_end;
  if (!t_end) return;
  if (*t_end < t_start)
    throw Error("bad-option-value",
                fmt::format("t_end = {} is before the start, t_start = {}", shortest(*t_end), shortest(t_start)),
                "time runs forwards: give a later --t-end or an earlier --t-start");
  const double spacing = std::numeric_limits<double>::epsilon() * std::max(std::abs(t_start), std::abs(*t_end));
  if (run.step && *run.step < spacing)
    throw Error("bad-option-value",
                fmt::format("--step {} is too small: near t = {} two numbers are {} apart", shortest(*run.step),
                            shortest(*t_end), brief(spacing)),
                "give a larger step");
  if (!command.restart.empty()) return;
  for (const double t : run.at)
    if (!(t >= t_start && t <= *t_end))
      throw Error("bad-option-value",
                  fmt::format("--at {} is outside of the run, which goes from {} to {}", shortest(t), shortest(t_start),
                              shortest(*t_end)),
                  "give times between these, or another --t-end");
}

}  // namespace daedalus::cli
