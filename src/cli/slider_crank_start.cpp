#include "cli/slider_crank_start.hpp"

#include <fmt/format.h>

namespace daedalus::cli {

SliderCrankStart slider_crank_start(const std::string& theta1, const std::string& theta2, double rate1, double rate2,
                                    double friction) {
  SliderCrankStart start;
  start.overrides.set = {{"theta1", theta1},
                         {"theta2", theta2},
                         {"der(theta1)", fmt::format("{}", rate1)},
                         {"der(theta2)", fmt::format("{}", rate2)}};
  if (friction != 0.0) start.overrides.set.emplace_back("c", fmt::format("{}", friction));
  start.command = "simulate models/slider_crank.toml --initialize off";
  for (const auto& [name, value] : start.overrides.set) start.command += fmt::format(" --set \"{}={}\"", name, value);
  return start;
}

}  // namespace daedalus::cli
