#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "daedalus/solve/start.hpp"

namespace daedalus::tests {

inline std::shared_ptr<const mechanics::Functions> functions_of(const std::string& text) {
  return solve::prepare(model::read_model_text(text, "test")).functions;
}

inline solve::Start start_of(const std::string& text, solve::Initialize mode = solve::Initialize::project,
                             double t = 0.0) {
  return solve::consistent_start(functions_of(text), t, mode);
}

/// A point mass in the plane with unit mass unless said otherwise.
inline std::string planar(const std::string& variables, const std::string& constraints,
                          const std::string& kinetic = "(der(x)^2 + der(y)^2)/2", const std::string& more = "") {
  return "kind = \"lagrangian\"\n[variables]\n" + variables + "\n[lagrangian]\nkinetic = \"" + kinetic +
         "\"\npotential = \"9.81*y\"\n[constraints]\n" + constraints + "\n" + more;
}

/// The faults that a start throws, code and message, or "" where it throws none.
inline std::string thrown(const std::string& text, solve::Initialize mode = solve::Initialize::project) {
  try {
    start_of(text, mode);
  } catch (const Error& error) {
    std::string all;
    for (const Fault& fault : error.faults()) all += fault.code + ": " + fault.message + "\n";
    return all;
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace daedalus::tests
