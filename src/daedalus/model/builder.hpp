#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/model/model.hpp"

namespace daedalus::model {

/// What can be said about an unknown beside its name.
struct UnknownOptions {
  double start = 0.0;
  bool fixed = false;
  double nominal = 1.0;
  std::optional<double> atol = {};
  std::string unit = {}, description = {};
};

/// Builds a model in C++ with the names of the model file.
///
///     model::Builder b("pendulum");
///     const Expr m = b.parameter("m", 2.0), l = b.parameter("l", 2.5);
///     const Expr x = b.variable("x", {.start = 0.86, .fixed = true}), y = b.variable("y", {.start = 2.35});
///     b.kinetic(m / 2.0 * (pow(b.der(x), 2.0) + pow(b.der(y), 2.0)));
///     b.potential(m * 9.81 * y);
///     b.constraint("rod", pow(x, 2.0) + pow(y, 2.0), pow(l, 2.0));
///     const model::Model pendulum = b.build();
///
/// Mistakes are collected and thrown together by build().
class Builder {
 public:
  explicit Builder(std::string name, Kind kind = Kind::lagrangian);
  ~Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;

  void description(std::string text);
  Expr time() const;
  Expr constant(double value) const;
  Expr parameter(const std::string& name, double value);
  Expr variable(const std::string& name, const UnknownOptions& options = {});
  Expr auxiliary(const std::string& name, const UnknownOptions& options = {});
  Expr discrete(const std::string& name, double value);

  /// The total time derivative of an expression.
  Expr der(Expr expression, int times = 1);
  /// Gives a start value to an unknown or a derivative: start(b.der(x), 1.0).
  void start(Expr unknown, double value);
  /// Gives a start value that the initializer keeps.
  void fix(Expr unknown, double value);

  // kind lagrangian
  void kinetic(Expr energy);
  void potential(Expr energy);
  void lagrangian(Expr energy);
  void dissipation(Expr function);
  /// A generalised force on a coordinate; for kind mechanical the entry of f that belongs to it.
  void force(Expr coordinate, Expr value);

  // kind mechanical
  /// An entry of the mass matrix; give both of a pair beside the diagonal.
  void mass(Expr row, Expr column, Expr value);

  // kind linear
  void linear(const std::vector<std::vector<double>>& E, const std::vector<std::vector<double>>& A,
              const std::vector<Expr>& f = {});

  /// left = right; gives the multiplier.
  Expr constraint(const std::string& name, Expr left, Expr right);
  /// residual = 0; gives the multiplier.
  Expr constraint(const std::string& name, Expr residual);
  void equation(const std::string& name, Expr left, Expr right);
  void initial(const std::string& name, Expr left, Expr right);
  void invariant(const std::string& name, Expr left, Expr right);
  void output(const std::string& name, Expr value);
  void event(Event event);
  void simulation(Simulation simulation);
  /// lambda.<constraint>
  Expr multiplier(const std::string& constraint);
  /// reaction.<constraint>.<coordinate>
  Expr reaction(const std::string& constraint, Expr coordinate);

  /// The model. Throws Error with everything that is wrong, by the same rules as for a model file.
  Model build() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace daedalus::model
