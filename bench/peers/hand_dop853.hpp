#pragma once

// DOP853 as a numerical analyst writes it for one problem: the right-hand side is inlined, nothing is projected, no event
// is watched. Method and step control as in E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I,
// 2nd ed., sections II.4 and II.5; the coefficients are those of the library, which are data.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "daedalus/integrate/methods/dop853_coefficients.hpp"

namespace daedalus::bench {

/// x at t_end, or `good` false where the step size collapsed.
struct HandRun {
  std::vector<double> x;
  std::size_t steps = 0, rejected = 0, evaluations = 0;
  bool good = true;
};

/// Integrates x' = f(t, x) from t = 0. `f(t, x, dx)` is called as f(double, const double*, double*).
template <class Rhs>
HandRun hand_dop853(Rhs& f, std::vector<double> start, double t_end, double rtol, double atol) {
  namespace coefficients = integrate::dop853;
  using integrate::move_along;
  using integrate::weighted;
  const std::size_t n = start.size();
  HandRun run;
  std::vector<double> now = std::move(start), next(n), argument(n), slopes(13 * n);
  std::array<double*, 14> k{};
  for (std::size_t stage = 1; stage <= 13; ++stage) k[stage] = slopes.data() + (stage - 1) * n;
  const auto evaluate = [&](double at, const double* x, double* dx) {
    ++run.evaluations;
    f(at, x, dx);
  };
  const auto norm = [&](const double* v) {
    double sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double ratio = v[i] / (atol + rtol * std::abs(now[i]));
      sum += ratio * ratio;
    }
    return std::sqrt(sum / static_cast<double>(n));
  };

  double t = 0.0;
  evaluate(t, now.data(), k[1]);
  // The first step: an explicit Euler step of it changes x by about a hundredth, and its slope is that of order 8.
  const double slope = norm(k[1]), size = norm(now.data());
  double h = slope < 1e-5 || size < 1e-5 ? 1e-6 : 0.01 * size / slope;
  h = std::min(h, t_end);
  for (std::size_t i = 0; i < n; ++i) argument[i] = now[i] + h * k[1][i];
  evaluate(t + h, argument.data(), k[2]);
  for (std::size_t i = 0; i < n; ++i) argument[i] = k[2][i] - k[1][i];
  const double bend = std::max(norm(argument.data()) / h, slope);
  h = std::min({100.0 * h, bend <= 1e-15 ? std::max(1e-6, h * 1e-3) : std::pow(0.01 / bend, 1.0 / 8.0), t_end});

  bool after_refusal = false;
  while (t < t_end) {
    if (h < 10.0 * std::numeric_limits<double>::epsilon() * std::abs(t) || run.steps + run.rejected > 5'000'000) {
      run.good = false;
      break;
    }
    const bool last = t + 1.01 * h >= t_end;
    if (last) h = t_end - t;
    const auto stage = [&]<const auto & row>(std::size_t number) {
      move_along<row>(now.data(), k, h, n, argument.data());
      evaluate(t + coefficients::node[number] * h, argument.data(), k[number]);
    };
    stage.template operator()<coefficients::stage2>(2);
    stage.template operator()<coefficients::stage3>(3);
    stage.template operator()<coefficients::stage4>(4);
    stage.template operator()<coefficients::stage5>(5);
    stage.template operator()<coefficients::stage6>(6);
    stage.template operator()<coefficients::stage7>(7);
    stage.template operator()<coefficients::stage8>(8);
    stage.template operator()<coefficients::stage9>(9);
    stage.template operator()<coefficients::stage10>(10);
    stage.template operator()<coefficients::stage11>(11);
    stage.template operator()<coefficients::stage12>(12);
    move_along<coefficients::weights>(now.data(), k, h, n, next.data());
    double sum5 = 0.0, sum3 = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const double weight = atol + rtol * std::max(std::abs(now[i]), std::abs(next[i]));
      const double error5 = weighted<coefficients::error_of_order_5>(k, i) / weight;
      const double error3 =
          (weighted<coefficients::weights>(k, i) - weighted<coefficients::weights_of_order_3>(k, i)) / weight;
      sum5 += error5 * error5;
      sum3 += error3 * error3;
    }
    const double mixed = sum5 + 0.01 * sum3;
    const double error = mixed > 0.0 ? h * sum5 / std::sqrt(static_cast<double>(n) * mixed) : 0.0;
    if (!std::isfinite(error)) {
      h *= 0.1;
      ++run.rejected;
      continue;
    }
    const double factor = std::clamp(0.9 * std::pow(std::max(error, 1e-30), -1.0 / 8.0), 0.333, 6.0);
    if (error > 1.0) {
      h *= std::min(factor, 1.0);
      after_refusal = true;
      ++run.rejected;
      continue;
    }
    t = last ? t_end : t + h;
    now.swap(next);
    if (!last) evaluate(t, now.data(), k[1]);
    h *= after_refusal ? std::min(factor, 1.0) : factor;
    after_refusal = false;
    ++run.steps;
  }
  run.x = std::move(now);
  return run;
}

}  // namespace daedalus::bench
