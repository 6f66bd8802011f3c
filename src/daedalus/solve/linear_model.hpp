#pragma once

#include <string>
#include <vector>

#include "daedalus/linalg/dense_matrix.hpp"
#include "daedalus/linalg/sparsity.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::solve {

/// E x' = A x + B u, y = C x + D u.
struct LinearModel {
  std::string name;
  std::vector<std::string> states, inputs, outputs;  ///< in the user's names
  linalg::Sparsity pattern;                          ///< of E and A together
  std::vector<double> E, A;                          ///< values in its order
  linalg::DenseMatrix B, C, D;

  /// Of a linearization: x, u and y are deviations from these values, which the model has at t.
  bool deviations = false;
  double t = 0.0;
  std::vector<double> point, input_point, output_point;
  double fastest = 0.0;         ///< largest |x'| at the point in units of nominal values: 0 at an equilibrium
  std::vector<std::string> notes;

  std::size_t size() const { return states.size(); }
};

/// What `--input` and `--to` name.
struct Ports {
  std::vector<std::string> inputs;   ///< inputs or parameters of the model
  std::vector<std::string> outputs;  ///< outputs, variables, derivatives, multipliers
};

/// The model of kind linear as it is written, with its B, C, D: inputs u (u1, u2, ...), outputs y. Throws Error where E is not
/// square.
LinearModel linear_model(const model::Model& model);

/// The prefix of the parameters that stand for deviations of inputs: see model::Overrides::perturbed.
inline const std::string deviation_prefix = "deviation.";

/// Linearizes a prepared model at the point that its trajectory reaches at t. Inputs must have been read as perturbed.
/// Throws Error for names that the model does not have, and where the run does not reach t.
LinearModel linearize(const Prepared& prepared, double t, const Ports& ports, const RunOptions& options);

/// The model file of kind linear, with a comment that says what it is.
std::string model_file(const LinearModel& model);

}  // namespace daedalus::solve
