#include "daedalus/report/control.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "daedalus/base/text.hpp"
#include "daedalus/report/csv.hpp"
#include "daedalus/report/modes.hpp"
#include "daedalus/report/text_parts.hpp"
#include "daedalus/report/version.hpp"

namespace daedalus::report {

using Json = nlohmann::ordered_json;
using solve::Complex;

namespace {

std::string list_text(const std::vector<Complex>& values) {
  std::vector<std::string> words;
  for (const Complex& value : values) words.push_back(value_text(value));
  return words.empty() ? "none" : joined(words);
}

std::string polynomial_text(const std::vector<double>& coefficients) {
  std::string text;
  for (std::size_t k = 0; k < coefficients.size(); ++k) {
    if (coefficients[k] == 0.0) continue;
    const std::string power = k == 0 ? "" : k == 1 ? " s" : fmt::format(" s^{}", k);
    const double value = coefficients[k];
    text += text.empty() ? brief(value) + power : (value < 0.0 ? " - " : " + ") + brief(std::abs(value)) + power;
  }
  return text.empty() ? "0" : text;
}

std::string channel_name(const solve::LinearModel& model, std::size_t input, std::size_t output) {
  return fmt::format("{} to {}", model.inputs[input], model.outputs[output]);
}

double decibels(Complex value) { return 20.0 * std::log10(std::abs(value)); }

Json pair(Complex value) { return Json::array({value.real(), value.imag()}); }
Json pairs(const std::vector<Complex>& values) {
  Json list = Json::array();
  for (const Complex& value : values) list.push_back(pair(value));
  return list;
}
Json matrix_json(const linalg::DenseMatrix& matrix) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < matrix.columns; ++j) row.push_back(matrix(i, j));
    rows.push_back(row);
  }
  return rows;
}
Json entries_json(const linalg::Sparsity& pattern, const std::vector<double>& values) {
  constexpr std::size_t few = 50;
  if (pattern.rows <= few) {
    auto matrix = linalg::DenseMatrix::zero(pattern.rows, pattern.columns);
    for (std::size_t i = 0; i < pattern.rows; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) matrix(i, pattern.column[k]) = values[k];
    return matrix_json(matrix);
  }
  Json entries = Json::array();
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      if (values[k] != 0.0) entries.push_back({i + 1, pattern.column[k] + 1, values[k]});
  return {{"rows", pattern.rows}, {"columns", pattern.columns}, {"entries", entries}};
}

}  // namespace

std::string to_text(const ControlFindings& findings, const std::string& path) {
  const solve::LinearModel& model = *findings.model;
  std::string text = line("model", fmt::format("{}: {}, {}, {}", path, count(model.size(), "state"), count(model.inputs.size(), "input"),
                                               count(model.outputs.size(), "output")));
  if (model.deviations) {
    text += line("point", fmt::format("t = {}, {}", brief(model.t),
                                      model.fastest < 1e-9 ? "an equilibrium"
                                                           : fmt::format("in motion: rates up to {}, so that the linear model is good for short times",
                                                                         brief(model.fastest, 3))));
    constexpr std::size_t most = 12;
    for (std::size_t i = 0; i < model.size() && i < most; ++i) text += line("", fmt::format("{} = {}", model.states[i], brief(model.point[i])));
    if (model.size() > most) text += line("", fmt::format("... and {} further values", model.size() - most));
    text += line("", "states, inputs and outputs are deviations from these values");
  }
  for (const std::string& note : model.notes) text += line("note", note);
  if (findings.modes) {
    text += mode_lines(*findings.modes, true);
    for (const std::string& note : findings.modes->notes) text += line("note", note);
  }
  for (const solve::Channel& one : findings.channels) {
    text += line("transfer", channel_name(model, one.input, one.output) + (one.vanishes ? ": 0 at every frequency" : ""));
    if (one.vanishes) continue;
    text += line("  gain", brief(one.gain, 9));
    text += line("  poles", list_text(one.poles));
    text += line("  zeros", list_text(one.zeros));
    if (!one.cancelled.empty()) text += line("  hidden", list_text(one.cancelled) + " (modes that this channel does not show)");
    if (!one.polynomial.empty()) text += line("  fast", polynomial_text(one.polynomial) + " for large s");
    if (one.steady) text += line("  steady", brief(*one.steady, 9) + " at s = 0");
  }
  if (!findings.response) return text;
  const std::size_t p = model.outputs.size();
  for (std::size_t c = 0; c < findings.response->values.size(); ++c) {
    const std::vector<double> phase = solve::phase_degrees(findings.response->values[c]);
    std::vector<std::vector<std::string>> rows{{"omega", "magnitude", "dB", "phase"}};
    for (std::size_t k = 0; k < phase.size(); ++k) {
      const Complex value = findings.response->values[c][k];
      rows.push_back({brief(findings.response->omega[k]), brief(std::abs(value)), fmt::format("{:.3f}", decibels(value)),
                      fmt::format("{:.3f}", phase[k])});
    }
    text += "\n" + channel_name(model, c / p, c % p) + "\n" + table(rows);
  }
  for (const std::string& note : findings.response->notes) text += line("note", note);
  return text;
}

