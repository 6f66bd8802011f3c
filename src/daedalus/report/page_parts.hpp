#pragma once

#include <string>

#include "daedalus/solve/pipeline.hpp"

// The parts of the page. All return HTML.

namespace daedalus::report {

/// Tiles that say in words and numbers whether the run can be trusted.
std::string page_verdicts(const solve::Prepared& prepared, const solve::Trajectory& run);

/// What was chosen and why, cost, start values, notes, options.
std::string page_summary(const solve::Prepared& prepared, const solve::Trajectory& run,
                         const solve::RunOptions& options);

/// The equations of motion as MathML, parameters and events. What is too large for a page is counted, not shown.
std::string page_equations(const mechanics::Equations& equations);
/// The same for the equations of a DAE.
std::string page_equations(const structure::DaeFunctions& dae);

/// "m/s^2" as m/s², "N*m" as N·m.
std::string unit_text(const std::string& unit);

/// What the scripts draw: a description in JSON and two blocks of numbers in base64, little endian.
struct PageData {
  std::string description;
  std::string numbers;  ///< float64, series after series
  std::string frames;   ///< float32, frame after frame: coordinates of the drawn points
  bool has_phases = false;
  int dimension = 0;  ///< of the animation; 0: there is none
  std::size_t rows = 0, all_rows = 0;
  bool all_columns = true;
};
PageData page_data(const model::Model& model, const solve::Trajectory& run);

}  // namespace daedalus::report
