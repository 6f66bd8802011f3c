#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace daedalus::solve {

/// Which rows a trajectory keeps.
enum class Rows { steps, ends };

/// How a model is to be run. What is absent comes from the model's [simulation], then from the defaults.
struct RunOptions {
  std::optional<double> t_start, t_end;
  std::optional<double> rtol, atol;
  std::optional<double> step, first_step, max_step;
  std::optional<std::size_t> max_steps;
  std::optional<std::string> formulation, method;  ///< "name" or "name:option=value,..."
  std::optional<std::string> initialize;           ///< project, check or off

  // Output times, at most one of the three; without them `rows` decides.
  std::optional<std::size_t> samples;
  std::optional<double> every;
  std::vector<double> at;
  Rows rows = Rows::steps;
  bool residuals = false;  ///< adds residual.*, der(residual.*) and energy to the columns

  std::function<bool()> interrupt;                                     ///< asked once per step
  std::function<void(double t, double t_end, double h)> progress;  ///< told now and then
};

}  // namespace daedalus::solve
