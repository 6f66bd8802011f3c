#pragma once

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace daedalus::tests {

/// A driven pendulum with friction. It forgets its past within a few swings, so that runs which differ by their errors
/// at one moment agree within a few tolerances later on, however long they are.
inline constexpr const char* forgetful_pendulum = R"toml(
name = "forgetful"
kind = "lagrangian"
[variables]
x = { start = 0.6, fixed = true }
y = { start = -0.8 }
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2"
potential = "9.81*y"
dissipation = "0.4*(der(x)^2 + der(y)^2)"
[lagrangian.forces]
x = "3*cos(2*t)"
[constraints]
rod = "x^2 + y^2 = 1"
[simulation]
t_end = 4000.0
rtol = 1e-8
atol = 1e-10
)toml";

/// A CSV file up to its last complete row.
struct Csv {
  std::string header, complete;  ///< the first line; everything up to the last end of line
  std::vector<std::vector<double>> rows;

  explicit Csv(const std::string& text)
      : complete(text.substr(0, text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1)) {
    std::istringstream lines(complete);
    std::getline(lines, header);
    for (std::string line; std::getline(lines, line);) {
      rows.emplace_back();
      std::istringstream cells(line);
      for (std::string cell; std::getline(cells, cell, ',');) {
        std::size_t used = 0;
        rows.back().push_back(std::stod(cell, &used));
        if (used != cell.size()) rows.back().back() = std::nan("");
      }
    }
  }

  bool good() const {
    const auto width = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')) + 1;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].size() != width || (i > 0 && !(rows[i][0] > rows[i - 1][0]))) return false;
      for (const double value : rows[i])
        if (!std::isfinite(value)) return false;
    }
    return true;
  }
};

/// Largest difference of two rows, relative to 1 + |value|.
inline double difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0.0 : HUGE_VAL;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    most = std::max(most, std::abs(a[i] - b[i]) / (1.0 + std::abs(b[i])));
  return most;
}

}  // namespace daedalus::tests