std::string to_json(const ControlFindings& findings) {
  const solve::LinearModel& model = *findings.model;
  Json json{{"version", version()}, {"model", model.name}, {"states", model.states}, {"inputs", model.inputs}, {"outputs", model.outputs}};
  if (model.deviations) {
    json["at"] = model.t;
    json["point"] = model.point;
    json["input_point"] = model.input_point;
    json["output_point"] = model.output_point;
    json["equilibrium"] = model.fastest < 1e-9;
  }
  json["E"] = entries_json(model.pattern, model.E);
  json["A"] = entries_json(model.pattern, model.A);
  json["B"] = matrix_json(model.B);
  json["C"] = matrix_json(model.C);
  json["D"] = matrix_json(model.D);
  if (findings.modes) {
    json["index"] = findings.modes->index;
    json.update(Json::parse(modes_json(*findings.modes)));
  }
  json["notes"] = model.notes;
  if (findings.modes)
    for (const std::string& note : findings.modes->notes) json["notes"].push_back(note);
  Json channels = Json::array();
  const std::size_t p = model.outputs.size();
  for (std::size_t c = 0; c < model.inputs.size() * p; ++c) {
    Json one{{"from", model.inputs[c / p]}, {"to", model.outputs[c % p]}};
    for (const solve::Channel& known : findings.channels) {
      if (known.input != c / p || known.output != c % p) continue;
      one["gain"] = known.gain;
      one["poles"] = pairs(known.poles);
      one["zeros"] = pairs(known.zeros);
      one["cancelled"] = pairs(known.cancelled);
      one["polynomial"] = known.polynomial;
      one["steady"] = known.steady ? Json(*known.steady) : Json();
    }
    if (findings.response) {
      const std::vector<Complex>& values = findings.response->values[c];
      Json magnitude = Json::array();
      for (const Complex& value : values) magnitude.push_back(std::abs(value));
      one["response"] = pairs(values);
      one["magnitude"] = magnitude;
      one["phase_degrees"] = solve::phase_degrees(values);
    }
    channels.push_back(one);
  }
  if (findings.response) {
    json["omega"] = findings.response->omega;
    for (const std::string& note : findings.response->notes) json["notes"].push_back(note);
  }
  json["channels"] = channels;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_csv(const ControlFindings& findings) {
  const solve::LinearModel& model = *findings.model;
  const solve::FrequencyResponse& response = *findings.response;
  std::string text = "omega";
  std::vector<std::vector<double>> phases;
  const std::size_t p = model.outputs.size();
  for (std::size_t c = 0; c < response.values.size(); ++c) {
    const std::string name = model.inputs[c / p] + "->" + model.outputs[c % p];
    for (const char* what : {"magnitude", "dB", "phase"}) text += "," + csv_cell(fmt::format("{}({})", what, name));
    phases.push_back(solve::phase_degrees(response.values[c]));
  }
  text += "\n";
  for (std::size_t k = 0; k < response.omega.size(); ++k) {
    std::vector<double> row;
    for (std::size_t c = 0; c < response.values.size(); ++c) {
      row.push_back(std::abs(response.values[c][k]));
      row.push_back(decibels(response.values[c][k]));
      row.push_back(phases[c][k]);
    }
    append_csv_row(text, response.omega[k], row);
  }
  return text;
}

PlotData bode_plot(const ControlFindings& findings) {
  const solve::LinearModel& model = *findings.model;
  const solve::FrequencyResponse& response = *findings.response;
  PlotData data;
  data.title = "frequency response of " + model.name;
  data.description = "magnitude in decibels and phase in degrees over the angular frequency";
  data.logarithmic_time = true;
  Panel magnitude, phase;
  magnitude.x_title = phase.x_title = "omega";
  magnitude.y_title = "magnitude";
  magnitude.y_unit = "dB";
  phase.y_title = "phase";
  phase.y_unit = "degrees";
  const std::size_t p = model.outputs.size();
  for (std::size_t c = 0; c < response.values.size(); ++c) {
    const std::string name = channel_name(model, c / p, c % p);
    std::vector<double> heights;
    for (const Complex& value : response.values[c]) heights.push_back(decibels(value));
    magnitude.curves.push_back({name, response.omega, heights});
    phase.curves.push_back({name, response.omega, solve::phase_degrees(response.values[c])});
  }
  data.panels = {magnitude, phase};
  return data;
}

}  // namespace daedalus::report
