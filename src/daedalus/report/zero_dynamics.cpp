#include "daedalus/report/zero_dynamics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "daedalus/base/text.hpp"

namespace daedalus::report {

namespace {

using Stability = solve::ZeroDynamics::Stability;

std::string line(const std::string& label, const std::string& text) { return fmt::format("{:<10}{}\n", label, text); }

/// Six digits, and 0 for round-off.
std::string value_text(double value) { return std::abs(value) < 1e-9 ? "0" : fmt::format("{:.6g}", value); }

std::string eigenvalue_text(const std::complex<double>& value, double size) {
  const double zero = 1e-6 * size;
  const double real = std::abs(value.real()) < zero ? 0.0 : value.real();
  if (std::abs(value.imag()) < zero) return fmt::format("{:.4g}", real);
  return fmt::format("{}{:.4g}i", real == 0.0 ? "+-" : fmt::format("{:.4g} +- ", real), std::abs(value.imag()));
}

std::string eigenvalues_text(const solve::ZeroDynamics::Equilibrium& one) {
  double size = 1.0;
  for (const auto& value : one.eigenvalues) size = std::max(size, std::abs(value));
  std::string text;
  for (const auto& value : one.eigenvalues) {
    if (value.imag() < -1e-6 * size) continue;  // shown with its conjugate
    text += (text.empty() ? "" : ", ") + eigenvalue_text(value, size);
  }
  return text;
}

const char* stability_text(Stability stability) {
  switch (stability) {
    case Stability::asymptotic:
      return "asymptotically stable";
    case Stability::unstable:
      return "unstable";
    case Stability::undecided:
      break;
  }
  return "not decided by its linearization";
}

}  // namespace

std::string to_text(const solve::ZeroDynamics& zero) {
  if (!zero.message.empty()) return line("zero", "no zero dynamics: " + zero.message);
  std::string text = line("zero", fmt::format("zero dynamics of dimension {} beside {} constraint{}, in {}", zero.dimension,
                                              zero.constraints, zero.constraints == 1 ? "" : "s, hidden ones included",
                                              zero.coordinates.empty() ? "no coordinates" : fmt::format("{}", fmt::join(zero.coordinates, ", "))));
  if (zero.dimension == 0) return text + line("", "the constraints leave nothing that moves by itself");
  if (!zero.autonomous) return text + line("", "they depend on time: no equilibria were looked for");
  if (!zero.searched) return text + line("", "too many for a search for equilibria");
  if (zero.equilibria.empty()) return text + line("", "no equilibrium was found around the start");
  for (const auto& one : zero.equilibria) {
    std::string values;
    for (std::size_t i = 0; i < one.x.size(); ++i)
      if (!zero.names[i].starts_with("der(")) values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", zero.names[i], value_text(one.x[i]));
    const std::string family =
        one.family == 0 ? "" : fmt::format("one of a family of dimension {}, ", one.family);
    text += line("at rest", fmt::format("{}: {}{} (eigenvalues {})", values, family, stability_text(one.stability), eigenvalues_text(one)));
  }
  return text;
}

std::string with_zero_dynamics(const std::string& analysis, const solve::ZeroDynamics& zero) {
  nlohmann::json equilibria = nlohmann::json::array();
  for (const auto& one : zero.equilibria) {
    nlohmann::json state, eigenvalues = nlohmann::json::array();
    for (std::size_t i = 0; i < one.x.size(); ++i) state[zero.names[i]] = one.x[i];
    for (const auto& value : one.eigenvalues) eigenvalues.push_back({value.real(), value.imag()});
    equilibria.push_back({{"state", state}, {"eigenvalues", eigenvalues}, {"stability", stability_text(one.stability)}, {"family", one.family}});
  }
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(analysis);
  json["zero_dynamics"] = nlohmann::json{{"dimension", zero.dimension},
                        {"constraints", zero.constraints},
                        {"coordinates", zero.coordinates},
                        {"autonomous", zero.autonomous},
                        {"searched", zero.searched},
                        {"equilibria", equilibria},
                        {"message", zero.message}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace daedalus::report
