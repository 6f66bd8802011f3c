#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/linalg/block_determinants.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::structure {

/// Watches on a trajectory whether the equations of a DAE, as written or differentiated, determine derivatives and
/// algebraic unknowns: the determinants of [F_x', F_z], block by block. For differentiated equations this is the system
/// Jacobian.
class Regularity {
 public:
  explicit Regularity(const std::shared_ptr<const DaeFunctions>& functions);

  std::size_t count() const { return determinants_.count(); }  ///< of blocks
  void freeze(const double* frozen) { evaluator_.freeze(frozen); }
  void guess(const std::vector<double>& y, const std::vector<double>& dy) { evaluator_.guess(y, dy); }

  /// What a state is made of: differential unknowns, with guesses for the others behind them, or with their values.
  enum class State { differential, guess, solution };
  /// Writes the determinant of every block at a state, in units of what its size was at the first look.
  DaeOutcome look(double t, const double* state, State has, double* values);

  struct Undetermined {
    std::vector<std::string> equations, unknowns;
  };
  /// Of a block that is singular, or nearly, at the point of the last look: which equations do not determine which unknowns.
  Undetermined undetermined(std::size_t block) const;

 private:
  const double* matrix_ = nullptr;
  DaeEvaluator evaluator_;
  linalg::BlockDeterminants determinants_;
  std::vector<double> reference_;  ///< logarithms at the first look
  std::vector<double> x_;
};

}  // namespace daedalus::structure
