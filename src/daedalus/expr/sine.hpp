#pragma once

namespace daedalus::expr {

/// Sine and cosine, to 0.8 units in the last place, from the same operations one at a time and four at a time: the same
/// numbers on every processor and in every lane.
void sine_and_cosine(double x, double* sine, double* cosine);
double sine(double x);
double cosine(double x);

/// Of four numbers side by side.
void sine_and_cosine_of_four(const double* x, double* sine, double* cosine);

}  // namespace daedalus::expr
