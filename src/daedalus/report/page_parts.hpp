#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/solve/pipeline.hpp"

// The parts of the page. All return HTML.

namespace daedalus::report {

/// What is particular to one page; `page_of` puts the document around it.
struct PageFrame {
  std::string title, lead;                                         ///< plain text
  std::string head;                                                ///< below the title: tiles
  std::string body;                                                ///< the sections
  std::vector<std::pair<std::string, std::string>> json, numbers;  ///< by id: a description, blocks of base64
  enum class Scripts { plots, plots_and_space } scripts = Scripts::plots;
};
std::string page_of(const PageFrame& frame);

/// A tile with a number and what it means; the grade is good, fair, bad or empty.
std::string page_tile(const std::string& grade, const std::string& what, const std::string& number,
                      const std::string& words);
/// 2.8·10⁻¹⁶: a small number for people.
std::string power_of_ten(double value);
/// "120 µs", "3.4 ms", "2 s".
std::string time_text(double seconds);
/// JSON that can stand in a script element.
std::string script_text(const std::string& description);
/// Bytes as base64; the page's numbers are little endian.
std::string base64(const void* data, std::size_t size);

/// Tiles that say in words and numbers whether the run can be trusted.
std::string page_verdicts(const solve::Prepared& prepared, const solve::Trajectory& run);

/// What was chosen and why, cost, start values, notes, options.
std::string page_summary(const solve::Prepared& prepared, const solve::Trajectory& run,
                         const solve::RunOptions& options);

/// The equations of motion as MathML, parameters and events. What is too large for a page is counted, not shown.
std::string page_equations(const mechanics::Equations& equations);
/// The same for the equations of a DAE.
std::string page_equations(const structure::DaeFunctions& dae);

/// Which unknowns stand in which equations, as written and in the order of solution: a picture and what it says.
std::string page_structure(const solve::Prepared& prepared);
/// Of linear models: what `analyze` says of the pencil; empty for others.
std::string page_pencil(const solve::Prepared& prepared, double t_start);

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
