#pragma once

#include <complex>

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

/// The stability function R(z) = 1 + z b^T (I - z A)^-1 1: one step on x' = lambda x multiplies x by R(h lambda).
/// Infinite at a pole.
std::complex<double> stability_function(const Tableau& tableau, std::complex<double> z);

/// |R(infinity)|, infinite for explicit methods.
double stability_at_infinity(const Tableau& tableau);

/// The largest r for which |R| <= 1 on the way from 0 to r times `direction`, a number of modulus 1; infinite beyond
/// 1e6.
double stability_interval(const Tableau& tableau, std::complex<double> direction);

/// The backward differentiation formula sum_{j <= order} (1/j) nabla^j x_n = h f_n.
Multistep bdf_formula(int order);

/// Those of "A-stable", "L-stable", "symplectic", "symmetric" and "stiffly accurate" (implicit methods) that the
/// coefficients have up to round-off.
std::vector<std::string> properties_of(const Tableau& tableau);

/// Largest factor by which a step of the method multiplies a solution of x' = lambda x, z = h lambda: |R(z)|, or the
/// largest root modulus of a multistep formula. The entry must have a tableau or formulas.
double amplification(const IntegratorEntry& method, std::size_t formula, std::complex<double> z);

/// How many regions there are to draw: one for a Runge-Kutta method, one for every formula of a multistep method, else
/// 0.
std::size_t stability_regions(const IntegratorEntry& method);

}  // namespace daedalus::integrate
