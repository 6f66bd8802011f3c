#pragma once

#include <string>

#include "daedalus/report/plot_picture.hpp"
#include "daedalus/solve/perturbation.hpp"

namespace daedalus::report {

/// A table, and a map of letters for every formulation.
std::string to_text(const solve::PerturbationMap& map);
/// One JSON object with every run.
std::string to_json(const solve::PerturbationMap& map);
/// Squares over the violations of positions (to the right) and rates (upwards): the darker, the later the return.
Picture perturbation_picture(const solve::PerturbationMap& map);

}  // namespace daedalus::report
