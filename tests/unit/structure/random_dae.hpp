#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "daedalus/model/builder.hpp"
#include "daedalus/structure/dae_functions.hpp"

/// DAEs whose index is known because they are an ODE and chains of differentiators, behind transformations that keep
/// it.
namespace daedalus::structure::testing {

using expr::Expr;

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }

 private:
  std::mt19937_64 engine_;
};

struct KnownDae {
  std::shared_ptr<const DaeFunctions> functions;
  std::size_t index = 0;
  std::size_t constraints = 0;  ///< on y
};

enum class Hiding { linear, nonlinear };

/// A random order of 0, ..., size - 1.
inline std::vector<std::size_t> shuffled(std::size_t size, Random& random) {
  std::vector<std::size_t> order(size);
  for (std::size_t i = 0; i < size; ++i) order[i] = i;
  for (std::size_t i = size; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// Adds to about two thirds of the values a multiple of one that comes before it in a random order: a transformation
/// with determinant 1, triangular in that order. `multiple(j)` makes the multiple of value j.
template <class Multiple>
void shear(std::vector<Expr>& values, Random& random, Multiple&& multiple) {
  const std::vector<Expr> before = values;
  const std::vector<std::size_t> order = shuffled(values.size(), random);
  for (std::size_t k = 1; k < order.size(); ++k)
    if (random.below(3) > 0) values[order[k]] = values[order[k]] + multiple(before[order[random.below(k)]]);
}

/// Canonical unknowns x: an ODE for some, and for the others chains
///     0 = x_1 - k(t, ode),  x_1' = x_2,  ...,  x_(l-1)' = x_l,
/// each of index l with l constraints x_i = D^(i-1) k. Two shears make x a function of y, two more mix the equations;
/// nonlinear ones use sines of unknowns.
inline KnownDae random_dae(std::size_t size, std::size_t index, std::uint64_t seed, Hiding hiding) {
  Random random(seed);
  const bool nonlinear = hiding == Hiding::nonlinear;
  model::Builder b("random", model::Kind::dae);
  std::vector<Expr> y;
  for (std::size_t i = 0; i < size; ++i)
    y.push_back(b.variable("y" + std::to_string(i + 1), {.start = random.uniform(-1.0, 1.0)}));
  const Expr t = b.time();
  const auto sign = [&] { return random.below(2) == 0 ? 1.0 : -1.0; };
  const auto factor = [&] { return sign() * random.uniform(0.3, 0.9); };

  std::vector<Expr> x = y;
  for (int layer = 0; layer < 2; ++layer)
    shear(x, random, [&](Expr e) { return factor() * (nonlinear && random.below(3) == 0 ? sin(e) : e); });

  KnownDae result;
  result.index = index;
  std::vector<std::size_t> chains;
  while (index > 0 && (chains.empty() || 2 * result.constraints < size)) {
    const std::size_t length = chains.empty() ? index : 1 + random.below(index);
    if (result.constraints + length > size) break;
    chains.push_back(length);
    result.constraints += length;
  }
  const std::size_t ode = size - result.constraints;
  std::vector<Expr> residuals;
  for (std::size_t i = 0; i < ode; ++i) {
    const Expr other = x[random.below(ode)];
    residuals.push_back(b.der(x[i]) + random.uniform(0.2, 2.0) * x[i] + factor() * (nonlinear ? sin(other) : other) -
                        cos(random.uniform(0.5, 2.0) * t));
  }
  std::size_t next = ode;
  for (const std::size_t length : chains) {
    Expr input = sin(random.uniform(0.5, 2.0) * t + random.uniform(0.0, 3.0));
    if (ode > 0) {
      const Expr other = x[random.below(ode)];
      input = input + factor() * (nonlinear ? other / (2.0 + cos(other)) : other);
    }
    residuals.push_back(x[next] - input);
    for (std::size_t k = 1; k < length; ++k) residuals.push_back(b.der(x[next + k - 1]) - x[next + k]);
    next += length;
  }
  for (int layer = 0; layer < 2; ++layer)
    shear(residuals, random, [&](Expr e) {
      const Expr own = y[random.below(size)];
      return factor() * (nonlinear && random.below(3) == 0 ? (1.0 + 0.3 * sin(own)) * e : e);
    });
  const std::vector<std::size_t> order = shuffled(size, random);
  for (std::size_t i = 0; i < size; ++i) b.equation("e" + std::to_string(i + 1), residuals[order[i]], b.constant(0.0));
  result.functions = compile_dae(std::make_shared<const model::Model>(b.build()));
  return result;
}

}  // namespace daedalus::structure::testing
