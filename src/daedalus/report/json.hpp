#pragma once

#include <string>

#include "daedalus/base/error.hpp"
#include "daedalus/mechanics/derive.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/report/findings.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/comparison.hpp"
#include "daedalus/solve/start.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus::report {

// One JSON text per command, as docs/command-line.md describes them. Numbers that are not finite are null.

/// `write_fault` says why the output file is not complete; the run then is no success.
std::string to_json(const solve::Trajectory& trajectory, const std::string& write_fault = {});
std::string to_json(const solve::Comparison& comparison);
std::string to_json(const std::vector<Findings>& all);
std::string to_json(const solve::Analysis& analysis);
std::string to_json(const solve::Start& start, const model::Model& model);
std::string to_json(const mechanics::Equations& equations);
std::string to_json(const structure::DaeFunctions& dae);
std::string to_json(const Error& error);
/// A failure that is not the author's: a code and a message.
std::string failure_json(const std::string& code, const std::string& message);
/// The catalogue, or the entry `name` alone where it is not empty.
std::string methods_json(const std::string& name);
std::string formulations_json(const std::string& name);

}  // namespace daedalus::report
