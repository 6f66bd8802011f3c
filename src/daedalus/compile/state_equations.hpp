#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "daedalus/compile/compile.hpp"
#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::compile {

/// Equations b(t, x) = 0 between the components of a state, with their partial derivatives. All functions take the
/// blocks t, x.
struct StateEquations {
  linalg::Sparsity pattern;             ///< of db/dx
  Function terms;                       ///< the summands of every equation
  std::vector<std::size_t> term_start;  ///< their ranges
  Function jacobian;                    ///< db/dx, in the order of `pattern`
  Function time_derivative;             ///< db/dt

  std::size_t rows() const { return pattern.rows; }
};

/// Differentiates and compiles. What decides conditions of the equations of motion decides them here too.
StateEquations compile_state_equations(const std::vector<expr::Expr>& b, expr::Expr t, const std::vector<expr::Expr>& x,
                                       const std::unordered_map<expr::NodeId, double>& numbers, Switches& switches);

/// The numbers of state equations for one trajectory: owns its workspace, allocates nothing after construction.
class StateValues {
 public:
  explicit StateValues(std::shared_ptr<const StateEquations> equations);

  const StateEquations& equations() const { return *equations_; }
  /// Lets every evaluation read these frozen values (see switches.hpp), which must outlive it.
  void freeze(const double* frozen) { frozen_ = frozen; }

  /// Finds b and the largest term of each equation; false where some term is not finite.
  bool residuals(double t, const double* x);
  const std::vector<double>& residual() const { return residual_; }
  const std::vector<double>& scale() const { return scale_; }

  /// Finds db/dx; false where it is not finite.
  bool jacobian(double t, const double* x);
  const std::vector<double>& jacobian() const { return jacobian_; }

  /// Finds the rate db/dt + db/dx x' at which the equations change, and the size of its parts.
  bool rates(double t, const double* x, const double* dx);
  const std::vector<double>& rate() const { return rate_; }
  const std::vector<double>& rate_scale() const { return rate_scale_; }

 private:
  std::shared_ptr<const StateEquations> equations_;
  const double* frozen_ = nullptr;
  Function::Scratch terms_scratch_, jacobian_scratch_, time_scratch_;
  std::vector<double> terms_, residual_, scale_, jacobian_, rate_, rate_scale_;
};

}  // namespace daedalus::compile
