#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "daedalus/expr/graph.hpp"
#include "daedalus/linalg/dense_matrix.hpp"
#include "daedalus/linalg/double_double.hpp"

namespace daedalus::structure {

/// Functions f(t) = F w(t) that are sums of t^k exp(a t) cos(b t) and t^k exp(a t) sin(b t), which w collects: w' = S w.
struct Forcing {
  using Number = linalg::DoubleDouble;
  struct Basis {
    int power = 0;
    Number rate, frequency;
    bool sine = false;
  };
  std::vector<Basis> basis;
  linalg::BasicMatrix<Number> F, S;

  /// Writes w(t).
  void at(double t, std::vector<Number>& w) const;
};

/// Recognises polynomials, exponentials, sines and cosines (also hyperbolic ones) of linear functions of t, their products
/// and powers; nothing where some f is another function.
std::optional<Forcing> forcing_of(const std::vector<expr::Expr>& f, expr::Expr t,
                                  const std::unordered_map<expr::NodeId, double>& parameters);

}  // namespace daedalus::structure
