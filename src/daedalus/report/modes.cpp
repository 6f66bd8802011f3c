#include "daedalus/report/modes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "daedalus/base/text.hpp"
#include "daedalus/report/text_parts.hpp"

namespace daedalus::report {

using Json = nlohmann::ordered_json;
using solve::Complex;
using solve::Stability;

namespace {

std::string stability_text(Stability stability) {
  switch (stability) {
    case Stability::asymptotic: return "asymptotically stable: every finite eigenvalue has a negative real part";
    case Stability::marginal: return "stable, not asymptotically: eigenvalues on the imaginary axis, none defective";
    case Stability::resonant: return "unstable: a defective eigenvalue on the imaginary axis, solutions grow like powers of t";
    case Stability::unstable: return "unstable: an eigenvalue has a positive real part";
    case Stability::undecided: break;
  }
  return "not decided, as the structure is not";
}

std::string name_of(Stability stability) {
  switch (stability) {
    case Stability::asymptotic: return "asymptotic";
    case Stability::marginal: return "marginal";
    case Stability::resonant:
    case Stability::unstable: return "unstable";
    case Stability::undecided: break;
  }
  return "undecided";
}

}  // namespace

std::string value_text(Complex value) {
  const double size = std::abs(value);
  const auto clean = [&](double part) { return std::abs(part) < 1e-12 * size ? 0.0 : part; };
  const double re = clean(value.real()), im = clean(value.imag());
  if (im == 0.0) return brief(re);
  const std::string imaginary = brief(std::abs(im)) + "i";
  return re == 0.0 ? (im < 0.0 ? "-" : "") + imaginary : brief(re) + (im < 0.0 ? " - " : " + ") + imaginary;
}

std::string mode_lines(const solve::ModeAnalysis& modes, bool all_modes) {
  constexpr std::size_t most = 20;
  std::string text;
  if (all_modes || modes.inputs + modes.outputs > 0) {
    for (std::size_t k = 0; k < modes.finite.size() && k < most; ++k) {
      const solve::FiniteMode& mode = modes.finite[k];
      std::vector<std::string> words{value_text(mode.value)};
      if (mode.multiplicity > 1)
        words.push_back(fmt::format("{} times with {}", mode.multiplicity, count(mode.eigenvectors, "eigenvector")));
      if (modes.inputs > 0) words.push_back(mode.controllable ? "controllable" : "not controllable");
      if (modes.outputs > 0) words.push_back(mode.observable ? "observable" : "not observable");
      text += line(k == 0 ? "modes" : "", joined(words));
    }
    if (modes.finite.empty()) text += line("modes", "no finite eigenvalue");
    if (modes.finite.size() > most) text += line("", fmt::format("... and {} more", modes.finite.size() - most));
    if (modes.index > 1) {
      std::vector<std::string> words{fmt::format("index {}", modes.index)};
      if (modes.inputs > 0) words.push_back(modes.impulse_controllable ? "impulse controllable" : "not impulse controllable");
      if (modes.outputs > 0) words.push_back(modes.impulse_observable ? "impulse observable" : "not impulse observable");
      text += line("impulses", joined(words));
    }
  }
  return text + line("stability", modes.finite.empty() ? "no dynamics: every unknown follows the inputs" : stability_text(modes.stability));
}

std::string modes_json(const solve::ModeAnalysis& modes) {
  Json json, list = Json::array();
  for (const solve::FiniteMode& mode : modes.finite) {
    Json one{{"value", {mode.value.real(), mode.value.imag()}}, {"multiplicity", mode.multiplicity}, {"eigenvectors", mode.eigenvectors}};
    if (modes.inputs > 0) one["controllable"] = mode.controllable;
    if (modes.outputs > 0) one["observable"] = mode.observable;
    list.push_back(one);
  }
  json["modes"] = list;
  if (modes.inputs > 0) json["impulse_controllable"] = modes.impulse_controllable;
  if (modes.outputs > 0) json["impulse_observable"] = modes.impulse_observable;
  json["stability"] = modes.finite.empty() ? "no dynamics" : name_of(modes.stability);
  return json.dump();
}

}  // namespace daedalus::report
