// The power series of solutions against the ODE that they solve: an evaluation that knows nothing of series.
#include "daedalus/formulate/solution_series.hpp"

#include "unit/formulate/tools.hpp"

namespace daedalus::tests {
namespace {

constexpr std::size_t order = 8;

/// x'(s) - f(x(s)) of the polynomial, at an s where its last term makes this part of the slope; relative to the slope.
double defect(integrate::System& system, const std::vector<double>& x, double part) {
  const std::size_t n = x.size();
  std::vector<double> series((order + 1) * n), at(n), slope(n), f(n);
  const Evaluation outcome = system.series(0.0, x.data(), order, series.data());
  if (outcome != Evaluation::ok) return -1.0;
  const auto size = [&](std::size_t k) {
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(series[k * n + i]));
    return largest;
  };
  // Neither of the last two terms, since every other one may vanish.
  double s = 1.0;
  for (const std::size_t k : {order - 1, order})
    if (size(k) > 0.0)
      s = std::min(s, std::pow(part * size(1) / (static_cast<double>(k) * size(k)), 1.0 / static_cast<double>(k - 1)));
  for (std::size_t i = 0; i < n; ++i) {
    at[i] = slope[i] = 0.0;
    for (std::size_t k = order + 1; k-- > 0;) at[i] = series[k * n + i] + s * at[i];
    for (std::size_t k = order; k > 0; --k) slope[i] = static_cast<double>(k) * series[k * n + i] + s * slope[i];
  }
  EXPECT_EQ(system.ode(s, at.data(), f.data()), Evaluation::ok);
  double largest = 0.0;
  for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(slope[i] - f[i]));
  return largest / size(1);
}

TEST(SolutionSeries, SolvesTheEquationsOfMotion) {
  int solved = 0, all = 0;
  for (const std::string& name : smooth_models()) {
    const solve::Prepared model = prepared_model(name);
    // Beside redundant constraints the ODE decides about a rank: it is no smooth function there.
    if (!solve::consistent_start(model, 0.0, solve::Initialize::project).redundant.empty()) continue;
    Ready ready(model, "projection", View::series);
    ++all;
    const double part = 1e-5;
    // Some start at rest.
    std::vector<double> x = ready.near(0.01, 3);
    if (ready.formulated.system.project) {
      EXPECT_EQ(ready.formulated.system.project(0.0, x.data()), Evaluation::ok) << name;
    }
    const double found = defect(ready.formulated.system, x, part);
    if (found < 0.0) continue;  // singular at the start
    ++solved;
    // What is left out is smaller than the last term by the ratio of two terms, (part/order)^(1/(order-1)) = 0.14 where
    // they fall like those of a geometric series; ten times the last term allows for others.
    EXPECT_LT(found, 10.0 * part) << name;
    // A wrong coefficient of order k < 5 would show in a shorter step as well, where those of the series leave next to
    // nothing.
    EXPECT_LT(defect(ready.formulated.system, x, 1e-8), 1e-7) << name;
  }
  EXPECT_GT(solved, 3 * all / 4) << all;
}

TEST(SolutionSeries, SolvesForAlgebraicUnknownsThatAreNotLinear) {
  const solve::Prepared model = prepared_text(R"toml(
format = 1
kind = "dae"
[variables]
x = { start = 0.5 }
z = { start = 1 }
[equations]
motion = "der(x) = -x*z"
curve = "z^3 + z*x = 2 + sin(t)"
)toml");
  const formulate::FormulationEntry& entry = formulate::formulation("direct");
  formulate::Formulated formulated =
      entry.make({nullptr, model.dae, {}, true}, View::series, Options(parse_choice("direct"), entry.options));
  formulated.guess({0.5, 1.0, 0.0, 0.0});
  // The same allowance as above.
  EXPECT_LT(defect(formulated.system, {0.5}, 1e-6), 1e-5);
}

}  // namespace
}  // namespace daedalus::tests
