#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/mechanics/evaluator.hpp"
#include "daedalus/solve/free_values.hpp"
#include "daedalus/solve/trajectory.hpp"
#include "daedalus/structure/dae_functions.hpp"

namespace daedalus::solve {

enum class Initialize { project, check, off };
/// Reads "project", "check" or "off". Throws Error("bad-initialize").
Initialize parse_initialize(const std::string& word);

/// A constraint that the given start does not satisfy.
struct Violation {
  std::string of;
  int level = 0;       ///< 0 position, 1 velocity, 2 auxiliary; of a DAE how often the equation was differentiated
  double value = 0.0;  ///< the residual
};

/// A constraint that follows from others at the start.
struct Redundancy {
  std::string constraint;
  std::vector<std::string> follows_from;
};

/// How an invariant changes along solutions at and near the start, where it holds.
struct InvariantCheck {
  std::string name;
  double rate = 0.0;      ///< its derivative, the largest that was found
  double relative = 0.0;  ///< the same beside its parts
};

/// One of several consistent starts: no small change of it leads nearer to the guess.
struct Branch {
  std::vector<std::pair<std::string, double>> values;  ///< of the unknowns that the search compares
  double distance = 0.0;                               ///< from the guess, in units of the sizes of the unknowns
};

/// What is asked about a start.
enum class Look {
  at_start,  ///< the start alone
  freedom,   ///< also which values can be chosen
  around,    ///< and whether there are other branches
};

/// A start for an integration, and what was done to find it.
struct Start {
  bool found = true;
  std::string message;  ///< why none was found
  bool solvable = true;          ///< see formulate::Equations
  bool singular = false;         ///< none was found, as constraints are dependent at this one position
  bool index_above_one = false;  ///< of a DAE, which is then not a matter of its start values

  double t = 0.0;
  std::vector<double> x;             ///< (q, v, z_d)
  std::vector<double> algebraic;     ///< with x the unknowns of the implicit view: (z_a, lambda) of mechanics
  std::vector<double> whole;         ///< (y, y') of a linear DAE as it is written
  std::vector<double> guess;         ///< for formulate::Formulated::guess
  std::vector<std::pair<std::string, double>> values;  ///< of all unknowns and derivatives, for people
  std::vector<double> a, lambda, w;  ///< accelerations, multipliers and auxiliary unknowns there
  bool consistent_as_given = true;
  std::vector<Violation> violations;  ///< of the start as given
  std::vector<Moved> moved;
  std::vector<Redundancy> redundant;
  std::vector<std::string> open_multipliers;  ///< those that the equations leave open, where constraints are redundant
  std::size_t rank = 0, holonomic_rank = 0;  ///< of all constraints, of the holonomic ones
  std::vector<InvariantCheck> invariants;
  std::size_t invariant_rank = 0;  ///< so many of them are independent, also of the constraints
  double residual = 0.0;                     ///< largest relative residual of the start that was found
  std::vector<std::string> notes;

  FreeValues free;                ///< with Look::freedom
  std::vector<Branch> branches;   ///< with Look::around, the one that was taken first; empty where no other was found
  std::size_t branch_starts = 0;  ///< random starts around the guess from which others were looked for
};

/// Finds a consistent start near the given one: positions onto g = 0, velocities onto the velocity constraints, both with
/// the least change in the mass norm and with fixed values and [initial] equations kept, then accelerations and multipliers
/// from the KKT system. Throws Error for contradicting fixed values and, with `check`, for an inconsistent start.
Start consistent_start(const std::shared_ptr<const mechanics::Functions>& functions, double t, Initialize mode,
                       Look look = Look::at_start);

/// The same for a DAE of index 1 at most, as written or differentiated: all equations, hidden ones and [initial] hold, fixed
/// values are kept, differential unknowns change as little as possible, in units of their nominal values.
Start consistent_start(const std::shared_ptr<const structure::DaeFunctions>& functions, double t, Initialize mode,
                       Look look = Look::at_start);

/// More about a start of a DAE that was found before, with Look::at_start.
Start look_further(const std::shared_ptr<const structure::DaeFunctions>& functions, const Start& start, Look look);

}  // namespace daedalus::solve
