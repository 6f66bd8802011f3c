#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
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

  bool pictures = false;   ///< records what [drawing] and [plots] show
  bool keep_rows = true;   ///< keeps all rows in the trajectory; off: only the first and the last, for runs that are streamed

  /// Told the columns before the first row, then every row as soon as it is computed.
  std::function<void(const std::vector<std::string>& columns)> on_columns;
  std::function<void(double t, std::span<const double> values)> on_row;

  std::function<bool()> interrupt;                                     ///< asked once per step
  std::function<void(double t, double t_end, double h)> progress;  ///< told now and then
};

}  // namespace daedalus::solve
