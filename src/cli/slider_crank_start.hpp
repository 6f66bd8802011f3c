#pragma once

#include <string>

#include "cli/experiment_run.hpp"

namespace daedalus::cli {

/// A start of the slider-crank of 002, as the options of a command and as overrides of the model.
struct SliderCrankStart {
  model::Overrides overrides;
  std::string command;  ///< "simulate models/slider_crank.toml --initialize off --set ..."
};
SliderCrankStart slider_crank_start(const std::string& theta1, const std::string& theta2, double rate1, double rate2,
                                    double friction = 0.0);

/// delta = 1, epsilon = 0.1 with the coordinates and the gains of the paper.
inline constexpr const char* lyapunov_of_002 = "lyapunov:epsilon=0.1,psi=velocity,path=sequential";

}  // namespace daedalus::cli
