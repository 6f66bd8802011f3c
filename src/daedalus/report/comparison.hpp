#pragma once

#include <string>

#include "daedalus/report/plot_picture.hpp"
#include "daedalus/solve/comparison.hpp"

namespace daedalus::report {

// A comparison for people and programs. `command` is what was typed after `daedalus`, for the next useful command.

/// A table of all runs, what they are compared with, and which was the fastest at some accuracies.
std::string to_text(const solve::Comparison& comparison, const std::string& command);
/// One row per run, with names in the header as in JSON: error.position, stats.steps.
std::string to_csv(const solve::Comparison& comparison);
/// A document with the table; inside of another document, \input takes the table alone.
std::string to_latex(const solve::Comparison& comparison);

/// A self-contained HTML page: work-precision diagrams, tolerance proportionality, residuals over time, a sortable
/// table.
std::string to_page(const solve::Comparison& comparison);
/// The work-precision diagram: error against processor time, one panel per method, one curve per formulation.
Picture work_precision(const solve::Comparison& comparison);

/// The fastest successful run of a model whose error is at most `error` (of positions, velocities and other unknowns
/// beside multipliers), or null.
const solve::ComparedRun* fastest(const solve::Comparison& comparison, std::size_t model, double error);
/// Why there is no successful run.
std::string failure_of(const solve::Comparison& comparison);

}  // namespace daedalus::report
