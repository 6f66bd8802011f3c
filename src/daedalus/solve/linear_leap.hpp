#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "daedalus/structure/linear_solution.hpp"

namespace daedalus::solve {

/// What leaps with f. Formulations that keep constraints follow smooth ones; where those of linear equations leap, the formula
/// tells where to: x1, which moves by itself, stays, and x2 is what f asks for now. A projection would change x1 as well.
class LinearLeap {
 public:
  /// For states that begin with the unknowns of `functions`: the equations of the solution, or a form of them. `frozen` are the
  /// values that events freeze in that form. Nothing where such a state does not tell x1, or a condition has no mode there.
  static std::shared_ptr<LinearLeap> make(const std::shared_ptr<const structure::LinearSolution>& solution,
                                          const structure::DaeFunctions& functions, const double* frozen);

  /// Moves the first `count` unknowns to where they must be with the modes in force now; the rest of x1 is not touched. What
  /// leaps since the last call becomes a remark of the flow.
  void operator()(double t, double* y, std::size_t count);

  /// The modes in force now are those before the next leap.
  void begin();

  const std::shared_ptr<structure::LinearFlow>& flow() const { return flow_; }

 private:
  using Unknowns = std::vector<structure::DaeFunctions::Unknown>;
  LinearLeap(std::shared_ptr<const structure::LinearSolution> solution, const Unknowns& unknowns, const double* frozen);
  bool find_places(const structure::DaeFunctions& functions);
  void read_modes();

  std::shared_ptr<const structure::LinearSolution> solution_;
  std::shared_ptr<structure::LinearFlow> flow_;
  const double* frozen_;
  struct Source {
    std::size_t unknown, times;  ///< the derivative of which unknown of the solution
  };
  std::vector<Source> sources_;                              ///< of the unknowns of the state
  std::vector<std::optional<std::size_t>> taken_;            ///< from which unknown of the state each of the solution comes
  std::vector<std::pair<std::size_t, std::size_t>> places_;  ///< of values in modes_ and in frozen_
  std::vector<double> modes_, before_;                       ///< now, and at the last call
  std::size_t highest_ = 0;                                  ///< derivative that a source asks for
};

}  // namespace daedalus::solve
