#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/solve/linear_model.hpp"
#include "daedalus/structure/kronecker.hpp"

namespace daedalus::solve {

using Complex = std::complex<double>;

/// A finite eigenvalue of the pencil.
struct FiniteMode {
  Complex value;
  std::size_t multiplicity = 1;                 ///< algebraic
  std::size_t eigenvectors = 1;                 ///< independent ones: fewer than the multiplicity where powers of t grow
  bool controllable = true, observable = true;  ///< by all inputs together, by all outputs together
};

/// `resonant`: unstable by an eigenvalue on the imaginary axis that has fewer eigenvectors than its multiplicity, so that
/// solutions grow like a power of t. `undecided` where the structure itself is.
enum class Stability { asymptotic, marginal, resonant, unstable, undecided };

/// What a linear model does by itself, and what its inputs and outputs reach.
struct ModeAnalysis {
  std::size_t n = 0, inputs = 0, outputs = 0;
  int index = 0;
  std::vector<FiniteMode> finite;
  std::size_t infinite = 0;        ///< dimension of the part that has no dynamics
  /// Every impulse that an inconsistent start leaves can be prevented by an input, and seen at an output.
  bool impulse_controllable = true, impulse_observable = true;
  Stability stability = Stability::undecided;
  std::vector<std::string> notes;
};

/// One entry of the transfer function G(s) = C (s E - A)^-1 B + D.
struct Channel {
  std::size_t input = 0, output = 0;
  bool vanishes = false;                 ///< G = 0
  std::vector<Complex> poles, zeros;     ///< finite ones, without those that cancel
  std::vector<Complex> cancelled;        ///< modes that the channel does not show
  double gain = 0.0;                     ///< G(s) = gain prod (s - zero) / prod (s - pole)
  std::vector<double> polynomial;        ///< what is left of G for large s: coefficients of 1, s, s^2, ...
  std::optional<double> steady;          ///< G(0), where that is finite
};

struct FrequencyResponse {
  std::vector<double> omega;
  /// values[input * outputs + output][k] = G(i omega_k)
  std::vector<std::vector<Complex>> values;
  std::vector<std::string> notes;
};

/// Models with more states than this get their frequency response alone.
constexpr std::size_t most_modes = 200;

/// Of a regular pencil whose structure is known; B and C have no columns and rows where there are no inputs and outputs.
ModeAnalysis mode_analysis(const structure::Pencil& pencil, const structure::KroneckerStructure& structure,
                           const linalg::DenseMatrix& B, const linalg::DenseMatrix& C);
/// Whether (E, A) is regular; where it is not, what follows throws Error("singular-pencil").
bool has_transfer_function(const LinearModel& model);
ModeAnalysis mode_analysis(const LinearModel& model);
Channel channel(const LinearModel& model, std::size_t input, std::size_t output);
/// Solves (i omega E - A) X = B at every frequency. Throws Error("singular-pencil").
FrequencyResponse frequency_response(const LinearModel& model, const std::vector<double>& omega);

/// Frequencies from low to high, evenly in the logarithm; without bounds, a decade around all poles and zeros. Where their
/// number is not given, or the curve is to be `resolved`, those at which a lightly damped pole or zero makes a peak come between.
struct FrequencyRange {
  std::optional<double> low, high;
  std::optional<std::size_t> points;
  bool resolved = false;  ///< with as many around each as show its form
};
std::vector<double> frequencies(const FrequencyRange& range, const std::vector<Channel>& channels);

/// The phase of values in degrees, continued without leaps of 360.
std::vector<double> phase_degrees(const std::vector<Complex>& values);

}  // namespace daedalus::solve
