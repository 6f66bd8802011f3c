#pragma once

// DAEs of an index above 1, written as plain equations, with their exact solutions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::tests {

using Exact = std::function<double(double t)>;

struct Case {
  std::string name, text;
  int index;
  std::size_t free;  ///< initial values
  double t_end;
  std::vector<std::pair<std::string, Exact>> exact;
};

inline std::string slurp_model(const std::string& name) { return tests::source_folder() + "/models/" + name + ".toml"; }

/// x_1 is prescribed and x_i' = x_(i+1) + (what is below it)^2/4: k equations of this form make index k + 1, in Hessenberg
/// form and not linear.
inline Case hessenberg(int index) {
  Case one{fmt::format("hessenberg {}", index), "kind = \"dae\"\n[variables]\n", index, 0, 3.0, {}};
  const int k = index - 1;
  for (int i = 1; i <= k; ++i) one.text += fmt::format("x{} = 0\n", i);
  one.text += "z = 1\nw = 1\n[equations]\n";
  if (k == 0)
    one.text += "path = \"z + z^3 = sin(t) + sin(t)^3\"\n";
  else
    one.text += "path = \"x1 = sin(t)\"\n";
  for (int i = 1; i < k; ++i) one.text += fmt::format("e{} = \"der(x{}) = x{} + x{}^2/4\"\n", i, i, i + 1, i);
  if (k > 0) one.text += fmt::format("e{} = \"der(x{}) = z + x{}^2/4\"\n", k, k, k);
  one.text += "decay = \"der(w) = -w + z\"\n";
  one.free = 1;
  // x_2 = x_1' - x_1^2/4 and so on, by Taylor series of order 8 about t: derivatives of sin.
  for (int i = 1; i <= k + 1; ++i) {
    const auto value = [i](double t) {
      std::vector<double> series(9);  // of x_1
      double factorial = 1.0;
      for (std::size_t n = 0; n < series.size(); ++n) {
        if (n > 0) factorial *= static_cast<double>(n);
        series[n] = std::sin(t + 0.5 * std::numbers::pi * static_cast<double>(n)) / factorial;
      }
      for (int step = 1; step < i; ++step) {
        std::vector<double> next(series.size() - 1);
        for (std::size_t n = 0; n < next.size(); ++n) {
          double square = 0.0;
          for (std::size_t m = 0; m <= n; ++m) square += series[m] * series[n - m];
          next[n] = static_cast<double>(n + 1) * series[n + 1] - square / 4.0;
        }
        series = next;
      }
      return series[0];
    };
    one.exact.emplace_back(i <= k ? fmt::format("x{}", i) : "z", value);
  }
  return one;
}

inline Case from_file(const std::string& name, int index, std::size_t free, double t_end,
               std::vector<std::pair<std::string, Exact>> exact) {
  return {name, "", index, free, t_end, std::move(exact)};
}

