#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/base/options.hpp"
#include "daedalus/integrate/stepper.hpp"

namespace daedalus::integrate {

/// Exact coefficients as a person writes them: "1/2", "(4 - sqrt(6))/10", with one kind of root at most.
struct TableauText {
  std::vector<std::vector<std::string>> a;  ///< in explicit methods row i has its first i entries
  std::vector<std::string> b, c, embedded = {};
};

/// Coefficients of a Runge-Kutta method: stages g_i = x + h sum_j a_ij f(t + c_j h, g_j), then x + h sum_i b_i f(g_i).
struct Tableau {
  std::vector<std::vector<double>> a;  ///< one row per stage; in explicit methods row i has its first i entries
  std::vector<double> b, c;
  std::vector<double> embedded = {};  ///< weights of the formula that the error is estimated with; empty: none
  TableauText text = {};              ///< the same, exact; empty where the coefficients are decimal numbers
};

/// The tableau of exact coefficients, rounded to doubles.
Tableau exact_tableau(TableauText text);

/// sum_j alpha_j x_(n+j) = h sum_j beta_j f_(n+j), j from the oldest point to the new one.
struct Multistep {
  std::vector<double> alpha, beta;
};

/// One integration method, as the tables know it.
struct IntegratorEntry {
  std::string name;
  std::string summary;
  std::string citation;
  int order = 0;
  int stages = 0;
  bool adaptive = false;  ///< has an error estimate of its own; else step control doubles steps
  bool implicit = false;
  std::vector<View> accepts;  ///< views it takes, the one it likes best first
  int highest_index = 0;      ///< of an implicit system that it takes
  std::vector<std::string> properties = {};  ///< "A-stable", "L-stable", "symplectic", "symmetric", "stiffly accurate", ...
  /// Orders on semi-explicit systems of index 1, 2 and 3, where `highest_index` reaches that far: of the differential
  /// and the algebraic unknowns; for index 3 of positions, velocities and multipliers.
  std::vector<int> index1_orders = {}, index2_orders = {}, index3_orders = {};
  int dense_order = 0;  ///< of interpolate(): inside one step from an exact start the error is O(h^(dense_order + 1))
  std::vector<OptionSpec> options;
  /// Power of h with which the error estimate shrinks; step control uses 1/estimate_order.
  int estimate_order = 0;
  /// What part of the step that the estimate allows is taken.
  double safety = 0.9;
  /// Where the step multiplied by a pure imaginary or negative eigenvalue leaves the stability region: for the
  /// stiffness detector; 0 where unknown.
  double stability_radius = 0.0;
  std::optional<Tableau> tableau;  ///< where it is a Runge-Kutta method
  std::function<std::unique_ptr<Stepper>(const System&, const Options&)> make;
  std::vector<std::string> notes = {};  ///< what else a user should know: misprints corrected, limits
  std::vector<Multistep> multistep = {};  ///< formulas for constant steps, by order, where it is a multistep method
};

/// The option `beta` of methods whose steps may be chosen by PI control: see Attempt::memory.
OptionSpec error_memory_option();
/// Power of h with which the error estimate under step control shrinks, from the method itself or from step doubling.
int estimate_power(const IntegratorEntry& method);
/// Says whether the entry claims a property such as "symplectic".
bool has_property(const IntegratorEntry& method, const std::string& property);

/// All methods, ordered by name. Written by CMake from the files in integrate/methods.
const std::vector<IntegratorEntry>& integrators();
/// Throws Error("unknown-method") that names the nearest.
const IntegratorEntry& integrator(const std::string& name);
/// Says whether the system has a view that the method takes, of an index that it takes.
bool takes(const IntegratorEntry& method, const System& system);

enum class Control { fixed, adaptive };
/// Makes the stepper of a method; under adaptive control of a method without an error estimate, around two copies of it
/// that compare one step with two halves.
std::unique_ptr<Stepper> make_stepper(const IntegratorEntry& method, const System& system, const Options& options,
                                      Control control);
/// "ode", "second-order", "implicit", "mechanical", "automatic", "overdetermined", "linear"
std::string name_of(View view);

}  // namespace daedalus::integrate
