#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daedalus/compile/implicit_function.hpp"
#include "daedalus/compile/jet.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::formulate {

/// Equations F(t, y, y') = 0 that can be solved for (x', z), y = (x, z), and what that needs.
struct SeriesEquations {
  compile::ImplicitEquations symbols;
  std::unordered_map<expr::NodeId, double> numbers;
  compile::Switches switches;
  /// Writes z behind x in y, and y', at a point; empty where F is linear in them.
  std::function<integrate::Evaluation(double t, const double* x, double* y, double* dy)> solve = {};
};

/// The solution of F(t, y, y') = 0 through a point as a power series.
class SolutionSeries {
 public:
  explicit SolutionSeries(SeriesEquations equations);

  /// Writes x_k = x^(k)/k! for k = 0 to `order`, one after the other. Allocates only where the order is higher than
  /// ever.
  integrate::Evaluation operator()(double t, const double* x, std::size_t order, double* series);

  void freeze(const double* frozen) { frozen_ = frozen; }
  std::size_t factorizations() const { return factorizations_; }
  /// Says what went wrong in the last failed call; empty where nothing did.
  const std::string& explain() const { return explanation_; }

 private:
  bool factor(double t);
  void solve_for_unknowns(std::size_t k);

  SeriesEquations equations_;
  std::size_t n_ = 0;                 ///< of x
  std::vector<std::size_t> unknown_;  ///< (x', z): where they stand among the inputs of F
  compile::Function residual_, matrix_;
  compile::Function::Scratch scratch_;
  std::unique_ptr<compile::Jet> jet_;
  /// Equations with an unknown that no other has.
  struct Own {
    std::size_t row, unknown;
  };
  std::vector<Own> own_;
  std::vector<std::size_t> rows_, columns_;  ///< of the others
  std::unique_ptr<linalg::ShiftedLu> lu_;
  std::vector<double> entries_, zero_, y_, dy_, right_, change_;
  const double* frozen_ = nullptr;
  std::size_t factorizations_ = 0;
  std::string explanation_;
};

/// Gives a system the series of its solution; the equations are asked for when it is first used.
void add_series(Formulated& formulated, std::function<SeriesEquations()> equations);
/// The same for motion on the acceleration level, without feedback.
void add_motion_series(Formulated& formulated, const Equations& equations);

}  // namespace daedalus::formulate
