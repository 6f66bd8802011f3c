#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/structure/array_point.hpp"
#include "daedalus/structure/derivative_array.hpp"

namespace daedalus::structure {

/// What the ranks of F_mu = (F, DF, ..., D^mu F) say at one point.
struct ArrayRanks {
  std::size_t mu = 0;
  std::size_t rows = 0;                 ///< (mu + 1) n equations
  std::size_t rank = 0;                 ///< of dF_mu/d(y', ..., y^(mu+1))
  std::size_t constraints = 0;          ///< combinations that connect t and y alone
  std::size_t redundant = 0;            ///< combinations that connect nothing
  std::vector<std::size_t> determined;  ///< unknowns whose y' follows from t and y
  double kept = 1.0;                    ///< the shortest pivot of all decisions
  double dropped = 0.0;                 ///< the longest remainder
  double gap = 0.0;                     ///< the smallest kept/dropped of one decision
};

/// The differentiation index (002, Definition 1), and what it rests on.
struct NumericalIndex {
  enum class Outcome {
    found,
    undecided,     ///< some rank is not clear: see the last of `ranks`
    singular,      ///< no further derivative determines the unknowns in `undetermined`
    inconsistent,  ///< no point was found that satisfies the equations in `offending`
    not_finite,    ///< the equations cannot be evaluated at the start
    too_large,     ///< more levels, or larger expressions, than are tried
  };
  Outcome outcome = Outcome::undecided;
  std::size_t index = 0;
  std::vector<ArrayRanks> ranks;  ///< for mu = 0, 1, ..., index, at points that satisfy one level more
  /// Kunkel and Mehrmann's numbers: so many algebraic and so many differential equations has the strangeness-free form.
  /// The solutions have n - algebraic free initial values; regular DAEs have differential = n - algebraic.
  std::size_t algebraic = 0, differential = 0;
  std::vector<std::size_t> undetermined;  ///< unknowns
  struct Equation {
    std::size_t row, level;
  };
  std::vector<Equation> offending;
  ArrayPoint point;  ///< satisfies the levels 0 to index + 1
  /// Points near it that were tried as well, and those among them where the answer is another one.
  std::size_t nearby = 0;
  std::vector<ArrayPoint> elsewhere;
  bool at_start = true;  ///< false: the start is a special point, or gave no answer; this is that of a point near it
  std::vector<DerivativeArray::RoughTable> rough;  ///< derivatives of tables without which y' is not determined
};

struct IndexOptions {
  std::size_t most_index = 12;
  std::size_t nearby = 3;  ///< so many points near the first
  double spread = 1e-2;    ///< of those, relative to the size of the unknowns
  std::uint64_t seed = 1;
  const double* frozen = nullptr;  ///< held values and modes (see compile/switches.hpp)
};

/// Finds the index of a DAE near a guess of its jets (y alone, or more), by extending its derivative array as far as
/// it takes.
NumericalIndex numerical_index(const std::shared_ptr<DerivativeArray>& array, const ArrayPoint& guess,
                               const IndexOptions& options = {});

}  // namespace daedalus::structure
