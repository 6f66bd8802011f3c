#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/report/plot.hpp"
#include "daedalus/solve/control.hpp"

namespace daedalus::report {

/// What `linearize` and `bode` say about a linear model.
struct ControlFindings {
  const solve::LinearModel* model = nullptr;
  std::optional<solve::ModeAnalysis> modes;       ///< absent for models of many states
  std::vector<solve::Channel> channels;           ///< one per input and output
  std::optional<solve::FrequencyResponse> response;
};

std::string to_text(const ControlFindings& findings, const std::string& path);
std::string to_json(const ControlFindings& findings);
/// omega, then magnitude, magnitude in dB and phase in degrees of every channel.
std::string to_csv(const ControlFindings& findings);
/// Magnitude in dB and phase over omega.
PlotData bode_plot(const ControlFindings& findings);

}  // namespace daedalus::report
