#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "daedalus/base/error.hpp"
#include "daedalus/linalg/gauss_newton.hpp"

namespace daedalus::solve {

/// What a start, or one level of it, must satisfy, with the names that people know it by.
struct StartProblem {
  linalg::LeastChangeProblem least_change;
  struct Row {
    std::string name;
    Place place;
    bool initial = false;  ///< from [initial]
  };
  std::vector<Row> rows;
  std::vector<std::string> unknowns;  ///< names
  std::vector<double> sizes;          ///< of the unknowns
  std::vector<double> nominal;        ///< units in which distances are told
  std::vector<bool> searched;         ///< whether random starts differ in this unknown
  std::vector<double> guess;
  /// The sizes of the rows at a point: terms that vanish at the guess have theirs only elsewhere. May be empty.
  std::function<std::vector<double>(const double* y)> scales_at;

  /// The same with some rows and without some of the fixed values.
  StartProblem part(const std::vector<bool>& with_rows, const std::vector<bool>& with_fixed) const;
};

/// So many random starts around the guess are tried for a problem of so many unknowns; always the same ones.
std::size_t random_starts(std::size_t unknowns);
inline constexpr std::uint64_t start_seed = 1;

/// A point that satisfies a StartProblem, or the best that was found, and how.
struct StartFound {
  linalg::GaussNewtonResult result;
  bool outside = false;  ///< the equations have no values at the guess
  enum class Means { gauss_newton, homotopy, random_start } means = Means::gauss_newton;
  std::size_t steps = 0;  ///< of the homotopy
  std::size_t starts = 0;  ///< random ones that were tried
  bool found() const { return result.outcome == linalg::GaussNewtonOutcome::converged; }
  /// What beyond Gauss-Newton from the guess was needed; empty where nothing was.
  std::string note() const;
};

/// Whether the rows are linear as far as can be seen: their derivatives are the same everywhere.
bool looks_linear(const StartProblem& problem);

/// Gauss-Newton from the guess alone.
linalg::GaussNewtonResult near_guess(const StartProblem& problem, const std::vector<double>* from = nullptr);

/// Gauss-Newton from the guess; where it fails, a homotopy from the guess; where that fails, random starts around it, of
/// which the result nearest to the guess counts. A guess outside the domain of the equations is first moved into it.
StartFound search(const StartProblem& problem);
/// The same without random starts.
StartFound search_along_path(const StartProblem& problem);

/// Solutions of a StartProblem from which no small change leads nearer to the guess.
struct BranchPoints {
  std::size_t starts = 0;                     ///< random ones that were tried; 0: one solution is certain, or too large
  std::vector<std::vector<double>> solutions;  ///< the one that was found before first, the others by distance
};

/// Looks for further solutions beside one that was found. Solutions that differ by full turns of angles are one. `compared`
/// tells which unknowns make a difference.
BranchPoints other_solutions(const StartProblem& problem, const std::vector<double>& found, const std::vector<bool>& compared);

/// Distance of a point from the guess in units of nominal values, over the unknowns that are `compared`.
double distance_from_guess(const StartProblem& problem, const std::vector<double>& y, const std::vector<bool>& compared);

}  // namespace daedalus::solve
