#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/model/builder.hpp"
#include "daedalus/structure/dae_functions.hpp"
#include "unit/structure/random_dae.hpp"

/// DAEs whose index can be read in a book or seen by hand.
namespace daedalus::structure::testing {

struct DaeExample {
  std::string name;
  std::size_t index = 0, constraints = 0;  ///< constraints on y: the unknowns without a free initial value
  std::vector<double> start;               ///< a guess, not always consistent
  std::function<std::vector<Expr>(model::Builder&, const std::vector<Expr>&)> residuals;
  std::function<std::vector<double>(double)> solution = {};  ///< where it is known
};

/// x_1' = f_1(x_1, ..., x_k), x_2' = f_2(x_1, ..., x_(k-1)), ..., x_(k-1)' = f_(k-1)(x_(k-2), x_(k-1)), 0 = x_(k-1) -
/// cos t (Hessenberg form of size k), beside an ODE that it drives. For k = 1: 0 = x_1^3 + x_1 - cos t.
inline DaeExample hessenberg(std::size_t k) {
  DaeExample example{"Hessenberg " + std::to_string(k), k, k, std::vector<double>(k + 1, 0.3), {}};
  example.residuals = [k](model::Builder& b, const std::vector<Expr>& x) {
    std::vector<Expr> F{b.der(x[k]) + x[k] - x[0]};
    if (k == 1) F.push_back(pow(x[0], 3.0) + x[0] - cos(b.time()));
    for (std::size_t i = 0; i + 1 < k; ++i) {
      // The unknown one further in is what makes it Hessenberg: x_k in the first, x_(i-1) in the others.
      const Expr inner = i == 0 ? x[k - 1] : x[i - 1];
      F.push_back(b.der(x[i]) - (1.0 + 0.2 * cos(x[i])) * inner - 0.3 * sin(x[i]));
    }
    if (k > 1) F.push_back(x[k - 2] - cos(b.time()));
    return F;
  };
  return example;
}

inline std::vector<DaeExample> dae_examples() {
  using Unknowns = std::vector<Expr>;
  std::vector<DaeExample> list;
  list.push_back({"003, easy",
                  1,
                  1,
                  {0.0, -1.5},
                  [](model::Builder& b, const Unknowns& x) {
                    return Unknowns{x[0] - b.der(x[0]) + 1.0, b.der(x[0]) * x[1] + 2.0};
                  },
                  [](double t) {
                    return std::vector<double>{std::exp(t) - 1.0, -2.0 * std::exp(-t)};
                  }});
  list.push_back({"003, not easy",
                  3,
                  3,
                  {0.0, 0.0, 0.0},
                  [](model::Builder& b, const Unknowns& x) {
                    return Unknowns{b.der(x[0]) - x[2], b.der(x[1]) - x[0], x[1] - sin(b.time())};
                  },
                  [](double t) {
                    return std::vector<double>{std::cos(t), std::sin(t), -std::sin(t)};
                  }});
  list.push_back(
      {"003, index 2",
       2,
       2,
       {0.6, 0.8, -0.6},
       [](model::Builder& b, const Unknowns& x) {
         return Unknowns{b.der(x[0]) - x[1], b.der(x[1]) - x[2], 0.5 * (pow(x[0], 2.0) + pow(x[1], 2.0) - 1.0)};
       },
       [](double t) {
         const double phase = t + std::asin(0.6);
         return std::vector<double>{std::sin(phase), std::cos(phase), -std::sin(phase)};
       }});
  list.push_back(
      {"003, pendulum in space", 3, 3, {0.5, 0.3, -0.8, 0.1, -0.2, 0.0, 1.0}, [](model::Builder& b, const Unknowns& x) {
         Unknowns F;
         for (std::size_t i = 0; i < 3; ++i) {
           F.push_back(b.der(x[i]) - x[3 + i]);
           F.push_back(b.der(x[3 + i]) + x[6] * x[i] + (i == 2 ? 9.81 : 0.0));
         }
         F.push_back(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - 1.0);
         return F;
       }});
  // Example 2.1 with a = 200, u = cos t.
  list.push_back(
      {"001, Example 2.1",
       1,
       1,
       {0.1, 1.0},
       [](model::Builder& b, const Unknowns& x) {
         return Unknowns{b.der(x[0]) - x[1] + 200.0 * pow(x[0], 2.0) - cos(b.time()), x[1] - 200.0 * pow(x[0], 2.0)};
       },
       [](double t) {
         const double x = 0.1 + std::sin(t);
         return std::vector<double>{x, 200.0 * x * x};
       }});
  for (std::size_t k = 1; k <= 5; ++k) list.push_back(hessenberg(k));
  list.push_back({"six integrators", 6, 6, std::vector<double>(6, 0.0),
                  [](model::Builder& b, const Unknowns& x) {
                    Unknowns F{x[0] - sin(b.time())};
                    for (std::size_t i = 1; i < 6; ++i) F.push_back(b.der(x[i - 1]) - x[i]);
                    return F;
                  },
                  [](double t) {
                    const double s = std::sin(t), c = std::cos(t);
                    return std::vector<double>{s, c, -s, -c, s, c};
                  }});
  // A source of voltage, R = 1 kOhm, C = 1 uF: v, i.
  list.push_back({"circuit of index 1", 1, 1, {0.0, 0.0}, [](model::Builder& b, const Unknowns& x) {
                    return Unknowns{1e-6 * b.der(x[0]) - x[1], 1e3 * x[1] + x[0] - 5.0 * sin(100.0 * b.time())};
                  }});
  // A capacitor beside the source, then R, C and L: e1, e2, i of the source, i of the coil.
  list.push_back(
      {"circuit with a loop of C and V", 2, 2, {0.0, 0.0, 0.0, 0.0}, [](model::Builder& b, const Unknowns& x) {
         return Unknowns{x[0] - 5.0 * sin(100.0 * b.time()), x[2] + 1e-6 * b.der(x[0]) + (x[0] - x[1]) / 1e3,
                         2e-6 * b.der(x[1]) + (x[1] - x[0]) / 1e3 + x[3], 1e-3 * b.der(x[3]) - x[1]};
       }});
  // A coil fed by a source of current, beside an RC: i, v of the coil, v of the capacitor.
  list.push_back({"circuit with a cutset of L and I", 2, 2, {0.0, 0.0, 1.0}, [](model::Builder& b, const Unknowns& x) {
                    return Unknowns{1e-3 * b.der(x[0]) - x[1], x[0] - 1e-2 * sin(100.0 * b.time()),
                                    1e-6 * b.der(x[2]) + (x[2] - x[1]) / 1e3};
                  }});
  // x, y, u, v, lambda
  list.push_back({"pendulum", 3, 3, {0.8, -0.5, 0.1, 0.0, 1.0}, [](model::Builder& b, const Unknowns& x) {
                    return Unknowns{b.der(x[0]) - x[2], b.der(x[1]) - x[3], b.der(x[2]) + x[4] * x[0],
                                    b.der(x[3]) + x[4] * x[1] + 9.81, pow(x[0], 2.0) + pow(x[1], 2.0) - 1.0};
                  }});
  // Differential-algebraic equations of index 1 may have an arbitrarily high structural index (Reissig, Martinson,
  // Barton, SIAM J. Sci. Comput. 21, 2000): differences of pairs are x1 - x2, x3 - x4, x5, and x2, x4 satisfy ODEs.
  list.push_back({"structure too high", 1, 3, {0.0, 0.0, 0.0, 0.0, 0.0}, [](model::Builder& b, const Unknowns& x) {
                    const Expr t = b.time(), first = b.der(x[1]) + b.der(x[2]), second = b.der(x[3]) + b.der(x[4]);
                    return Unknowns{first + x[0] - sin(t), first + x[1] - t, second + x[2] - cos(t),
                                    second + x[3] - 1.0, x[4] - sin(2.0 * t)};
                  }});
  // F_y' has no structural zero, and rank 1.
  list.push_back({"structure too low", 1, 1, {0.0, 0.0}, [](model::Builder& b, const Unknowns& x) {
                    const Expr rate = b.der(x[0]) + b.der(x[1]);
                    return Unknowns{rate + x[0], rate + 2.0 * x[0] - 2.0 * x[1] - sin(b.time())};
                  }});
  // The same around a pendulum's constraint: structure sees derivatives of all unknowns in all rows.
  list.push_back({"structure far too low", 3, 3, {0.0, 0.0, 0.0}, [](model::Builder& b, const Unknowns& x) {
                    const Expr first = b.der(x[0]) - x[2], second = b.der(x[1]) - x[0], path = x[1] - sin(b.time());
                    return Unknowns{first + second, first - second + path, 2.0 * first + second + 3.0 * path};
                  }});
  return list;
}

enum class Mixing { none, dense };

/// An example, or P F(t, Q y) = 0 with orthogonal P and Q without zeros: products of reflections at random vectors. The
/// outputs plain1, plain2, ... are the unknowns of the example itself.
inline std::shared_ptr<const DaeFunctions> compiled(const DaeExample& example, Mixing mixing, std::uint64_t seed = 1) {
  model::Builder b("example", model::Kind::dae);
  Random random(seed);
  const std::size_t n = example.start.size();
  const auto reflected = [&](const auto& x) {
    std::vector<double> v(n);
    double square = 0.0;
    for (double& entry : v) {
      entry = random.uniform(0.5, 1.0) * (random.below(2) == 0 ? 1.0 : -1.0);
      square += entry * entry;
    }
    auto result = x;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) result[i] = result[i] - 2.0 * v[i] * v[j] / square * x[j];
    return result;
  };
  std::vector<double> start = example.start;
  if (mixing == Mixing::dense) {
    Random same = random;
    start = reflected(start);  // Q is its own inverse
    random = same;
  }
  std::vector<Expr> x;
  for (std::size_t i = 0; i < n; ++i) x.push_back(b.variable("x" + std::to_string(i + 1), {.start = start[i]}));
  if (mixing == Mixing::dense) x = reflected(x);
  for (std::size_t i = 0; i < n; ++i) b.output("plain" + std::to_string(i + 1), x[i]);
  std::vector<Expr> F = example.residuals(b, x);
  if (mixing == Mixing::dense) F = reflected(F);
  for (std::size_t i = 0; i < n; ++i) b.equation("f" + std::to_string(i + 1), F[i], b.constant(0.0));
  return compile_dae(std::make_shared<const model::Model>(b.build()));
}

}  // namespace daedalus::structure::testing