inline std::vector<Case> cases() {
  std::vector<Case> all;
  for (int index = 1; index <= 5; ++index) all.push_back(hessenberg(index));
  // What is solved for is zero at the start: there round-off has the size of the other terms.
  all.push_back({"zero", R"toml(
kind = "dae"
[variables]
x = 1
y = 1
z = 0
u = 1
v = 1
[equations]
e1 = "der(x) = y^3 + y - cos(t)^3 - cos(t)/2"
e2 = "der(y) = z + x*z - t - (1 + sin(t)/2)*t - sin(t)"
e3 = "der(z) = u + sin(u)/2 + y - t^2/2 - sin(1 + t^2/2)/2 - cos(t)"
e4 = "der(u) = v*(1 + v^2) + x*u + t - (1 + exp(-2*t))*exp(-t) - (1 + t^2/2)*(1 + sin(t)/2)"
e5 = "x^3 + x = (1 + sin(t)/2)^3 + 1 + sin(t)/2"
)toml", 5, 0, 1.0,
                 {{"y", [](double t) { return std::cos(t); }}, {"z", [](double t) { return t; }}, {"v", [](double t) { return std::exp(-t); }}}});
  // No term of a product of sums tells how large the parts are that cancel in it.
  all.push_back({"product", R"toml(
kind = "dae"
[variables]
x = { start = 1, fixed = true }
y = 0
z = 0
[equations]
a = "der(x) = -y + x*z"
b = "der(y) = x + y*z"
c = "(1 + x^2/4 + y)*(x^2 + y^2 - 1) = 0"
)toml", 2, 1, 3.0, {{"x", [](double t) { return std::cos(t); }}, {"y", [](double t) { return std::sin(t); }}}});
  all.push_back(from_file("circle_dae", 2, 1, 1.0,
                          {{"x1", [](double t) { return std::sin(t); }}, {"x2", [](double t) { return std::cos(t); }},
                           {"z", [](double t) { return -std::sin(t); }}}));
  std::vector<std::pair<std::string, Exact>> chain;
  for (int i = 0; i <= 5; ++i)
    chain.emplace_back(i < 5 ? fmt::format("x[{}]", i + 1) : "z", [i](double t) {
      const double polynomial = i == 0 ? t * t / 4.0 : i == 1 ? t / 2.0 : i == 2 ? 0.5 : 0.0;
      return std::pow(1.5, i) * std::sin(1.5 * t + 0.5 * std::numbers::pi * i) + polynomial;
    });
  all.push_back(from_file("integrator_chain", 6, 0, 10.0, chain));
  all.push_back({"gros, not easy", R"toml(
kind = "dae"
[inputs]
u = "exp(-t)*cos(3*t)"
[variables]
x1 = 0
x2 = 0
z = 0
[equations]
a = "der(x1) = z"
b = "der(x2) = x1"
c = "x2 = u"
)toml",
                 3, 0, 2.0,
                 {{"x2", [](double t) { return std::exp(-t) * std::cos(3 * t); }},
                  {"x1", [](double t) { return -std::exp(-t) * (std::cos(3 * t) + 3 * std::sin(3 * t)); }},
                  {"z", [](double t) { return std::exp(-t) * (6 * std::sin(3 * t) - 8 * std::cos(3 * t)); }}}});
  // i - C1 v1' = 0, i - C2 v2' = v2/R, v1 = u - v2:  (C1 + C2) v2' + v2/R = C1 u', from v2(0) = 0
  const double C1 = 2e-6, C2 = 1e-6, R = 1000, w = 500, a = 1.0 / (R * (C1 + C2)), b = 10 * w * C1 / (C1 + C2);
  const Exact v2 = [=](double t) {
    return b * (a * std::cos(w * t) + w * std::sin(w * t) - a * std::exp(-a * t)) / (a * a + w * w);
  };
  all.push_back(from_file("capacitor_loop", 2, 1, 0.02, {{"v2", v2}, {"v1", [=](double t) { return 10 * std::sin(w * t) - v2(t); }}}));
  // C v2' + v2/R = I sin(w t) from v2(0) = 0, and v1 = v2 + L I w cos(w t)
  const double L = 1e-3, Cs = 1e-6, Rs = 100, ws = 5000, k = 1.0 / (Rs * Cs), I = 0.1;
  const Exact node2 = [=](double t) {
    return I / Cs * (k * std::sin(ws * t) - ws * std::cos(ws * t) + ws * std::exp(-k * t)) / (k * k + ws * ws);
  };
  all.push_back(from_file("inductor_cutset", 2, 1, 0.005,
                          {{"v2", node2},
                           {"v1", [=](double t) { return node2(t) + L * I * ws * std::cos(ws * t); }},
                           {"iL", [=](double t) { return I * std::sin(ws * t); }}}));
  all.push_back(from_file("example21_dae", 1, 1, 5.0,
                          {{"x", [](double t) { return 1.0 + std::sin(t); }},
                           {"y", [](double t) { return 200.0 * (1.0 + std::sin(t)) * (1.0 + std::sin(t)); }}}));
  all.push_back({"gros, easy", R"toml(
kind = "dae"
[variables]
x = { start = 1, fixed = true }
z = -1
[equations]
growth = "x - der(x) + 1 = 0"
product = "der(x)*z + 2 = 0"
)toml",
                 1, 1, 2.0,
                 {{"x", [](double t) { return 2.0 * std::exp(t) - 1.0; }}, {"z", [](double t) { return -std::exp(-t); }}}});
  // The pendulum in space on a circle: z = m w^2 = m g/h.
  const double w3 = std::sqrt(9.81);
  all.push_back({"gros, pendulum", R"toml(
kind = "dae"
[variables]
px = { start = 0.5, fixed = true }
py = { start = 0, fixed = true }
pz = -1
"der(px)" = { start = 0, fixed = true }
"der(py)" = { start = "0.5*sqrt(9.81)", fixed = true }
z = 9
[equations]
x = "der(px,2) = -z*px"
y = "der(py,2) = -z*py"
up = "der(pz,2) = -9.81 - z*pz"
rod = "(px^2 + py^2 + pz^2 - 1.25)/2 = 0"
)toml",
                 3, 4, 3.0,
                 {{"px", [=](double t) { return 0.5 * std::cos(w3 * t); }},
                  {"py", [=](double t) { return 0.5 * std::sin(w3 * t); }},
                  {"pz", [](double) { return -1.0; }},
                  {"z", [](double) { return 9.81; }}}});
  return all;
}

inline solve::Prepared prepared(const Case& one) {
  return solve::prepare(one.text.empty() ? model::read_model(slurp_model(one.name)) : model::read_model_text(one.text, one.name));
}

inline double error_of(const solve::Trajectory& run, const Case& one) {
  double worst = 0.0;
  for (std::size_t row = 0; row < run.t.size(); ++row)
    for (const auto& [name, exact] : one.exact) {
      const double value = exact(run.t[row]);
      worst = std::max(worst, std::abs(run.value(row, run.column(name)) - value) / (1.0 + std::abs(value)));
    }
  return worst;
}

}  // namespace daedalus::tests
