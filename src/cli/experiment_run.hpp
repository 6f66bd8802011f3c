#pragma once

#include <string>

#include "daedalus/model/reader.hpp"
#include "daedalus/report/plot.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

// What experiments are made of.

/// Thrown where a signal asks to stop.
struct ExperimentInterrupted {};

/// A model of the project by its name, as the project has it.
model::Model shipped_model(const std::string& name, const model::Overrides& overrides = {});

/// Runs it to the end. A run that may fail is one for `attempt`.
solve::Trajectory run_to_end(const solve::Prepared& prepared, const solve::RunOptions& options);
solve::Trajectory attempt(const solve::Prepared& prepared, solve::RunOptions options);

/// A column of a run over time, or its absolute values for a logarithmic axis.
report::Curve curve_of(const solve::Trajectory& trajectory, const std::string& column, const std::string& name);
report::Curve size_of(const solve::Trajectory& trajectory, const std::string& column, const std::string& name);

/// A number of a table, with two digits and a power of ten: "9.6e-6", "0".
std::string rounded(double value);
/// With so many decimals: "1.8415".
std::string decimals(double value, int count);

}  // namespace daedalus::cli
