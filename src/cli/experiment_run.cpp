#include "cli/experiment_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/progress.hpp"
#include "cli/shipped_models.hpp"
#include "daedalus/base/check.hpp"

namespace daedalus::cli {

model::Model shipped_model(const std::string& name, const model::Overrides& overrides) {
  return model::read_model_text(std::string(shipped_models().at(name)), "models/" + name + ".toml", overrides);
}

solve::Trajectory attempt(const solve::Prepared& prepared, solve::RunOptions options) {
  options.interrupt = asked_to_stop;
  solve::Trajectory trajectory = solve::simulate(prepared, options);
  if (trajectory.status == integrate::Status::interrupted) throw ExperimentInterrupted{};
  return trajectory;
}

solve::Trajectory run_to_end(const solve::Prepared& prepared, const solve::RunOptions& options) {
  solve::Trajectory trajectory = attempt(prepared, options);
  DAEDALUS_CHECK(trajectory.success(), "{}: {}", trajectory.model, trajectory.message);
  return trajectory;
}

report::Curve curve_of(const solve::Trajectory& trajectory, const std::string& column, const std::string& name) {
  report::Curve curve{name, trajectory.t, {}};
  const std::size_t at = trajectory.column(column);
  for (std::size_t row = 0; row < trajectory.t.size(); ++row) curve.y.push_back(trajectory.value(row, at));
  return curve;
}

report::Curve size_of(const solve::Trajectory& trajectory, const std::string& column, const std::string& name) {
  report::Curve curve = curve_of(trajectory, column, name);
  for (double& value : curve.y) value = std::abs(value);
  return curve;
}

std::string rounded(double value) {
  if (value == 0.0) return "0";
  std::string text = fmt::format("{:.1e}", value);
  const std::size_t exponent = text.find('e') + 1;
  return fmt::format("{}{}", text.substr(0, exponent), std::stoi(text.substr(exponent)));
}

std::string decimals(double value, int count) { return fmt::format("{:.{}f}", value, count); }

}  // namespace daedalus::cli
