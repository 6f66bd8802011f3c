#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace daedalus::solve {

/// Which rows a trajectory keeps. `steps_and_times`: every accepted step and the output times between them, for pictures.
enum class Rows { steps, ends, steps_and_times };

/// How a model is to be run. What is absent comes from the model's [simulation], then from the defaults.
struct RunOptions {
  std::optional<double> t_start, t_end;
  std::optional<double> rtol, atol;
  std::optional<double> step, first_step, max_step;
  bool first_step_was_refused = false;  ///< a longer one was refused before; set for continued runs
  std::optional<std::size_t> max_steps;
  std::optional<std::string> formulation, method;  ///< "name" or "name:option=value,..."
  std::optional<std::string> initialize;           ///< project, check or off
  /// The start is a point of an earlier run. Without `initialize` it is then projected where the formulation projects, and
  /// kept as it is otherwise: a run that drifts goes on where it was.
  bool continues = false;

  // Output times, at most one of the three; without them `rows` decides.
  std::optional<std::size_t> samples;
  std::optional<double> every;
  std::vector<double> at;
  /// Time from which `samples` and `every` count, and before t_start leave out: a continued run then gives the rows that the
  /// whole run would have given. Absent: t_start.
  std::optional<double> output_start;
  Rows rows = Rows::steps;
  bool watch = true;       ///< looks at residuals and energy after every step; off: in rows alone
  bool residuals = false;  ///< adds residual.*, der(residual.*) and energy to the columns

  bool pictures = false;   ///< records what [drawing] and [plots] show
  bool keep_rows = true;   ///< keeps all rows in the trajectory; off: only the first and the last, for runs that are streamed

  /// Told the columns before the first row, then every row as soon as it is computed.
  std::function<void(const std::vector<std::string>& columns)> on_columns;
  std::function<void(double t, std::span<const double> values)> on_row;
  /// Told at every accepted step and row the largest residual of each level of constraints.
  std::function<void(double t, std::span<const double> levels)> on_residuals;

  std::function<bool()> interrupt;                                     ///< asked once per step
  std::function<void(double t, double t_end, double h)> progress;  ///< told now and then
};

}  // namespace daedalus::solve
